# Settings and helpers of the VOC scripts; sourced by them. Every setting is an environment variable.
# shellcheck shell=bash
set -euo pipefail
export LC_ALL=C
case ${1:-} in
  -h | --help)  # the comment at the head of the script
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

gpu=$(command -v nvidia-smi > /dev/null && nvidia-smi > /dev/null 2>&1 && echo 1 || echo 0)
built=build/crispformer
[ ! -x build-gpu/crispformer ] || built=build-gpu/crispformer
CRISP=${CRISP:-$built}                            # the program
ARCH=${ARCH:-mit_b1}
WORK=${WORK:-runs/voc-$ARCH}                      # everything that is made
VOC=${VOC:-runs/VOC2012}                          # the data set, where unpack.sh puts it
LIMIT=${LIMIT:-0}                                 # rehearsal: the first so many photos of each list; 0: all

INIT=${INIT:-}                                    # encoder weights; empty: ../shared/weights, else those shipped
[ -n "$INIT" ] || [ ! -f "../shared/weights/$ARCH.safetensors" ] || INIT=../shared/weights/$ARCH.safetensors
CROP=${CROP:-320}
BATCH=${BATCH:-16}
AMP=${AMP:-$([ "$gpu" = 1 ] && echo bf16 || echo f32)}                   # of training
INFER_BATCH=${INFER_BATCH:-$([ "$gpu" = 1 ] && echo 16 || echo 4)}       # photos of one size at once
DEVICE=${DEVICE:-auto}
THREADS=${THREADS:-0}

TAG_EPOCHS=${TAG_EPOCHS:-12}                      # stage A; what its maps were compared by: docs/method.md
TAG_OPTIONS=${TAG_OPTIONS:---pooling top --top-share 0.2 --mosaic 0.5 --rate 1e-4 --head-rate 1e-3}
FROZEN=${FROZEN:-}                                # strides of classifiers on the unchanged encoder, e.g. "16 32"; seeds are then of their maps
FROZEN_OPTIONS=${FROZEN_OPTIONS:---epochs 4 --pooling top --top-share 0.2 --rate 0 --head-rate 2e-3}
CLASSIFIERS=${CLASSIFIERS:-tags $FROZEN}            # those that stage_a.sh makes
SCALES=${SCALES:-$([ -n "$FROZEN" ] && echo 1.5 || echo 0.75,1,1.25)}    # of activation maps
REFINEMENTS=${REFINEMENTS-plain none crf par affinity affinity,par}      # compared on train; plain: maps not spread
REFINE=${REFINE-affinity,par}                     # of the seeds that students learn from; empty: tags alone
BACKGROUND=${BACKGROUND:-0.45}                    # the program's own default, not tuned
PLAIN_BACKGROUND=${PLAIN_BACKGROUND:-0.2}           # of maps not spread. CHOSEN WITH MASKS, as is the next
WALKED_BACKGROUND=${WALKED_BACKGROUND:-0.5}       # after affinity. CHOSEN WITH MASKS: by a sweep over 200 photos of train
CRF_SCALE=${CRF_SCALE:-1}
AFFINITY=${AFFINITY:-train}                       # network for train_aug: the one learned on train, or own: a new one
AFFINITY_EPOCHS=${AFFINITY_EPOCHS:-6}
SWEEP=${SWEEP:-0}                                 # 1: print mIoU by background, on 100 masks of train

SEEDS=${SEEDS:-$WORK/seeds/train_aug}             # stage B: what students learn from
LEARNED=${LEARNED:-train_aug}                     # the list of photos they learn from; those of $SEEDS, or fewer
HELD=${HELD:-}                                    # a list of photos with masks that they do not learn from, to choose by; scored too
EPOCHS=${EPOCHS:-40}
ENLARGED=${ENLARGED:-1.5}                         # students are evaluated at this scale too; 1: they are not. CHOSEN WITH MASKS of train
SIZES=${SIZES:-}                                  # how large classes are (`calibrate --sizes`), e.g. scripts/voc/sizes.txt; students are scored with that too
MULTISCALE=${MULTISCALE:-1}                       # 0: students are not evaluated by five scales and flips, which takes ten times as long
# For every row: all pixels count, and rounds of relabelling are few, refined and taken; why: docs/method.md
STUDENT_OPTIONS=${STUDENT_OPTIONS:---rate 1e-4 --head-rate 1e-3 --drop-first 0 --drop-last 0 --keep-first 1 --keep-last 1
  --found 0.5 --relabel-from 0.3 --relabel-every 0.2 --relabel-refine par}
