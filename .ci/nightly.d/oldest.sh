#!/usr/bin/env bash
# Checks every crate, and every feature, with the oldest compiler that it promises.
set -euo pipefail
cd "$(dirname "$0")/../.."

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
check() {
    local compiler=$1 package=$2 features=$3
    printf '\n== %s: %s, %s\n' "$compiler" "$package" "$features"
    cargo "+$compiler" --version 2>/dev/null || rustup toolchain install "$compiler" --profile minimal
    cargo "+$compiler" check --quiet --locked -p "$package" --features "$features"
}
check "$oldest" contract-verify ""
check "$oldest" contract-agent genai
check "$oldest" contract-http ""
check "$oldest" contract-manifest ""
check "$oldest" contract-mcp http-client
check "$oldest" contract-program verify
check 1.90 contract-remote redis,tls
