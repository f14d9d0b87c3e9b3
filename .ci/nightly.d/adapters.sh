#!/usr/bin/env bash
# The tools in other frameworks: each adapter keeps the same promises, with a model that follows a script.
# It installs the toolchain that the frameworks need, which is newer than that of the project.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}/adapters
cd examples/adapters

channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
cargo "+$channel" --version 2>/dev/null ||
    rustup toolchain install "$channel" --profile minimal --component clippy,rustfmt
printf '\n== %s\n' 'formatting of the adapters'
cargo "+$channel" fmt --all --check
printf '\n== %s\n' 'the adapters keep their promises'
cargo "+$channel" test --quiet --target-dir "$target"
printf '\n== %s\n' 'clippy on the adapters, warnings denied'
cargo "+$channel" clippy --all-targets --quiet --target-dir "$target" -- -D warnings
