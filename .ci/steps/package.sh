#!/usr/bin/env bash
# Makes the packages as they would be uploaded, without building them, and looks at what is in them.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}

printf '\n== %s\n' 'the packages'
# A tree with changes is packaged as well, because this runs before a commit too.
mapfile -t names < <(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
print(*sorted(package["name"] for package in json.load(sys.stdin)["packages"] if package["publish"] is None), sep="\n")')
cargo package --quiet --allow-dirty --no-verify "${names[@]/#/-p}" 2> >(grep -v -e '^warning: ignoring' >&2 || true)
for package in "${names[@]}"; do
    made=$(ls "$target/package/$package"-*.crate)
    files=$(tar -tzf "$made" | cut -d / -f 2-)
    for file in README.md LICENSE-MIT LICENSE-APACHE; do
        grep -qx "$file" <<<"$files" || { printf '%s has no %s\n' "$made" "$file" >&2; exit 1; }
    done
    for left_out in tests benches fuzz judges examples; do
        ! grep -q "^$left_out/" <<<"$files" || { printf '%s has %s\n' "$made" "$left_out" >&2; exit 1; }
    done
    printf '%s: %s files, %s kB packed\n' "$(basename "$made")" "$(wc -l <<<"$files")" "$(du -k "$made" | cut -f 1)"
done
