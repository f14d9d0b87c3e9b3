#!/usr/bin/env bash
# Calls the fixture server with the protocol's official SDKs of older revisions, over standard streams and over HTTP.
# The first run fetches them with npm and pip into target/tools/clients.
#
#     mcp_clients.sh SERVER-PROGRAM SERVER-URL
set -euo pipefail
cd "$(dirname "$0")/../.."
server=$1
url=$2

# Version of the SDK, and the newest revision that it knows.
typescript='1.12.3=2025-03-26 1.17.5=2025-06-18 1.20.2=2025-06-18 1.24.3=2025-11-25'
python='1.9.4=2025-03-26 1.20.0=2025-06-18'
# These versions of the Python SDK do not start with later ones.
pydantic='pydantic==2.11.10 pydantic-settings==2.9.1'

tools=$PWD/target/tools/clients
wanted="typescript $typescript python $python $pydantic"
if [ "$(cat "$tools/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$tools"
    mkdir -p "$tools"
    packages=()
    for pair in $typescript; do
        packages+=("sdk-${pair%=*}@npm:@modelcontextprotocol/sdk@${pair%=*}")
    done
    # The messages of both name where the packages came from, which is nobody's business in a log.
    if ! npm install --silent --no-audit --no-fund --no-save --prefix "$tools" "${packages[@]}" >"$tools/npm.log" 2>&1; then
        printf 'npm could not install the SDKs; see %s\n' "$tools/npm.log" >&2
        exit 1
    fi
    if ! python3 -m venv --help >/dev/null 2>&1 || ! python3 -c 'import ensurepip' 2>/dev/null; then
        printf 'installing python3-venv\n'
        sudo=()
        [ "$(id -u)" -eq 0 ] || sudo=(sudo)
        "${sudo[@]}" apt-get update -qq >/dev/null || true
        DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -qq --no-install-recommends python3-venv >/dev/null
    fi
    for pair in $python; do
        venv=$tools/python-${pair%=*}
        python3 -m venv "$venv"
        # shellcheck disable=SC2086
        if ! "$venv/bin/pip" install --quiet --disable-pip-version-check "mcp==${pair%=*}" $pydantic >"$tools/pip.log" 2>&1; then
            printf 'pip could not install the SDK; see %s\n' "$tools/pip.log" >&2
            exit 1
        fi
    done
    printf '%s\n' "$wanted" >"$tools/installed"
fi

# judge NAME COMMAND..
judge() {
    local name=$1 log=$tools/judge.log
    shift
    if ! timeout 120 "$@" >"$log" 2>&1; then
        printf '%s: not as expected\n' "$name" >&2
        cat "$log" >&2
        exit 1
    fi
    printf '%s: as expected\n' "$name"
}

for way in stdio http; do
    target=$server
    [ "$way" = stdio ] || target=$url
    for pair in $typescript; do
        version=${pair%=*} revision=${pair#*=}
        judge "TypeScript SDK $version, $revision over $way" \
            node .ci/judges/mcp-clients/client.mjs "$tools/node_modules/sdk-$version" "$revision" "$way" "$target"
    done
    for pair in $python; do
        version=${pair%=*} revision=${pair#*=}
        judge "Python SDK $version, $revision over $way" \
            "$tools/python-$version/bin/python" .ci/judges/mcp-clients/client.py "$revision" "$way" "$target"
    done
done
