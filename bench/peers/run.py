"""Times SegFormer on the CPU: HF eager, ONNX Runtime, OpenVINO and crispformer, interleaved in one run.

    python bench/peers/run.py --out bench.json            # make bench does this

Each round times every peer once, starting with another peer each time, so that a slow minute of the machine meets all
of them; the figure is the median over rounds of the round's median. Every peer runs the same network (seeded random
weights), f32 and the same number of threads unless its name says otherwise; the Python peers' outputs are compared
with HF's before anything is timed. A peer that is not installed is named and left out.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

from common import DEPTHS, ROOT, Missing, Peer, gather, hf_model, machine_facts, measure_rounds, our_program
from common import print_table, rows_of, timed, warn_if_busy, width_of, write_json

BASELINE = "HF eager"
SEGFORMER_TARGETS = {"mit_b0": 0.6, "mit_b1": 0.65}
CRISPFORMER_TARGETS = {"mit_b0": 0.85}


def check_output(name, expected, actual, tolerance):
    import numpy

    difference = numpy.abs(expected - actual).max() / numpy.abs(expected).max()
    if not difference <= tolerance:
        raise Missing(f"{name}'s logits differ from HF's by {difference:.2g} of their scale")
    return {"difference_to_hf": float(difference)}


class Contest:
    """The peers of one architecture; the exported network is made once and shared."""

    def __init__(self, arch, args, folder):
        import torch

        self.arch, self.args, self.folder = arch, args, folder
        torch.set_num_threads(args.threads)
        self.model = hf_model(arch, args.width or width_of(arch), args.classes)
        self.image = torch.randn(args.batch, 3, args.size, args.size)
        with torch.inference_mode():
            self.expected = self.model(pixel_values=self.image).logits.numpy()
        self.onnx_path = None

    def hf(self):
        import torch
        import transformers

        def forward():
            with torch.inference_mode():
                self.model(pixel_values=self.image)

        peer = Peer(BASELINE, timed(forward), f"transformers {transformers.__version__}, torch {torch.__version__}")
        peer.facts["attention"] = self.model.config._attn_implementation
        peer.facts["parameters"] = self.model.num_parameters()
        return peer

    def exported(self) -> Path:
        if self.onnx_path is None:
            import torch

            class Logits(torch.nn.Module):
                def __init__(self, model):
                    super().__init__()
                    self.model = model

                def forward(self, pixel_values):
                    return self.model(pixel_values=pixel_values).logits

            path = Path(self.folder) / f"{self.arch}.onnx"
            torch.onnx.export(
                Logits(self.model), (self.image,), path, input_names=["pixel_values"], output_names=["logits"],
                dynamo=True, verbose=False,
            )
            self.onnx_path = path
        return self.onnx_path

    def onnx_runtime(self):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.args.threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        session = onnxruntime.InferenceSession(self.exported(), options, providers=["CPUExecutionProvider"])
        feed = {"pixel_values": self.image.numpy()}
        facts = check_output("ONNX Runtime", self.expected, session.run(None, feed)[0], 1e-3)
        forward = lambda: session.run(None, feed)  # noqa: E731
        return Peer("ONNX Runtime", timed(forward), f"onnxruntime {onnxruntime.__version__}", facts=facts)

    def openvino(self, precision):
        import openvino

        core = openvino.Core()
        config = {"INFERENCE_NUM_THREADS": self.args.threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
        if precision:
            config["INFERENCE_PRECISION_HINT"] = precision
        compiled = core.compile_model(core.read_model(self.exported()), "CPU", config)
        request = compiled.create_infer_request()
        feed = {0: self.image.numpy()}
        logits = request.infer(feed)[0]
        # Left to itself it computes in bf16 where the CPU has it.
        facts = check_output("OpenVINO", self.expected, logits, 1e-3 if precision else 0.2)
        used = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
        facts["precision"] = used
        name = "OpenVINO f32" if precision else f"OpenVINO, its default ({used})"
        return Peer(name, timed(lambda: request.infer(feed)), f"openvino {openvino.__version__}", facts=facts)

    def ours(self, head, target):
        args = self.args
        options = ["--arch", self.arch, "--head", head, "--size", args.size, "--batch", args.batch, "--dtype", "f32"]
        options += ["--device", "cpu", "--threads", args.threads]
        if args.width:
            options += ["--width", args.width]
        if args.classes != 21:
            options += ["--classes", args.classes]
        name = "crispformer, " + ("SegFormer" if head == "segformer" else "CrispFormer")
        return our_program(Path(args.program), name, [str(option) for option in options], target)

    def makers(self):
        return [
            (BASELINE, self.hf),
            ("ONNX Runtime", self.onnx_runtime),
            ("OpenVINO f32", lambda: self.openvino("f32")),
            ("OpenVINO, its default", lambda: self.openvino(None)),
            ("crispformer, SegFormer", lambda: self.ours("segformer", SEGFORMER_TARGETS.get(self.arch))),
            ("crispformer, CrispFormer", lambda: self.ours("crispformer", CRISPFORMER_TARGETS.get(self.arch))),
        ]


def compare_parameters(rows):
    """The SegFormers timed must be one network: says so if our program reports another number of parameters."""
    expected = next((row["parameters"] for row in rows if row["name"] == BASELINE), None)
    for row in rows:
        ours = row.get("runs", [{}])[0].get("parameters")
        if row["name"] == "crispformer, SegFormer" and expected and isinstance(ours, int) and ours != expected:
            print(f"note: crispformer timed {ours:,} parameters, HF {expected:,}: these are not the same network")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archs", nargs="+", default=["mit_b0", "mit_b1"], choices=sorted(DEPTHS))
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--classes", type=int, default=21)
    parser.add_argument("--width", type=int, help="head width (256 for B0 and B1, else 384)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=10, help="forward passes a peer and round")
    parser.add_argument("--program", default=str(ROOT / "build" / "crispformer"))
    parser.add_argument("--out", help="JSON file for the figures")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed or was not measured")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")

    settings = {name: value for name, value in vars(args).items() if name not in ("out", "program")}
    report = {"machine": machine_facts(), "settings": settings, "results": []}
    warn_if_busy(report["machine"])
    wanted = met = 0
    for arch in args.archs:
        missing = {}
        with tempfile.TemporaryDirectory() as folder:
            try:
                contest = Contest(arch, args, folder)
                makers = contest.makers()
            except (ImportError, Missing) as error:
                raise SystemExit(f"error: {BASELINE} cannot run, and the others are compared with it: {error}")
            peers = gather(makers, missing)
            peers = measure_rounds(peers, args.rounds, args.iterations, missing)
        rows = rows_of(peers, next((peer for peer in peers if peer.name == BASELINE), None))
        title = f"SegFormer {arch}, {args.size}x{args.size}, batch {args.batch}, {args.threads} threads"
        print_table(f"{title}: ratio to {BASELINE}", rows)
        compare_parameters(rows)
        report["results"].append({"arch": arch, "peers": rows, "missing": missing})
        wanted += (arch in SEGFORMER_TARGETS) + (arch in CRISPFORMER_TARGETS)
        met += sum(row.get("met", False) for row in rows)
    write_json(args.out, report)
    if args.strict and met < wanted:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
