#!/usr/bin/env python3
"""pictures.py SCORES --truth DIR --column NAME=DIR ... --out FILE.png [--photos DIR]: a page of results chosen by rule.

Takes the best, median and worst photos by mIoU from SCORES/per_image.csv (an evaluation), three each, and puts PNG
files of the same name beside each other: the truth, then each column. Photos come first where their folder is given;
those of VOC are not ours to publish, so the page in docs/results is made without. `--list` prints the names alone.
Needs Pillow.
"""
import argparse
import csv
import pathlib

WIDTH, GAP, HEAD = 200, 6, 18


def chosen(scores, each):
    with open(scores / "per_image.csv", encoding="utf-8") as file:
        rows = sorted(((float(r["miou"]), r["image"]) for r in csv.DictReader(file)), reverse=True)
    middle = len(rows) // 2 - each // 2
    return [("best", r) for r in rows[:each]] + [("median", r) for r in rows[middle:middle + each]] + \
        [("worst", r) for r in rows[-each:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=pathlib.Path)
    parser.add_argument("--truth", type=pathlib.Path)
    parser.add_argument("--photos", type=pathlib.Path)
    parser.add_argument("--column", action="append", default=[], metavar="NAME=DIR")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--each", type=int, default=3)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    rows = chosen(options.scores, options.each)
    if options.list:
        print("\n".join(name for _, (_, name) in rows))
        return

    from PIL import Image, ImageDraw
    columns = [("truth", options.truth)] + [tuple(c.split("=", 1)) for c in options.column]
    if options.photos:
        columns.insert(0, ("photo", options.photos))
    pictures = []
    for kind, (score, name) in rows:
        line = []
        for _, folder in columns:
            file = next(f for f in (pathlib.Path(folder) / (name + s) for s in (".png", ".jpg")) if f.exists())
            picture = Image.open(file).convert("RGB")
            line.append(picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.NEAREST))
        pictures.append((f"{kind}: {name}, mIoU {score:.0f}", line))
    height = HEAD + sum(max(p.height for p in line) + HEAD + GAP for _, line in pictures)
    page = Image.new("RGB", (len(columns) * (WIDTH + GAP), height), "white")
    draw = ImageDraw.Draw(page)
    for i, (name, _) in enumerate(columns):
        draw.text((i * (WIDTH + GAP) + 2, 2), name, fill="black")
    top = HEAD
    for title, line in pictures:
        draw.text((2, top + 2), title, fill="black")
        for i, picture in enumerate(line):
            page.paste(picture, (i * (WIDTH + GAP), top + HEAD))
        top += max(p.height for p in line) + HEAD + GAP
    page.quantize(128).save(options.out, optimize=True)


if __name__ == "__main__":
    main()
