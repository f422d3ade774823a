#!/usr/bin/env bash
# The next generation: a finished student (TEACHER) labels train_aug, whose tags are known, and new students, one for each of
# ROWS, learn from that; into AGAIN. Settings: common.sh. Further arguments go to `crispformer train`.
ROWS=${ROWS:-A6}
. "$(dirname "$0")/common.sh"

TEACHER=${TEACHER:-$WORK/students/A6-0}
AGAIN=${AGAIN:-$WORK/again}
RELABEL_OPTIONS=${RELABEL_OPTIONS:---flip --passes 1 --refine par --all}

read -ra relabel_options <<< "$RELABEL_OPTIONS"
say "labels of train_aug by $TEACHER"
labels=$AGAIN/labels
if is_complete "$labels"; then
  echo "there already: $labels"
else
  timed "$CRISP" relabel --data "$data" --split train_aug --model "$TEACHER" --out "$labels" --batch "$INFER_BATCH" \
    "${relabel_options[@]}" "${common[@]}"
fi
export INIT VOC CRISP LIMIT  # as they were settled here
WORK=$AGAIN SEEDS=$labels ROWS=$ROWS scripts/voc/stage_b.sh "$@"
WORK=$AGAIN scripts/voc/eval.sh
