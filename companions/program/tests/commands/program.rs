//! The program under test: one tool for every way in which a call can end.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use clap::{Parser, Subcommand};
use contract_runtime::prelude::*;
use contract_runtime::{DynamicSpec, Tool};

/// Divide one number by another. The quotient is rounded to the nearest double.
#[tool(read_only, idempotent)]
#[pre(divisor != 0.0, "cannot divide by zero")]
#[post(|quotient| quotient.is_finite())]
fn divide(
    /// The number to divide.
    dividend: f64,
    /// The number to divide by.
    divisor: f64,
) -> f64 {
    dividend / divisor
}

/// Fill seats.
#[tool]
#[pre(seats <= 12, "that is a lot", policy = observe)]
fn fill(
    /// How many.
    seats: u32,
) -> u32 {
    seats
}

/// Count letters, however the number is written.
#[tool(read_only)]
fn repeat(
    /// What to repeat.
    #[arg(default = "a")]
    text: &str,
    /// How often.
    times: u8,
) -> String {
    text.repeat(times.into())
}

/// Fail.
#[tool(open_world)]
fn fail(
    /// The reason.
    why: String,
) -> Result<(), String> {
    Err(why)
}

/// Panic.
#[tool(destructive)]
fn fall(#[context] log: &Log) {
    log.warning("about to fall\u{1b}[2J\nfailed: not yet");
    panic!("on purpose");
}

/// Wait, with the timers of the runtime.
#[tool(read_only, timeout = "10m")]
async fn wait(
    /// How long.
    milliseconds: u64,
) -> String {
    say("waiting");
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    "waited".to_owned()
}

/// Hold a thread until somebody takes the call back.
#[tool(blocking)]
fn hold(#[context] token: &CancellationToken) -> &'static str {
    say("holding");
    while !token.is_cancelled() {
        std::thread::park_timeout(Duration::from_millis(1));
    }
    "let go"
}

/// Hold the thread of the call, whatever anybody says.
#[tool]
fn stick() {
    say("sticking");
    loop {
        std::thread::park();
    }
}

/// Give a picture, a file and a value.
#[tool(read_only)]
fn draw() -> Content {
    Content::text("three things")
        .with(Artifact::image("image/png", [0x89, b'P', b'N', b'G']))
        .with(Artifact::file("../../table.csv", "text/csv", "a,b\n"))
        .with(Artifact::value("sum", 3))
}

/// Say something that a terminal would obey.
#[tool(read_only)]
fn hostile() -> &'static str {
    "\u{1b}[2J\u{1b}]0;owned\u{7}gone\u{202e}"
}

/// Give as much text as is asked for.
#[tool(read_only)]
fn flood(
    /// How many.
    lines: u32,
) -> String {
    "a line of text\n".repeat(lines as usize)
}

/// Give nothing.
#[tool(read_only)]
fn nothing() {}

/// Wait twice as carefully as needed.
#[tool]
#[pre(seconds < 60)]
#[pre(seconds < 3_600)]
fn doubly(
    /// How long.
    seconds: u32,
) {
    let _ = seconds;
}

/// Give a number back, which is not always what is promised.
#[tool(read_only)]
#[post(|number| *number > 0)]
fn same(
    /// The number.
    number: u8,
) -> u8 {
    number
}

/// Say it again.
#[tool]
fn echo(
    /// What to say.
    what: serde_json::Value,
) -> serde_json::Value {
    what
}

/// Refund cents to somebody.
#[tool]
#[pre(cents <= 10_000, "refunds above 100 EUR need approval", ask = "Refund {cents} cents to {user}?")]
fn refund(
    /// Who gets it.
    user: String,
    /// How much.
    cents: u32,
    /// Known to the till alone.
    #[arg(secret)]
    pin: Option<String>,
) -> String {
    let _ = pin;
    format!("refunded {cents} to {user}")
}

/// Buy a lamp, at the price of the day.
#[tool(confirm = "Buy a lamp for {}?", price)]
#[given(price = price_of_the_day())]
fn buy() -> String {
    format!("bought for {price}")
}

/// Remove a file.
#[tool(destructive, confirm = "Remove {path}?")]
#[pre(!path.is_empty(), "a path must be given")]
#[post(|left| *left < 9)]
fn remove(path: String, #[arg(secret)] key: Option<String>) -> usize {
    key.map_or(path.len(), |key| key.len())
}

/// The first time it is asked; each further time it is higher, if it is to rise.
fn price_of_the_day() -> u32 {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let price = std::env::var("PRICE")
        .ok()
        .and_then(|price| price.parse().ok());
    let rises = u32::from(std::env::var_os("RISES").is_some());
    price.unwrap_or(40) + rises * ASKED.fetch_add(1, Ordering::Relaxed)
}

/// How to travel.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Train,
    Ship,
}

/// A room of a hotel.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Room {
    floor: u8,
    guests: Vec<String>,
}

