//! Violations that begin, or are looked at, somewhere else than in the body of the call.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

use contract_runtime::prelude::*;
use contract_runtime::{Blame, ContractScope, Status, catch, catch_async};

#[pre(share > 0, "a share of {share} is nothing")]
fn portion(share: i32) -> i32 {
    100 / share
}

/// Runs it as the thread pools do that hand a panic of a worker on to whoever waits for it, such as rayon's.
fn in_a_pool<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let result = std::thread::scope(|threads| {
        let worker = threads.spawn(|| catch_unwind(AssertUnwindSafe(run)));
        worker.join().unwrap()
    });
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

/// Divide it on another thread.
#[tool]
fn divide_in_a_pool(share: i32) -> i32 {
    in_a_pool(move || portion(share))
}

/// Divide it in a task.
#[tool]
async fn divide_in_a_task(share: i32) -> i32 {
    match tokio::spawn(async move { portion(share) }).await {
        Ok(portion) => portion,
        Err(error) => resume_unwind(error.into_panic()),
    }
}

/// Divide it in a task that nobody looks at.
#[tool]
async fn divide_unseen(share: i32) -> i32 {
    let task = ContractScope::current().wrap(async move { portion(share) });
    tokio::spawn(task).await.unwrap_or(-1)
}

/// Panic with the sentence of a violation.
#[tool]
fn imitate(share: i32) -> i32 {
    let violation = catch(|| portion(share)).unwrap_err();
    panic!("{violation}");
}

fn registry() -> Registry {
    Registry::builder()
        .tool(divide_in_a_pool)
        .tool(divide_in_a_task)
        .tool(divide_unseen)
        .tool(imitate)
        .build()
        .unwrap()
}

