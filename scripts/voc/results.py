#!/usr/bin/env python3
"""results.py B1 [B0] --out voc12.json: the scores below two work folders as one file, and as tables on stdout.

B1 and B0 are folders `scores` as eval.sh and stage_a.sh leave them: a folder NAME for each evaluation, with its
metrics.json. Students are called ROW-RUN, with -1.5 (photos enlarged), -ms (five scales, flips), -large (scales
1, 1.5, 2, flips), -tags (calibrated by tags), -sizes (by sizes) and -held (photos kept aside) after that; seeds are called seeds-NAME. A folder may hold a note.txt, which is
kept beside its figures. --more NAME=FOLDER adds another folder's students under NAME. --before NAME=FILE takes an older result
along: its students under students_NAME, its rows of MiT-B0 where there are no newer ones, its seeds under NAME-..., the rest as it is.
Needs nothing but Python.
"""
import argparse
import json
import pathlib
import re
import statistics

KEEP = ["miou", "mdice", "boundary_f1", "ece", "tv_smoothness", "compactness", "edge_regularity", "small_object_recall",
        "pixel_accuracy", "mean_accuracy"]
VARIANTS = {"": "", "-1.5": "_enlarged", "-ms": "_ms", "-large": "_large_ms", "-tags": "_calibrated", "-sizes": "_sizes", "-held": "_held"}


def read(folder):
    """The figures of one evaluation that are kept, with their intervals."""
    with open(folder / "metrics.json", encoding="utf-8") as file:
        metrics = json.load(file)
    figures = {key: round(metrics[key], 4) for key in KEEP if isinstance(metrics.get(key), (int, float))}
    intervals = metrics.get("ci95", {})
    figures["intervals"] = {key: [round(x, 4) for x in intervals[key]] for key in KEEP if key in intervals}
    return figures


def students(scores):
    """By row: every run, and the mean of those that have a figure."""
    rows = {}
    for folder in sorted(scores.iterdir()):
        name = re.fullmatch(r"([A-Z]\d[a-z]*|supervised)-(\d+)", folder.name)
        if not name or not (folder / "metrics.json").exists():
            continue
        run = read(folder)
        for suffix, key in VARIANTS.items():
            other = scores / (folder.name + suffix) / "metrics.json"
            if suffix and other.exists():
                more = read(other.parent)
                for what in ("miou", "boundary_f1", "ece"):
                    if what in more:
                        run[what + key] = more[what]
                run["intervals" + key] = more["intervals"]
        note = folder / "note.txt"
        if note.exists():
            run["note"] = note.read_text(encoding="utf-8").strip()
        rows.setdefault(name[1], []).append(run)
    result = {}
    for row, runs in rows.items():
        mean = {}
        for key in runs[0]:
            values = [run[key] for run in runs if isinstance(run.get(key), (int, float))]
            if values:
                mean[key] = round(statistics.mean(values), 4)
        result[row] = {**mean, "runs": runs}
    return result


def take_along(result, name, before):
    """What an older series found, none of it lost."""
    for part in ("students", "students_b0"):
        rows = before.pop(part)
        result[part.replace("students", "students_" + name, 1)] = rows
        if part == "students":
            rows["supervised"] = before.pop("supervised")
        else:
            result[part] = {**{row: {"series": name, **rows[row]} for row in rows if row not in result[part]}, **result[part]}
    for row, figures in before.pop("seeds")["rows"].items():
        result["seeds"]["rows"][f"{name}-{row}" if row in result["seeds"]["rows"] else row] = figures
    result["series"] = {**before.pop("series", {}), name: {key: before.pop(key) for key in ("hardware", "commit")}}
    for key, value in before.items():
        result.setdefault(key, value)


def table(rows):
    heads = ["miou", "miou_enlarged", "miou_ms", "miou_large_ms", "miou_calibrated", "miou_sizes", "miou_held", "mdice", "boundary_f1", "ece", "tv_smoothness",
             "compactness", "edge_regularity", "small_object_recall"]
    print("| row | " + " | ".join(heads) + " |")
    print("| --- |" + " --- |" * len(heads))
    for row, figures in rows.items():
        cells = []
        for head in heads:
            value = figures.get(head)
            digits = 3 if head in ("tv_smoothness", "compactness", "edge_regularity") else 1
            text = "" if value is None else f"{value:.{digits}f}"
            key, what = next(((k, head[: len(head) - len(k)]) for k in ("_large_ms", "_enlarged", "_calibrated", "_sizes", "_held", "_ms")
                              if head.endswith(k)), ("", head))
            span = figures["runs"][0].get("intervals" + key, {}).get(what)
            if text and span and len(figures["runs"]) == 1 and what in ("miou", "boundary_f1", "ece"):
                text += f" ({span[0]:.1f} - {span[1]:.1f})"
            cells.append(text)
        print(f"| {row} | " + " | ".join(cells) + " |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("b1", type=pathlib.Path)
    parser.add_argument("b0", type=pathlib.Path, nargs="?")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--raw", default="seeds-none", help="evaluation of the raw activation maps")
    parser.add_argument("--refined", default="seeds-affinity-par", help="and of the seeds learned from")
    parser.add_argument("--more", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--before", metavar="NAME=FILE")
    parser.add_argument("--hardware", required=True)
    parser.add_argument("--commit", required=True)
    options = parser.parse_args()

    seeds = {}
    for folder in sorted(options.b1.glob("seeds-*")):
        if (folder / "metrics.json").exists():
            seeds[folder.name.removeprefix("seeds-")] = read(folder)
    b1, b0 = students(options.b1), students(options.b0) if options.b0 else {}
    supervised = b1.pop("supervised", None)
    result = {
        "seeds": {"cam_miou": seeds[options.raw.removeprefix("seeds-")]["miou"],
                  "refined_miou": seeds[options.refined.removeprefix("seeds-")]["miou"], "rows": seeds},
        "students": b1, "students_b0": b0, "supervised": supervised,
        "hardware": options.hardware, "commit": options.commit,
    }
    more = {}
    for item in options.more:
        name, _, folder = item.partition("=")
        more[name] = students(pathlib.Path(folder))
    result |= more
    if options.before:
        name, _, file = options.before.partition("=")
        take_along(result, name, json.loads(pathlib.Path(file).read_text(encoding="utf-8")))
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print("MiT-B1\n")
    table({**b1, **({"supervised": supervised} if supervised else {})})
    for name, rows in {"MiT-B0": b0, **more}.items():
        print(name + "\n")
        table(rows)


if __name__ == "__main__":
    main()
