//! Whatever happens to calls, money neither appears nor vanishes, and no account is overdrawn.

use std::sync::Arc;
use std::thread;

use bank::Bank;
use contract_runtime::prelude::*;
use contract_runtime::{ConditionKind, Run, Status};
use serde_json::json;

fn open() -> (Arc<Bank>, Registry) {
    let bank = Arc::new(Bank::in_memory().unwrap());
    let registry = Registry::builder().with(Arc::clone(&bank)).build().unwrap();
    (bank, registry)
}

fn transfer(registry: &Registry, from: &str, to: &str, cents: i64) -> Outcome {
    let arguments = json!({"from": from, "to": to, "cents": cents});
    registry
        .call(ToolCall::new("1", "transfer", arguments.to_string()))
        .blocking()
}

fn balance(registry: &Registry, account: &str) -> i64 {
    let arguments = json!({"account": account}).to_string();
    let outcome = registry
        .call(ToolCall::new("1", "balance", arguments))
        .blocking();
    outcome.value().unwrap().as_i64().unwrap()
}

#[test]
fn refusals_say_what_the_state_is() {
    let (_, registry) = open();
    let refused = |from: &str, to: &str, cents: i64| {
        let outcome = transfer(&registry, from, to, cents);
        assert_eq!(outcome.status(), Status::Violation);
        outcome.error().unwrap().to_owned()
    };
    assert_eq!(
        refused("ben", "ada", 20_000),
        "ben has only 12000 cents, got cents = 20000"
    );
    assert_eq!(refused("dora", "ada", 1), "there is no account dora");
    assert_eq!(refused("ada", "dora", 1), "there is no account dora");
    assert_eq!(
        refused("ada", "ada", 1),
        "money moves between two accounts, got from = \"ada\", to = \"ada\""
    );
    assert_eq!(balance(&registry, "ben"), 12_000);
    assert_eq!(
        transfer(&registry, "ben", "ada", 2_000).output(),
        Some("10000")
    );
    assert_eq!(balance(&registry, "ada"), 52_000);
}

#[test]
fn ten_thousand_raced_transfers_keep_every_cent() {
    let (bank, registry) = open();
    let before = bank.total().unwrap();
    let names = ["ada", "ben", "cleo"];
    thread::scope(|scope| {
        for worker in 0..4_usize {
            let registry = &registry;
            scope.spawn(move || {
                for round in 0..2_500_usize {
                    let (from, to) = (
                        names[(worker + round) % 3],
                        names[(worker + 2 * round + 1) % 3],
                    );
                    let cents = i64::try_from(round % 700).unwrap() * 50;
                    let outcome = transfer(registry, from, to, cents);
                    let fine = match outcome.violation() {
                        Some(violation) => violation.kind == ConditionKind::Pre,
                        None => outcome.is_ok(),
                    };
                    assert!(
                        fine || outcome.status() == Status::InvalidArguments,
                        "{outcome:?}"
                    );
                }
            });
        }
    });
    assert_eq!(bank.total().unwrap(), before);
    for name in names {
        assert!(balance(&registry, name) >= 0, "{name}");
    }
    let statistics = registry.statistics();
    assert!(statistics.ended(Status::Ok) > 100, "{statistics:?}");
}

#[test]
fn a_person_approves_large_sums_and_only_as_they_were_shown() {
    let (_, registry) = open();
    let asked = transfer(&registry, "ada", "ben", 45_000);
    assert_eq!(asked.status(), Status::Asked);
    let request = asked.approval_request().unwrap();
    assert_eq!(
        request.to_string(),
        "Move 45000 of 50000 cents from \"ada\" to \"ben\"?"
    );
    // The sum is another by the time of the answer, so the answer is for another question.
    assert!(transfer(&registry, "ben", "ada", 1_000).is_ok());
    let again = |answer| {
        let arguments = json!({"from": "ada", "to": "ben", "cents": 45_000}).to_string();
        let call = ToolCall::new("1", "transfer", arguments);
        registry
            .call(call)
            .context(Context::new().answer(answer))
            .blocking()
    };
    let asked = again(request.approve());
    assert_eq!(asked.status(), Status::Asked);
    assert_eq!(balance(&registry, "ada"), 51_000);
    let moved = again(asked.approval_request().unwrap().approve());
    assert_eq!(moved.output(), Some("6000"));
    // Nobody is asked about what cannot be.
    let refused = transfer(&registry, "ada", "ben", 45_000);
    assert_eq!(refused.status(), Status::Violation);
}

#[test]
fn an_account_is_closed_once_its_balance_was_read() {
    let (_, registry) = open();
    let run = Run::new();
    let call = |tool: &str, account: &str| {
        let arguments = json!({"account": account}).to_string();
        let context = Context::new().run(&run);
        registry
            .call(ToolCall::new("1", tool, arguments))
            .context(context)
            .blocking()
    };
    assert!(call("balance", "ada").is_ok());
    let closed = call("close", "cleo");
    let unread = closed.error().unwrap();
    assert!(
        unread.starts_with("read the balance of cleo first"),
        "{unread}"
    );
    assert_eq!(
        call("close", "ada").error().unwrap(),
        "ada still has 50000 cents"
    );
    assert!(call("balance", "cleo").is_ok());
    assert!(call("close", "cleo").is_ok());
    assert_eq!(
        call("balance", "cleo").error().unwrap(),
        "there is no account cleo"
    );
}
