#!/usr/bin/env bash
# Brings in what the build needs, and nothing that is there already.
#
#   scripts/setup.sh packages   compilers and libraries of the system (Debian, Ubuntu)
#   scripts/setup.sh torch      LibTorch from the PyPI wheel; GPU=1: with CUDA
#   scripts/setup.sh format     clang-format, the one version everybody formats with
#   scripts/setup.sh lint       clang-tidy
#   scripts/setup.sh peers      what `make bench` compares with
#   scripts/setup.sh goldens    what tests/goldens/*.py need
#
# Several may be named at once. Everything but system packages goes to CRISP_DEPS_DIR (default: .deps), each
# thing in a Python environment of its own, with a stamp that says what was installed once it is complete.
# CRISP_TORCH_DIR points at a torch that is already there (.../site-packages/torch); then none is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly deps=${CRISP_DEPS_DIR:-.deps}
readonly torch=torch==2.11.0
# libtorch_cpu.so loads these two and nothing else of CUDA.
readonly torch_cpu_companions="nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85"
readonly clang_format=clang-format==19.1.7
readonly clang_tidy=clang-tidy==23.1.4

# Debian package and what shows that it is there, wherever it came from: a program or a header.
readonly packages="
g++                g++
cmake              cmake
ninja-build        ninja
make               make
ccache             ccache
git                git
python3            python3
python3-venv       python:ensurepip
libcli11-dev       CLI/CLI.hpp
nlohmann-json3-dev nlohmann/json.hpp
libspdlog-dev      spdlog/spdlog.h
libfmt-dev         fmt/format.h
libtomlplusplus-dev toml++/toml.h
libjpeg-dev        jpeglib.h
libpng-dev         png.h
libgtest-dev       gtest/gtest.h
libbenchmark-dev   benchmark/benchmark.h"

say() { echo "setup: $*" >&2; }
fail() {
  echo "error: $*" >&2
  exit 1
}

is_there() {
  case $1 in
    python:*) python3 -c "import ${1#python:}" 2>/dev/null ;;
    *.h | *.hpp) [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing_packages() {
  local name probe
  while read -r name probe; do
    [ -z "$name" ] || is_there "$probe" || echo "$name"
  done <<<"$packages"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Root, or sudo that either needs no password or has somebody at the keyboard to type it.
can_be_root() {
  [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; }
}

setup_packages() {
  local missing
  missing=$(missing_packages | xargs)
  [ -n "$missing" ] || return 0
  if ! command -v apt-get >/dev/null; then
    fail "these are missing (Debian's names; install what your system calls them): $missing"
  fi
  local by_hand="install by hand, then try again:  apt-get install $missing"
  can_be_root || fail "packages are missing and there is neither root nor sudo; $by_hand"
  say "installing $missing"
  as_root apt-get update -qq || say "apt-get update failed; trying with the lists that are there"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2 ||
    fail "apt-get could not install the packages; $by_hand"
  missing=$(missing_packages | xargs)
  [ -z "$missing" ] || fail "still missing after the installation: $missing"
}

# environment NAME STAMP PIP-ARGUMENTS...: $deps/NAME holds these packages. The stamp is written last, so an
# interrupted installation is taken up again.
environment() {
  local folder=$deps/$1 stamp=$2
  shift 2
  if [ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ] && [ -x "$folder/bin/python" ]; then return 0; fi
  say "installing $stamp into $folder"
  mkdir -p "$deps"
  if ! "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
    python3 -m venv --clear "$folder" || fail "python3 -m venv could not make $folder"
  fi
  rm -f "$folder/stamp"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2 || return 1
  printf '%s\n' "$stamp" >"$folder/stamp"
}

setup_torch() {
  local gpu=${GPU:-0} stamp="$torch"
  [ "$gpu" = 1 ] && stamp="$torch with CUDA"
  if [ -n "${CRISP_TORCH_DIR:-}" ]; then
    [ -e "$CRISP_TORCH_DIR/include/torch/csrc/api/include/torch/torch.h" ] ||
      fail "CRISP_TORCH_DIR=$CRISP_TORCH_DIR: no include/torch/csrc/api/include/torch/torch.h in it; it should be" \
        "the folder .../site-packages/torch"
    [ "$gpu" != 1 ] || [ -e "$CRISP_TORCH_DIR/lib/libtorch_cuda.so" ] ||
      fail "CRISP_TORCH_DIR=$CRISP_TORCH_DIR: a torch without CUDA (no lib/libtorch_cuda.so), but GPU=1 was asked for"
    return 0
  fi
  # The one with CUDA serves programs without it too.
  if [ "$gpu" != 1 ] && [ "$(cat "$deps/torch/stamp" 2>/dev/null)" = "$torch with CUDA" ]; then return 0; fi
  local done=0
  if [ "$gpu" = 1 ]; then
    environment torch "$stamp" "$torch" || done=1
  else
    environment torch "$stamp" --no-deps "$torch" $torch_cpu_companions || done=1
  fi
  [ $done = 0 ] || fail "pip could not install $torch$(torch_elsewhere)"
}

# A hint for machines without a network that have torch in their Python.
torch_elsewhere() {
  local found
  found=$(python3 -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])" 2>/dev/null) ||
    return 0
  echo "; python3 has one: try again with CRISP_TORCH_DIR=$found"
}

# A requirements file is installed anew when it changes.
from_requirements() {
  environment "$1" "$2 $(cksum <"$2" | tr ' ' '-')" -r "$2" || fail "pip could not install what $2 lists"
}

[ $# -gt 0 ] || set -- packages torch
for part in "$@"; do
  case $part in
    packages) setup_packages ;;
    torch) setup_torch ;;
    format) environment format "$clang_format" "$clang_format" ||
      fail "pip could not install $clang_format; \`make test FORMAT=0\` leaves the format check out" ;;
    lint) environment lint "$clang_tidy" "$clang_tidy" || fail "pip could not install $clang_tidy" ;;
    peers) from_requirements peers bench/peers/requirements.txt ;;
    goldens) from_requirements python tests/goldens/requirements.txt ;;
    *) fail "scripts/setup.sh: unknown part '$part'" ;;
  esac
done
