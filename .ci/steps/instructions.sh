#!/usr/bin/env bash
# Holds the instructions of ordinary calls and of a first listing below the limits in `contract-runtime/benches/calls/held.rs`.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== instructions of calls\n'
.ci/steps/install.sh valgrind=valgrind
cargo bench --quiet -p contract-runtime --bench calls -- hold
