#!/usr/bin/env bash
# The whole series on VOC in one go on one GPU, students side by side: encoders (distilled further where asked), seeds from them as they
# are, A0, A6 and the supervised model of MiT-B1, A5 of MiT-B0 on the labels that A6 made (B0's own are worse than the seeds), all scored
# on val_dev. It calls the stages, so what is finished is left alone and what was begun goes on; an encoder laid at
# $WORK/mit_b1.safetensors or $SMALL/mit_b0.safetensors is taken as it is. Students learn from train_aug less 464 photos of train, by
# which one may choose. One more A6 is told how large classes are ($WORK/sized). Second runs (RANDOM_SEEDS="0 1") follow the first. Settings: those of common.sh and the ones below.
set -euo pipefail
case ${1:-} in
  -h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

export WORK=${WORK:-runs/voc-mit_b1} VOC=${VOC:-runs/VOC2012} LIMIT=${LIMIT:-0}
SMALL=${SMALL-runs/voc-mit_b0}                    # what is made of MiT-B0; empty: nothing is
PYTHON=${PYTHON:-python3}                         # with what scripts/distil/README.md names
ENCODER=${ENCODER:-weights/mit_b1.safetensors}
ENCODER_B0=${ENCODER_B0:-weights/mit_b0.safetensors}
DISTIL=${DISTIL:-}                                # options of distil.py; empty: the encoder as it is, which is distilled already
DISTIL_B0=${DISTIL_B0:---teacher 0,1,2 --seconds 150}
export FROZEN="16 32" HELD=held LEARNED=fit
export WALKED_BACKGROUND=${WALKED_BACKGROUND:-0.45}  # CHOSEN WITH MASKS: 240 photos of train
ZOOM=${ZOOM:-1.8}                                # CHOSEN WITH MASKS of held photos, by the shipped MiT-B0
export EPOCHS=${EPOCHS:-12} SUPERVISED_EPOCHS=${SUPERVISED_EPOCHS:-70}
EPOCHS_B0=${EPOCHS_B0:-6}
export ENLARGED=1                                 # students learn from enlarged photos: no further scale is tried
# Both are what `run --preset standard` takes, with one round of relabelling.
export BEYOND=${BEYOND:---weighting-from 1 --heteroscedastic 0.1 --dice 0.3 --presence 1 --fusion mixed --edges 4 --doubt 0.3 --propagate 10}
export STUDENT_OPTIONS=${STUDENT_OPTIONS:---head-rate 1.4e-3 --drop-first 0 --drop-last 0 --keep-first 1 --keep-last 1
  --found 0.5 --relabel-refine par --relabel-flip --trust 0.5 --relabel-from 0.4 --relabel-every 0.7}
RATE=${RATE:-1e-4}                                # of the encoder
export SIZES=${SIZES-scripts/voc/sizes.txt}       # students are scored once more with these, and one learns with them; empty: none is
student_crop=${STUDENT_CROP:-448}
student_batch=${STUDENT_BATCH:-32}

logs=$WORK/logs
mkdir -p "$logs" ${SMALL:+"$SMALL"}
began=$EPOCHSECONDS
note() { printf '%4d s  %s\n' $((EPOCHSECONDS - began)) "$*"; }

# beside NAME COMMAND ...: in the background, its output in $logs/NAME.log.
beside() {
  local name=$1
  shift
  (
    note "$name begins"
    if "$@" > "$logs/$name.log" 2>&1; then
      note "$name is done"
    else
      note "$name FAILED: $(tail -n 1 "$logs/$name.log")"
      exit 1
    fi
  ) &
}

# student WORK ROW RATE [OPTIONS]: trained, then scored, for each of RANDOM_SEEDS; later ones by one scale alone.
student() {
  local work=$1 row=$2 rate=$3 seed first=${RANDOM_SEEDS:-0}
  shift 3
  for seed in ${RANDOM_SEEDS:-0}; do
    [ "$seed" = "${first%% *}" ] || local -x MULTISCALE=0
    WORK=$work ROWS=$row RANDOM_SEEDS=$seed CROP=$student_crop BATCH=$student_batch scripts/voc/stage_b.sh --zoom "$ZOOM" --rate "$rate" "$@" &&
      WORK=$work RANDOM_SEEDS=$seed scripts/voc/eval.sh "$row-$seed" || return
  done
}

