#!/bin/sh
# Process trees that flee, callers that are killed, and what a sandbox costs for each call. Prints figures.
#
#     examples/toolkit/campaigns/trees.sh [escapes] [kills] [calls]
set -eu
export TOOLKIT_ESCAPES="${1:-1000}" TOOLKIT_KILLS="${2:-200}" TOOLKIT_CALLS="${3:-200}"
cd "$(dirname "$0")/.."
uname -sr
# A name that no test has would pass: something must have run.
cargo test --release -p toolkit --test sandbox measured:: -- --ignored --nocapture --test-threads=1 |
    awk '{ print } /^test result: ok\. [1-9]/ { ran = 1 } END { exit !ran }'
