#!/usr/bin/env python3
"""tables.py WORK: what scripts/voc/tables.sh measured, as Markdown on stdout. Needs nothing but Python."""
import json
import pathlib
import sys

COLUMNS = [("mIoU", "miou"), ("boundary F1", "boundary_f1"), ("ECE", "ece"), ("mDice", "mdice"),
           ("TV-smoothness", "tv_smoothness"), ("compactness", "compactness"), ("small objects found", "small_object_recall")]
STUDENTS = [("A6", "train/scored/student_eval"), ("A6, told the tags", "train/scored/student_tags_val_eval"),
            ("A5: A6 without relabelling", "scores/A5-val_dev"), ("A0: the plain head", "scores/A0-val_dev"),
            ("A5 learned from masks", "scores/supervised-val_dev"), ("A6 of train_aug", "train_aug/scored/student_eval")]
SEEDS = [("raw maps", "seeds-raw-scores"), ("spread", "seeds-spread-scores"), ("spread, PAR", "seeds-spread-par-scores"),
         ("crossfitted", "seeds-crossfit-scores"), ("crossfitted, CRF", "seeds-crf-scores"),
         ("crossfitted, PAR: the default", "seeds-par-scores"), ("relabelled by A6's teacher", "train/scored/relabelled_train_eval")]


def figure(metrics, key):
    value, interval = metrics.get(key), metrics.get("ci95", {}).get(key)
    if not isinstance(value, (int, float)):
        return ""
    digits = 3 if key in ("tv_smoothness", "compactness") else 1
    text = f"{value:.{digits}f}"
    return f"{text} ({interval[0]:.1f} - {interval[1]:.1f})" if interval and key in ("miou", "boundary_f1", "ece") else text


def table(work, title, rows):
    print(f"\n{title}\n\n| | " + " | ".join(name for name, _ in COLUMNS) + " |\n" + "| --- " * (len(COLUMNS) + 1) + "|")
    for name, folder in rows:
        file = work / folder / "metrics.json"
        if file.exists():
            metrics = json.loads(file.read_text(encoding="utf-8"))
            print(f"| {name} | " + " | ".join(figure(metrics, key) for _, key in COLUMNS) + " |")


def choices(work):
    return [(folder.name.removeprefix("choice-").removesuffix("-held"), folder.relative_to(work))
            for folder in sorted(work.glob("scores/choice-*-held"))]


def main():
    work = pathlib.Path(sys.argv[1])
    table(work, "Students, development (`val_dev`, 725 photos), one pass", STUDENTS)
    table(work, "Seeds of `train` (1,464 photos), tags known", SEEDS)
    table(work, "Choices, 464 held photos of `train`", choices(work))
    for run in ("train", "train_aug"):
        stages = work / run / "stages.json"
        if stages.exists():
            print(f"\nSeconds, {run}: {stages.read_text(encoding='utf-8')}")


if __name__ == "__main__":
    main()
