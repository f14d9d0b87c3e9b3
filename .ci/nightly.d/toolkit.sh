#!/usr/bin/env bash
# Runs the toolkit's campaigns and benchmarks, for a short while. The long figures stand in docs/src/toolkit.md; this shows that the
# scripts still print them, and fails where something escapes, is lost or is left behind.
set -euo pipefail
cd "$(dirname "$0")/../.."

RG=$(.ci/steps/tools.sh)
export RG
# A name that no test has would pass: something must have run.
tests() {
    printf '\n== tests: %s %s\n' "$@"
    cargo test --quiet -p toolkit --test "$@" | awk '{ print } /^test result: ok\. [1-9]/ { ran = 1 } END { exit !ran }'
}

tests search peer::
tests files crash::

campaign() {
    printf '\n== campaign: %s\n' "$*"
    cargo run --quiet --release -p toolkit --example "$@"
}

campaign races 20000 20
campaign crash 50
campaign sparse
campaign large 20000
printf '\n== campaign: %s\n' 'a flood of 64 MiB'
examples/toolkit/campaigns/flood.sh 67108864
printf '\n== campaign: %s\n' 'process trees'
examples/toolkit/campaigns/trees.sh 100 20 20
for bench in read write search; do
    printf '\n== benchmark: %s\n' "$bench"
    cargo bench --quiet -p toolkit --bench "$bench"
done
