#!/usr/bin/env python3
"""curves.py NAME=RUN=SCORES ... --out curves.svg: three panels for a page of results.

How the cross-entropy of each training falls (RUN/log.jsonl), how far confidence can be believed and the IoU of each class
(SCORES/metrics.json). Needs nothing but Python.
"""
import argparse
import json
import pathlib

COLOURS = ["#2166ac", "#d6604d", "#4d4d4d", "#5aae61"]
WIDTH, HEIGHT, LEFT, TOP = 300, 220, 46, 30


def losses(run, points=60):
    """(share of training, mean cross-entropy) in so many stretches."""
    values = []
    with open(run / "log.jsonl", encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if "cross_entropy" in record:
                values.append(record["cross_entropy"])
    size = max(1, len(values) // points)
    chunks = [values[i:i + size] for i in range(0, len(values) - size + 1, size)]
    return [((i + 0.5) / len(chunks), sum(chunk) / len(chunk)) for i, chunk in enumerate(chunks)]


class Panel:
    def __init__(self, x, title, xs, ys, x_name, y_name):
        self.x, self.xs, self.ys = x, xs, ys
        self.parts = [f'<text x="{x + LEFT}" y="18" font-weight="bold">{title}</text>',
                      f'<text x="{x + LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 34}" text-anchor="middle">{x_name}</text>',
                      f'<rect x="{x + LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>']
        for i in range(5):
            value = ys[0] + (ys[1] - ys[0]) * i / 4
            px, py = self.at(xs[0], value)
            self.parts.append(f'<line x1="{px}" y1="{py}" x2="{px + WIDTH}" y2="{py}" stroke="#eee"/>'
                              f'<text x="{px - 5}" y="{py + 4}" text-anchor="end">{value:g}{y_name}</text>')

    def at(self, x, y):
        share = (min(max(y, self.ys[0]), self.ys[1]) - self.ys[0]) / (self.ys[1] - self.ys[0])
        along = (x - self.xs[0]) / (self.xs[1] - self.xs[0])
        return round(self.x + LEFT + WIDTH * along, 1), round(TOP + HEIGHT * (1 - share), 1)

    def tick(self, x, text):
        px, py = self.at(x, self.ys[0])
        self.parts.append(f'<text x="{px}" y="{py + 15}" text-anchor="middle">{text}</text>')

    def line(self, points, colour, dashed=False):
        path = " ".join(f"{a},{b}" for a, b in (self.at(x, y) for x, y in points))
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>')

    def dots(self, points, colour):
        for x, y in points:
            px, py = self.at(x, y)
            self.parts.append(f'<circle cx="{px}" cy="{py}" r="2.6" fill="{colour}"/>')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="NAME=RUN=SCORES")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    models = []
    for item in options.models:
        name, run, scores = item.split("=")
        with open(pathlib.Path(scores) / "metrics.json", encoding="utf-8") as file:
            models.append((name, losses(pathlib.Path(run)), json.load(file)))

    step = WIDTH + LEFT + 30
    top = max(y for _, curve, _ in models for x, y in curve if x > 0.05)
    learning = Panel(0, "Cross-entropy in training", (0, 1), (0, round(top + 0.05, 1)), "share of training", "")
    belief = Panel(step, "Right, by confidence", (0, 1), (0, 1), "confidence", "")
    belief.line([(0, 0), (1, 1)], "#bbb", dashed=True)
    classes = [c["name"] for c in models[-1][2]["per_class"]]
    order = sorted(range(len(classes)), key=lambda k: models[-1][2]["per_class"][k]["iou"] or 0)
    by_class = Panel(2 * step, "IoU by class", (-0.5, len(classes) - 0.5), (0, 100), "", "")
    for panel in (learning, belief):
        for x in (0, 0.25, 0.5, 0.75, 1):
            panel.tick(x, f"{x:g}")
    for place, k in enumerate(order):
        px, py = by_class.at(place, 0)
        by_class.parts.append(f'<text transform="translate({px + 4},{py + 6}) rotate(-90)" text-anchor="end">{classes[k]}</text>')
    legend = []
    for i, (name, curve, metrics) in enumerate(models):
        colour = COLOURS[i % len(COLOURS)]
        learning.line(curve, colour)
        bins = [(b["confidence"], b["accuracy"]) for b in metrics["reliability"] if b["pixels"] > 1000]
        belief.line(bins, colour)
        by_class.dots([(place, metrics["per_class"][k]["iou"] or 0) for place, k in enumerate(order)], colour)
        legend.append(f'<text x="{LEFT + WIDTH - 8}" y="{TOP + 18 + 16 * i}" text-anchor="end" fill="{colour}">{name}</text>')
    body = "\n".join(learning.parts + belief.parts + by_class.parts + legend)
    options.out.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{3 * step}" height="{TOP + HEIGHT + 100}" '
        f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n',
        encoding="utf-8")


if __name__ == "__main__":
    main()
