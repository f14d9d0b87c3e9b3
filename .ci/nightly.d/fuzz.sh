#!/usr/bin/env bash
# Builds the fuzz targets on nightly and runs each for a short while; FUZZ_SECONDS says how long.
# It installs what it needs: the nightly toolchain and cargo-fuzz.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'fuzzing, for a short while'
cargo +nightly --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal
cargo +nightly fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --locked --quiet
for crate in contract-runtime companions/remote; do
    cd "$crate"
    cargo +nightly fuzz build
    for target in $(cargo +nightly fuzz list); do
        echo "$target"
        # No leak detection: it needs ptrace, which containers often forbid.
        cargo +nightly fuzz run "$target" -- -max_total_time="${FUZZ_SECONDS:-20}" -max_len=4096 -detect_leaks=0 2>&1 |
            grep -E '^(Done|SUMMARY|ERROR)|panicked at'
    done
    cd - >/dev/null
done
