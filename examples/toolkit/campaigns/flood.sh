#!/bin/sh
# A command that writes 1 GiB to each of its streams: how much memory does the host take for it?
# Usage: campaigns/flood.sh [BYTES]
set -eu
cd "$(dirname "$0")/.."
# A name that no test has would pass: something must have run.
TOOLKIT_FLOOD_BYTES="${1:-1073741824}" \
    cargo test --release -p toolkit --test shell flood::a_flood_takes_no_memory -- --exact --nocapture 2>&1 |
    awk '/^D12|^NOT RUN|^test result|panicked/; /^test result: ok\. 1 passed/ { ran = 1 } END { exit !ran }'
