#!/usr/bin/env python3
"""probe.py --photos JPEGImages --masks SegmentationClass --ids train.txt teacher2|teacher0,2|WEIGHTS ...: what the cells of an encoder's maps know.

One linear layer on frozen features, cells of 16 pixels of photos brought to 448 x 448; 500 photos to learn from, 200 to measure on. Looks at
masks, to judge encoders and for nothing else.
"""

import argparse

import numpy as np
import torch
from PIL import Image
from torch.nn import functional as F

from distil import Teachers, read_safetensors
from mit import Mit

SIDE, CELLS, LEARNED, MEASURED, CLASSES = 448, 28, 500, 200, 21


def features(which, arch, photos):
    """[N, cells, channels] of the maps at strides 8, 16 and 32."""
    mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)
    if which.startswith("teacher"):
        network = Teachers(map(int, which.removeprefix("teacher").split(",")))
        maps_of = lambda x: network(x)[1][1:]
    else:
        network = Mit(arch).eval()
        network.load_state_dict(read_safetensors(which))
        maps_of = lambda x: network.features((x - mean) / std)[1:]
    rows = []
    for file in photos:
        pixels = np.array(Image.open(file).convert("RGB").resize((SIDE, SIDE), Image.BILINEAR))
        with torch.no_grad():
            maps = maps_of(torch.from_numpy(pixels).permute(2, 0, 1)[None].float() / 255)
        maps = [F.interpolate(m, size=(CELLS, CELLS), mode="bilinear") if m.shape[2] < CELLS
                else F.adaptive_avg_pool2d(m, CELLS) for m in maps]
        rows.append(torch.cat(maps, 1)[0].flatten(1).T.half())
    return torch.stack(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoders", nargs="+")
    for option in ("--photos", "--masks", "--ids"):
        parser.add_argument(option, required=True)
    parser.add_argument("--arch", default="mit_b1")
    o = parser.parse_args()
    ids = open(o.ids).read().split()
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(3))[: LEARNED + MEASURED]
    ids = [ids[i] for i in order]
    labels = [np.array(Image.open(f"{o.masks}/{i}.png").resize((SIDE, SIDE), Image.NEAREST))[8::16, 8::16] for i in ids]
    y = torch.from_numpy(np.stack(labels)).long().flatten(1)
    for which in o.encoders:
        torch.manual_seed(0)
        x = features(which, o.arch, [f"{o.photos}/{i}.jpg" for i in ids])
        mean, std = x[:LEARNED].float().mean((0, 1)), x[:LEARNED].float().std((0, 1)) + 1e-3
        layer = torch.nn.Linear(x.shape[2], CLASSES)
        optimizer = torch.optim.AdamW(layer.parameters(), lr=2e-3, weight_decay=0.05)
        cells, wanted = x[:LEARNED].flatten(0, 1), y[:LEARNED].flatten()
        wanted = torch.where(wanted == 255, -100, wanted)
        for _ in range(4):
            for part in torch.randperm(len(cells)).split(4096):
                loss = F.cross_entropy(layer((cells[part].float() - mean) / std), wanted[part])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            optimizer.param_groups[0]["lr"] *= 0.5
        with torch.no_grad():
            said = layer((x[LEARNED:].float() - mean) / std).argmax(2).flatten()
        truth = y[LEARNED:].flatten()
        valid = truth < CLASSES
        confusion = torch.bincount(truth[valid] * CLASSES + said[valid], minlength=CLASSES**2).view(CLASSES, CLASSES)
        right = confusion.diag().float()
        iou = right / (confusion.sum(0) + confusion.sum(1) - right)
        print(f"{which}: {x.shape[2]} channels, {100 * right.sum() / confusion.sum():.1f}% of the cells right, "
              f"mIoU {100 * iou.mean():.1f}", flush=True)


if __name__ == "__main__":
    main()
