//! Instructions and wall time of calls by name, beside the same work written by hand with serde.
//!
//! `cargo bench -p contract-runtime --bench calls` prints one table; a word after `--` keeps the rows that hold it.
//! `memory` and `threads` print what has no row; `hold` instead fails if a row is above its limit.
//! Instructions are counted by callgrind around each call alone; without valgrind those columns stay empty.

mod arguments;
mod by_hand;
mod contracts;
mod exports;
mod held;
mod memory;
mod meter;
mod registries;
mod spawned;
mod table;
mod threads;
mod tools;

use std::process::ExitCode;

use contract_dialects::StrictDialect;
use contract_runtime::{Dialect, McpRevision};
use meter::{Callgrind, Meter};

/// One measured thing.
struct Case {
    name: &'static str,
    /// The name of the case that it is compared with.
    beside: Option<&'static str>,
    run: fn(&Meter) -> f64,
}

const fn case(name: &'static str, beside: &'static str, run: fn(&Meter) -> f64) -> Case {
    Case {
        name,
        beside: Some(beside),
        run,
    }
}

const fn baseline(name: &'static str, run: fn(&Meter) -> f64) -> Case {
    Case {
        name,
        beside: None,
        run,
    }
}

const CASES: &[Case] = &[
    baseline("add, by hand", by_hand::add),
    case("add", "add, by hand", registries::add),
    baseline("add, by hand, boxed future", by_hand::add_async),
    case(
        "add, async",
        "add, by hand, boxed future",
        registries::add_async,
    ),
    baseline("search, by hand", by_hand::search),
    case("search", "search, by hand", registries::search),
    baseline("search, by hand, boxed future", by_hand::search_async),
    case(
        "search, async",
        "search, by hand, boxed future",
        registries::search_async,
    ),
    baseline("add, text to text, by hand", by_hand::whole_add),
    case(
        "add, text to text",
        "add, text to text, by hand",
        registries::whole_add,
    ),
    baseline("search, text to text, by hand", by_hand::whole_search),
    case(
        "search, text to text",
        "search, text to text, by hand",
        registries::whole_search,
    ),
    baseline("add, lent, by hand", by_hand::lent_add),
    case("add, lent", "add, lent, by hand", registries::lent_add),
    case(
        "add, lent, async",
        "add, by hand, boxed future",
        registries::lent_add_async,
    ),
    baseline("search, lent, by hand", by_hand::lent_search),
    case(
        "search, lent",
        "search, lent, by hand",
        registries::lent_search,
    ),
    case("add, blocking", "add, by hand", registries::add_blocking),
    case(
        "add, lent, blocking",
        "add, lent, by hand",
        registries::lent_add_blocking,
    ),
    case(
        "add, async, blocking",
        "add, by hand, boxed future",
        registries::add_async_blocking,
    ),
    baseline("10,000 calls at once, by hand", spawned::by_hand),
    case(
        "10,000 calls at once",
        "10,000 calls at once, by hand",
        spawned::calls,
    ),
    baseline("a struct, by hand", arguments::structure_by_hand),
    case("a struct", "a struct, by hand", arguments::structure),
    baseline(
        "a number and an enum, by hand",
        arguments::enumeration_by_hand,
    ),
    case(
        "a number and an enum",
        "a number and an enum, by hand",
        arguments::enumeration,
    ),
    baseline("a map of three, by hand", arguments::map_by_hand),
    case("a map of three", "a map of three, by hand", arguments::map),
    baseline("ten structs, by hand", arguments::structures_by_hand),
    case("ten structs", "ten structs, by hand", arguments::structures),
    baseline("making a `ToolCall` of three strings", registries::make),
    baseline("dropping an `Outcome`", registries::forget),
    baseline("no condition, by hand", contracts::by_hand_none),
    case("no condition", "no condition, by hand", contracts::none),
    baseline("1 precondition, by hand", contracts::by_hand_one),
    case("1 precondition", "1 precondition, by hand", contracts::one),
    baseline("4 pre, 1 post, by hand", contracts::by_hand_five),
    case("4 pre, 1 post", "4 pre, 1 post, by hand", contracts::five),
    case(
        "4 pre, 1 post, all ignored",
        "no condition, by hand",
        contracts::five_ignored,
    ),
    baseline(
        "a lock and a value given, by hand",
        contracts::by_hand_given,
    ),
    case(
        "a lock and a value given",
        "a lock and a value given, by hand",
        contracts::given,
    ),
    baseline(
        "direct call, 4 `if`s before, 1 after",
        contracts::direct_by_hand,
    ),
    case(
        "direct call, 4 pre, 1 post",
        "direct call, 4 `if`s before, 1 after",
        contracts::direct,
    ),
    case(
        "direct call of an ordinary function, 4 pre, 1 post",
        "direct call, 4 `if`s before, 1 after",
        contracts::direct_plain,
    ),
    baseline("call among 10 tools", registries::dynamic_10),
    case(
        "call among 1,000 tools",
        "call among 10 tools",
        registries::dynamic_1_000,
    ),
    case(
        "call among 10,000 tools",
        "call among 10 tools",
        registries::dynamic_10_000,
    ),
    baseline("finding 1 of 10 tools", registries::find_10),
    case(
        "finding 1 of 1,000 tools",
        "finding 1 of 10 tools",
        registries::find_1_000,
    ),
    case(
        "finding 1 of 10,000 tools",
        "finding 1 of 10 tools",
        registries::find_10_000,
    ),
    baseline("a wrong name among 10,000 tools", registries::wrong_name),
    baseline("build and first listing, 500 tools", registries::list_500),
    baseline("listing again as text, 500 tools", registries::text_again),
    baseline("build and first listing, 10 tools", registries::list_10),
    baseline(
        "build and first listing, 1,000 tools",
        registries::list_1_000,
    ),
    baseline(
        "build and first listing, 10,000 tools",
        registries::list_10_000,
    ),
    baseline("listing again, 10,000 tools", registries::list_again),
    baseline("build, 500 contracted tools", exports::build),
    baseline(
        "build and first listing, 500 contracted tools",
        exports::list,
    ),
    baseline("500 tools, neutral", |meter| {
        exports::first(meter, Dialect::Neutral)
    }),
    case("500 tools, OpenAI", "500 tools, neutral", |meter| {
        exports::first(meter, Dialect::OpenAiChat)
    }),
    case("500 tools, OpenAI strict", "500 tools, neutral", |meter| {
        exports::strict(meter, StrictDialect::OpenAiChat)
    }),
    case("500 tools, Anthropic", "500 tools, neutral", |meter| {
        exports::first(meter, Dialect::Anthropic)
    }),
    case("500 tools, Gemini", "500 tools, neutral", |meter| {
        exports::strict(meter, StrictDialect::GeminiParameters)
    }),
    case(
        "500 tools, Gemini JSON Schema",
        "500 tools, neutral",
        |meter| exports::strict(meter, StrictDialect::GeminiJsonSchema),
    ),
    case("500 tools, MCP", "500 tools, neutral", |meter| {
        exports::first(meter, Dialect::Mcp(McpRevision::July2026))
    }),
    baseline("20 tools, Anthropic strict", |meter| {
        exports::strict(meter, StrictDialect::Anthropic)
    }),
    baseline("500 tools, again", |meter| {
        exports::again(meter, Dialect::OpenAiChat)
    }),
];

