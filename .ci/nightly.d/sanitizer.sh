#!/usr/bin/env bash
# Holds the strict exports against the schema sanitizer of a client of language models; it builds nearly 200 crates.
set -euo pipefail
cd "$(dirname "$0")/../../companions/dialects/judges"

printf '\n== %s\n' 'a sanitizer of schemas finds nothing to change in the strict exports'
cargo test --quiet --target-dir ../../../target/judges -- --nocapture
