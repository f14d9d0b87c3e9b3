#!/usr/bin/env bash
# Puts the published data and recordings where `AIRLINE_DATA` points. `TAU_BENCH` and `TAU2_BENCH` are local checkouts of
# github.com/sierra-research/tau-bench and tau2-bench with their history (MIT licence); what a checkout lacks is left out.
set -euo pipefail
: "${AIRLINE_DATA:?the folder to fill}" "${TAU_BENCH:?a checkout of tau-bench}" "${TAU2_BENCH:?a checkout of tau2-bench}"

take() { # CHECKOUT OBJECT FILE
    mkdir -p "$(dirname "$AIRLINE_DATA/$3")"
    if git -C "$1" cat-file blob "$2" >"$AIRLINE_DATA/$3" 2>/dev/null; then
        echo "$3"
    else
        rm "$AIRLINE_DATA/$3"
        echo "NOT THERE $3 ($2)"
    fi
}

# The tables as they were when GPT-4o was recorded; the second suite has the same, and its recordings show what differs.
recorded=7362a17
for table in flights reservations users; do
    take "$TAU_BENCH" "$recorded:tau_bench/envs/airline/data/$table.json" "first/$table.json"
    take "$TAU_BENCH" "$recorded:tau_bench/envs/airline/data/$table.json" "second/$table.json"
done
take "$TAU_BENCH" "$recorded:historical_trajectories/gpt-4o-airline.json" first/gpt-4o.json

take "$TAU_BENCH" "$recorded:tau_bench/envs/airline/wiki.md" first/policy.md
take "$TAU2_BENCH" HEAD:data/tau2/domains/airline/policy.md second/policy.md

# By content, because several are on branches only.
take "$TAU2_BENCH" ea4ff5e3f5e3d97ca391846a6e8dd9eb3437dc80 second/tasks.json
take "$TAU2_BENCH" 45651a42e3f0f264c56fc4ea66df492d20dd83bd second/claude-sonnet-4-5.json
take "$TAU2_BENCH" 0620dda831909001fe4bd79dd3cb0bd4cb41a85f second/gpt-oss-120b.json
take "$TAU2_BENCH" dfd71123a2868b264444e33a088325dc91a6de28 second/gpt-5.json
take "$TAU2_BENCH" d8bfdae119c4c8434ad3936a35cca84e63e888ed second/claude-opus-4-6.json
take "$TAU2_BENCH" e77229c1fcb00b4447b3b9e3222c85b3324a2b75 second/gpt-5.4.json
take "$TAU2_BENCH" 83e6079607fae0cc610662f8a779f2df98c9a618 second/gpt-4.1.json
take "$TAU2_BENCH" b4e983fc05fc2aeee3edf9ed984ef6079371959b second/qwen2.5-7b.json
take "$TAU2_BENCH" 5a804c48b05aa978dc436d9317dcfcf27d83907d second/gpt-4o-2024-11-20.json
