#!/usr/bin/env bash
# Checks that the versions in the manifests are enough: builds with the lowest of each that they allow.
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo +nightly --version 2>/dev/null || rustup toolchain install nightly --profile minimal
bin=$(.ci/steps/cargo_tool.sh hack)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The lock file of a copy, so that the one of the project stays.
git ls-files -z | xargs -0 cp --parents -t "$folder"
target=${CARGO_TARGET_DIR:-$PWD/target}/minimal
cd "$folder"
cargo +nightly update --quiet -Z direct-minimal-versions
PATH=$bin:$PATH cargo hack check --quiet --target-dir "$target" --workspace --ignore-private --all-features
