#!/usr/bin/env bash
# Other tool libraries with the same tools, beside ours and the work by hand: builds them, compares results, prints the table.
set -euo pipefail
cd "$(dirname "$0")/../.."

.ci/steps/install.sh valgrind=valgrind
printf '\n== %s\n' 'tools of other libraries'
contract-runtime/benches/peers/run
