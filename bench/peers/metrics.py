"""The numbers of bench/metrics.cpp from torchmetrics, scipy and scikit-image, timed in one process on one core.

    python bench/peers/metrics.py VOC_FOLDER [COUNT]

VOC_FOLDER is voc12-core.tar unpacked. The first COUNT masks of val_dev (60 unless told otherwise) are perturbed as
the C++ benchmark does and held in memory before the clock runs. The functions are those of tests/goldens/metric.py.
A user would write them with less care for ties, but not much faster: each class crop is worked on, not the whole
image, wherever the library call allows it.
"""
import math
import pathlib
import sys
import time

import numpy as np
import torch
from scipy import ndimage as ndi
from torchmetrics.classification import (MulticlassAccuracy, MulticlassConfusionMatrix, MulticlassF1Score,
                                         MulticlassJaccardIndex)
from torchmetrics.functional.classification.calibration_error import _ce_compute

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "goldens"))
import metric as reference  # noqa: E402

CLASSES = 21


def regions(images):
    """mIoU, mDice, accuracies and the confusion matrix."""
    meters = [MulticlassJaccardIndex(CLASSES, ignore_index=255), MulticlassF1Score(CLASSES, ignore_index=255),
              MulticlassAccuracy(CLASSES, ignore_index=255), MulticlassConfusionMatrix(CLASSES, ignore_index=255)]
    for truth, pred, _, _ in images:
        t, p = torch.from_numpy(truth).long(), torch.from_numpy(pred).long()
        for meter in meters:
            meter.update(p[None], t[None])
    return [meter.compute() for meter in meters]


def calibration(images):
    confidences = [torch.from_numpy(c[t != 255]).double() for t, _, c, _ in images]
    right = [torch.from_numpy((p == t)[t != 255]).double() for t, p, _, _ in images]
    return _ce_compute(torch.cat(confidences), torch.cat(right), 15)


def boundaries(images):
    for truth, pred, _, _ in images:
        filled = reference.fill_void(truth, 255)
        width = max(1, round(0.02 * math.hypot(*truth.shape)))
        for c in np.unique(truth[truth != 255]):
            reference.boundary_f1(filled == c, pred == c, 2.0)
            a, b = reference.band(filled == c, width), reference.band(pred == c, width)
            (a & b).sum(), (a | b).sum()


def shapes(images):
    for _, pred, _, _ in images:
        (pred[:, 1:] != pred[:, :-1]).sum() + (pred[1:] != pred[:-1]).sum()
        for c in np.unique(pred):
            mask = pred == c
            if c > 0 and mask.sum() >= 64:
                rows, columns = ndi.find_objects(mask.astype(np.uint8))[0]
                crop = mask[rows, columns]
                reference.compactness(crop)
                reference.edge_regularity(crop)


def small_objects(images):
    for truth, pred, _, _ in images:
        for c in np.unique(truth):
            if c in (0, 255):
                continue
            components, count = ndi.label(truth == c, reference.SQUARE)
            sizes = ndi.sum_labels(np.ones_like(truth), components, range(1, count + 1))
            hits = ndi.sum_labels(pred == c, components, range(1, count + 1))
            ((2 * hits >= sizes) & (sizes < 1024)).sum()


def main():
    folder = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    torch.set_num_threads(1)  # threads waiting for each other would count as work
    names = next(folder.glob("**/val_dev.txt")).read_text().split()[:count]
    images = list(reference.voc_images(folder, names))
    total = 0.0
    for part in (regions, calibration, boundaries, shapes, small_objects):
        start = time.process_time()  # of this process: other work on the machine does not count
        part(images)
        spent = 1000 * (time.process_time() - start) / len(images)
        total += spent
        print(f"{part.__name__:<16} {spent:9.3f} ms of CPU an image")
    print(f"{'every number':<16} {total:9.3f} ms of CPU an image, {len(images)} images")


if __name__ == "__main__":
    main()
