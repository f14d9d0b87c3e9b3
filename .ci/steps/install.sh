#!/usr/bin/env bash
# Installs a Debian package for each program that is missing: `install.sh PROGRAM=PACKAGE ..`.
set -euo pipefail

packages=()
for wanted in "$@"; do
    command -v "${wanted%%=*}" >/dev/null || packages+=("${wanted#*=}")
done
[ ${#packages[@]} -gt 0 ] || exit 0

sudo=()
[ "$(id -u)" -eq 0 ] || sudo=(sudo)
printf 'installing %s\n' "${packages[*]}" >&2
# An old list of packages may do; if not, the next line says so.
"${sudo[@]}" apt-get update -qq >&2 || true
# Programs only: no server is to run beside the tests.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee "$policy" >/dev/null
    "${sudo[@]}" chmod +x "$policy"
    trap '"${sudo[@]}" rm -f "$policy"' EXIT
fi
DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -qq --no-install-recommends "${packages[@]}" >/dev/null
