#!/usr/bin/env bash
# Compares the public interface with the last release, which is the newest tag that begins with `v`.
set -euo pipefail
cd "$(dirname "$0")/../.."

release=$(git tag --list 'v*' --sort=-version:refname | head -n 1)
if [ -z "$release" ]; then
    printf '%s\n' 'nothing has been released: there is no tag that begins with `v`'
    exit
fi
tools=${CARGO_TARGET_DIR:-$PWD/target}/tools
cargo install --quiet cargo-semver-checks --locked --debug --root "$tools" --target-dir "$tools/build"
PATH=$tools/bin:$PATH cargo semver-checks -p contract-runtime -p contract-agent -p contract-dialects -p contract-http -p contract-manifest -p contract-mcp -p contract-program -p contract-remote -p contract-verify --baseline-rev "$release"
