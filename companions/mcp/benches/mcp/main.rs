//! Calls over MCP, beside a bare rmcp server with the same two tools, in the same run.
//!
//! `cargo bench -p contract-mcp --features http --bench mcp` prints one table; a word after `--` keeps the rows that hold
//! it. Each server is a process of its own, and rounds take turns, so that a busy machine slows both. Three figures are
//! compared: calls per second (the best round), the processor time of the server for a call (the thriftiest round), and its
//! instructions for a call by callgrind, which repeat. Where the system does not tell, or valgrind is missing, a column
//! stays empty. A ratio above one means that ours is the cheaper one.

mod client;
mod process;
mod servers;

use std::time::Duration;

use client::Load;
use process::{Server, instructions};
use servers::{Transport, Which};

/// Rounds of each row.
const ROUNDS: usize = 7;

/// What is measured of one server in one row.
#[derive(Clone, Copy)]
struct Cost {
    /// Seconds for a call.
    wall: f64,
    /// Processor time of the server, in seconds for a call.
    processor: Option<f64>,
    instructions: Option<f64>,
}

#[allow(clippy::cast_precision_loss, reason = "a figure for people")]
fn each(time: Duration, load: &Load) -> f64 {
    time.as_secs_f64() / load.calls as f64
}

fn measured(transport: [Transport; 2], load: &Load) -> [Cost; 2] {
    let which = [Which::Ours, Which::Bare];
    let mut servers = [0, 1].map(|place| Server::start(which[place], transport[place]));
    let mut costs = [Cost {
        wall: f64::INFINITY,
        processor: None,
        instructions: None,
    }; 2];
    for round in 0..ROUNDS {
        for turn in 0..2 {
            let place = (round + turn) % 2;
            let (wall, processor) = servers[place].round(load);
            let cost = &mut costs[place];
            cost.wall = cost.wall.min(each(wall, load));
            cost.processor = processor
                .map(|time| each(time, load))
                .map(|time| cost.processor.map_or(time, |best| best.min(time)));
        }
    }
    for (place, server) in servers.into_iter().enumerate() {
        server.end();
        costs[place].instructions = instructions(which[place], transport[place], load);
    }
    costs
}

fn shown(ours: Option<f64>, bare: Option<f64>, digits: usize) -> String {
    match (ours, bare) {
        (Some(ours), Some(bare)) => {
            let ratio = bare / ours;
            format!("{ours:>9.digits$} {bare:>9.digits$} {ratio:>6.2}")
        }
        _ => format!("{:>26}", ""),
    }
}

fn row(what: &str, [ours, bare]: [Cost; 2]) {
    let per_second = |cost: Cost| 1.0 / cost.wall;
    let micros = |cost: Cost| cost.processor.map(|time| time * 1e6);
    println!(
        "{what:<46} {:>7.0} {:>7.0} {:>6.2} | {} | {}",
        per_second(ours),
        per_second(bare),
        bare.wall / ours.wall,
        shown(micros(ours), micros(bare), 1),
        shown(ours.instructions, bare.instructions, 0),
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if servers::served(&arguments) {
        return;
    }
    let wanted: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    println!(
        "{:<46} {:^22} | {:^26} | {:^26}",
        "", "calls per second", "processor µs a call", "instructions a call"
    );
    let names = |width: usize| format!("{:>width$} {:>width$} {:>6}", "ours", "bare", "x");
    println!("{:<46} {} | {} | {}", "", names(7), names(9), names(9));
    let small = Load::add();
    let large = Load::echo(10_000);
    for (what, transport, load) in [
        (
            "stdio, small, one at a time",
            [Transport::Stdio; 2],
            small.times(2_000, 1),
        ),
        (
            "stdio, small, 64 at once",
            [Transport::Stdio; 2],
            small.times(10_000, 64),
        ),
        (
            "stdio, 10 kB, 64 at once",
            [Transport::Stdio; 2],
            large.times(2_000, 64),
        ),
        ("http, small, 1 connection", JSON, small.times(2_000, 1)),
        ("http, small, 16 connections", JSON, small.times(8_000, 16)),
        ("http, 10 kB, 16 connections", JSON, large.times(2_000, 16)),
        (
            "http, small, 1 connection; bare sends events",
            EVENTS,
            small.times(2_000, 1),
        ),
        (
            "http, small, 16 connections; bare sends events",
            EVENTS,
            small.times(8_000, 16),
        ),
        (
            "http, 10 kB, 16 connections; bare sends events",
            EVENTS,
            large.times(2_000, 16),
        ),
    ] {
        if wanted.iter().all(|word| what.contains(word.as_str())) {
            row(what, measured(transport, &load));
        }
    }
}

/// Ours always answers a call that reports nothing as one piece of JSON; rmcp does where it is told to.
const JSON: [Transport; 2] = [Transport::Http { json: true }; 2];

/// As rmcp does unless told.
const EVENTS: [Transport; 2] = [
    Transport::Http { json: true },
    Transport::Http { json: false },
];
