#!/usr/bin/env bash
# demo.sh PROGRAM: what can be seen without training: the build, the shipped weights, a network's cost and speed, and
# the scenes to try things on. Leaves demo/.
set -euo pipefail
cd "$(dirname "$0")/.."

show() {
  printf '\n$ crispformer %s\n' "$*"
  "$program" "$@"
}

program=$1
show info
show info weights/mit_b0.safetensors
show info --arch mit_b0 --head crispformer --classes 21 --size 512
show bench --arch mit_b0 --head crispformer --size 512 --iterations 5
rm -rf demo
show synth --out demo/scenes --images 24
show check --data demo/scenes
printf '\nThe scenes: demo/scenes/images, their masks: demo/scenes/masks\n'
