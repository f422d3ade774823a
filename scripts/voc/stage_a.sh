#!/usr/bin/env bash
# Stage A: a classifier of train_aug's tags; seeds of train by each refinement, scored against its masks; seeds of
# train_aug by the one chosen beforehand (REFINE). Settings: common.sh.
. "$(dirname "$0")/common.sh"

read -ra tag_options <<< "$TAG_OPTIONS"
read -ra frozen_options <<< "$FROZEN_OPTIONS"
how=(--data "$data" --split train_aug --val none --arch "$ARCH" "${init[@]}" --batch "$BATCH" --crop "$CROP" --amp "$AMP")
for which in $CLASSIFIERS; do
  if [ "$which" = tags ]; then
    say "classifier"
    training classify "$WORK/tags" "${how[@]}" --epochs "$TAG_EPOCHS" "${tag_options[@]}"
  else
    say "classifier of the unchanged encoder, $which pixels a cell"
    training classify "$WORK/tags-$which" "${how[@]}" --stride "$which" "${frozen_options[@]}"
  fi
done

[ -n "$REFINEMENTS$REFINE" ] || exit 0

classifiers=
for stride in $FROZEN; do classifiers+=${classifiers:+,}$WORK/tags-$stride; done
classifiers=${classifiers:-$WORK/tags}

# seeds SPLIT REFINE OUT [OPTIONS ...]
seeds() {
  local split=$1 refine=$2 out=$3
  shift 3
  local background=$BACKGROUND
  case $refine in
    plain) set -- --similarity 0 "$@"; refine=none; background=$PLAIN_BACKGROUND ;;
    affinity*) background=$WALKED_BACKGROUND ;;
  esac
  if is_complete "$out"; then
    echo "there already: $out"
  else
    timed "$CRISP" seeds --data "$data" --split "$split" --classifier "$classifiers" --refine "$refine" --out "$out" \
      --scales "$SCALES" --background "$background" --crf-scale "$CRF_SCALE" --batch "$INFER_BATCH" "$@" "${common[@]}"
  fi
}

if [ "$SWEEP" = 1 ]; then
  say "mIoU by background: this looks at 100 masks of train"
  timed "$CRISP" seeds --data "$data" --split train --classifier "$classifiers" --refine none --sweep \
    --scales "$SCALES" "${common[@]}"
fi

# The first refinement by affinity learns its network, the others take it.
learned=$WORK/seeds/affinity
learning=(--affinity-epochs "$AFFINITY_EPOCHS" --affinity-amp "$AMP")
for refine in $REFINEMENTS; do
  say "seeds of train: $refine"
  options=()
  if [[ $refine == *affinity* ]]; then
    if ! is_complete "$learned"; then seeds train affinity "$learned" "${learning[@]}"; fi
    options=(--affinity "$learned/affinity")
  fi
  out=$WORK/seeds/${refine/,/-}
  [ "$out" = "$learned" ] || seeds train "$refine" "$out" "${options[@]}"
  evaluate "seeds-${refine/,/-}" --pred "$out" --split train
done

say "seeds of train_aug: $REFINE"
options=()
if [[ $REFINE == *affinity* ]]; then
  if [ "$AFFINITY" = train ]; then
    is_complete "$learned" || seeds train affinity "$learned" "${learning[@]}"
    options=(--affinity "$learned/affinity")
  else
    options=("${learning[@]}")
  fi
fi
seeds train_aug "$REFINE" "$WORK/seeds/train_aug" "${options[@]}"

[ -n "$REFINEMENTS" ] || exit 0
say "seeds of train, scored"
printf '%-16s %8s %8s %12s\n' refinement mIoU mDice 'boundary F1'
for refine in $REFINEMENTS; do
  name=seeds-${refine/,/-}
  printf '%-16s %8s %8s %12s\n' "$refine" "$(number "$name" miou)" "$(number "$name" mdice)" \
    "$(number "$name" boundary_f1)"
done
