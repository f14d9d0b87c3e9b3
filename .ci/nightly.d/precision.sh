#!/usr/bin/env bash
# Reads numbers with the `arbitrary_precision` of `serde_json`, which any crate in a tree can switch on.
set -euo pipefail
cd "$(dirname "$0")/../.."

number() {
    cargo test --quiet -p contract-runtime --features serde_json/arbitrary_precision --target-dir target/precision --test "$@"
}
number dispatch floats::
number semantics history::
