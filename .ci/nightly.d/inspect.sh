#!/usr/bin/env bash
# Clicks through the page of `inspect` in a real browser, without a window. Installs a Chromium from the distribution where
# there is none, Node and npm likewise, and `puppeteer-core`, which steers it, into target/tools.
# With the argument `browser` it installs all, and prints where the browser is.
# UPDATE_SCREENSHOTS=1 also writes the pictures of the guide.
set -euo pipefail
cd "$(dirname "$0")/../.."

browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

.ci/steps/install.sh node=nodejs npm=npm
browser >/dev/null || .ci/steps/install.sh chromium=chromium

tools=${CARGO_TARGET_DIR:-target}/tools/inspect
mkdir -p "$tools"
[ -d "$tools/node_modules/puppeteer-core" ] ||
    npm install --silent --no-audit --no-fund --prefix "$tools" puppeteer-core@24.43.1
if [ "${1:-}" = browser ]; then
    browser
    exit
fi
# Beside what they import.
cp .ci/judges/pages/*.mjs "$tools"

cargo build --quiet -p contract-program --example inspect
cargo build --quiet -p quickstart
built=${CARGO_TARGET_DIR:-target}/debug
pictures=
[ "${UPDATE_SCREENSHOTS:-}" != 1 ] || pictures=$PWD/docs/src/images
printf '\n== %s\n' 'the page in a browser'
node "$tools/main.mjs" "$(browser)" "$built/examples/inspect" "$built/quickstart" "$pictures"
