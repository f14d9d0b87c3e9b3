#!/usr/bin/env bash
# Looks in the messages of the program, its string literals outside of tests, for turns that are not English: "is none",
# "is no list" for "is not a list", "whoever". "There is no .." and "no longer" are fine.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'messages in plain English'
git ls-files 'contract-*/src/*.rs' 'examples/*/src/*.rs' | python3 -c '
import re, sys

# Comments and characters come first, so that a quotation mark in one begins no string.
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|\x27(?:\\[^\n]+?|[^\\\x27\n])\x27|\bb?r(#*)"(.*?)"\1|"((?:[^"\\]|\\.)*)\"""", re.S)
ODD = re.compile(
    r"(?<!there )\b(?:is|are) (?:none\b|no (?!longer\b|more\b|less\b|fewer\b)[A-Za-z`]\S*)"
    r"|\b[Ww]hoever\b|\b[Nn]obody who\b|(?:^|[.;:] )[Ww]ho [a-z]",
    re.M,
)
TESTS = re.compile(r"/tests?[/.]|_tests?\.rs")

found = 0
for file in sys.stdin.read().split():
    if TESTS.search(file):
        continue
    source = open(file, encoding="utf-8").read()
    source = re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", source)[0]
    for token in TOKEN.finditer(source):
        text = token[2] or token[3] or ""
        before = source[: token.start()]
        if before.endswith("reason = "):
            continue
        text = re.sub(r"\\\n\s*", "", text)
        if odd := ODD.search(text):
            found += 1
            line = before.count("\n") + 1
            print(f"{file}:{line}: \"{odd[0].strip()}\" in: {text}")
print(f"{found} messages to put in plain English")
sys.exit(found > 0)'
