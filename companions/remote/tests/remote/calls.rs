//! Remote calls end as local ones do.

use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest;
use contract_remote::{Backend, Executor};
use contract_runtime::prelude::*;
use contract_runtime::{Dialect, Status};
use tokio::time::timeout;

use crate::tools::{Signals, Tested, house, registry};

const SOON: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_call_ends_as_it_would_at_home() -> Tested {
    let tools = registry(&Arc::default())?;
    let house = house(tools.clone()).await?;
    let calls = [
        ("halve", r#"{"number":42}"#, Status::Ok),
        ("halve", r#"{"number":3}"#, Status::Violation),
        ("halve", r#"{"number":"3"}"#, Status::InvalidArguments),
        (
            "halve",
            r#"{"number":4,"more":1}"#,
            Status::InvalidArguments,
        ),
        ("halve", "{}", Status::InvalidArguments),
        ("guess", r#"{"number":3}"#, Status::Violation),
        ("guess", r#"{"number":4}"#, Status::Ok),
        ("guess", r#"{"number":"3"}"#, Status::InvalidArguments),
        ("halv", r#"{"number":4}"#, Status::UnknownTool),
        ("echo", r#"{"text":"\u0000 \"quoted\" 𝄞"}"#, Status::Ok),
        ("echo", r#"{"text":"12"}"#, Status::Ok),
        ("echo", r#"{"text":""}"#, Status::Ok),
        ("promise", r#"{"kept":true}"#, Status::Ok),
        ("promise", r#"{"kept":false}"#, Status::Violation),
        ("fail", r#"{"why":"no disk"}"#, Status::Failed),
    ];
    for (name, arguments, status) in calls {
        let call = ToolCall::new("1", name, arguments);
        let here = tools.call(call.clone()).await;
        let there = timeout(SOON, house.session.registry().call(call)).await?;
        assert_eq!(here.status(), status, "{name} {arguments}");
        assert_eq!(there.status(), status, "{name} {arguments}: {there:?}");
        assert_eq!(there.output(), here.output(), "{name} {arguments}");
        assert_eq!(there.value(), here.value(), "{name} {arguments}");
        let contract = |outcome: &Outcome| outcome.violation().map(|one| one.contract.clone());
        assert_eq!(contract(&there), contract(&here), "{name} {arguments}");
    }
    Ok(())
}

/// Give money back.
#[tool]
#[pre(cents <= 10_000, "large refunds are looked at", policy = observe)]
#[pre(cents != 1 || user != "ann", "ann takes no single cents", policy = quick_enforce)]
#[pre(!user.trim().is_empty(), "nobody gets it")]
#[post(|given| *given == cents)]
fn refund(cents: u32, user: String) -> u32 {
    drop(user);
    cents
}

#[tokio::test]
async fn a_backend_shows_and_judges_what_ends_the_call_there() -> Tested {
    let tools = Registry::builder().tool(refund).build()?;
    let house = house(tools.clone()).await?;
    let there = house.session.registry();
    let described = |registry: &Registry| -> Result<String, Box<dyn std::error::Error>> {
        let exported = registry.export(Dialect::Neutral);
        Ok(exported[0]["description"].to_string())
    };
    assert_eq!(described(there)?, described(&tools)?);
    let call = |arguments| there.call(ToolCall::new("1", "refund", arguments));
    let outcome = timeout(SOON, call(r#"{"cents":20000,"user":"bob"}"#)).await?;
    assert_eq!(outcome.output(), Some("20000"), "{outcome:?}");
    let outcome = timeout(SOON, call(r#"{"cents":1,"user":"ann"}"#)).await?;
    let violation = outcome.violation().ok_or("it is refused")?;
    assert_eq!(violation.contract, "refund.pre[1]");
    assert_eq!(violation.policy, Policy::QuickEnforce);
    Ok(())
}

#[tokio::test]
async fn a_panic_stays_where_it_is() -> Tested {
    let house = house(registry(&Arc::default())?).await?;
    let call = ToolCall::new("1", "panic_now", "");
    let outcome = timeout(SOON, house.session.registry().call(call)).await?;
    assert!(!outcome.is_ok());
    assert!(!outcome.error().unwrap_or_default().contains("secret"));
    let call = ToolCall::new("2", "halve", r#"{"number":2}"#);
    let outcome = timeout(SOON, house.session.registry().call(call)).await?;
    assert_eq!(outcome.output(), Some("1"), "the line has survived");
    Ok(())
}

#[tokio::test]
async fn a_dropped_call_is_dropped_there_after_its_progress_was_heard() -> Tested {
    let signals = Arc::new(Signals::default());
    let house = house(registry(&signals)?).await?;
    let (heard, mut reports) = tokio::sync::mpsc::unbounded_channel();
    let progress = Progress::new(move |report| drop(heard.send(report.message)));
    let context = Context::new().progress(progress);
    let call = house
        .session
        .registry()
        .call(ToolCall::new("1", "wait", ""))
        .context(context);
    tokio::select! {
        outcome = call => return Err(format!("ended: {outcome:?}").into()),
        report = timeout(SOON, reports.recv()) => assert_eq!(report?.as_deref(), Some("half way")),
    }
    timeout(SOON, signals.dropped.notified()).await?;
    Ok(())
}

#[tokio::test]
async fn what_a_tool_logs_there_is_heard_here() -> Tested {
    let house = house(registry(&Arc::default())?).await?;
    let (heard, mut records) = tokio::sync::mpsc::unbounded_channel();
    let context = Context::new().log(move |record| drop(heard.send(record.clone())));
    let call = house
        .session
        .registry()
        .call(ToolCall::new("mine", "wait", ""))
        .context(context);
    tokio::select! {
        outcome = call => return Err(format!("ended: {outcome:?}").into()),
        record = timeout(SOON, records.recv()) => {
            let record = record?.ok_or("nothing was logged")?;
            assert_eq!(record.to_string(), "notice: wait: see you in an hour");
            assert_eq!(record.call_id, "mine");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_deadline_is_kept_on_both_sides() -> Tested {
    let signals = Arc::new(Signals::default());
    let house = house(registry(&signals)?).await?;
    let context = Context::new().timeout(Duration::from_millis(200));
    let call = ToolCall::new("1", "wait", "");
    let outcome = timeout(SOON, house.session.registry().call(call).context(context)).await?;
    assert_eq!(outcome.status(), Status::TimedOut, "{outcome:?}");
    timeout(SOON, signals.dropped.notified()).await?;
    Ok(())
}

#[tokio::test]
async fn calls_run_side_by_side_and_come_back_to_their_callers() -> Tested {
    let house = house(registry(&Arc::default())?).await?;
    let calls = (0..500).map(|n| {
        let registry = house.session.registry().clone();
        tokio::spawn(async move {
            let arguments = format!(r#"{{"text":"{n}"}}"#);
            let outcome = registry
                .call(ToolCall::new("same", "echo", arguments))
                .await;
            (n, outcome.output().map(str::to_owned))
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let (n, output) = timeout(SOON, call).await??;
        assert_eq!(output, Some(n.to_string()));
    }
    Ok(())
}

#[tokio::test]
async fn a_lost_executor_is_said_plainly() -> Tested {
    let signals = Arc::new(Signals::default());
    let tools = registry(&signals)?;
    let backend = Backend::new(tools.manifest())
        .grace(Duration::from_millis(500))
        .bind("127.0.0.1:0")
        .await?;
    let (task, token) = backend.task().await?;
    // It is lost with its runtime, as with its process: nothing of it runs on to say that the call was cancelled.
    let process = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let executor = {
        let _entered = process.enter();
        Executor::new(tools).connect(task.address(), token)
    };
    let session = timeout(SOON, task.attached()).await??;
    let registry = session.registry().clone();
    let call = tokio::spawn(async move { registry.call(ToolCall::new("1", "wait", "")).await });
    timeout(SOON, signals.begun.notified()).await?;
    process.shutdown_background();
    let outcome = timeout(SOON, call).await??;
    assert_eq!(outcome.status(), Status::Failed);
    assert!(
        outcome
            .error()
            .unwrap_or_default()
            .starts_with("unknown outcome")
    );
    let late = session
        .registry()
        .call(ToolCall::new("2", "halve", r#"{"number":2}"#));
    assert_eq!(timeout(SOON, late).await?.status(), Status::Failed);
    drop(executor);
    Ok(())
}

#[tokio::test]
async fn a_dropped_executor_ends_its_calls() -> Tested {
    let signals = Arc::new(Signals::default());
    let house = house(registry(&signals)?).await?;
    let registry = house.session.registry().clone();
    let call = tokio::spawn(async move { registry.call(ToolCall::new("1", "wait", "")).await });
    timeout(SOON, signals.begun.notified()).await?;
    drop(house.executor);
    // Whether the cancelled call or the end of the connection is heard first is left to chance.
    let status = timeout(SOON, call).await??.status();
    assert!(
        matches!(status, Status::Cancelled | Status::Failed),
        "{status:?}"
    );
    Ok(())
}

#[tokio::test]
async fn a_task_that_is_over_lets_its_executor_go() -> Tested {
    let house = house(registry(&Arc::default())?).await?;
    house.session.finish(true, "done").await;
    timeout(SOON, house.executor.ended()).await??;
    drop(house.backend);
    Ok(())
}

/// Say under which key it is called.
#[tool]
fn key(#[context] key: Option<&IdempotencyKey>) -> String {
    key.map_or_else(String::new, ToString::to_string)
}

#[tokio::test]
async fn a_body_sees_the_key_of_its_call() -> Tested {
    let house = house(Registry::builder().tool(key).build()?).await?;
    let there = house.session.registry();
    let context = Context::new().idempotency_key(IdempotencyKey::new("order-7"));
    let outcome = timeout(SOON, there.call(("1", "key", "")).context(context)).await?;
    assert_eq!(outcome.output(), Some("order-7"), "{outcome:?}");
    let outcome = timeout(SOON, there.call(("2", "key", ""))).await?;
    assert_eq!(outcome.output(), Some(""), "{outcome:?}");
    Ok(())
}
