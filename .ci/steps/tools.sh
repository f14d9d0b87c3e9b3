#!/usr/bin/env bash
# Installs what the toolkit is compared with or looked through: `rg` (judge of the search) and `strace` (kills a writer at
# each of its steps). Prints where `rg` is.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Distributions ship versions that know less about ignore files in the folders above; the tests accept 15 and later.
# An optimised build, because a benchmark is compared with it.
tools=$PWD/target/tools
cargo install --quiet ripgrep --version '^15.1' --locked --root "$tools" --target-dir "$tools/build" >&2
.ci/steps/install.sh strace=strace
printf '%s\n' "$tools/bin/rg"
