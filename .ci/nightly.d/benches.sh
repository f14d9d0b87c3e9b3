#!/usr/bin/env bash
# Runs the benchmarks of the core and prints their tables; what ordinary calls take is held to what is recorded.
set -euo pipefail
cd "$(dirname "$0")/../.."

.ci/steps/instructions.sh
printf '\n== benchmark: %s\n' calls
cargo bench --quiet -p contract-runtime --bench calls
for bench in verify agent mcp; do
    printf '\n== benchmark: %s\n' "$bench"
    cargo bench --quiet -p "contract-$bench" --bench "$bench"
done
