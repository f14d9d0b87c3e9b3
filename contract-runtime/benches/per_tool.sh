#!/usr/bin/env bash
# What one more tool costs: CPU time of the compiler and bytes of a stripped release program.
#
#   per_tool.sh [kind..]      kinds: ours contracts hand rmcp rig llm-tool; all of them without one
#
# Writes programs of 1, 100 and 500 generated three-parameter documented tools (peers: 100 and 500) into a temporary folder,
# builds each once for its dependencies and once more for the figure, and prints the slope between 100 and 500.
set -euo pipefail

runtime=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0
[ $# -gt 0 ] || set -- ours contracts hand rmcp rig llm-tool

serde='serde = { version = "1", features = ["derive"] }
serde_json = "1"
schemars = "1"'

dependencies() {
    case $1 in
    ours | contracts) printf 'contract-runtime = { path = "%s" }\n' "$runtime" ;;
    hand) printf '%s\n' "$serde" ;;
    rmcp) printf '%s\nrmcp = { version = "=3.9.0", default-features = false, features = ["server", "macros"] }\n' "$serde" ;;
    rig) printf '%s\nrig-core = { version = "=0.44.0", default-features = false, features = ["derive"] }\n' "$serde" ;;
    llm-tool) printf '%s\nllm-tool = "=0.10.5"\n' "$serde" ;;
    esac
}

# The three parameters, documented, one per line, each line after the given prefix.
parameters() {
    printf '    /// What to look for.\n    %squery: String,\n' "$1"
    printf '    /// How many results to give at most.\n    %slimit: u32,\n' "$1"
    printf '    /// How well a result must fit, from 0 to 1.\n    %sfit: f64,\n' "$1"
}

body() {
    # shellcheck disable=SC2016
    printf 'format!("%d: {query} {limit} {fit}")' "$1"
}

args() {
    printf '#[derive(serde::Deserialize, schemars::JsonSchema)]\n%sstruct Args%d {\n%s\n}\n' "$2" "$1" "$(parameters '')"
}

head_of() {
    case $1 in
    ours | contracts) printf 'use contract_runtime::prelude::*;\n' ;;
    hand) printf 'type Call = fn(&str) -> Result<String, String>;\ntype Schema = fn() -> schemars::Schema;\n' ;;
    rmcp) printf 'use rmcp::handler::server::wrapper::Parameters;\nuse rmcp::{tool, tool_router};\n' ;;
    rig) printf 'use rig_core::tool::{ErasedTool, ToolExecutionError};\n' ;;
    llm-tool) printf 'use llm_tool::{ToolRegistry, llm_tool};\n' ;;
    esac
}

tool() {
    local kind=$1 n=$2
    case $kind in
    ours | contracts)
        printf '/// Search collection %d.\n#[tool]\n' "$n"
        if [ "$kind" = contracts ]; then
            printf '#[pre(!query.is_empty(), "say what to look for")]\n#[pre(limit <= 100, "at most a hundred results")]\n'
        fi
        printf 'fn tool_%d(\n%s\n) -> String {\n    %s\n}\n' "$n" "$(parameters '')" "$(body "$n")"
        ;;
    hand)
        args "$n" '#[serde(deny_unknown_fields)]'
        printf 'fn tool_%d(text: &str) -> Result<String, String> {\n' "$n"
        printf '    let Args%d { query, limit, fit } = serde_json::from_str(text).map_err(|error| error.to_string())?;\n' "$n"
        printf '    serde_json::to_string(&%s).map_err(|error| error.to_string())\n}\n' "$(body "$n")"
        ;;
    rig)
        printf '/// Search collection %d.\n#[rig_core::rig_tool]\n' "$n"
        printf 'fn tool_%d(\n%s\n) -> Result<String, ToolExecutionError> {\n    Ok(%s)\n}\n' "$n" "$(parameters '')" "$(body "$n")"
        ;;
    llm-tool)
        printf '/// Search collection %d.\n#[llm_tool]\n' "$n"
        printf 'fn tool_%d(\n%s\n) -> String {\n    %s\n}\n' "$n" "$(parameters '')" "$(body "$n")"
        ;;
    rmcp)
        printf '    /// Search collection %d.\n    #[tool]\n' "$n"
        printf '    fn tool_%d(&self, Parameters(Args%d { query, limit, fit }): Parameters<Args%d>) -> String {\n        %s\n    }\n' \
            "$n" "$n" "$n" "$(body "$n")"
        ;;
    esac
}

