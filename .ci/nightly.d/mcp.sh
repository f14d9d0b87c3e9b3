#!/usr/bin/env bash
# Judges of the protocol that nobody here wrote: its conformance suite, for both revisions, and the command line of its
# Inspector, over standard streams and over HTTP; and the suite for clients, against one that imports tools. What they fail
# is in .ci/judges/mcp-baseline, which only shrinks. Then the SDKs of older revisions, in .ci/steps/mcp_clients.sh.
# The first run fetches them with npm into target/tools/node.
set -euo pipefail
cd "$(dirname "$0")/../.."

step() { printf '\n-- %s\n' "$*"; }

node=22.23.3
conformance=0.2.0-alpha.12
inspector=2.12.0

step 'the fixture server, and the client'
cargo build --quiet -p contract-mcp --features http,oauth --example conformance --example conformance_client
examples=${CARGO_TARGET_DIR:-$PWD/target}/debug/examples
server=$examples/conformance

step 'the judges'
tools=$PWD/target/tools/node
wanted="node $node conformance $conformance inspector $inspector"
if [ "$(cat "$tools/installed" 2>/dev/null)" != "$wanted" ]; then
    .ci/steps/install.sh npm=npm
    mkdir -p "$tools"
    # Its messages name where the packages came from, which is nobody's business in a log.
    if ! npm install --silent --no-audit --no-fund --no-save --prefix "$tools" "node@$node" \
        "@modelcontextprotocol/conformance@$conformance" "@modelcontextprotocol/inspector@$inspector" \
        >"$tools/npm.log" 2>&1; then
        printf 'npm could not install the judges; see %s\n' "$tools/npm.log" >&2
        exit 1
    fi
    printf '%s\n' "$wanted" >"$tools/installed"
fi
printf '%s\n' "$wanted"
export PATH=$tools/node_modules/.bin:$PATH

folder=$(mktemp -d)
pid=
finish() {
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT

"$server" 127.0.0.1:0 >"$folder/address" 2>"$folder/server.log" &
pid=$!
for _ in $(seq 100); do
    [ -s "$folder/address" ] && break
    sleep 0.1
done
url=$(head -n 1 "$folder/address")
[ -n "$url" ] || { cat "$folder/server.log" >&2; exit 1; }

for revision in 2025-11-25 2026-07-28; do
    step "conformance to $revision"
    baseline=$PWD/.ci/judges/mcp-baseline/$revision.yml
    # It writes its results where it runs.
    if (cd "$folder" && conformance server --url "$url" --requirements "$revision" \
        --expected-failures "$baseline" >"conformance-$revision.log" 2>&1); then
        grep -E '^Total' "$folder/conformance-$revision.log"
        printf '%s expected failures, no others\n' "$(sed '/^client:/,$d' "$baseline" | grep -c '^  - ')"
    else
        sed -n '/=== SUMMARY ===/,$p' "$folder/conformance-$revision.log" >&2
        exit 1
    fi
done

for revision in 2025-11-25 2026-07-28; do
    step "conformance of a client to $revision"
    baseline=$PWD/.ci/judges/mcp-baseline/$revision.yml
    if (cd "$folder" && conformance client --command "$examples/conformance_client" --requirements "$revision" \
        --expected-failures "$baseline" >"client-$revision.log" 2>&1); then
        grep -E '^Total' "$folder/client-$revision.log"
        printf '%s expected failures, no others\n' "$(sed -n '/^client:/,$p' "$baseline" | grep -c '^  - ')"
    else
        # Where it broke off, it has no summary.
        grep -q '=== SUMMARY ===' "$folder/client-$revision.log" || tail -n 40 "$folder/client-$revision.log" >&2
        sed -n '/=== SUMMARY ===/,$p' "$folder/client-$revision.log" >&2
        exit 1
    fi
done

step 'its tools, imported by ours'
CONTRACT_MCP_SERVER=$server cargo test --quiet -p contract-mcp --features http,oauth --test import -- real:: >"$folder/import.log" 2>&1 || {
    cat "$folder/import.log" >&2
    exit 1
}
grep -E '^test result' "$folder/import.log"

# The Inspector keeps a catalogue of servers; not in anybody's home.
export MCP_CATALOG_PATH=$folder/catalog.json

# inspect NAME EXPECTED-EXIT-CODE TARGET.. -- OPTIONS..
inspect() {
    local name=$1 expected=$2 code=0
    shift 2
    mcp-inspector --cli "$@" >"$folder/out" 2>"$folder/err" || code=$?
    if [ "$code" -ne "$expected" ]; then
        printf '%s: exit code %s, expected %s\n' "$name" "$code" "$expected" >&2
        cat "$folder/out" "$folder/err" >&2
        exit 1
    fi
    printf '%s: as expected\n' "$name"
}
holds() {
    grep -qF -- "$1" "$folder/out" || { printf 'the answer lacks `%s`:\n' "$1" >&2; cat "$folder/out" >&2; exit 1; }
}

for way in stdio http; do
    step "the Inspector over $way"
    if [ "$way" = http ]; then
        target=("$url" --transport http)
    else
        target=("$server" stdio)
    fi
    inspect 'list, with the strict lint of schemas' 0 "${target[@]}" --method tools/list --format json --strict
    holds '"test_structured_content"'
    inspect 'a call' 0 "${target[@]}" --method tools/call --tool-name test_structured_content \
        --tool-args-json '{"a":5,"b":6}' --format json
    holds '"structuredContent":{"sum":11}'
    # Five is its exit code for `isError`.
    inspect 'a call that breaks a contract' 5 "${target[@]}" --method tools/call \
        --tool-name test_structured_content --tool-args-json '{"a":5000,"b":6}' --format json
    holds 'only small numbers'
    inspect 'a call that fails' 5 "${target[@]}" --method tools/call --tool-name test_error_handling --format json
    holds 'intentionally returns an error'
done

step 'SDKs of older revisions'
.ci/steps/mcp_clients.sh "$server" "$url"