fn zero(tool: &str) -> ToolCall {
    ToolCall::new("1", tool, r#"{"share":0}"#)
}

#[tokio::test]
async fn a_violation_is_not_lost_on_its_way_through_another_thread() {
    let registry = registry();
    for tool in ["divide_in_a_pool", "divide_in_a_task", "divide_unseen"] {
        let outcome = registry.call(zero(tool)).await;
        assert_eq!(outcome.status(), Status::Violation, "{tool}");
        let violation = outcome.violation().unwrap();
        assert_eq!(violation.contract, "portion.pre[0]", "{tool}");
        assert_eq!(
            violation.message.as_deref(),
            Some("a share of 0 is nothing")
        );
        assert_eq!(violation.blame, Blame::Caller);
        assert_eq!(violation.call_id.as_deref(), Some("1"));
    }
}

#[tokio::test]
async fn catch_gives_a_violation_that_was_resumed() {
    let violation = catch(|| in_a_pool(|| portion(0))).unwrap_err();
    assert_eq!(violation.contract, "portion.pre[0]");
    let violation = catch_async(async { in_a_pool(|| portion(0)) }).await;
    assert_eq!(violation.unwrap_err().contract, "portion.pre[0]");
}

#[test]
fn a_panic_with_the_text_of_a_violation_is_a_panic() {
    let outcome = registry().call(zero("imitate")).blocking();
    assert_eq!(outcome.status(), Status::Panicked);
}

type Kept = Arc<Mutex<Option<ContractScope>>>;

/// Leave the scope of this call behind.
#[tool]
fn leave(#[context] kept: &Kept) {
    *kept.lock().unwrap() = Some(ContractScope::current());
}

/// Run something in a scope that was made elsewhere.
#[tool]
fn run_in(#[context] kept: &Kept) -> i32 {
    let scope = kept.lock().unwrap().take().unwrap();
    scope.wrap_fn(|| portion(0))()
}

/// The same, later.
#[tool]
async fn run_later_in(#[context] kept: &Kept) -> i32 {
    let scope = kept.lock().unwrap().take().unwrap();
    scope.wrap(async { portion(0) }).await
}

#[tokio::test]
async fn a_scope_that_was_made_elsewhere_hides_nothing() {
    let kept = Kept::default();
    let registry = Registry::builder()
        .tool(leave)
        .tool(run_in)
        .tool(run_later_in)
        .context(Arc::clone(&kept));
    let registry = registry.build().unwrap();
    for name in ["run_in", "run_later_in"] {
        for of_a_call in [false, true] {
            *kept.lock().unwrap() = Some(ContractScope::current());
            if of_a_call {
                assert!(registry.call(ToolCall::new("0", "leave", "")).await.is_ok());
            }
            let outcome = registry.call(ToolCall::new("1", name, "")).await;
            let violation = outcome.violation().map(|violation| &*violation.contract);
            assert_eq!(violation, Some("portion.pre[0]"), "{name} {of_a_call}");
        }
    }
}

/// Change what is shared while it breaks a promise.
#[tool]
fn change(#[context] shared: &Arc<Mutex<i32>>) {
    let mut shared = shared.lock().unwrap();
    *shared += 1;
    contract_assert!(*shared > 1, "too small");
}

/// A violation in a body unwinds like a panic, and poisons the locks of the standard library that the body holds.
#[test]
fn a_violation_in_a_body_poisons_the_locks_that_it_holds() {
    let shared = Arc::new(Mutex::new(0));
    let registry = Registry::builder()
        .tool(change)
        .context(Arc::clone(&shared));
    let outcome = registry
        .build()
        .unwrap()
        .call(ToolCall::new("1", "change", ""))
        .blocking();
    assert_eq!(outcome.status(), Status::Violation);
    assert!(shared.is_poisoned());
}

#[pre(text.len() < 13, policy = observe)]
fn look_again(text: &str) -> usize {
    text.len()
}

/// Look at a text in many ways.
#[tool(policy = observe)]
#[pre(text.len() < 10)]
#[pre(text.len() < 11)]
#[pre(text.len() < 12)]
#[pre(text.starts_with('b'))]
#[pre(text.ends_with('b'))]
fn look(text: String) -> usize {
    for _ in 0..60 {
        contract_assert!(text.contains('b'), "{text}", policy = observe);
    }
    (0..30).map(|_| look_again(&text)).sum::<usize>() / 30
}

#[test]
fn observed_violations_over_a_large_value_hold_it_once() {
    let text = "a".repeat(1_000_000);
    let registry = Registry::builder().tool(look).build().unwrap();
    let arguments = serde_json::json!({ "text": text }).to_string();
    let outcome = registry
        .call(ToolCall::new("1", "look", arguments))
        .blocking();
    assert_eq!(outcome.output(), Some("1000000"));
    let observed = outcome.observed();
    assert_eq!(observed.len(), 95);
    let whole: Vec<_> = observed
        .iter()
        .filter_map(|one| one.values.get("text"))
        .collect();
    assert_eq!(whole.len(), 35);
    assert_eq!(*whole[0], text);
    assert!(whole.iter().all(|one| std::ptr::eq(*one, whole[0])));
}

/// Values that differ are not shared, and do not fill the memory either.
#[test]
fn observed_violations_over_many_large_values_are_bounded() {
    /// Look at texts.
    #[tool]
    fn look_at(text: String) {
        for number in 0..50 {
            look_again(&format!("{number}{text}"));
        }
    }
    let text = "a".repeat(300_000);
    let registry = Registry::builder().tool(look_at).build().unwrap();
    let arguments = serde_json::json!({ "text": text }).to_string();
    let outcome = registry
        .call(ToolCall::new("1", "look_at", arguments))
        .blocking();
    let observed = outcome.observed();
    assert_eq!(observed.len(), 50);
    assert_eq!(observed[0].values["text"].as_str().unwrap().len(), 300_001);
    let length = |one: &contract_runtime::Violation| serde_json::to_string(one).unwrap().len();
    let held: usize = observed.iter().map(length).sum();
    assert!(held < 1_200_000, "{held}");
}
