#!/usr/bin/env bash
# Formats every C++ source; with --check it changes nothing and fails where something would change.
set -euo pipefail
cd "$(dirname "$0")/.."

# The program itself, not pip's launcher: a launcher breaks when the project's folder moves.
tool=$(echo "${CRISP_DEPS_DIR:-.deps}"/format/lib/python3*/site-packages/clang_format/data/bin/clang-format)
[ -x "$tool" ] || { echo "error: no clang-format at $tool; run \`make format\`" >&2 && exit 1; }

sources() { find crisp apps tests bench examples -name '*.h' -o -name '*.cpp' -o -name '*.cu' | sort; }

if [ "${1:-}" != --check ]; then
  sources | xargs "$tool" -i
elif ! bad=$(sources | xargs "$tool" --dry-run --Werror 2>&1); then
  grep -oE '^[^:]+:[0-9]+:[0-9]+' <<<"$bad" | sort -u -t: -k1,1 >&2
  echo "error: the files above are not formatted (first place of each); \`make format\` does it" >&2
  exit 1
fi
