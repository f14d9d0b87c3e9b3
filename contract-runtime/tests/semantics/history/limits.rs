//! `count` and `ok`: what had its effect, or may have had it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use contract_runtime::prelude::*;
use contract_runtime::{Run, Status};

use super::{Refunds, in_run, order, refund_once, said};

/// Whatever happens in a call.
#[derive(serde::Deserialize, schemars::JsonSchema, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum What {
    Succeed,
    Fail,
    Panic,
    BreakPost,
    BreakPre,
    NotFound,
    Hang,
}

/// Pay, or not.
#[tool(destructive, timeout = "1s")]
#[pre(history().count(pay) < 1, "paid already")]
#[pre(what != What::BreakPre)]
#[given(found = (what != What::NotFound).then_some(()), else "not found")]
#[post(|paid| !*paid || what != What::BreakPost)]
async fn pay(what: What) -> Result<bool, String> {
    let () = found;
    match what {
        What::Fail => Err("the bank is closed".into()),
        What::Panic => panic!("no more paper"),
        What::Hang => {
            tokio::time::sleep(Duration::from_secs(100)).await;
            Ok(true)
        }
        _ => Ok(true),
    }
}

/// Say whether something was paid.
#[tool]
#[pre(history().ok(pay), "nothing was paid")]
fn receipt() {}

