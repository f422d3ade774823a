#!/usr/bin/env bash
# Stages B and C: a student for each of ROWS and RANDOM_SEEDS, from the seeds of stage_a.sh; `supervised` learns from
# the masks of train. No validation: val_dev is for eval.sh alone. Further arguments go to `crispformer train`.
. "$(dirname "$0")/common.sh"

read -ra student_options <<< "${STUDENT_OPTIONS//$'\n'/ }"
read -ra beyond <<< "$BEYOND"
for seed in $RANDOM_SEEDS; do
  for row in $ROWS; do
    say "student $row, seed $seed"
    how=(--split "$LEARNED" --seeds "$SEEDS" --epochs "$EPOCHS")
    case $row in
      supervised) how=(--split train --labels masks --ablation A5 --epochs "$SUPERVISED_EPOCHS") ;;
      U?) how+=(--ablation A6 --uncertainty "$row") ;;
      *) how+=(--ablation "$row") ;;
    esac
    [ "$row" = A0 ] || how+=("${beyond[@]}")
    training train "$WORK/students/$row-$seed" --data "$data" --val none --arch "$ARCH" "${init[@]}" --batch "$BATCH" \
      --crop "$CROP" --amp "$AMP" --infer-batch "$INFER_BATCH" --seed "$seed" "${student_options[@]}" "${how[@]}" "$@"
  done
done
