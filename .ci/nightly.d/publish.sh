#!/usr/bin/env bash
# Makes the packages as they would be uploaded, without uploading them, and follows the page on publishing with them: a
# library of five tools and a program that uses it, both outside of this workspace. It wants python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

.ci/steps/package.sh
mapfile -t packages < <(ls "$target/package" | sed -n 's/-[0-9.]*\.crate$//p')
cargo publish --quiet --dry-run --allow-dirty --no-verify "${packages[@]/#/-p}" 2> >(grep -v -e '^warning: ignoring' -e '^warning: aborting upload' >&2 || true)
mkdir -p "$folder/.cargo" "$target/unpacked"
rm -rf "$target/unpacked"/*
# As if they were on the registry.
printf '[patch.crates-io]\n' >"$folder/.cargo/config.toml"
for package in "${packages[@]}"; do
    # Their times are constant, and Cargo sees by the time whether a file has changed.
    tar -xzmf "$(echo "$target/package/$package"-*.crate)" -C "$target/unpacked"
    printf "%s.path = '%s'\n" "$package" "$(echo "$target/unpacked/$package"-*)" >>"$folder/.cargo/config.toml"
done

# As if it was installed.
cargo build --quiet -p cargo-contract
PATH=$target/debug:$PATH

printf '\n== %s\n' 'the page on publishing, word for word'
# The folder is outside of what `rust-toolchain.toml` is for.
if command -v rustup >/dev/null; then
    RUSTUP_TOOLCHAIN=$(rustup show active-toolchain | cut -d ' ' -f 1)
    export RUSTUP_TOOLCHAIN
fi
CARGO_TARGET_DIR="$target/outside" python3 .ci/judges/follow.py docs/src/publishing.md "$folder" Cargo.lock
