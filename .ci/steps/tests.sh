#!/usr/bin/env bash
# Runs the test command of the README. A test that prints `NOT RUN` fails it, unless MAY_NOT_RUN holds the test's name.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'tests: the command of the README'
command=$(grep -m1 -oE '^cargo test .*' README.md)
printf '%s\n' "$command"
said=$(mktemp)
trap 'rm -f "$said"' EXIT
$command "$@" 2>&1 | tee "$said"
# `.ci/nightly mcp` builds the server of the conformance suite, and `.ci/nightly toolkit` the program `rg`.
may=(
    the_tools_of_a_child_process_are_imported_and_called
    the_same_files_as_ripgrep the_same_lines_as_ripgrep
    ${MAY_NOT_RUN:-}
)
# Nothing is forbidden to the superuser, which these tests need.
if [ "$(id -u)" -eq 0 ]; then
    may+=(
        a_file_that_may_not_be_written_.. a_folder_below_a_root_..
        what_the_system_does_not_give_is_counted
    )
fi
if grep -a 'NOT RUN' "$said" | grep -avwF "${may[@]/#/-e}"; then
    printf 'these tests were not run; install what they need, or name them in MAY_NOT_RUN\n' >&2
    exit 1
fi
