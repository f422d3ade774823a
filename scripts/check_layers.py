#!/usr/bin/env python3
"""Checks includes and namespaces against the `layers` block of ARCHITECTURE.md.

    scripts/check_layers.py               the project; exit status 1 and a line for each breach
    scripts/check_layers.py --self-test   small made-up projects, each with one known breach

Rules:
  * a room (crisp/ROOM) includes itself and the rooms its arrow names, always by full path;
  * LibTorch is included by crisp/tensor alone, everybody else includes crisp/tensor/torch.h;
    a room without an arrow to tensor sees neither;
  * code in crisp/ROOM is namespace crisp::ROOM, in crisp/base namespace crisp.
apps, tests, bench and examples may include every room.
"""

import re
import sys
import tempfile
from pathlib import Path

SOURCES = {".h", ".cpp", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
NAMESPACE = re.compile(r"^namespace (crisp[\w:]*)")
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
GENERATED = {"crisp_commit.h", "crisp_recipes.h"}


def read_layers(text):
    """Room -> rooms it may include, from the ```layers block."""
    block = re.search(r"^```layers\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if not block:
        raise SystemExit("error: ARCHITECTURE.md has no ```layers block")
    layers = {}
    for line in block[1].splitlines():
        room, arrow, targets = line.partition("->")
        room, targets = room.strip(), targets.split()
        if not arrow or not room or room in layers:
            raise SystemExit(f"error: ARCHITECTURE.md, layers: cannot read '{line}'")
        if targets == ["all", "above"]:
            targets = list(layers)
        for target in targets:
            if target not in layers:
                raise SystemExit(f"error: ARCHITECTURE.md, layers: {room} -> {target}, but {target} is not above it")
        layers[room] = set(targets)
    return layers


def breach_of_include(room, quoted, path, layers, cuda):
    """What is wrong with one include, or None. `room` is None outside crisp/."""
    if TORCH.match(path):
        return None if room == "tensor" else 'LibTorch is included through "crisp/tensor/torch.h" only'
    target = path.split("/")[1] if path.startswith("crisp/") else None
    if target is None:
        wrong = room and quoted and path not in GENERATED
        return "a room includes by full path, and only from crisp/" if wrong else None
    if target not in layers:
        return f"'{target}' is no room of the layers block"
    if room is None or target == room:
        return None
    if target == "tensor" and cuda:
        return "no torch in .cu files: kernels take raw pointers"
    if target not in layers[room]:
        allowed = " ".join(sorted(layers[room])) or "nothing"
        return f"{room} must not know {target} (it may include: {allowed})"
    return None


def breach_of_namespace(room, name, layers):
    if room is None:
        return None
    if room == "base":
        parts = name.split("::")
        right = parts[0] == "crisp" and (len(parts) == 1 or parts[1] not in layers)
        return None if right else f"crisp/base is namespace crisp, not {name}"
    expected = f"crisp::{room}"
    right = name == expected or name.startswith(expected + "::")
    return None if right else f"crisp/{room} is namespace {expected}, not {name}"


def check(root):
    """All breaches as 'file:line: rule'."""
    layers = read_layers((root / "ARCHITECTURE.md").read_text())
    breaches = []
    for top in ("crisp", "apps", "tests", "bench", "examples"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SOURCES:
                continue
            name = file.relative_to(root)
            room = name.parts[1] if top == "crisp" else None
            if room is not None and room not in layers:
                breaches.append(f"{name}:1: '{room}' is no room of the layers block")
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if found := INCLUDE.match(line):
                    wrong = breach_of_include(room, found[1] == '"', found[2], layers, file.suffix == ".cu")
                elif found := NAMESPACE.match(line):
                    wrong = breach_of_namespace(room, found[1], layers)
                else:
                    continue
                if wrong:
                    breaches.append(f"{name}:{number}: {found[0].strip()}: {wrong}")
    return breaches


def self_test():
    """Each case: a file, its text, and a part of the breach it must give (None: it is fine)."""
    block = "```layers\nbase ->\ntensor -> base\nimage -> base\nops -> base tensor\nflow -> all above\n```\n"
    cases = [
        ("crisp/ops/a.cpp", '#include "crisp/tensor/torch.h"\nnamespace crisp::ops {', None),
        ("crisp/flow/a.cpp", '#include "crisp/ops/a.h"\n#include "crisp/image/a.h"', None),
        ("crisp/tensor/a.cpp", "#include <c10/cuda/CUDAStream.h>", None),
        ("crisp/base/a.cpp", '#include "crisp_commit.h"\nnamespace crisp {', None),
        ("tests/ops/a.cpp", '#include "tests/support/support.h"\n#include "crisp/flow/a.h"', None),
        ("crisp/base/a.cpp", '\n#include "crisp/image/a.h"', "crisp/base/a.cpp:2: "),
        ("crisp/image/a.h", '#  include "crisp/tensor/torch.h"', "image must not know tensor (it may include: base)"),
        ("crisp/tensor/a.h", '#include "crisp/ops/a.h"', "tensor must not know ops"),
        ("crisp/ops/a.h", "#include <torch/torch.h>", "through"),
        ("apps/a.cpp", "#include <ATen/ATen.h>", "through"),
        ("crisp/ops/a.cu", '#include "crisp/tensor/torch.h"', "no torch in .cu"),
        ("crisp/ops/a.h", '#include "a_kernel.h"', "by full path"),
        ("crisp/ops/a.h", '#include "apps/a.h"', "only from crisp/"),
        ("crisp/ops/a.h", '#include "crisp/common/a.h"', "'common' is no room"),
        ("crisp/common/a.h", "", "'common' is no room"),
        ("crisp/image/a.h", "namespace crisp {", "is namespace crisp::image"),
        ("crisp/image/a.h", "namespace crisp::imagery {", "is namespace crisp::image"),
        ("crisp/base/a.h", "namespace crisp::image {", "is namespace crisp, not"),
    ]
    for path, text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "ARCHITECTURE.md").write_text(block)
            (root / path).parent.mkdir(parents=True)
            (root / path).write_text(text)
            found = check(root)
        fine = not found if expected is None else len(found) == 1 and expected in found[0]
        if not fine:
            raise SystemExit(f"self-test: {path} with {text!r}: expected {expected!r}, got {found}")
    for bad in ("no block", "```layers\na -> b\nb ->\n```\n", "```layers\na b\n```\n", "```layers\na ->\na ->\n```\n"):
        try:
            read_layers(bad)
        except SystemExit:
            continue
        raise SystemExit(f"self-test: the layers block {bad!r} was taken")
    print(f"layers: self-test passed ({len(cases)} cases)")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    breaches = check(Path(__file__).resolve().parent.parent)
    if breaches:
        raise SystemExit("\n".join(breaches) + f"\nerror: {len(breaches)} breaches of the layers of ARCHITECTURE.md")
    print("layers: every include and namespace follows ARCHITECTURE.md")


if __name__ == "__main__":
    main()
