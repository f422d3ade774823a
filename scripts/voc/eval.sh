#!/usr/bin/env bash
# Every finished student on val_dev, or those named (A6-0 ...): a single pass, one over enlarged photos, one matched to SIZES, and five scales
# with flips. Then a table, and A6 against A0. results.py makes docs/results/voc12.json of what this leaves.
. "$(dirname "$0")/common.sh"

names=()
runs=("$WORK"/students/*)
[ $# = 0 ] || runs=("${@/#/$WORK/students/}")
for run in "${runs[@]}"; do
  is_complete "$run" || continue
  name=$(basename "$run")
  names+=("$name")
  say "$name"
  evaluate "$name" --model "$run" --split val_dev --batch "$INFER_BATCH"
  [ "$ENLARGED" = 1 ] || evaluate "$name-$ENLARGED" --model "$run" --split val_dev --scales "$ENLARGED" --batch "$INFER_BATCH"
  # The supervised model learns from all of train.
  [ -z "$HELD" ] || [[ $name == supervised* ]] || evaluate "$name-held" --model "$run" --split "$HELD" --batch "$INFER_BATCH"
  if [ -n "$SIZES" ] && [[ $name != supervised* ]]; then
    sized=$run/sized.safetensors
    [ -f "$sized" ] || timed "$CRISP" calibrate --data "$data" --split "$LEARNED" --model "$run" --sizes "$SIZES" --photos 1500 --out "$sized" \
      --batch "$INFER_BATCH" "${common[@]}"
    evaluate "$name-sizes" --model "$sized" --split val_dev --batch "$INFER_BATCH"
    [ -z "$HELD" ] || evaluate "$name-sizes-held" --model "$sized" --split "$HELD" --batch "$INFER_BATCH"
  fi
  [ "$MULTISCALE" = 0 ] || evaluate "$name-ms" --model "$run" --split val_dev --scales 0.5,0.75,1,1.25,1.5 --flip --batch "$INFER_BATCH"
done
if [ "${#names[@]}" = 0 ]; then
  echo "$WORK/students: no finished student in it; run scripts/voc/stage_b.sh" >&2
  exit 1
fi

for seed in $RANDOM_SEEDS; do
  [ -f "$WORK/scores/A0-$seed/metrics.json" ] && [ -f "$WORK/scores/A6-$seed/metrics.json" ] || continue
  say "A6 against A0, seed $seed"
  timed "$CRISP" compare "$WORK/scores/A0-$seed" "$WORK/scores/A6-$seed" "${common[@]}"
done

say "val_dev"
printf '%-16s %8s %8s %8s %12s %8s\n' student mIoU "x $ENLARGED" 'ms+flip' 'boundary F1' ECE
for name in "${names[@]}"; do
  printf '%-16s %8s %8s %8s %12s %8s\n' "$name" "$(number "$name" miou)" "$(number "$name-$ENLARGED" miou)" \
    "$(number "$name-ms" miou)" \
    "$(number "$name" boundary_f1)" "$(number "$name" ece)"
done
