#!/usr/bin/env bash
# Clicks through the page of `inspect` in a real browser, without a window. Installs a Chromium from the distribution where
# there is none, Node and npm likewise, and `puppeteer-core`, which steers it, into target/tools.
# With the argument `node` it installs that alone, and prints its version; with `browser` it installs all, and prints where
# the browser is.
# UPDATE_SCREENSHOTS=1 also writes the pictures of the guide.
set -euo pipefail
cd "$(dirname "$0")/.."

install() {
    local sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    printf 'installing %s\n' "$*" >&2
    # An old list of packages may do; if not, the next line says so.
    "${sudo[@]}" apt-get update -qq >&2 || true
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -qq --no-install-recommends "$@" >/dev/null
}
browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

command -v node >/dev/null && command -v npm >/dev/null || install nodejs npm
# Before the tests, which judge the rules of the page with it.
if [ "${1:-}" = node ]; then
    node --version
    exit
fi
browser >/dev/null || install chromium

tools=${CARGO_TARGET_DIR:-target}/tools/inspect
mkdir -p "$tools"
[ -d "$tools/node_modules/puppeteer-core" ] ||
    npm install --silent --no-audit --no-fund --prefix "$tools" puppeteer-core@24.43.1
if [ "${1:-}" = browser ]; then
    browser
    exit
fi
# Beside what they import.
cp .ci/inspect.d/*.mjs "$tools"

cargo build --quiet -p contract-runtime --features cli --example inspect
cargo build --quiet -p quickstart
built=${CARGO_TARGET_DIR:-target}/debug
pictures=
[ "${UPDATE_SCREENSHOTS:-}" != 1 ] || pictures=$PWD/docs/src/images
node "$tools/main.mjs" "$(browser)" "$built/examples/inspect" "$built/quickstart" "$pictures"
