#!/usr/bin/env bash
# Lets thousands of executors in to one backend, another process on this machine: what each costs, what half-open sockets do
# to calls, and how long it takes until all are back after the backend was killed.
#
#     storm.sh           300, in a build for tests
#     storm.sh 5000      so many, in a build for figures
set -euo pipefail
cd "$(dirname "$0")/../.."
executors=${1:-300}
profile=bench
[ $# -gt 0 ] || profile=dev

# One socket each, on both sides, and the half-open ones; the rest is for files.
wanted=$((executors + 2000))
if [ "$(ulimit -n)" != unlimited ] && [ "$(ulimit -n)" -lt "$wanted" ]; then
    if ! ulimit -n "$wanted" 2>/dev/null; then
        printf '%s executors need %s open files for a process, and the system allows %s (ulimit -Hn)\n' \
            "$executors" "$wanted" "$(ulimit -Hn)" >&2
        exit 1
    fi
fi
cargo bench --quiet --profile "$profile" -p contract-remote --bench remote -- storm "$executors"
