"""Pixels of polygons and run lengths as pycocotools draws them: goldens for crisp/data/rasterise.

Writes data/polygons.json: cases with a frame, the outline and the run lengths of its mask (down the
columns, outside first), and compressed run lengths with their counts.
"""
import json
import pathlib
import random

import numpy as np
from pycocotools import mask as coco


def counts_of(mask):
    flat = np.asfortranarray(mask).ravel(order="F")
    counts, value, run = [], 0, 0
    for pixel in flat:
        if pixel == value:
            run += 1
        else:
            counts.append(run)
            value, run = pixel, 1
    return counts + [run]


def draw(parts, width, height):
    return coco.decode(coco.merge(coco.frPyObjects(parts, height, width)))


def circle(rng, cx, cy, radius, points, jitter):
    angles = sorted(rng.uniform(0, 2 * np.pi) for _ in range(points))
    out = []
    for angle in angles:
        r = radius * (1 + rng.uniform(-jitter, jitter))
        out += [round(cx + r * np.cos(angle), 2), round(cy + r * np.sin(angle), 2)]
    return out


def cases():
    rng = random.Random(5)
    yield "square", 20, 16, [[3, 4, 12, 4, 12, 11, 3, 11]]
    yield "square other way round", 20, 16, [[3, 4, 3, 11, 12, 11, 12, 4]]
    yield "whole frame", 20, 16, [[0, 0, 20, 0, 20, 16, 0, 16]]
    yield "beyond the frame on all sides", 20, 16, [[-7.3, -5.1, 31.4, -2.2, 28.8, 25.6, -9.9, 22.2]]
    yield "left of the frame", 20, 16, [[-9, 2, -3, 2, -3, 9, -9, 9]]
    yield "below the frame", 20, 16, [[2, 20, 9, 20, 9, 30, 2, 30]]
    yield "crossing the left edge", 20, 16, [[-4.6, 3.3, 6.2, 2.1, 5.5, 12.9, -3.2, 9.4]]
    yield "crossing the right and lower edge", 20, 16, [[15.2, 9.7, 27.3, 11.1, 25.5, 21.2, 13.7, 19.8]]
    yield "tiny, less than a pixel", 20, 16, [[7.1, 7.1, 7.4, 7.1, 7.4, 7.4]]
    yield "tiny, at a pixel centre", 20, 16, [[7.3, 7.3, 7.9, 7.3, 7.9, 7.9, 7.3, 7.9]]
    yield "one point three times", 20, 16, [[5.5, 5.5, 5.5, 5.5, 5.5, 5.5]]
    yield "a line there and back", 20, 16, [[2, 3, 17, 12, 2, 3]]
    yield "a vertical line", 20, 16, [[6, 1, 6, 14, 6, 7]]
    yield "repeated points", 20, 16, [[3, 3, 3, 3, 12, 4, 12, 4, 12, 4, 8, 13, 8, 13]]
    yield "bow tie", 20, 16, [[2, 2, 17, 13, 17, 2, 2, 13]]
    yield "wound twice", 24, 18, [[4, 4, 18, 4, 18, 14, 4, 14, 4, 4, 18, 4, 18, 14, 4, 14]]
    yield "star", 40, 40, [[20, 2, 31, 36, 3, 14, 37, 14, 9, 36]]
    yield "half pixels", 20, 16, [[2.5, 2.5, 10.5, 2.5, 10.5, 9.5, 2.5, 9.5]]
    yield "tenths on the grid", 20, 16, [[2.3, 2.3, 12.3, 2.7, 11.1, 10.9, 1.9, 8.1]]
    yield "two parts", 30, 20, [[2, 2, 12, 2, 12, 12, 2, 12], [8, 6, 25, 6, 25, 17, 8, 17]]
    yield "one pixel wide frame", 1, 9, [[-1, 2, 3, 2, 3, 6, -1, 6]]
    yield "one pixel high frame", 9, 1, [[2, -1, 6, -1, 6, 3, 2, 3]]
    for number in range(24):
        width, height = rng.randint(8, 60), rng.randint(8, 60)
        parts = []
        for _ in range(rng.randint(1, 3)):
            parts.append(circle(rng, rng.uniform(-5, width + 5), rng.uniform(-5, height + 5), rng.uniform(1, 25),
                                rng.randint(3, 25), rng.choice([0, 0.3, 0.9])))
        yield f"random {number}", width, height, parts


def main():
    drawn = []
    for name, width, height, parts in cases():
        counts = counts_of(draw(parts, width, height))
        drawn.append({"name": name, "width": width, "height": height, "parts": parts, "counts": counts})
    packed = []
    rng = np.random.default_rng(3)
    for width, height, share in [(7, 5, 0.5), (40, 30, 0.02), (64, 64, 0.98), (300, 200, 0.0005), (3, 3, 0), (3, 3, 1)]:
        mask = np.asfortranarray((rng.random((height, width)) < share).astype(np.uint8))
        text = coco.encode(mask)["counts"].decode()
        packed.append({"width": width, "height": height, "text": text, "counts": counts_of(mask)})
    out = pathlib.Path(__file__).parent / "data" / "polygons.json"
    out.write_text(json.dumps({"drawn": drawn, "packed": packed}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
