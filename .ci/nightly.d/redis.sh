#!/usr/bin/env bash
# The store on Redis, and how backends reach each other over it: the suite that every store passes, and a server that is
# absent, stopped, killed, cut off, empty, full, or asks for passwords and TLS. The tests start servers of their own, in
# folders of their own. They want a Redis server, version 7 or later, which is installed where it is missing; REDIS_SERVER
# names another.
#
#     .ci/redis          what CI runs: each fault once while calls run, 40 rounds of each race
#     .ci/redis long     200 faults, with servers that stand still for 40 s; 200 rounds
set -euo pipefail
cd "$(dirname "$0")/.."

printf '\n== %s\n' 'the store on Redis'
server=${REDIS_SERVER:-redis-server}
if ! command -v "$server" >/dev/null; then
    printf 'installing redis-server\n'
    sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    # An old list of packages may do; if not, the next line says so.
    "${sudo[@]}" apt-get update -qq >&2 || true
    # Only the program: nothing is to run beside the tests.
    printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee /usr/sbin/policy-rc.d >/dev/null
    "${sudo[@]}" chmod +x /usr/sbin/policy-rc.d
    trap '"${sudo[@]}" rm -f /usr/sbin/policy-rc.d' EXIT
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -qq --no-install-recommends redis-server >/dev/null
fi
version=$("$server" --version)
printf '%s\n' "$version"
major=$(sed -n 's/.*v=\([0-9]*\)\..*/\1/p' <<<"$version")
if [ "${major:-0}" -lt 7 ]; then
    printf 'a Redis server of version 7 or later is needed; give its path in REDIS_SERVER\n' >&2
    exit 1
fi
if [ "${1:-}" = long ]; then
    export REDIS_FAULTS=200 SHARED_ROUNDS=200
fi
cargo test --quiet -p contract-runtime --features redis --test remote_store
cargo test --quiet -p contract-runtime --features redis --test remote_shared -- --nocapture
cargo test --quiet -p contract-runtime --features redis --lib -- remote::store remote::simulation::every_seed_of_several