# stage_a ENCODER REFINEMENTS REFINE: stage_a.sh, whose classifiers come first; without refinements they are all.
stage_a() { INIT=$1 REFINEMENTS=$2 REFINE=$3 scripts/voc/stage_a.sh; }

# classifier STRIDE: one of FROZEN.
classifier() { CLASSIFIERS=$1 stage_a "$distilled" "" ""; }

# distil ARCH INIT OUT OPTIONS: an encoder distilled further; one that is there already is left alone.
distil() {
  local options
  read -ra options <<< "$4"
  [ ! -f "$3" ] || return 0
  if [ -z "$4" ]; then
    cp "$2" "$3"
    return
  fi
  "$PYTHON" scripts/distil/distil.py --photos "$VOC/JPEGImages" --ids "$VOC/ImageSets/Segmentation/train_aug.txt" --arch "$1" \
    --init "$2" --photos-at-most "$LIMIT" --out "$3.part" "${options[@]}" && mv "$3.part" "$3"
}

lists=$VOC/ImageSets/Segmentation
if [ ! -f "$lists/fit.txt" ]; then
  shuf --random-source=<(yes 7) "$lists/train.txt" | sed -n 1,464p | sort > "$lists/held.txt"
  grep -vxFf "$lists/held.txt" "$lists/train_aug.txt" > "$lists/fit.txt"
fi

distilled=$WORK/mit_b1.safetensors
distil mit_b1 "$ENCODER" "$distilled" "$DISTIL" > "$logs/distil.log" 2>&1
note "encoder is done"
# One training alone cannot launch kernels as fast as the GPU takes them.
export INIT=$distilled
RANDOM_SEEDS=0 beside supervised student "$WORK" supervised "$RATE"
frozen=()
for stride in $FROZEN; do
  beside "tags-$stride" classifier "$stride"
  frozen+=($!)
done
wait "${frozen[@]}"
if [ -n "$SMALL" ]; then
  beside encoder-b0 distil mit_b0 "$ENCODER_B0" "$SMALL/mit_b0.safetensors" "$DISTIL_B0"
  small=$!
fi
CLASSIFIERS=" " stage_a "$distilled" "" affinity,par > "$logs/seeds.log" 2>&1
note "seeds are done"

beside A6 student "$WORK" A6 "$RATE"
teacher=$!
beside A0 student "$WORK" A0 "$RATE"
[ -z "$SIZES" ] || SEEDS=$WORK/seeds/train_aug SIZES= RANDOM_SEEDS=0 beside sized student "$WORK/sized" A6 "$RATE" --sizes "$SIZES"
CLASSIFIERS=" " THREADS=${SCORING_THREADS:-6} beside seed-scores stage_a "$distilled" "${SEED_ROWS:-none crf par affinity affinity,par}" affinity,par

if [ -n "$SMALL" ]; then
  relabelled=$WORK/students/A6-0/relabelled/round-01
  until grep -qs '"complete": true' "$relabelled/seeds.json" || ! kill -0 "$teacher" 2> /dev/null; do sleep 2; done
  wait "$small" || true
  ARCH=mit_b0 EPOCHS=$EPOCHS_B0 SEEDS=$relabelled INIT=$SMALL/mit_b0.safetensors RANDOM_SEEDS=0 beside A5-b0 student "$SMALL" A5 "$RATE"
fi

failed=0
for job in $(jobs -p); do wait "$job" || failed=1; done
note "all is done; python3 scripts/voc/results.py $WORK/scores${SMALL:+ $SMALL/scores} --out voc12.json ... makes tables of it"
exit "$failed"
