#!/usr/bin/env bash
# unpack.sh [TARS] [OUT]: TARS/voc12-*.tar to OUT/VOC2012. By default ../shared/data to runs.
set -euo pipefail
cd "$(dirname "$0")/../.."

tars=${1:-../shared/data}
out=${2:-runs}
mkdir -p "$out"
found=0
for tar in "$tars"/voc12-*.tar; do
  [ -f "$tar" ] || continue
  found=1
  done_mark=$out/VOC2012/.unpacked-$(basename "$tar" .tar)
  if [ ! -e "$done_mark" ]; then
    tar -xf "$tar" -C "$out"
    touch "$done_mark"
  fi
done
[ "$found" = 1 ] || { echo "$tars: no voc12-*.tar in it" >&2; exit 1; }
printf '%s photos, %s masks in %s\n' "$(find "$out/VOC2012/JPEGImages" -name '*.jpg' | wc -l)" \
  "$(find "$out/VOC2012/SegmentationClass" -name '*.png' | wc -l)" "$out/VOC2012"
