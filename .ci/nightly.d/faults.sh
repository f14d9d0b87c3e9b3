#!/usr/bin/env bash
# Faults between backend and executor: real ones between processes, and simulated ones.
#
#     faults.sh          every place once, 300 seeds
#     faults.sh long     1,000 real faults, sides that are stopped for 40 s, 10,000 seeds
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${1:-}" = long ]; then
    export REMOTE_FAULTS=1000 REMOTE_FAULTS_STOP=40 SEEDS=10000
else
    export SEEDS=300
fi
cargo test -p contract-remote --lib -- --nocapture simulation::
cargo test -p contract-remote --test faults -- --nocapture
