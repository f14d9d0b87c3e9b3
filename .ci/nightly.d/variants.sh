#!/usr/bin/env bash
# Builds that change what a contract can do: panics that abort, and no checks at all.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Runs the program in one build, and demands that it was the build that was meant.
try() {
    local expected=$1 said
    shift
    said=$(cargo run --quiet -p variants "$@")
    printf '%s\n' "$said"
    grep -q "$expected" <<<"$said"
}

printf '\n== %s\n' 'an ordinary build'
try 'stripped: false, aborts: false'
printf '\n== %s\n' 'panic = "abort"'
CARGO_PROFILE_DEV_PANIC=abort try 'stripped: false, aborts: true' --target-dir target/abort
printf '\n== %s\n' '--cfg contract_strip'
RUSTFLAGS='--cfg contract_strip' try 'stripped: true, aborts: false' --target-dir target/strip
