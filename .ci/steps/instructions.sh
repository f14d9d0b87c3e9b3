#!/usr/bin/env bash
# Holds the instructions of ordinary calls and of a first listing within two percent of `contract-runtime/benches/instructions.txt`.
# They depend on the compiler and the C library besides the code, and not on what else the machine does.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== instructions of calls\n'
.ci/steps/install.sh valgrind=valgrind
cargo bench --quiet -p contract-runtime --bench calls -- hold
