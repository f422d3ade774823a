#!/usr/bin/env bash
# The series of docs/results/voc12.md in one go on one GPU, students side by side: an encoder distilled further, tags and
# seeds from it, A0, A6 and the supervised model of MiT-B1, A6 of MiT-B0 on the same seeds, all scored on val_dev. It calls the
# stages, so what is finished is left alone and what was begun goes on. Settings: those of common.sh and the ones below.
set -euo pipefail
case ${1:-} in
  -h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

export WORK=${WORK:-runs/voc-mit_b1} VOC=${VOC:-runs/VOC2012} LIMIT=${LIMIT:-0}
SMALL=${SMALL:-runs/voc-mit_b0}                   # what is made of MiT-B0
PYTHON=${PYTHON:-python3}                         # with what scripts/distil/README.md names
ENCODER=${ENCODER:-../shared/weights/mit_b1.safetensors}
ENCODER_B0=${ENCODER_B0:-weights/mit_b0.safetensors}
DISTIL=${DISTIL:---teacher 0,1,2 --seconds 400}
ZOOM=${ZOOM:-1.5}
export EPOCHS=${EPOCHS:-12} SUPERVISED_EPOCHS=${SUPERVISED_EPOCHS:-70}
EPOCHS_B0=${EPOCHS_B0:-8}
export ENLARGED=1                                 # students learn from enlarged photos: no further scale is tried
# Both are what `run --preset standard` takes, with one round of relabelling.
export BEYOND=${BEYOND:---weighting-from 1 --heteroscedastic 0.1 --dice 0.3 --presence 1 --fusion mixed --edges 4 --doubt 0.3}
export STUDENT_OPTIONS=${STUDENT_OPTIONS:---rate 1.4e-4 --head-rate 1.4e-3 --drop-first 0 --drop-last 0 --keep-first 1 --keep-last 1
  --found 0.5 --relabel-refine par --relabel-flip --trust 0.5 --relabel-from 0.4 --relabel-every 0.7}
student_crop=${STUDENT_CROP:-384}
student_batch=${STUDENT_BATCH:-32}

logs=$WORK/logs
mkdir -p "$logs"
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

# student WORK ROW: trained, then scored.
student() {
  WORK=$1 ROWS=$2 CROP=$student_crop BATCH=$student_batch scripts/voc/stage_b.sh --zoom "$ZOOM"
  WORK=$1 scripts/voc/eval.sh "$2-0"
}

# stage_a ENCODER REFINEMENTS REFINE: stage_a.sh, whose tags come first; without refinements tags alone.
stage_a() { INIT=$1 REFINEMENTS=$2 REFINE=$3 scripts/voc/stage_a.sh; }

distilled=$WORK/mit_b1.safetensors
if [ ! -f "$distilled" ]; then
  read -ra distil <<< "$DISTIL"
  "$PYTHON" scripts/distil/distil.py --photos "$VOC/JPEGImages" --ids "$VOC/ImageSets/Segmentation/train_aug.txt" --arch mit_b1 \
    --init "$ENCODER" --photos-at-most "$LIMIT" --out "$distilled.part" "${distil[@]}"
  mv "$distilled.part" "$distilled"
fi
note "encoder is done"
stage_a "$distilled" "" "" > "$logs/tags.log" 2>&1
note "tags are done"

# The GPU has room beside the making of seeds.
INIT=$WORK/tags beside supervised student "$WORK" supervised
ARCH=mit_b0 WORK=$SMALL beside tags-b0 stage_a "$ENCODER_B0" "" ""
small_tags=$!
stage_a "$distilled" "" affinity,par > "$logs/seeds.log" 2>&1
note "seeds are done"

INIT=$WORK/tags beside A6 student "$WORK" A6
INIT=$WORK/tags beside A0 student "$WORK" A0
wait "$small_tags" || true
ARCH=mit_b0 EPOCHS=$EPOCHS_B0 SEEDS=$WORK/seeds/train_aug INIT=$SMALL/tags beside A6-b0 student "$SMALL" A6
THREADS=${SCORING_THREADS:-6} beside seed-scores stage_a "$distilled" "none crf par affinity affinity,par" affinity,par

failed=0
for job in $(jobs -p); do wait "$job" || failed=1; done
note "all is done; python3 scripts/voc/results.py $WORK/scores $SMALL/scores --out voc12.json ... makes tables of it"
exit "$failed"
