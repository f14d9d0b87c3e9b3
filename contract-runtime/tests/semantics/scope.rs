//! The scope of a call: its own, carried where it is asked to go, and gone when the call is.

use std::future::Future;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use contract_runtime::prelude::*;
use contract_runtime::{ContractScope, PolicyOrigin, Run, Status, catch};
use tokio::sync::Barrier;

use crate::common::{Log, call};

/// What an assertion under the policy of the scope says about the scope that it is in.
fn probe(text: &str) {
    contract_assert!(text.is_empty(), "{text}");
}

/// Break a contract between awaits, together with 63 others.
#[tool]
async fn together(number: usize, #[context] barrier: &Barrier) -> usize {
    probe(&format!("first of {number}"));
    barrier.wait().await;
    probe(&format!("second of {number}"));
    for _ in 0..number % 7 {
        tokio::task::yield_now().await;
    }
    let scope = ContractScope::current();
    let spawned = tokio::spawn(scope.clone().wrap(async move {
        tokio::task::yield_now().await;
        probe(&format!("spawned by {number}"));
    }));
    spawned.await.unwrap_or_default();
    let run = scope.wrap_fn(move || probe(&format!("thread of {number}")));
    tokio::task::spawn_blocking(run).await.unwrap_or_default();
    barrier.wait().await;
    probe(&format!("last of {number}"));
    number
}

