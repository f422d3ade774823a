"""Semantic masks of the small COCO set by pycocotools' masks: goldens for crisp/data/coco.

Run with the folder that `coco-tiny.tar` was unpacked into. Writes data/coco.json: for each image and each
way of painting the pixels per class and the CRC-32 of the mask. The rules: crowds first; then either the
larger region first (pixels of its mask, ties in file order), or file order. Later paint covers earlier.
"""
import json
import pathlib
import sys
import zlib

import numpy as np
from pycocotools.coco import COCO


def paint(layers, shape, smaller_on_top, crowd_ignored):
    order = list(layers)
    if smaller_on_top:
        order.sort(key=lambda layer: -int(layer[0].sum()))
    order.sort(key=lambda layer: not layer[2])
    mask = np.zeros(shape, np.uint8)
    for region, label, crowd in order:
        mask[region > 0] = 255 if crowd and crowd_ignored else label
    return mask


def main(root):
    golden = {}
    for split in ["train2017", "val2017"]:
        coco = COCO(str(root / "annotations" / f"instances_{split}.json"))
        number = {category: i + 1 for i, category in enumerate(sorted(coco.getCatIds()))}
        for image in coco.loadImgs(coco.getImgIds()):
            notes = coco.imgToAnns[image["id"]]
            layers = [(coco.annToMask(n), number[n["category_id"]], n["iscrowd"] == 1) for n in notes]
            entry = {"split": split, "annotations": len(notes)}
            for name, smaller, ignored in [("smaller", True, False), ("file", False, False), ("ignore", True, True)]:
                mask = paint(layers, (image["height"], image["width"]), smaller, ignored)
                labels, pixels = np.unique(mask, return_counts=True)
                entry[name] = {"crc": zlib.crc32(mask.tobytes()),
                               "pixels": {str(a): int(b) for a, b in zip(labels, pixels)}}
            golden[pathlib.Path(image["file_name"]).stem] = entry
    out = pathlib.Path(__file__).parent / "data" / "coco.json"
    out.write_text(json.dumps(golden, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
