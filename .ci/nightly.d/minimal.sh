#!/usr/bin/env bash
# Checks that the versions in the manifests are enough: builds with the lowest of each that they allow.
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo +nightly --version 2>/dev/null || rustup toolchain install nightly --profile minimal
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The lock file of a copy, so that the one of the project stays.
git ls-files -z | xargs -0 cp --parents -t "$folder"
target=${CARGO_TARGET_DIR:-$PWD/target}/minimal
cd "$folder"
cargo +nightly update --quiet -Z direct-minimal-versions
cargo check --quiet --target-dir "$target" -p contract-macros -p contract-schema -p contract-runtime -p contract-agent -p contract-http -p contract-manifest -p contract-mcp -p contract-program -p contract-remote -p contract-verify --all-features
