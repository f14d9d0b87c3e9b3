#!/usr/bin/env bash
# Holds the dependencies against deny.toml: licences, sources, bans. Known vulnerabilities need a database from the network;
# `deny.sh advisories` asks for those as well.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'dependencies'
bin=$(.ci/steps/cargo_tool.sh deny)
"$bin/cargo-deny" --log-level error --all-features check "$@" bans licenses sources
