"""Writes report/tensorboard.tfevents with TensorBoard's own messages and record writer: a file of a run that was
resumed at step 300, with fixed wall times. tests/report/tensorboard_test.cpp makes the same events."""

import io
import pathlib

from PIL import Image
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

here = pathlib.Path(__file__).parent / "report"
here.mkdir(exist_ok=True)

picture = io.BytesIO()
Image.frombytes("RGB", (3, 2), bytes(range(18))).save(picture, "PNG")
png = picture.getvalue()
(here / "tensorboard.png").write_bytes(png)


def scalars(**values):
    return Summary(value=[Summary.Value(tag=tag.replace("_", "/"), simple_value=value) for tag, value in values.items()])


image = Summary.Image(height=2, width=3, colorspace=3, encoded_image_string=png)
events = [
    Event(wall_time=1700000000.25, file_version="brain.Event:2"),
    Event(wall_time=1700000000.5, step=300, session_log=SessionLog(status=SessionLog.START)),
    Event(wall_time=1700000001.0, step=0, summary=scalars(loss=0.0)),
    Event(wall_time=1700000002.0, step=300, summary=scalars(loss=1.25, loss_boundary=-0.1, lr=6e-5)),
    Event(wall_time=1700000003.0, step=2**40 + 1, summary=scalars(loss=float("inf"), lr=float("nan"))),
    Event(wall_time=1700000004.125, step=300, summary=Summary(value=[Summary.Value(tag="samples/Käse 猫", image=image)])),
    Event(wall_time=1700000005.0, step=-1, summary=scalars(**{"long" * 60: 3.0})),
]
with open(here / "tensorboard.tfevents", "wb") as file:
    writer = RecordWriter(file)
    for event in events:
        writer.write(event.SerializeToString())
