//! Tools that each break a promise only after other calls.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Mutex;

use contract_runtime::Builder;
use contract_runtime::prelude::*;
use contract_verify::{Fault, Report, SequenceCall, Verifier};
use serde_json::json;

use super::{only, report, tools};

/// How many seeds each fault is looked for with.
const SEEDS: u64 = 8;

#[derive(Default)]
struct Names(Mutex<Vec<String>>);

#[tool]
impl Names {
    /// Add a name.
    #[tool]
    #[pre(!name.is_empty() && name.len() <= 20)]
    #[post(|count| *count == self.0.lock().unwrap().iter().collect::<BTreeSet<_>>().len())]
    fn add_name(&self, name: String) -> usize {
        let mut names = self.0.lock().unwrap();
        names.push(name);
        names.len()
    }
}

fn no_names(builder: Builder) -> Builder {
    builder.with(Names::default())
}

#[test]
fn a_name_given_twice_takes_two_calls() {
    for seed in 0..SEEDS {
        let report = report(Registry::builder(), no_names, seed);
        let problem = only(&report);
        assert_eq!(
            problem.clause.as_deref(),
            Some("add_name.post[1]"),
            "{report}"
        );
        assert_eq!(problem.input, None);
        assert_eq!(tools(problem), ["add_name", "add_name"], "{report}");
        for call in &problem.calls {
            assert_eq!(call.arguments, json!({"name": "a"}), "{report}");
        }
        let lines = "to paste into a test:\n\
            registry.call((\"\", \"add_name\", json!({\"name\": \"a\"}))).await;\n\
            registry.call((\"\", \"add_name\", json!({\"name\": \"a\"}))).await";
        assert!(report.to_string().contains(lines), "{report}");
    }
}

#[derive(Default)]
struct Bank(Mutex<BTreeMap<String, u32>>);

#[tool]
impl Bank {
    /// Open an account.
    #[tool]
    #[pre(!owner.is_empty() && owner.len() <= 20)]
    fn open(&self, owner: String) -> bool {
        self.0.lock().unwrap().insert(owner, 0).is_none()
    }

    /// Pay money in, and say how much there is.
    #[tool]
    #[pre(cents > 0 && cents <= 1_000_000)]
    fn pay_in(&self, owner: &str, cents: u32) -> Result<u32, String> {
        let mut accounts = self.0.lock().unwrap();
        let held = accounts.get_mut(owner).ok_or("there is no such account")?;
        *held = held.saturating_add(cents);
        Ok(*held)
    }

    /// Close an account.
    #[tool(destructive)]
    fn close(&self, owner: &str) -> Result<(), String> {
        let held = self.0.lock().unwrap().remove(owner);
        let held = held.ok_or("there is no such account")?;
        contract_assert!(held == 0, "money was lost");
        Ok(())
    }

    /// Say how much there is.
    #[tool(read_only)]
    fn held(&self, owner: &str) -> Option<u32> {
        self.0.lock().unwrap().get(owner).copied()
    }
}

pub(super) fn no_accounts(builder: Builder) -> Builder {
    builder.with(Bank::default())
}

#[test]
fn lost_money_takes_three_calls() {
    for seed in 0..SEEDS {
        let report = report(Registry::builder(), no_accounts, seed);
        let problem = only(&report);
        assert_eq!(
            tools(problem),
            ["open", "pay_in", "close"],
            "seed {seed}: {report}"
        );
        assert!(
            matches!(&problem.fault, Fault::PromiseBroken { message } if message.contains("money was lost"))
        );
        assert_eq!(
            problem.calls[1].arguments,
            json!({"owner": "a", "cents": 1}),
            "{report}"
        );
    }
}

/// Hands out tickets whose numbers nobody can guess, and no two processes share.
#[derive(Default)]
struct Tickets(Mutex<BTreeMap<String, u32>>);

