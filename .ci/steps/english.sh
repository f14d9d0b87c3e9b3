#!/usr/bin/env bash
# Looks in messages (string literals outside of tests), comments and the guide for turns that are not English: "is none",
# "is no list" for "is not a list"; in messages also for "whoever". "There is no .." and "no longer" are fine.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'messages, comments and the guide in plain English'
git ls-files 'contract-*/*.rs' 'companions/*.rs' 'examples/*.rs' 'docs/*.md' '*.md' | sort -u | python3 -c '
import re, sys

# Comments and characters come first, so that a quotation mark in one begins no string.
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|\x27(?:\\[^\n]+?|[^\\\x27\n])\x27|\bb?r(#*)"(.*?)"\1|"((?:[^"\\]|\\.)*)\"""", re.S)
NEGATED = r"(?<!here )\b(?:is|are) (?:none\b(?! of)|no (?!longer\b|more\b|less\b|fewer\b|later\b|different\b)[A-Za-z`]\S*)"
IN_MESSAGES = re.compile(NEGATED + r"|\b[Ww]hoever\b|\b[Nn]obody who\b|(?:^|[.;:] )[Ww]ho [a-z]", re.M)
IN_PROSE = re.compile(NEGATED)
TESTS = re.compile(r"/tests?[/.]|_tests?\.rs")

found = 0


def look(file, line, text, odd):
    global found
    if turn := odd.search(text):
        found += 1
        print(f"{file}:{line}: \"{turn[0].strip()}\" in: {text.strip()}")


for file in sys.stdin.read().split():
    if TESTS.search(file):
        continue
    source = open(file, encoding="utf-8").read()
    if file.endswith(".md"):
        for line, text in enumerate(source.splitlines(), 1):
            look(file, line, text, IN_PROSE)
        continue
    source = re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", source)[0]
    for token in TOKEN.finditer(source):
        before = source[: token.start()]
        line = before.count("\n") + 1
        if token[0].startswith("//"):
            look(file, line, token[0], IN_PROSE)
        elif not before.endswith("reason = "):
            look(file, line, re.sub(r"\\\n\s*", "", token[2] or token[3] or ""), IN_MESSAGES)
print(f"{found} texts to put in plain English")
sys.exit(found > 0)'
