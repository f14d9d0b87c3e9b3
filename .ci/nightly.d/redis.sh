#!/usr/bin/env bash
# The store on Redis, and several backends that share it: the suite that every store passes, and a server that is
# absent, stopped, killed, cut off, empty, full, or asks for passwords and TLS. The tests start servers of their own, in
# folders of their own. They want a Redis server, version 7 or later, which is installed where it is missing; REDIS_SERVER
# names another.
#
#     redis.sh          each fault once while calls run, 40 rounds of each race
#     redis.sh long     200 faults, with servers that stand still for 40 s; 200 rounds; calls per second at the home of a task
#                       and over a connection that is forwarded
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'the store on Redis'
server=${REDIS_SERVER:-redis-server}
[ -n "${REDIS_SERVER:-}" ] || .ci/steps/install.sh redis-server=redis-server
version=$("$server" --version)
printf '%s\n' "$version"
major=$(sed -n 's/.*v=\([0-9]*\)\..*/\1/p' <<<"$version")
if [ "${major:-0}" -lt 7 ]; then
    printf 'a Redis server of version 7 or later is needed; give its path in REDIS_SERVER\n' >&2
    exit 1
fi
if [ "${1:-}" = long ]; then
    export REDIS_FAULTS=200 SHARED_ROUNDS=200 SEEDS=2000
else
    export SEEDS=200
fi
cargo test --quiet -p contract-remote --features redis --test store
cargo test --quiet -p contract-remote --features redis --test shared -- --nocapture
cargo test --quiet -p contract-remote --features redis --lib -- store:: backend::cluster:: simulation::every_seed_of_several
if [ "${1:-}" = long ]; then
    cargo bench --quiet -p contract-remote --features redis --bench remote -- forwarded
fi
