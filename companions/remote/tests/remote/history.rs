//! A task is a run: conditions over its earlier calls are judged by the executor.

use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Executor, ExecutorHandle};
use contract_runtime::prelude::*;
use contract_runtime::{Detection, Status};
use tokio::time::timeout;

use crate::tools::{Tested, house};

const SOON: Duration = Duration::from_secs(30);

/// Find the order.
#[tool(read_only)]
fn find_order() -> u32 {
    7
}

/// Refund the order, once and after a look.
#[tool(destructive)]
#[pre(history().seen(find_order), "find the order first")]
#[pre(history().count(refund) < 1, "it was refunded")]
fn refund() -> u32 {
    40
}

/// Send everything.
#[tool(destructive, alone)]
fn send() -> u32 {
    1
}

/// Count some names.
#[tool(read_only, coerce)]
#[pre(names.len() < 3)]
fn count(names: Vec<String>) -> usize {
    names.len()
}

fn registry() -> Result<Registry, BuildError> {
    let builder = Registry::builder().tool(find_order).tool(refund).tool(send);
    let builder = builder.tool(count);
    builder.build()
}

fn call(tool: &str) -> ToolCall {
    ToolCall::new("1", tool, "{}")
}

fn said(outcome: &Outcome) -> &str {
    outcome.error().unwrap_or("ok")
}

#[tokio::test]
async fn calls_of_one_answer_have_not_read_each_other() -> Tested {
    let house = house(registry()?).await?;
    let there = house.session.registry();
    house.session.begin_answer();
    let both = there.call_all([call("find_order"), call("refund")]);
    let outcomes = timeout(SOON, both).await?;
    assert_eq!(outcomes[0].output(), Some("7"));
    assert_eq!(said(&outcomes[1]), "find the order first");
    house.session.begin_answer();
    let refunded = timeout(SOON, there.call(call("refund"))).await?;
    assert_eq!(refunded.output(), Some("40"), "{refunded:?}");
    house.session.begin_answer();
    let again = timeout(SOON, there.call(call("refund"))).await?;
    assert_eq!(said(&again), "it was refunded");
    Ok(())
}

#[tokio::test]
async fn a_tool_that_stands_alone_does_so_in_the_batches_of_the_backend() -> Tested {
    let house = house(registry()?).await?;
    let there = house.session.registry();
    let both = there.call_all([call("send"), call("find_order")]);
    let outcomes = timeout(SOON, both).await?;
    assert_eq!(outcomes[0].status(), Status::Cancelled);
    assert!(outcomes[1].is_ok());
    for _ in 0..2 {
        assert!(timeout(SOON, there.call(call("send"))).await?.is_ok());
    }
    Ok(())
}

#[tokio::test]
async fn a_tool_that_corrects_arguments_does_so_in_the_backend() -> Tested {
    let house = house(registry()?).await?;
    let there = house.session.registry();
    let call = ToolCall::new("1", "count", r#"{"names": "[\"a\",\"b\"]"}"#);
    let outcome = timeout(SOON, there.call(call)).await?;
    assert_eq!(outcome.output(), Some("2"), "{outcome:?}");
    assert_eq!(outcome.coercions()[0].pointer, "/names");
    Ok(())
}

#[tokio::test]
async fn an_executor_that_comes_later_knows_that_it_does_not_know_all_calls() -> Tested {
    let backend = Backend::new(registry()?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let (task, token) = backend.task().await?;
    let connect = || -> Result<ExecutorHandle, BuildError> {
        Ok(Executor::new(registry()?).connect(task.address(), token.clone()))
    };
    let first = connect()?;
    let session = timeout(SOON, task.attached()).await??;
    let there = session.registry();
    assert!(timeout(SOON, there.call(call("find_order"))).await?.is_ok());
    first.ended_or_shutdown(async {}, SOON).await?;

    let _second = connect()?;
    session.begin_answer();
    assert!(timeout(SOON, there.call(call("find_order"))).await?.is_ok());
    session.begin_answer();
    let refused = timeout(SOON, there.call(call("refund"))).await?;
    assert!(
        said(&refused).starts_with("the run had calls before"),
        "{refused:?}"
    );
    let violation = refused.violation().ok_or("it is refused")?;
    assert_eq!(violation.contract, "refund.pre[1]", "it has seen the order");
    assert_eq!(violation.detection, Detection::Unanswered);
    Ok(())
}
