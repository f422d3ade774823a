#!/usr/bin/env bash
# check_install.sh BUILD_FOLDER: installs into the build folder, builds examples/embed against that alone, runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly folder=$1
readonly prefix=$PWD/$folder/install-check/prefix embed=$folder/install-check/embed
fail() {
  echo "error: installed package: $*" >&2
  exit 1
}

# The old prefix would hide a file that is no longer installed. Installed headers keep their times, so the
# example is compiled again only when something changed.
rm -rf "$prefix"
cmake --install "$folder" --prefix "$prefix" >/dev/null
for file in bin/crispformer include/crisp/infer/predictor.h share/crispformer/weights/mit_b0.safetensors; do
  [ -e "$prefix/$file" ] || fail "$file is missing"
done
for pattern in 'libcrisp.*' crispformerConfig.cmake crispformerConfigVersion.cmake crispformerTargets.cmake; do
  [ -n "$(find "$prefix" -name "$pattern")" ] || fail "$pattern is missing"
done
"$prefix/bin/crispformer" --version >/dev/null || fail "the installed program does not start"

cmake -S examples/embed -B "$embed" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" \
  --log-level=WARNING >/dev/null
cmake --build "$embed" >"$embed/build.log" 2>&1 || { cat "$embed/build.log" >&2 && fail "examples/embed does not build"; }

# A tiny network with random weights: what it says means nothing, but the shares add up.
"$embed/embed" tests/goldens/model/hub tests/goldens/image/baseline.jpg >"$embed/shares.txt" ||
  fail "examples/embed failed"
awk '{ sum += $1 } END { exit !(NR > 0 && sum > 99 && sum < 101) }' "$embed/shares.txt" ||
  { cat "$embed/shares.txt" >&2 && fail "the class shares of examples/embed do not add up to 100%"; }
echo "install: program, library, headers, weights and package are there; examples/embed builds and runs"