#[tool]
impl Tickets {
    /// Buy a ticket.
    #[tool]
    fn buy(&self) -> BTreeMap<&'static str, String> {
        let ticket = format!("{:016x}", RandomState::new().hash_one(0));
        self.0.lock().unwrap().insert(ticket.clone(), 0);
        BTreeMap::from([("ticket", ticket)])
    }

    /// Use a ticket.
    #[tool]
    fn enter(&self, ticket: &str) -> Result<u32, String> {
        let mut tickets = self.0.lock().unwrap();
        let used = tickets.get_mut(ticket).ok_or("there is no such ticket")?;
        *used += 1;
        assert!(*used < 2, "used twice");
        Ok(*used)
    }
}

fn no_tickets(builder: Builder) -> Builder {
    builder.with(Tickets::default())
}

#[test]
fn what_a_call_returns_is_passed_on_each_time_anew() {
    for seed in 0..SEEDS {
        let report = report(Registry::builder(), no_tickets, seed);
        let problem = only(&report);
        assert_eq!(tools(problem), ["buy", "enter", "enter"], "{report}");
        assert!(
            matches!(&problem.fault, Fault::BodyPanicked { message } if message.starts_with("used twice"))
        );
        let lines = "to paste into a test:\n\
            let first = registry.call((\"\", \"buy\", json!({}))).await.value().unwrap();\n\
            registry.call((\"\", \"enter\", json!({\"ticket\": first[\"ticket\"]}))).await;\n\
            registry.call((\"\", \"enter\", json!({\"ticket\": first[\"ticket\"]}))).await";
        assert!(report.to_string().contains(lines), "{report}");
    }
}

/// Find an order.
#[tool(read_only)]
#[pre(order_id > 0 && order_id < 100)]
fn find_order(order_id: u32) -> u32 {
    order_id
}

#[derive(Default)]
struct Till(Mutex<BTreeSet<u32>>);

/// Refund an order; the limit is one too high.
#[tool(destructive)]
#[pre(order_id > 0 && order_id < 100)]
#[pre(history().with("order_id", &order_id).seen(find_order), "look the order up first")]
#[pre(history().with("order_id", &order_id).count(refund) < 2, "an order is refunded once")]
#[post(|is_new| *is_new, "it was refunded before")]
fn refund(order_id: u32, #[context] till: &Till) -> bool {
    till.0.lock().unwrap().insert(order_id)
}

fn empty_till(builder: Builder) -> Builder {
    builder.context(Till::default())
}

#[test]
fn a_limit_over_the_history_that_is_too_high_takes_one_call_more() {
    for seed in 0..SEEDS {
        let builder = Registry::builder().tool(find_order).tool(refund);
        let report = report(builder, empty_till, seed);
        let problem = only(&report);
        assert_eq!(
            problem.clause.as_deref(),
            Some("refund.post[3]"),
            "{report}"
        );
        assert_eq!(
            tools(problem),
            ["find_order", "refund", "refund"],
            "{report}"
        );
        assert!(problem.calls.iter().all(|call| !call.same_turn), "{report}");
    }
}

#[tokio::test]
#[allow(unused_must_use, reason = "a test needs the last outcome")]
async fn the_lines_of_a_sequence_are_rust_that_fails_the_same_way() {
    use contract_runtime::{Run, Status};
    let builder = Registry::builder().tool(find_order).tool(refund);
    let report = report(builder, empty_till, 1);
    let text = report.to_string();
    // These are the lines that are expected, as code, and as text.
    macro_rules! both {
        ($($line:tt)*) => {
            ({ $($line)* }, stringify!($($line)*))
        };
    }
    let builder = Registry::builder().tool(find_order).tool(refund);
    let registry = empty_till(builder).build().unwrap();
    let (outcome, lines) = both!(
        let run = Run::new();
        registry.call(("1", "find_order", json!({"order_id": 1}))).context(Context::new().run(&run)).await;
        registry.call(("2", "refund", json!({"order_id": 1}))).context(Context::new().run(&run)).await;
        registry.call(("3", "refund", json!({"order_id": 1}))).context(Context::new().run(&run)).await
    );
    assert_eq!(outcome.status(), Status::Violation);
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    assert!(plain(&text).contains(&plain(lines)), "{text}\n{lines}");
}