BEYOND=${BEYOND:-}                                # options of every row but A0, the plain head: where we leave the paper
ROWS=${ROWS:-A0 A6 supervised}                    # A0 .. A6; U0 .. U4 (A6 with that uncertainty); supervised
RANDOM_SEEDS=${RANDOM_SEEDS:-0}                   # a run for each of these random numbers
SUPERVISED_EPOCHS=${SUPERVISED_EPOCHS:-$((EPOCHS * 7))}  # train has a seventh of train_aug's photos: as many steps

common=(--device "$DEVICE" --threads "$THREADS")
[ -x "$CRISP" ] || { echo "$CRISP: no such program; make build (GPU=1), or set CRISP" >&2; exit 1; }

# say WORDS: a line that stands out.
say() { printf '\n== %s\n' "$*"; }

# timed COMMAND ...: prints the command, runs it, prints and keeps how long it took.
timed() {
  local start=${EPOCHREALTIME/./} status=0 tenths
  printf '\n$ %s\n' "$*"
  "$@" || status=$?
  tenths=$(((${EPOCHREALTIME/./} - start) / 100000))
  mkdir -p "$WORK"
  printf '%s\t%d.%d s\tstatus %d\t%s\n' "$(date -u +%FT%TZ)" $((tenths / 10)) $((tenths % 10)) "$status" "$*" \
    >> "$WORK/times.txt"
  printf '(%d.%d s)\n' $((tenths / 10)) $((tenths % 10))
  return "$status"
}

# is_complete FOLDER: a seed or run folder that was finished.
is_complete() {
  local head
  for head in "$1/seeds.json" "$1/run.json"; do
    if [ -f "$head" ] && grep -q '^  "complete": true' "$head"; then return 0; fi
  done
  return 1
}

# training COMMAND RUN OPTIONS ...: `classify` or `train` into RUN; goes on where it was, leaves a finished run alone.
training() {
  local command=$1 run=$2
  shift 2
  if is_complete "$run"; then
    echo "there already: $run"
  elif [ -f "$run/run.json" ]; then
    timed "$CRISP" "$command" --resume "$run" "${common[@]}"
  else
    timed "$CRISP" "$command" --out "$run" "$@" "${common[@]}"
  fi
}

# evaluate NAME OPTIONS ...: numbers into $WORK/scores/NAME, once.
evaluate() {
  local name=$1
  shift
  if [ -f "$WORK/scores/$name/metrics.json" ]; then
    echo "there already: $WORK/scores/$name"
  else
    timed "$CRISP" eval --out "$WORK/scores/$name" --title "$name" --data "$data" "$@" "${common[@]}"
  fi
}

# number NAME KEY: a number of an evaluation with two digits, - where it has none.
number() {
  local value
  value=$(sed -n "s/^  \"$2\": \([-0-9.e]*\),\{0,1\}$/\1/p" "$WORK/scores/$1/metrics.json" 2> /dev/null || true)
  if [ -n "$value" ]; then printf '%.2f' "$value"; else printf -- '-'; fi
}

# The data set, or for a rehearsal a folder of links with shorter lists.
data=$VOC
[ -d "$VOC/JPEGImages" ] || { echo "$VOC: no JPEGImages in it; run scripts/voc/unpack.sh, or set VOC" >&2; exit 1; }
if [ "$LIMIT" -gt 0 ]; then
  data=$WORK/first-$LIMIT
  mkdir -p "$data/ImageSets/Segmentation"
  for part in JPEGImages SegmentationClass SegmentationClassAug Annotations tags classes.txt; do
    [ ! -e "$VOC/$part" ] || ln -sfn "$(realpath "$VOC/$part")" "$data/$part"
  done
  for list in "$VOC"/ImageSets/Segmentation/*.txt; do
    head -n "$LIMIT" "$list" > "$data/ImageSets/Segmentation/$(basename "$list")"
  done
fi
init=()
[ -z "$INIT" ] || init=(--init "$INIT")
