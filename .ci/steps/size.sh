#!/usr/bin/env bash
# Prints the lines of source of each crate beside its budget in `.ci/budget.txt`, and fails if one is above it.
# `size.sh --files` prints `path lines` instead, the longest file first. Needs git and python3 only.
#
# A line is a line of a file, blank ones and comments included. Counted are `.rs`, `.html`, `.css` and `.js` below `src/` of a
# package that git tracks or would add; a file belongs to the nearest manifest with a `[package]` above it.
# Not counted, because no user compiles it:
#   - `tests.rs`, `*_tests.rs`, `*_tests_*.rs`, and what lies in a folder `tests` below `src/`;
#   - a module that is declared under exactly `#[cfg(test)]`, in line (`mod x { .. }` at the left margin) or as a file or folder;
#   - folders `sample`, `fixtures`, `recordings`: what an example works on.
set -euo pipefail
cd "$(dirname "$0")/../.."

git ls-files -z --cached --others --exclude-standard | python3 -c '
import collections, os, re, sys
from pathlib import PurePosixPath as Path

KINDS = {".rs", ".html", ".css", ".js"}
DATA = re.compile(r"(^|/)(sample|fixtures|recordings)/")
NAMED = re.compile(r"(^|/)tests/|(^|/)(\w+_)?tests(_\w+)?\.rs$")
HEAD = r"^#\[cfg\(test\)\]\n((?:#\[[^\n]*\]\n)*)(?:pub(?:\([a-z ]+\))? )?mod (\w+)"
INLINE = re.compile(HEAD + r" \{\n.*?^\}\n?", re.M | re.S)
OUTER = re.compile(HEAD + r";", re.M)

files = [Path(name) for name in sys.stdin.read().split("\0") if name and os.path.isfile(name)]
text = lambda file: open(file, encoding="utf-8").read()
crates = {}
for file in files:
    if file.name == "Cargo.toml" and (name := re.search(r"^\[package\][^\[]*?^name *= *\"(.+?)\"", text(file), re.M | re.S)):
        crates[file.parent] = name[1]

sources, gated = [], set()
for file in files:
    crate = next((folder for folder in file.parents if folder in crates), None)
    if crate is None or file.suffix not in KINDS or DATA.search(str(file)) or not file.is_relative_to(crate / "src"):
        continue
    content = text(file)
    if file.suffix == ".rs":
        folder = file.parent if file.stem in ("mod", "lib", "main") else file.with_suffix("")
        for attributes, module in OUTER.findall(content):
            path = re.search(r"path = \"(.+?)\"", attributes)
            gated |= {file.parent / path[1]} if path else {folder / module, folder / (module + ".rs")}
        content = INLINE.sub("", content)
    sources.append((file, crate, len(content.splitlines())))

counted = [(file, crates[crate], lines) for file, crate, lines in sources
           if not NAMED.search(str(file.relative_to(crate))) and not gated & {file, *file.parents}]
if sys.argv[1:] == ["--files"]:
    for file, _, lines in sorted(counted, key=lambda row: -row[2]):
        print(file, lines)
else:
    sums = collections.Counter()
    for _, name, lines in counted:
        sums[name] += lines
    sums["total"] = sum(sums.values())
    rows = (line.split() for line in open(".ci/budget.txt") if line.strip() and not line.startswith("#"))
    budget = {name: int(lines) for name, lines in rows}
    wrong = []
    row = "{:24}{:>9}{:>9}".format
    print(row("crate", "lines", "budget"))
    for name in sorted(sums.keys() | budget.keys(), key=lambda name: (name == "total", name)):
        lines, most = sums[name], budget.get(name)
        print(row(name, lines, "none" if most is None else most))
        if most is None:
            wrong.append(f"{name} has no budget; add a line `{name} {lines}` to .ci/budget.txt, and lower the rows its code came from")
        elif lines > most:
            wrong.append(f"{name} has {lines - most} lines more than its budget; remove lines, or say in the commit why the budget rises")
        elif lines == 0:
            wrong.append(f"{name} does not exist; remove its row from .ci/budget.txt")
    sys.exit("\n".join(wrong) or None)
' "$@"