#[derive(Default)]
struct Basket(Mutex<u32>);

/// Put something into the basket; two in one turn are too many.
#[tool]
#[pre(pieces > 0 && pieces < 10)]
#[pre(!history().seen(put), "the basket is full")]
#[post(|all| *all == pieces)]
fn put(pieces: u32, #[context] basket: &Basket) -> u32 {
    let mut all = basket.0.lock().unwrap();
    *all += pieces;
    *all
}

fn empty_basket(builder: Builder) -> Builder {
    builder.context(Basket::default())
}

#[test]
fn what_only_two_calls_of_one_turn_break_is_shown_as_one_turn() {
    for seed in 0..SEEDS {
        let report = report(Registry::builder().tool(put), empty_basket, seed);
        let problem = only(&report);
        assert_eq!(tools(problem), ["put", "put"], "{report}");
        assert!(problem.calls[1].same_turn, "{report}");
        let text = report.to_string();
        assert!(
            text.contains("let turn = run.turn();") && text.contains(".run(&turn)"),
            "{text}"
        );
    }
}

/// The same seed, the same report.
#[test]
fn the_same_seed_finds_the_same_sequence() {
    let of = |seed| -> Report { report(Registry::builder(), no_accounts, seed) };
    assert_eq!(of(3), of(3));
}

#[derive(Default)]
struct Guests(Mutex<Vec<String>>);

#[tool]
impl Guests {
    /// Invite somebody.
    #[tool]
    #[pre(!name.trim().is_empty() && name.len() <= 96)]
    fn invite(&self, name: String) -> Result<usize, String> {
        let mut guests = self.0.lock().unwrap();
        if guests.contains(&name) {
            return Err("the guest is invited already".to_owned());
        }
        let is_known = guests.iter().any(|other| other.trim() == name.trim());
        contract_assert!(!is_known, "one guest is invited twice");
        guests.push(name);
        contract_assert!(guests.len() <= 10, "the table is full");
        Ok(guests.len())
    }
}

fn no_guests(builder: Builder) -> Builder {
    builder.with(Guests::default())
}

/// The names in the smallest sequence that was found from one of such names.
fn names(test: &str, names: &[String]) -> Vec<String> {
    let calls = names
        .iter()
        .map(|name| json!({"tool": "invite", "arguments": {"name": name}}));
    let kept = json!({"$sequences": [calls.collect::<Vec<_>>()]});
    let file = format!("{}/{test}.json", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&file, kept.to_string()).unwrap();
    let registry = no_guests(Registry::builder()).build().unwrap();
    let verifier = Verifier::new(registry).run_bodies(true).setup(no_guests);
    let report = verifier.cases(1).sequences(1).regressions(file).run();
    let calls = only(&report).calls.iter();
    let name = |call: &SequenceCall| call.arguments["name"].as_str().unwrap().to_owned();
    calls.map(name).collect()
}

#[test]
fn texts_that_differ_in_a_part_become_simple_together() {
    let long = "2024-02-29".to_owned();
    let found = names("differ", &[long.clone(), format!("{long}\n")]);
    assert_eq!(found, ["a", "a "]);
}

#[test]
fn the_names_of_many_calls_become_simple() {
    let long = |first: u8| format!("{}{}", char::from(b'b' + first), "a".repeat(95));
    let found = names("many", &(0..11).map(long).collect::<Vec<_>>());
    assert_eq!(found.len(), 11, "{found:?}");
    assert!(found.iter().all(|name| name.len() < 5), "{found:?}");
}