async fn after(what: &str) -> (Status, bool, bool) {
    let registry = Registry::builder().tool(pay).tool(receipt).build().unwrap();
    let run = Run::new();
    let call = |what: &str| ToolCall::new("1", "pay", format!(r#"{{"what":"{what}"}}"#));
    let first = in_run(&registry, &run, call(what)).await;
    let receipt = in_run(&registry, &run, ToolCall::new("2", "receipt", "")).await;
    let second = in_run(&registry, &run, call("succeed")).await;
    (first.status(), second.is_ok(), receipt.is_ok())
}

#[tokio::test(start_paused = true)]
async fn whatever_may_have_had_its_effect_counts() {
    assert_eq!(after("succeed").await, (Status::Ok, false, true));
    assert_eq!(after("fail").await, (Status::Failed, false, false));
    assert_eq!(after("panic").await, (Status::Panicked, false, false));
    assert_eq!(after("break_post").await, (Status::Violation, false, false));
    assert_eq!(after("hang").await, (Status::TimedOut, false, false));
    // Nothing of these ran.
    assert_eq!(after("break_pre").await, (Status::Violation, true, false));
    assert_eq!(after("not_found").await, (Status::Violation, true, false));
    assert_eq!(
        after("nonsense").await,
        (Status::InvalidArguments, true, false)
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_waits_for_any_more_counts() {
    let registry = Registry::builder().tool(pay).build().unwrap();
    let run = Run::new();
    let call = |what: &str| ToolCall::new("1", "pay", format!(r#"{{"what":"{what}"}}"#));
    {
        let hangs = in_run(&registry, &run, call("hang"));
        let _ = tokio::time::timeout(Duration::from_millis(10), hangs).await;
    }
    assert_eq!(
        said(&in_run(&registry, &run, call("succeed")).await),
        "paid already"
    );
}

/// Wait where nobody can stop it.
#[tool(blocking)]
#[pre(history().count(block) < 1, "blocked already")]
fn block(#[context] started: &AtomicUsize) {
    started.fetch_add(1, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(50));
}

#[tokio::test]
async fn a_blocking_body_that_was_given_up_counts() {
    let registry = Registry::builder()
        .tool(block)
        .context(AtomicUsize::new(0))
        .build()
        .unwrap();
    let run = Run::new();
    let context = || Context::new().run(&run);
    let call = || ToolCall::new("1", "block", "");
    // On a busy machine the time can be over before the thread begins, and such a call does not count.
    loop {
        let soon = context().timeout(Duration::from_millis(5));
        let outcome = registry.call(call()).context(soon).await;
        assert_eq!(outcome.status(), Status::TimedOut);
        if outcome.may_still_be_running() {
            break;
        }
    }
    assert_eq!(
        said(&registry.call(call()).context(context()).await),
        "blocked already"
    );
    tokio::time::sleep(Duration::from_millis(80)).await;
    assert_eq!(
        said(&registry.call(call()).context(context()).await),
        "blocked already"
    );
}

/// Refund something once, after a look at the account.
#[tool(destructive)]
#[given(looked = tokio::task::yield_now().await)]
#[pre(history().with("order_id", &order_id).count(refund_later) < 1, "only one refund of {order_id}")]
async fn refund_later(order_id: String, #[context] refunds: &Refunds) -> String {
    let () = looked;
    tokio::task::yield_now().await;
    refunds.0.fetch_add(1, Ordering::SeqCst);
    order_id
}

#[test]
fn of_two_calls_at_once_one_is_made() {
    let registry = Registry::builder()
        .tool(refund_once)
        .context(Refunds::default())
        .build();
    let registry = registry.unwrap();
    for _ in 0..10_000 {
        let run = Run::new();
        let barrier = std::sync::Barrier::new(2);
        let refund = || {
            let (call, context) = (order("refund_once", "W1"), Context::new().run(&run));
            barrier.wait();
            registry.call(call).context(context).blocking().is_ok()
        };
        let made = std::thread::scope(|scope| {
            let other = scope.spawn(refund);
            usize::from(refund()) + usize::from(other.join().unwrap())
        });
        assert_eq!(made, 1);
    }
}

#[tokio::test]
async fn of_two_futures_one_is_made_in_both_orders() {
    let registry = Registry::builder()
        .tool(refund_later)
        .context(Refunds::default())
        .build();
    let registry = registry.unwrap();
    for round in 0..10_000 {
        let run = Run::new();
        let one = in_run(&registry, &run, order("refund_later", "W1"));
        let other = in_run(&registry, &run, order("refund_later", "W1"));
        let elsewhere = in_run(&registry, &run, order("refund_later", "W2"));
        let (one, other, elsewhere) = if round % 2 == 0 {
            tokio::join!(one, other, elsewhere)
        } else {
            let (elsewhere, other, one) = tokio::join!(elsewhere, other, one);
            (one, other, elsewhere)
        };
        let first = round % 2 == 0;
        assert_eq!((one.is_ok(), other.is_ok()), (first, !first));
        assert!(elsewhere.is_ok());
    }
}

/// Look at something.
#[tool(read_only)]
fn look_at(name: String) -> String {
    name
}

/// Take something.
#[tool]
#[pre(history().with("name", name).seen(look_at), "look first")]
#[pre(!name.is_empty())]
fn take(#[arg(example = "a lamp")] name: &str) {
    let _ = name;
}

/// An example is shown to a model before it has called anything.
#[test]
fn an_example_is_not_held_to_the_history() {
    let builder = Registry::builder().tool(look_at).tool(take);
    builder.build().unwrap();
}

/// Give somebody a share, once.
#[tool(destructive)]
#[pre(history().with("name", &name).with("year", &year).count(give) < 1, "{name} has a share")]
fn give(name: String, share: f64, year: u64, of: Option<Vec<f32>>) -> String {
    format!("{name} {share} {year} {of:?}")
}

#[tokio::test]
async fn a_limit_finds_calls_again_that_had_floats_too() {
    let registry = Registry::builder().tool(give).build().unwrap();
    let run = Run::new();
    for (arguments, is_ok) in [
        (r#"{"name":"ada","share":0.25,"year":2024}"#, true),
        (r#"{"name":"ada","share":0.5,"year":2024}"#, false),
        (
            r#"{"name":"ada","year":2024.0,"share":0.5,"of":[0.1]}"#,
            false,
        ),
        (
            r#"{"name":"ada","share":0.5,"of":[0.1,1e-9],"year":2025.0}"#,
            true,
        ),
        (r#"{"name":"ada","share":1,"year":2025}"#, false),
        (r#"{"name":"bob","share":1e3,"year":2025}"#, true),
        (r#"{"name":"bob","share":1.5,"year":2025}"#, false),
    ] {
        let outcome = in_run(&registry, &run, ToolCall::new("1", "give", arguments)).await;
        assert_eq!(outcome.is_ok(), is_ok, "{arguments} {}", said(&outcome));
    }
}
