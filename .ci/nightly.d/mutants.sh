#!/usr/bin/env bash
# Changes the code of the last day in one place at a time, with cargo-mutants; a test of the same crate must notice each change.
#
#     mutants.sh                                    at most 40 changes, spread over all lines that the last day added or changed
#     MUTANTS_BASE=v0.1.0 MUTANTS_MOST=400 mutants.sh    since this commit, and at most so many
#     mutants.sh --package contract-schema          further arguments are those of `cargo mutants`
set -euo pipefail
cd "$(dirname "$0")/../.."

bin=$(.ci/steps/cargo_tool.sh mutants)
PATH=$bin:$PATH
base=${MUTANTS_BASE:-$(git rev-list -1 --before='24 hours ago' HEAD)}
target=${CARGO_TARGET_DIR:-$PWD/target}/mutants
mkdir -p "$target"
git diff "$base" -- '*.rs' >"$target/diff"
# The copy of the workspace that is changed uses what an earlier night built. The library is built again for each change.
export CARGO_TARGET_DIR=$target CARGO_INCREMENTAL=1
mutants() {
    # The tests of the macros and of the examples are in other packages. Some tests need a feature.
    cargo mutants --all-features --in-diff "$target/diff" --exclude 'contract-macros/**' --exclude 'examples/**' "$@"
}
found=$(mutants --list "$@" | wc -l)
printf '%s places were changed since %s\n' "$found" "$base"
mutants --output "$target" --sharding round-robin --shard "0/$((found / ${MUTANTS_MOST:-40} + 1))" "$@"
