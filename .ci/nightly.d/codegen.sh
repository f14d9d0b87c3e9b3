#!/usr/bin/env bash
# Holds the demonstration of the coding agent against what is recorded, kills its backend a hundred times, then clicks through the
# page of its backend in a real browser, without a window. It installs what `inspect.sh` and `redis.sh` install.
# UPDATE_SCREENSHOTS=1 also writes the pictures of the guide.
set -euo pipefail
cd "$(dirname "$0")/../.."
built=${CARGO_TARGET_DIR:-target}/debug

printf '\n== %s\n' 'the coding agent plays its recording as recorded'
cargo run --quiet -p codegen -- 'create an endpoint' | diff examples/codegen/expected.txt -
printf '%s\n' 'same as examples/codegen/expected.txt'

printf '\n== %s\n' 'a hundred kills of its backend'
KILLS=100 cargo test --quiet -p codegen --test service kills:: -- --nocapture

printf '\n== %s\n' 'its runs in a Redis'
[ -n "${REDIS_SERVER:-}" ] || .ci/steps/install.sh redis-server=redis-server
cargo test --quiet -p codegen --features redis --test redis

printf '\n== %s\n' 'the page of its backend'
browser=$(.ci/nightly.d/inspect.sh browser)
tools=${CARGO_TARGET_DIR:-target}/tools/inspect
cp .ci/judges/pages/*.mjs "$tools"
pictures=
[ "${UPDATE_SCREENSHOTS:-}" != 1 ] || pictures=$PWD/docs/src/images
node "$tools/codegen.mjs" "$browser" "$built/codegen" "$PWD/examples/codegen/sample" "$pictures"
