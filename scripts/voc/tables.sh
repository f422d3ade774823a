#!/usr/bin/env bash
# Every figure of docs/results/voc12.md, from the photos and tags of PASCAL VOC 2012. Two CPU cores are enough.
#
#   scripts/voc/tables.sh [STEP ...]      by default all of them, in this order:
#
#   data        the photos (scripts/voc/unpack.sh), and lists of train: a tenth and the rest; 464 held photos and the rest
#   tags        the tag layer, learned from nine tenths of train: average precision on the tenth
#   train       photos and tags of train to a model: `crispformer run`, its defaults
#   rows        the other rows from the same seeds and options: A0, A5, and A5 learned from masks
#   seeds       seeds of all of train by each refinement, scored
#   choices     one run for each thing that was chosen, on the held photos of train
#   train_aug   photos and tags of train_aug to a model
#   table       what was measured, as tables
#
# What is finished is left alone, what was begun goes on. Settings: VOC (the data), WORK (results), PROGRAM.
set -euo pipefail
case ${1:-} in
  -h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

VOC=${VOC:-runs/VOC2012}
WORK=${WORK:-runs/voc}
PROGRAM=${PROGRAM:-build/crispformer}
lists=$VOC/ImageSets/Segmentation

crispformer() {
  printf '\n$ crispformer %s\n' "$*"
  "$PROGRAM" "$@"
}

# learn OUT OPTIONS: a student, unless it is finished; one that was begun goes on.
learn() {
  local out=$1
  shift
  if [ -f "$out/model.safetensors" ]; then return 0; fi
  if [ -f "$out/run.json" ]; then crispformer train --resume "$out"; else crispformer train "$@" --out "$out"; fi
}

# score MODEL SPLIT: into $WORK/scores/MODEL-SPLIT.
score() {
  local out=$WORK/scores/$(basename "$1")-$2
  [ -f "$out/metrics.json" ] || crispformer eval --model "$1" --data "$VOC" --split "$2" --features "$WORK/train/features" --out "$out"
}

step_data() {
  [ -d "$VOC/JPEGImages" ] || scripts/voc/unpack.sh
  awk 'NR % 10 == 0' "$lists/train.txt" > "$lists/tenth.txt"
  awk 'NR % 10 != 0' "$lists/train.txt" > "$lists/ninetenths.txt"
  shuf --random-source=<(yes 7) "$lists/train.txt" | sed -n 1,464p | sort > "$lists/held.txt"
  grep -vxFf "$lists/held.txt" "$lists/train.txt" > "$lists/fit.txt"
}

step_tags() {
  [ -f "$WORK/tags/model.safetensors" ] || crispformer classify --data "$VOC" --split ninetenths --val tenth \
    --arch vit_s14 --features "$WORK/train/features" --out "$WORK/tags"
}

step_train() {
  [ -f "$WORK/train/report.html" ] || crispformer run --data "$VOC" --split train --val val_dev --out "$WORK/train"
}

step_rows() {
  local config=$WORK/train/student/config.toml
  learn "$WORK/A0" --config "$config" --ablation A0 --features "$WORK/train/features"
  learn "$WORK/A5" --config "$config" --ablation A5 --features "$WORK/train/features"
  learn "$WORK/supervised" --config "$config" --ablation A5 --labels masks --features "$WORK/train/features"
  for row in A0 A5 supervised; do score "$WORK/$row" val_dev; done
}

# seeds NAME OPTIONS: of all of train, by the tag layer of the run; the heads of crossfitting are the run's own.
seeds() {
  local out=$WORK/seeds-$1
  shift
  if [ ! -d "$out" ]; then
    mkdir -p "$out"
    cp -r "$WORK/train/seeds/crossfit" "$out/"
  fi
  crispformer seeds --data "$VOC" --split train --classifier "$WORK/train/classifier" --features "$WORK/train/features" \
    --out "$out" "$@"
  [ -f "$out-scores/metrics.json" ] || crispformer eval --pred "$out" --data "$VOC" --split train --out "$out-scores"
}

step_seeds() {
  seeds raw --crossfit 0 --similarity 0 --refine none
  seeds spread --crossfit 0 --refine none
  seeds spread-par --crossfit 0 --refine par
  seeds crossfit --refine none
  seeds par --refine par
  seeds crf --refine crf
}

# choice NAME OPTIONS: the default's student, shorter and without relabelling, of the photos of train that are not held,
# scored on those that are.
choice() {
  local name=$1
  shift
  learn "$WORK/choice-$name" --config "$WORK/train/student/config.toml" --split fit --val none --epochs 8 --ema-decay 0.97 \
    --no-relabel "$@"
  score "$WORK/choice-$name" held
}

step_choices() {
  choice default
  choice no-propagation --propagate 0
  choice no-edges --edges 0
  choice nothing-dropped --drop-first 0 --drop-last 0
  choice no-weighting --weighting-from 1
  choice dice-0.3 --dice 0.3
  choice heteroscedastic-0.1 --heteroscedastic 0.1
  choice relabelled --no-relabel=false
  choice A0 --ablation A0
}

step_train_aug() {
  [ -f "$WORK/train_aug/report.html" ] ||
    crispformer run --data "$VOC" --split train_aug --val val_dev --out "$WORK/train_aug"
}

step_table() { python3 scripts/voc/tables.py "$WORK"; }

[ $# -gt 0 ] || set -- data tags train rows seeds choices train_aug table
for step in "$@"; do
  declare -F "step_$step" > /dev/null || { echo "tables.sh: no step '$step'; --help lists them" >&2; exit 2; }
  "step_$step"
done