fn main() -> ExitCode {
    // Cargo passes `--bench`.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    if let [marker, name] = words.as_slice()
        && marker == meter::MARKER
    {
        if let Some(case) = CASES.iter().find(|case| case.name == name) {
            (case.run)(&Meter::Instructions);
        }
        return ExitCode::SUCCESS;
    }
    if words == ["hold"] {
        return held::compare();
    }
    // Before anything else has used memory and given it back.
    let asked = |section: &str| words.is_empty() || words.iter().any(|word| word == section);
    let memory = asked("memory").then(memory::per_tool);
    let wanted = |case: &&Case| words.iter().all(|word| case.name.contains(word.as_str()));
    let callgrind = Callgrind::find();
    if callgrind.is_none() {
        println!("valgrind is not installed, so no instructions are counted; wall time follows");
    }
    let rows: Vec<table::Row> = CASES
        .iter()
        .filter(wanted)
        .map(|case| table::Row {
            name: case.name,
            beside: case.beside,
            instructions: callgrind.as_ref().and_then(|tool| tool.count(case.name)),
            nanoseconds: (case.run)(&Meter::WallTime),
        })
        .collect();
    table::print(&rows);
    if let Some(memory) = memory {
        println!("\n{memory}");
    }
    if asked("threads") {
        println!("\n{}", threads::throughput());
    }
    ExitCode::SUCCESS
}
