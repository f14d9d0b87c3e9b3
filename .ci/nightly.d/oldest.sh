#!/usr/bin/env bash
# Checks every crate, with none of its features, each and all, with the oldest compiler that it promises, which this installs.
set -euo pipefail
cd "$(dirname "$0")/../.."

bin=$(.ci/steps/cargo_tool.sh hack)
PATH=$bin:$PATH cargo hack check --quiet --locked --workspace --ignore-private --rust-version --each-feature
