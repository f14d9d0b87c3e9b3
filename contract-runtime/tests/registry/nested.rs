//! Batches inside batches: nobody waits for himself.

use std::pin::Pin;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use contract_runtime::ContractScope;
use contract_runtime::prelude::*;
use proptest::prelude::*;

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall::new("", name, arguments)
}

static OWN: OnceLock<Registry> = OnceLock::new();
static OTHER: OnceLock<Registry> = OnceLock::new();

/// The registries are shared and time is paused: a call that waits for another test would be late at once.
static TURN: Mutex<()> = Mutex::new(());

/// Say that it ran.
#[tool]
fn leaf() -> &'static str {
    "leaf"
}

/// In a box, because it comes back to itself through the registry.
fn through(way: String) -> Pin<Box<dyn Future<Output = Vec<Outcome>> + Send>> {
    Box::pin(async move {
        let own = OWN.get().unwrap();
        let rest = way.get(1..).unwrap_or_default().to_owned();
        let next = |name| call(name, &format!(r#"{{"way":"{rest}"}}"#));
        match way.chars().next() {
            None => vec![own.call(call("leaf", "")).await],
            Some('b') => own.call_all([next("nest"), call("leaf", "")]).await,
            Some('r') => own.call_all(["nest_reading"; 2].map(next)).await,
            Some('c') => vec![own.call(next("nest")).await],
            Some('o') => OTHER.get().unwrap().call_all([next("nest")]).await,
            _ => {
                let scope = ContractScope::current();
                tokio::spawn(scope.wrap(through(rest))).await.unwrap()
            }
        }
    })
}

/// Call further tools: `b` in a batch, `r` in a batch of reads, `c` alone, `o` in a batch of another registry, `s` in a task.
#[tool]
async fn nest(way: String) -> String {
    let outcomes = through(way).await;
    if outcomes.iter().all(Outcome::is_ok) {
        "all".to_owned()
    } else {
        format!("{outcomes:?}")
    }
}

/// Call further tools, reading.
#[tool(read_only)]
async fn nest_reading(way: String) -> String {
    nest(way).await
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tool_that_calls_a_batch_of_its_own_registry_does_not_wait_for_itself(way in "[brcs]{1,5}") {
        nests(&way);
    }
}

#[test]
fn a_batch_inside_a_call_inside_a_batch_does_not_wait_for_itself() {
    nests("bcb");
    nests("rcb");
    nests("rrcr");
}

#[test]
fn a_batch_that_comes_back_through_another_registry_does_not_wait_for_itself() {
    nests("bob");
    nests("ror");
}

/// Goes one way; a batch that waits for itself never arrives.
fn nests(way: &str) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let build = || {
        Registry::builder()
            .tool(leaf)
            .tool(nest)
            .tool(nest_reading)
            .build()
            .unwrap()
    };
    let _ = OWN.get_or_init(build);
    let _ = OTHER.get_or_init(build);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let arrived = tokio::time::timeout(Duration::from_secs(1), through(way.to_owned())).await;
        let outcomes = arrived.unwrap_or_else(|_| panic!("`{way}` waits for itself"));
        for outcome in outcomes {
            assert!(
                ["all", "leaf"].contains(&outcome.output().unwrap_or_default()),
                "{outcome:?}"
            );
        }
    });
}
