#!/usr/bin/env bash
# Evaluates the portable rules of the differential test with engines that are not written in Rust. Run by hand: it fetches
# @bufbuild/cel from npm and cel-python from the Python package index into a folder of its own, which it removes again.
# Rules that are stricter than the native contract, or say less where they should say all, end it with a failure.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cases="$folder/cases.jsonl"

printf '\n== %s\n' 'the cases, as the native contract judges them'
CONTRACT_RULE_CASES="$cases" cargo test --quiet -p contract-manifest --test manifest -- \
    --exact rules::native_predicate_rule_and_schema_agree
wc -l <"$cases"

printf '\n== %s\n' '@bufbuild/cel'
npm install --silent --no-audit --no-fund --prefix "$folder" @bufbuild/cel@0.6.1
cp .ci/judges/cel.mjs "$folder"
node "$folder/cel.mjs" "$cases"

printf '\n== %s\n' 'cel-python'
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check cel-python==0.5.0
"$folder/python/bin/python" .ci/judges/cel.py "$cases"
