#!/usr/bin/env bash
# demo.sh PROGRAM: the whole way on rendered scenes: photos and tags in, a model, masks and a report out. About five
# minutes on two cores. Leaves demo/; a second call goes on where the first one was.
set -euo pipefail
cd "$(dirname "$0")/.."

show() {
  printf '\n$ crispformer %s\n' "$*"
  "$program" "$@"
}

program=$1
show synth --out demo/scenes --images 512 --size 160 --zoom 1.5
show run --data demo/scenes --out demo/run --recipe quick
printf '\nThe report, for a browser: %s\n' "demo/run/report.html"