#[allow(clippy::too_many_arguments, reason = "one for each kind of argument")]
/// Plan a journey, and say which one.
#[tool(read_only)]
#[pre(days.is_none_or(|days| days <= 30), "a journey takes at most a month")]
#[pre(days.is_none_or(|days| days > 0), policy = observe)]
fn plan(
    /// Where it goes.
    city: &str,
    days: Option<u32>,
    modes: Option<Vec<Mode>>,
    prices: Option<Vec<f64>>,
    tags: Option<Vec<String>>,
    #[arg(default = false)] urgent: bool,
    rooms: Option<Vec<Room>>,
    start_at: Option<String>,
    #[arg(secret)] pin: Option<serde_json::Value>,
    note: Option<serde_json::Value>,
) -> serde_json::Value {
    let all = serde_json::json!({
        "city": city, "days": days, "modes": modes, "prices": prices, "tags": tags, "urgent": urgent, "rooms": rooms,
        "start_at": start_at, "pin": pin, "note": note,
    });
    let given = all.as_object().into_iter().flatten();
    let given = given.filter(|(_, value)| !value.is_null() && **value != false);
    given
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Send a letter, with arguments that are named like options.
#[tool]
fn send(
    approve: Option<String>,
    check: Option<bool>,
    out: Option<serde_json::Value>,
    json: Option<bool>,
) -> String {
    format!("{approve:?} {check:?} {out:?} {json:?}")
}

/// Move cents from one account to another.
#[tool]
#[pre(cents > 0)]
#[given(balance = balance_of(&from)?, else "there is no account {from}")]
#[pre(balance >= cents, "{from} has {} cents", balance)]
#[given(_other = balance_of(&to)?, else "there is no account {to}")]
#[pre(cents <= limit(&from), policy = observe)]
#[post(|left| *left < 1_000)]
fn transfer(
    /// Who pays.
    from: String,
    /// Who gets it.
    to: String,
    cents: u32,
) -> Result<u32, String> {
    Ok(balance - cents)
}

fn balance_of(account: &str) -> Result<Option<u32>, String> {
    match account {
        "ada" => Ok(Some(900)),
        "eve" => Ok(Some(5)),
        "offline" => Err("the bank is closed".to_owned()),
        "broken" => panic!("no such bank"),
        _ => Ok(None),
    }
}

fn limit(account: &str) -> u32 {
    assert!(account != "eve", "eve has no limit");
    500
}

struct Store;

/// Count what is stored.
#[tool]
fn count(#[context] store: &Store) -> u32 {
    let Store = store;
    0
}

/// A program with an option and a command of its own.
#[derive(Parser)]
struct Options {
    /// What the shop is called.
    #[arg(long, global = true)]
    shop: Option<String>,
    #[command(subcommand)]
    command: Own,
}

#[derive(Subcommand)]
enum Own {
    /// Say the name of the shop.
    Name,
    #[command(flatten)]
    Tools(contract_program::Command),
}

impl Options {
    fn run(self) -> ExitCode {
        match self.command {
            Own::Name => {
                println!("{}", self.shop.unwrap_or_default());
                ExitCode::SUCCESS
            }
            Own::Tools(command) => command.within::<Self>().run(tools()),
        }
    }
}

/// So that a test need not guess when the body has begun.
fn say(word: &str) {
    let _ = writeln!(std::io::stderr(), "{word}");
}

/// Find an order.
#[tool(read_only)]
fn find_order(id: String) -> String {
    id
}

/// Return an order.
#[tool]
#[pre(history().with("id", &id).ok(find_order), "look at the order first")]
fn return_order(id: String) {}

/// A tool whose arguments have names that few authors would choose.
fn odd() -> Tool {
    let names = [
        "help",
        "a b",
        "",
        "-x",
        "a_b",
        "a-b",
        "Options",
        "words=",
        "\u{fc}",
        "name-of-a-tool",
    ];
    let number = serde_json::json!({"type": "integer"});
    let properties = names.map(|name| (name.to_owned(), number.clone()));
    let properties: serde_json::Map<_, _> = properties.into_iter().collect();
    let schema = serde_json::json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": {"type": "string"},
    });
    let spec = DynamicSpec::new("odd", "Take anything.").input_schema(schema);
    Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("taken")) })
}

fn tools() -> contract_runtime::Builder {
    registry!()
        .without([
            "doubly",
            "echo",
            "count",
            "same",
            "refund",
            "buy",
            "plan",
            "transfer",
            "remove",
            "send",
            "find_order",
            "return_order",
        ])
        .coerce(true)
        .max_output_chars(10_000_000)
}

pub(crate) fn main() -> ExitCode {
    match std::env::var("VARIANT").as_deref() {
        Ok("threads") => tokio::runtime::Runtime::new().map_or(ExitCode::from(99), |runtime| {
            runtime.block_on(async { contract_program::run(tools()) })
        }),
        Ok("one") => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_or(ExitCode::from(99), |runtime| {
                runtime.block_on(async { contract_program::run(tools()) })
            }),
        Ok("task") => tokio::runtime::Runtime::new().map_or(ExitCode::from(99), |runtime| {
            let task = runtime.spawn(async { contract_program::run(tools()) });
            runtime.block_on(task).unwrap_or(ExitCode::from(99))
        }),
        Ok("overloaded") => contract_program::run(tools().max_calls(0)),
        Ok("superfluous") => contract_program::run(Registry::builder().tool(doubly)),
        Ok("wrong") => contract_program::run(Registry::builder().tool(same)),
        Ok("untyped") => contract_program::run(Registry::builder().tool(echo)),
        Ok("asking") => {
            contract_program::run(Registry::builder().tool(refund).tool(buy).tool(remove))
        }
        Ok("journeys") => contract_program::run(Registry::builder().tool(plan).tool(divide)),
        Ok("bank") => contract_program::run(Registry::builder().tool(transfer)),
        Ok("orders") => {
            contract_program::run(Registry::builder().tool(find_order).tool(return_order))
        }
        Ok("odd") => contract_program::run(Registry::builder().with(odd())),
        Ok("letters") => contract_program::run(Registry::builder().tool(send)),
        Ok("empty") => contract_program::run(Registry::builder()),
        Ok("stateful") => contract_program::run(Registry::builder().tool(count)),
        Ok("own options") => Options::parse().run(),
        Ok("broken") => {
            contract_program::run(tools().rename("nobody", "somebody").without(["anybody"]))
        }
        _ => contract_program::run(tools()),
    }
}
