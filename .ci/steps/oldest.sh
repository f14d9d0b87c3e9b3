#!/usr/bin/env bash
# Checks the crates that every tool library depends on with the oldest compiler that they promise, and the lock file as it is.
set -euo pipefail
cd "$(dirname "$0")/../.."

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
printf '\n== the oldest compiler, %s\n' "$oldest"
cargo "+$oldest" --version 2>/dev/null || rustup toolchain install "$oldest" --profile minimal
cargo "+$oldest" check --quiet --locked -p contract-macros -p contract-schema -p contract-runtime
