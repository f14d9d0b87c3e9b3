#!/usr/bin/env bash
# Builds the fuzz targets and runs each for ten minutes, or for FUZZ_SECONDS.
# It installs what it needs: the nightly toolchain and cargo-fuzz.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'fuzzing'
cargo +nightly --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal
bin=$(.ci/steps/cargo_tool.sh fuzz)
PATH=$bin:$PATH
# What a model sends, what a peer sends, and any text against any schema.
for fuzzed in contract-runtime/arguments companions/remote/frame_to_message contract-schema/validator; do
    cd "${fuzzed%/*}"
    cargo +nightly fuzz build
    # No leak detection: it needs ptrace, which containers often forbid.
    cargo +nightly fuzz run "${fuzzed##*/}" -- -max_total_time="${FUZZ_SECONDS:-600}" -max_len=4096 -detect_leaks=0 2>&1 |
        grep -E '^(Done|SUMMARY|ERROR)|panicked at'
    cd - >/dev/null
done