program() {
    local kind=$1 count=$2 n
    head_of "$kind"
    if [ "$kind" = rmcp ]; then
        for ((n = 0; n < count; n++)); do args "$n" ''; done
        printf 'struct Server;\n#[tool_router]\nimpl Server {\n'
    fi
    for ((n = 0; n < count; n++)); do tool "$kind" "$n"; done
    if [ "$kind" = rmcp ]; then printf '}\n'; fi
    printf 'fn main() {\n'
    case $kind in
    ours | contracts)
        printf '    let registry = registry!().build().unwrap();\n    println!("{}", registry.tools().len());\n'
        printf '    let text = std::env::args().nth(1).unwrap_or_default();\n'
        printf '    println!("{:?}", registry.call((\"1\", \"tool_0\", &*text)).blocking());\n'
        ;;
    hand)
        printf '    let mut tools: std::collections::HashMap<&str, (Call, Schema)> = Default::default();\n'
        for ((n = 0; n < count; n++)); do
            printf '    tools.insert("tool_%d", (tool_%d, || schemars::schema_for!(Args%d)));\n' "$n" "$n" "$n"
        done
        printf '    for (name, (_, schema)) in &tools { println!("{name} {}", schema().to_value()); }\n'
        printf '    let text = std::env::args().nth(1).unwrap_or_default();\n    println!("{:?}", tools["tool_0"].0(&text));\n'
        ;;
    rmcp)
        printf '    let router = Server::tool_router();\n    let _ = Server;\n    println!("{:?}", router.list_all());\n'
        ;;
    rig)
        printf '    let mut tools: Vec<Box<dyn ErasedTool>> = Vec::new();\n'
        for ((n = 0; n < count; n++)); do printf '    tools.push(Box::new(Tool%d));\n' "$n"; done
        printf '    for tool in &tools { println!("{} {} {}", tool.name(), tool.description(), tool.parameters()); }\n'
        ;;
    llm-tool)
        printf '    let mut tools = ToolRegistry::new();\n'
        for ((n = 0; n < count; n++)); do printf '    tools = tools.with_tool(Tool%d);\n' "$n"; done
        printf '    println!("{:?}", tools.definitions());\n'
        ;;
    esac
    printf '}\n'
}

crate() {
    local kind=$1 count=$2 at=$folder/$1-$2
    mkdir -p "$at/src"
    {
        printf '[package]\nname = "%s-%d"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n' "$kind" "$count"
        printf '[profile.release]\nstrip = true\n\n[dependencies]\n'
        dependencies "$kind"
    } >"$at/Cargo.toml"
    program "$kind" "$count" >"$at/src/main.rs"
}

# CPU milliseconds of one build whose dependencies are built.
cpu() {
    local at=$1
    shift
    (cd "$at" && cargo "$@" -q 2>"$folder/errors") || {
        sed -n '1,20p' "$folder/errors" >&2
        return 1
    }
    touch "$at/src/main.rs"
    (
        cd "$at"
        TIMEFORMAT='%U %S'
        { time cargo "$@" -q 2>/dev/null; } 2>&1
    ) | awk '{ printf "%d", ($1 + $2) * 1000 }'
}

printf '| kind | tools | check, CPU ms | dev, CPU ms | release, CPU ms | stripped, bytes |\n|---|---:|---:|---:|---:|---:|\n'
declare -A seen
for kind in "$@"; do
    counts='100 500'
    case $kind in ours | contracts | hand) counts='1 100 500' ;; esac
    for count in $counts; do
        crate "$kind" "$count"
        at=$folder/$kind-$count
        if ! check=$(cpu "$at" check); then
            printf '| %s | | skipped: it could not be built | | | |\n' "$kind"
            break
        fi
        dev=$(cpu "$at" build)
        release=$(cpu "$at" build --release)
        bytes=$(stat -c %s "$CARGO_TARGET_DIR/release/$kind-$count")
        seen[$kind-$count]="$check $dev $release $bytes"
        printf '| %s | %d | %d | %d | %d | %d |\n' "$kind" "$count" "$check" "$dev" "$release" "$bytes"
    done
done

printf '\n| one more tool | check, ms | dev, ms | release, ms | stripped, kB |\n|---|---:|---:|---:|---:|\n'
for kind in "$@"; do
    [ -n "${seen[$kind-500]:-}" ] || continue
    printf '%s %s\n' "${seen[$kind-100]}" "${seen[$kind-500]}" | awk -v kind="$kind" '{
        printf "| %s | %.0f | %.0f | %.0f | %.1f |\n", kind, ($5 - $1) / 400, ($6 - $2) / 400, ($7 - $3) / 400, ($8 - $4) / 400000
    }'
done
