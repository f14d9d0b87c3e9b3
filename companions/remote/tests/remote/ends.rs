//! Whoever waits for a call hears of its end, whatever ends first.

use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Executor, RemoteError, Safeguards};
use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::raw::{Next, Raw, handshake};
use crate::tools::{Signals, Tested, registry};

const SOON: Duration = Duration::from_secs(30);

fn backend(tools: &Registry, grace: Duration) -> Backend {
    Backend::new(tools.manifest())
        .grace(grace)
        .safeguards(Safeguards::off())
}

fn begin(registry: &Registry) -> JoinHandle<Outcome> {
    let registry = registry.clone();
    tokio::spawn(async move { registry.call(ToolCall::new("1", "wait", "")).await })
}

fn error(outcome: &Outcome) -> String {
    assert_eq!(outcome.status(), Status::Failed, "{outcome:?}");
    outcome.error().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn calls_end_with_their_task() -> Tested {
    for finished in [false, true] {
        let signals = Arc::new(Signals::default());
        let tools = registry(&signals)?;
        // Nobody waits so long here.
        let backend = backend(&tools, Duration::from_secs(3600));
        let backend = backend.bind("127.0.0.1:0").await?;
        let (task, token) = backend.task().await?;
        let executor = Executor::new(tools).connect(task.address(), token);
        let session = timeout(SOON, task.attached()).await??;
        let call = begin(session.registry());
        timeout(SOON, signals.begun.notified()).await?;
        let why = if finished {
            session.finish(true, "done").await;
            "the task is over"
        } else {
            backend.forget(task.id()).await?;
            "the task was closed"
        };
        let told = error(&timeout(SOON, call).await??);
        assert!(
            told.starts_with(&format!("unknown outcome: {why}")),
            "{told}"
        );
        let late = timeout(SOON, begin(session.registry())).await??;
        assert!(error(&late).contains(why), "{late:?}");
        let ended = timeout(SOON, executor.ended()).await?;
        match (finished, ended) {
            (true, ended) => ended?,
            (false, Err(ended)) => assert!(ended.to_string().contains(why), "{ended}"),
            (false, Ok(())) => return Err("the executor takes it for done".into()),
        }
        timeout(SOON, signals.dropped.notified()).await?;
    }
    Ok(())
}

#[tokio::test]
async fn calls_end_with_their_backend() -> Tested {
    let signals = Arc::new(Signals::default());
    let tools = registry(&signals)?;
    let backend = backend(&tools, Duration::from_millis(100));
    let backend = backend.bind("127.0.0.1:0").await?;
    let (task, token) = backend.task().await?;
    let _executor = Executor::new(tools).connect(task.address(), token);
    let session = timeout(SOON, task.attached()).await??;
    let call = begin(session.registry());
    timeout(SOON, signals.begun.notified()).await?;
    drop((backend, task));
    let told = error(&timeout(SOON, call).await??);
    assert!(told.starts_with("unknown outcome"), "{told}");
    Ok(())
}

#[tokio::test]
async fn a_result_that_is_not_understood_ends_its_call() -> Tested {
    let tools = registry(&Arc::default())?;
    let backend = backend(&tools, Duration::from_secs(3600));
    let backend = backend.bind("127.0.0.1:0").await?;
    let (task, token) = backend.task().await?;
    let mut raw = Raw::enter(&task, &token).await?;
    raw.say(handshake(&task, &["wait"], &json!([])).to_string())
        .await?;
    assert!(matches!(raw.next().await, Next::Message(_)));
    let session = timeout(SOON, task.attached()).await??;
    let call = begin(session.registry());
    let Next::Message(asked) = raw.next().await else {
        return Err("nothing was asked".into());
    };
    let mut payload = asked["payload"].clone();
    payload["status"] = json!("a word of tomorrow");
    raw.say(json!({"type": "tool_result", "payload": payload}).to_string())
        .await?;
    let told = error(&timeout(SOON, call).await??);
    assert!(told.contains("not understood"), "{told}");
    Ok(())
}

#[tokio::test]
async fn any_time_between_signs_of_life_can_be_asked_for() -> Tested {
    let tools = registry(&Arc::default())?;
    for keep_alive in [Duration::ZERO, Duration::MAX] {
        let backend = backend(&tools, SOON).keep_alive(keep_alive);
        let backend = backend.bind("127.0.0.1:0").await?;
        let (task, token) = backend.task().await?;
        let _executor = Executor::new(tools.clone()).connect(task.address(), token);
        let session = timeout(SOON, task.attached()).await??;
        let call = ToolCall::new("1", "halve", r#"{"number":2}"#);
        let outcome = timeout(SOON, session.registry().call(call)).await?;
        assert_eq!(outcome.output(), Some("1"), "{keep_alive:?}");
    }
    Ok(())
}

#[tokio::test]
async fn nobody_waits_for_an_executor_of_a_backend_that_has_stopped() -> Tested {
    let tools = registry(&Arc::default())?;
    let backend = backend(&tools, Duration::from_secs(3600));
    let backend = backend.bind("127.0.0.1:0").await?;
    let (task, _token) = backend.task().await?;
    let waits = tokio::spawn({
        let task = task.clone();
        async move { task.attached().await.err() }
    });
    tokio::task::yield_now().await;
    drop(backend);
    assert!(matches!(
        timeout(SOON, waits).await??,
        Some(RemoteError::Gone)
    ));
    let late = timeout(SOON, task.attached()).await?;
    assert!(matches!(late, Err(RemoteError::Gone)));
    Ok(())
}
