#!/usr/bin/env bash
# Holds the dependencies against deny.toml: licences, sources, bans. Known vulnerabilities need a database from the network;
# `deny.sh advisories` asks for those as well.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'dependencies'
tools=${CARGO_TARGET_DIR:-$PWD/target}/tools
# Built without optimisation: it runs for a second, and would compile for minutes.
cargo install --quiet cargo-deny --version '^0.20' --locked --debug --root "$tools" --target-dir "$tools/build"
"$tools/bin/cargo-deny" --log-level error --all-features check "$@" bans licenses sources
