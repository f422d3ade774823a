#!/usr/bin/env bash
# Runs every generator in tests/goldens. `git diff --stat tests/goldens` then shows what changed.
set -euo pipefail
cd "$(dirname "$0")/.."

for script in tests/goldens/*.py; do
  case $script in *_common.py) continue ;; esac
  echo "$script" >&2
  "${CRISP_DEPS_DIR:-.deps}/python/bin/python" "$script"
done
