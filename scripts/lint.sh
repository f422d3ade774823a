#!/usr/bin/env bash
# lint.sh BUILD_FOLDER [SOURCE...]: clang-tidy with the checks of .clang-tidy over our .cpp files.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
shift
tool=$(echo "${CRISP_DEPS_DIR:-.deps}"/lint/lib/python3*/site-packages/clang_tidy/data/bin/clang-tidy)
[ $# -gt 0 ] || mapfile -t all < <(find crisp apps -name '*.cpp' | sort)
[ $# -gt 0 ] || set -- "${all[@]}"

# The commands are gcc's, with its precompiled header; clang reads the header itself instead.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed -E 's/ -fpch-preprocess//g; s/ -Winvalid-pch//g; s/ -include [^ ]*cmake_pch\.hxx//g' \
  "$folder/compile_commands.json" >"$commands/compile_commands.json"
printf '%s\0' "$@" | xargs -0 -P "$(nproc)" -n 1 "$tool" -p "$commands" --quiet --warnings-as-errors='*' \
  --extra-arg=-Wno-unknown-warning-option
