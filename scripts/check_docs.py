#!/usr/bin/env python3
"""Checks that the documents speak of what is there.

    scripts/check_docs.py [--program build/crispformer]   the project; a line for each breach, exit status 1
    scripts/check_docs.py --self-test                     made-up documents with known breaches

Rules: relative links lead to files; files named in `backticks` below our folders exist (names with capitals or signs
are patterns and are left alone); the README's table has a row `crispformer NAME` for each command of the program,
and no other; docs/options.md is what the program says.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

FOLDERS = "apps|bench|cmake|crisp|docs|examples|recipes|scripts|tests|weights"
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
FILE = re.compile(rf"`((?:{FOLDERS})/[a-z0-9_./]+\.[a-z]+)`")
COMMAND_ROW = re.compile(r"^\| `crispformer (\w[\w-]*)", re.MULTILINE)
COMMAND_HELP = re.compile(r"^  (\w[\w-]*)  ", re.MULTILINE)


def documents(root):
    for pattern in ("*.md", "docs/**/*.md", "weights/*.md", "bench/**/*.md", "examples/**/*.md"):
        # docs/lab are dated notes: they speak of what was there then.
        yield from (path for path in sorted(root.glob(pattern)) if root / "docs/lab" not in path.parents)


def check_files(root):
    breaches = []
    for document in documents(root):
        for number, line in enumerate(document.read_text().splitlines(), 1):
            missing = [f"link to {target}" for target in LINK.findall(line)
                       if "://" not in target and not (document.parent / target).exists()]
            missing += [f"`{target}`" for target in FILE.findall(line) if not (root / target).exists()]
            breaches += [f"{document.relative_to(root)}:{number}: {what}: no such file" for what in missing]
    return breaches


def check_commands(readme, help_text):
    told, real = set(COMMAND_ROW.findall(readme)), set(COMMAND_HELP.findall(help_text))
    breaches = [f"README.md: the table of commands lacks `crispformer {name}`" for name in sorted(real - told)]
    return breaches + [f"README.md: the program has no command `{name}`" for name in sorted(told - real)]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "docs").mkdir()
        (root / "docs/a.md").write_text("[up](../README.md#part) [web](https://example.org/x) `crisp/ROOM/x.h`\n")
        (root / "README.md").write_text("[fine](docs/a.md)\n[gone](docs/b.md)\n`docs/a.md` `crisp/base/x.h`\n")
        found = check_files(root)
    assert found == ["README.md:2: link to docs/b.md: no such file", "README.md:3: `crisp/base/x.h`: no such file"], found
    table = "| `crispformer info` | tells |\n| `crispformer fly` | no |\n"
    found = check_commands(table, "Commands:\n  info       tells\n  bench      times\n")
    assert found == ["README.md: the table of commands lacks `crispformer bench`",
                     "README.md: the program has no command `fly`"], found
    print("docs: self-test passed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    root = Path(__file__).resolve().parent.parent
    breaches = check_files(root)
    if arguments.program:
        told = subprocess.run([arguments.program, "--help"], capture_output=True, text=True, check=True).stdout
        breaches += check_commands((root / "README.md").read_text(), told)
        fields = subprocess.run([arguments.program, "recipe", "options"], capture_output=True, text=True, check=True).stdout
        if fields != (root / "docs/options.md").read_text():
            breaches.append("docs/options.md: not what the program says: crispformer recipe options > docs/options.md")
    if breaches:
        raise SystemExit("\n".join(breaches) + f"\nerror: {len(breaches)} places where the documents are wrong")
    print("docs: links, files, commands and fields are there")


if __name__ == "__main__":
    main()
