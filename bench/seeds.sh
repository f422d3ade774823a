#!/usr/bin/env bash
# seeds.sh [PROGRAM] [IMAGES]: how fast seeds are made, and which share of the time the network takes. By default
# build/crispformer and all 725 photos of VOC val_dev (long side 320), MiT-B0, 3 scales with flips, CRF, 2 threads.
# The classifier is not trained to be good, only to exist: speed does not depend on what it has learned, but the CRF's
# labels are the photos' real tags. Data: $CRISP_VOC (a folder as scripts/voc/unpack.sh leaves it), else
# ../shared/data/voc12-core.tar.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-build/crispformer}
images=${2:-0}  # 0: all
threads=${CRISP_BENCH_THREADS:-2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

data=${CRISP_VOC:-}
if [ -z "$data" ]; then
  tar=../shared/data/voc12-core.tar
  [ -f "$tar" ] || { echo "bench/seeds.sh: no VOC photos: set CRISP_VOC to a VOC2012 folder" >&2; exit 1; }
  mkdir "$work/unpacked"
  tar -xf "$tar" -C "$work/unpacked"
  data=$(dirname "$(find "$work/unpacked" -maxdepth 3 -name JPEGImages)")
fi

# A data set of our own making out of links, so that a few photos can be taken and nothing is written beside the data.
list=$data/ImageSets/Segmentation/val_dev.txt
mkdir -p "$work/voc/ImageSets/Segmentation"
for folder in JPEGImages SegmentationClass tags classes.txt; do
  [ ! -e "$data/$folder" ] || ln -s "$(realpath "$data/$folder")" "$work/voc/$folder"
done
if [ "$images" -gt 0 ]; then head -n "$images" "$list"; else cat "$list"; fi > "$work/voc/ImageSets/Segmentation/bench.txt"
head -n 16 "$list" > "$work/voc/ImageSets/Segmentation/few.txt"

quietly() {
  "$@" > /dev/null 2> "$work/messages" || { cat "$work/messages" >&2; exit 1; }
}
quietly "$program" classify --data "$work/voc" --split few --val none --arch mit_b0 --epochs 1 --batch 8 --crop 128 \
  --threads "$threads" --out "$work/tags"
"$program" --version
printf 'before: '; uptime
TIMEFORMAT='the whole command: %R s of wall time, %U s of CPU'
time quietly "$program" seeds --data "$work/voc" --split bench --classifier "$work/tags" --scales 1,1.5,2 --refine crf \
  --threads "$threads" --out "$work/seeds"
grep ' a second; the network' "$work/messages"
printf 'after:  '; uptime
