#!/usr/bin/env bash
# The clinic on Postgres: the code that its tests run on SQLite, on a cluster of its own that is removed behind the test.
set -euo pipefail
cd "$(dirname "$0")/../.."

printf '\n== %s\n' 'the clinic on Postgres'
.ci/steps/install.sh pg_virtualenv=postgresql
# The variables of libpq say where the cluster is.
DATABASE_URL=postgres:///postgres pg_virtualenv \
    cargo test --quiet -p clinic --test service -- --ignored the_same_code_serves_postgres
