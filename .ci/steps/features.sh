#!/usr/bin/env bash
# Checks that each feature of each published crate builds alone, and so does each published crate that has none.
# `.ci/nightly oldest` also checks them without features and with all.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'each feature alone'
bin=$(.ci/steps/cargo_tool.sh hack)
PATH=$bin:$PATH cargo hack check --quiet --workspace --ignore-private --each-feature \
    --exclude-features default --exclude-no-default-features --exclude-all-features 2> >(grep -v -e '^info: skipped' -e '^$' >&2)
