#!/usr/bin/env bash
# Checks that each feature of each published crate builds alone.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'each feature alone'
cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        for feature in sorted(set(package["features"]) - {"default"}):
            print(package["name"], feature)' |
while read -r package feature; do
    printf '%s: %s\n' "$package" "$feature"
    cargo check --quiet -p "$package" --no-default-features --features "$feature" </dev/null
done
