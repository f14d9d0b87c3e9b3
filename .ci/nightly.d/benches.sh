#!/usr/bin/env bash
# Runs the benchmarks of the core and prints their tables; instruction counts need valgrind, which is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."

.ci/steps/install.sh valgrind=valgrind
printf '\n== benchmark: %s\n' calls
cargo bench --quiet -p contract-runtime --bench calls
for bench in verify agent mcp; do
    printf '\n== benchmark: %s\n' "$bench"
    cargo bench --quiet -p "contract-$bench" --bench "$bench"
done