async fn sixty_four() {
    const CALLS: usize = 64;
    let registry = Registry::builder()
        .tool(together)
        .context(Barrier::new(CALLS))
        .build()
        .unwrap();
    // Odd calls go on, even ones end at their first failure; they must not hold the barrier of the others up.
    let runs: Vec<Run> = (0..CALLS)
        .map(|_| Run::new().policy(Policy::Observe))
        .collect();
    let calls = runs.iter().enumerate().map(|(number, run)| {
        let registry = registry.clone();
        let context = Context::new().run(run);
        let call = ToolCall::new(
            format!("call {number}"),
            "together",
            format!(r#"{{"number":{number}}}"#),
        );
        tokio::spawn(async move { registry.call(call).context(context).await })
    });
    let calls: Vec<_> = calls.collect();
    for (number, outcome) in calls.into_iter().enumerate() {
        let outcome = outcome.await.unwrap();
        assert_eq!(outcome.output(), Some(number.to_string().as_str()));
        let said: Vec<_> = outcome
            .observed()
            .iter()
            .map(|violation| {
                assert_eq!(violation.call_id, Some(format!("call {number}")));
                assert_eq!(violation.origin, PolicyOrigin::Run);
                violation.message.clone().unwrap_or_default()
            })
            .collect();
        let expected = [
            "first of",
            "second of",
            "spawned by",
            "thread of",
            "last of",
        ]
        .map(|text| format!("{text} {number}"));
        assert_eq!(said, expected);
        assert_eq!(runs[number].counts().violated, 5);
    }
    assert_eq!(registry.statistics().conditions.violated, 5 * 64);
    assert_eq!(registry.statistics().calls(), 64);
}

#[tokio::test]
async fn sixty_four_interleaved_calls_have_their_own_scope_on_one_worker() {
    sixty_four().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_interleaved_calls_have_their_own_scope_on_several_workers() {
    sixty_four().await;
}

/// Every call with a policy of its own, in one task.
#[tokio::test]
async fn calls_polled_in_one_task_do_not_share_a_scope() {
    /// Break a contract after an await.
    #[tool]
    async fn slow(text: String) -> usize {
        for _ in 0..text.len() {
            tokio::task::yield_now().await;
        }
        probe(&text);
        text.len()
    }
    let registry = Registry::builder().tool(slow).build().unwrap();
    let policies = [
        Policy::Ignore,
        Policy::Observe,
        Policy::Enforce,
        Policy::QuickEnforce,
    ];
    let mut calls: Vec<_> = (0..64)
        .map(|number| {
            let run = Run::new().policy(policies[number % 4]);
            let arguments = format!(r#"{{"text":"{}"}}"#, "x".repeat(1 + number % 5));
            let call = ToolCall::new(number.to_string(), "slow", arguments);
            Box::pin(registry.call(call).context(Context::new().run(&run)))
        })
        .collect();
    let mut outcomes: Vec<Option<Outcome>> = (0..64).map(|_| None).collect();
    std::future::poll_fn(|task| {
        for (call, outcome) in calls.iter_mut().zip(&mut outcomes) {
            if outcome.is_none()
                && let Poll::Ready(ended) = call.as_mut().poll(task)
            {
                *outcome = Some(ended);
            }
        }
        if outcomes.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    for (number, outcome) in outcomes.into_iter().flatten().enumerate() {
        let policy = policies[number % 4];
        assert_eq!(outcome.is_ok(), !policy.ends_the_call(), "{number}");
        let observed = usize::from(policy == Policy::Observe);
        assert_eq!(outcome.observed().len(), observed, "{number}");
    }
}

/// Break a contract off the async threads.
#[tool(blocking)]
fn blocking_body(text: String) -> usize {
    probe(&text);
    text.len()
}

#[tokio::test]
async fn a_blocking_body_is_in_the_scope_of_its_call() {
    let registry = Registry::builder().tool(blocking_body).build().unwrap();
    let run = Run::new().policy(Policy::Observe);
    let call = |context| {
        let call = ToolCall::new("7", "blocking_body", r#"{"text":"abc"}"#);
        registry.call(call).context(context)
    };
    let outcome = call(Context::new().run(&run)).await;
    assert_eq!(outcome.output(), Some("3"));
    assert_eq!(outcome.observed()[0].call_id.as_deref(), Some("7"));
    assert_eq!(call(Context::new()).await.status(), Status::Violation);
}

#[test]
fn a_blocking_body_outside_a_runtime_is_in_the_scope_of_its_call() {
    let registry = Registry::builder().tool(blocking_body).build().unwrap();
    let outcome = call(&registry, "blocking_body", r#"{"text":"abc"}"#);
    assert_eq!(outcome.violation().unwrap().call_id.as_deref(), Some("1"));
}

/// Start a task without the scope.
#[tool]
async fn forgets() -> bool {
    tokio::spawn(async { probe("nobody's") }).await.is_ok()
}

/// Start a task with the scope.
#[tool]
async fn carries() -> bool {
    let scope = ContractScope::current();
    tokio::spawn(scope.wrap(async { probe("the call's") }))
        .await
        .is_ok()
}

/// Start a thread with the scope.
#[tool]
fn carries_to_a_thread() -> bool {
    let run = ContractScope::current().wrap_fn(|| probe("the call's"));
    std::thread::spawn(run).join().is_ok()
}

#[tokio::test]
async fn the_scope_goes_only_where_it_is_carried() {
    let registry = Registry::builder()
        .tool(forgets)
        .tool(carries)
        .tool(carries_to_a_thread)
        .build()
        .unwrap();
    let outcome = registry.call(ToolCall::new("1", "forgets", "")).await;
    assert_eq!(outcome.output(), Some("false"));
    for name in ["carries", "carries_to_a_thread"] {
        let outcome = registry.call(ToolCall::new("1", name, "")).await;
        assert_eq!(outcome.status(), Status::Violation, "{name}");
        let observed = Context::new().run(&Run::new().policy(Policy::Observe));
        let outcome = registry
            .call(ToolCall::new("1", name, ""))
            .context(observed)
            .await;
        assert_eq!(outcome.output(), Some("true"), "{name}");
        assert_eq!(outcome.observed().len(), 1, "{name}");
    }
}

/// Wait for ever, or panic, or break a contract.
#[tool]
async fn ends_badly(how: &str) -> u8 {
    tokio::task::yield_now().await;
    match how {
        "panic" => panic!("as asked"),
        "assert" => probe("as asked"),
        _ => std::future::pending().await,
    }
    0
}

/// Panic, or break a contract.
#[tool]
fn ends_badly_at_once(how: &str) -> u8 {
    match how {
        "panic" => panic!("as asked"),
        _ => probe("as asked"),
    }
    0
}

/// Outside any call an assertion unwinds with its own text and without an id.
fn nothing_is_left_over() {
    let violation = catch(|| probe("outside")).unwrap_err();
    assert_eq!(
        (violation.tool.as_str(), violation.call_id),
        ("", None),
        "a scope was left behind"
    );
    assert_eq!(violation.origin, PolicyOrigin::Process);
}

#[tokio::test]
async fn calls_that_end_badly_leave_nothing_behind() {
    let registry = Registry::builder()
        .tool(ends_badly)
        .tool(ends_badly_at_once)
        .policy(Policy::Enforce)
        .build()
        .unwrap();
    let arguments = |how: &str| format!(r#"{{"how":"{how}"}}"#);
    for name in ["ends_badly", "ends_badly_at_once"] {
        for how in ["panic", "assert"] {
            let outcome = registry
                .call(ToolCall::new("1", name, arguments(how)))
                .await;
            assert!(!outcome.is_ok());
            nothing_is_left_over();
        }
    }
    let mut cancelled = Box::pin(registry.call(ToolCall::new("1", "ends_badly", "{\"how\":\"\"}")));
    std::future::poll_fn(|task| {
        assert!(cancelled.as_mut().poll(task).is_pending());
        Poll::Ready(())
    })
    .await;
    nothing_is_left_over();
    drop(cancelled);
    nothing_is_left_over();
    let token = CancellationToken::new();
    let call = registry
        .call(ToolCall::new("1", "ends_badly", "{\"how\":\"\"}"))
        .context(Context::new().cancellation(token.clone()));
    let (outcome, ()) = tokio::join!(call, async { token.cancel() });
    assert_eq!(outcome.status(), Status::Cancelled);
    nothing_is_left_over();
    let statistics = registry.statistics();
    assert_eq!(statistics.calls(), 6);
    assert_eq!(statistics.ended(Status::Cancelled), 2);
}

struct AssertsOnDrop(Log);

impl Drop for AssertsOnDrop {
    fn drop(&mut self) {
        let broken = catch(|| probe("dropped"));
        let violation = broken.unwrap_err();
        self.0.add(format!("{:?}", violation.call_id));
    }
}

/// Hold something while waiting for ever.
#[tool]
async fn holds(#[context] log: &Log) {
    let _held = AssertsOnDrop(log.clone());
    std::future::pending::<()>().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_given_up_call_held_is_dropped_inside_its_scope() {
    let log = Log::default();
    let registry = Registry::builder()
        .tool(holds)
        .context(log.clone())
        .build()
        .unwrap();
    let call = registry.call(ToolCall::new("the call", "holds", ""));
    let given_up = tokio::time::timeout(Duration::from_millis(10), call).await;
    assert!(given_up.is_err());
    assert_eq!(log.take(), [r#"Some("the call")"#]);
}

/// Call another tool by name, in the middle of a scope.
#[tool]
async fn outer(#[context] inner: &Arc<Registry>) -> String {
    let outcome = inner.call(ToolCall::new("inner", "carries", "")).await;
    let violation = outcome.violation().cloned();
    let mine = catch(|| probe("mine")).unwrap_err();
    format!(
        "{:?} {:?}",
        violation.and_then(|violation| violation.call_id),
        mine.call_id
    )
}

#[tokio::test]
async fn a_call_inside_a_call_has_its_own_scope_and_gives_the_outer_one_back() {
    let inner = Registry::builder().tool(carries).build().unwrap();
    let registry = Registry::builder()
        .tool(outer)
        .context(Arc::new(inner))
        .build()
        .unwrap();
    let outcome = registry.call(ToolCall::new("outer", "outer", "")).await;
    assert_eq!(
        outcome.output(),
        Some(r#"Some("inner") Some("outer")"#),
        "{:?}",
        outcome.error()
    );
}

#[test]
fn the_empty_scope_carries_nothing() {
    let run = ContractScope::current().wrap_fn(nothing_is_left_over);
    run();
}
