#!/usr/bin/env bash
# bench.sh BUILD_FOLDER: our own benchmarks, then the comparisons with other programs.
# CRISP_BENCH_ARGUMENTS goes to the comparison (its --help tells), e.g. "--archs mit_b0 --rounds 3"; those of the ViT
# alone are CRISP_BENCH_VIT_ARGUMENTS.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
for program in "$folder"/bench/bench_*; do
  [ ! -x "$program" ] || [ -d "$program" ] || "$program"
done
python=${CRISP_DEPS_DIR:-.deps}/peers/bin/python
"$python" bench/peers/run.py --program "$folder/crispformer" --out "$folder/bench.json" ${CRISP_BENCH_ARGUMENTS:-}
"$python" bench/peers/vit.py --program "$folder/crispformer" --out "$folder/bench-vit.json" ${CRISP_BENCH_VIT_ARGUMENTS:-}
