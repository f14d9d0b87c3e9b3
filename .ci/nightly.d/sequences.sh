#!/usr/bin/env bash
# Sequences of calls raise no alarm about right tools, over 200 seeds.
set -euo pipefail
VERIFY_SEEDS=200 cargo test -p contract-verify --test sequences -- right
