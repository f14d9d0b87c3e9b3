//! Who is asked before a call.

use std::future::{Ready, ready};
use std::sync::{Arc, Mutex, PoisonError};

use contract_runtime::approval::ApprovalRequest;
use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use contract_runtime::{IdempotencyKey, Policy, Run, Status};

/// Add two numbers.
#[tool(read_only)]
fn add(a: i64, b: i64) -> i64 {
    a.saturating_add(b)
}

/// Halve an even number.
#[tool]
#[pre(number % 2 == 0)]
fn halve(number: i64) -> i64 {
    number / 2
}

/// Wait for nothing.
#[tool]
async fn later() {
    tokio::task::yield_now().await;
}

/// Count off the async threads.
#[tool(blocking)]
fn count() -> u8 {
    1
}

type Asked = Arc<Mutex<Vec<String>>>;

/// Refuses calls whose id is `no`, and notes every one.
fn noting(
    asked: &Asked,
) -> impl Fn(ToolCall, Context) -> Ready<Result<(), String>> + Send + Sync + 'static {
    let asked = Arc::clone(asked);
    move |call, _| {
        let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(format!("{} {}", call.name, call.arguments));
        let allowed = (call.id != "no").then_some(());
        ready(allowed.ok_or_else(|| format!("not {}", call.name)))
    }
}

fn builder() -> contract_runtime::Builder {
    Registry::builder()
        .tool(add)
        .tool(halve)
        .tool(later)
        .tool(count)
}

fn taken(asked: &Asked) -> Vec<String> {
    std::mem::take(&mut asked.lock().unwrap_or_else(PoisonError::into_inner))
}

#[tokio::test]
async fn every_call_is_asked_for_once_also_those_that_never_run() -> Result<(), BuildError> {
    let asked = Asked::default();
    let registry = builder()
        .max_argument_bytes(64)
        .before_call(noting(&asked))
        .build()?;
    let long = "x".repeat(65);
    let calls = [
        ("add", r#"{"a":1,"b":2}"#, Status::Ok),
        ("later", "", Status::Ok),
        ("count", "", Status::Ok),
        ("halve", r#"{"number":3}"#, Status::Violation),
        ("add", r#"{"a":"x"}"#, Status::InvalidArguments),
        ("add", &long, Status::InvalidArguments),
        ("none", "{}", Status::UnknownTool),
    ];
    for (name, arguments, status) in calls {
        let outcome = registry.call(ToolCall::new("1", name, arguments)).await;
        assert_eq!(outcome.status(), status, "{name} {arguments}");
        assert_eq!(taken(&asked), [format!("{name} {arguments}")]);
    }
    Ok(())
}

#[tokio::test]
async fn a_refused_call_says_the_reason_and_is_counted() -> Result<(), BuildError> {
    let registry = builder()
        .before_call(async |call, _| Err(format!("`{}` may not be called", call.name)))
        .build()?;
    for name in ["add", "halve", "later", "count", "none"] {
        let outcome = registry.call(ToolCall::new("7", name, "{}")).await;
        assert_eq!(outcome.status(), Status::Refused);
        let why = format!("`{name}` may not be called");
        assert_eq!(outcome.error(), Some(&*why));
        assert_eq!((outcome.id(), outcome.tool()), ("7", name));
        assert!(!outcome.may_still_be_running());
        assert!(outcome.into_result().error.is_some());
    }
    assert_eq!(registry.statistics().ended(Status::Refused), 5);
    Ok(())
}

#[test]
fn a_call_from_a_plain_thread_is_asked_for() -> Result<(), BuildError> {
    let asked = Asked::default();
    let registry = builder().before_call(noting(&asked)).build()?;
    for name in ["add", "later", "count"] {
        let outcome = registry.call(ToolCall::new("no", name, "{}")).blocking();
        assert_eq!(outcome.error(), Some(&*format!("not {name}")));
    }
    assert_eq!(taken(&asked), ["add {}", "later {}", "count {}"]);
    Ok(())
}

#[tokio::test]
async fn a_check_is_not_asked_for() -> Result<(), BuildError> {
    let registry = builder()
        .before_call(async |_, _| Err("nothing may be called".to_owned()))
        .build()?;
    let call = |number| ToolCall::new("1", "halve", format!(r#"{{"number":{number}}}"#));
    assert!(registry.check(call(2)).await.is_ok());
    assert_eq!(registry.check(call(3)).await.status(), Status::Violation);
    Ok(())
}

#[tokio::test]
async fn each_call_of_a_batch_is_asked_for_also_when_it_is_not_started() -> Result<(), BuildError> {
    let asked = Asked::default();
    let registry = builder().before_call(noting(&asked)).build()?;
    let calls = [
        ToolCall::new("1", "add", r#"{"a":1,"b":2}"#),
        ToolCall::new("no", "add", r#"{"a":3,"b":4}"#),
        ToolCall::new("3", "halve", r#"{"number":1}"#),
        ToolCall::new("4", "halve", r#"{"number":2}"#),
        ToolCall::new("no", "halve", r#"{"number":4}"#),
    ];
    let expected: Vec<_> = calls
        .iter()
        .map(|call| format!("{} {}", call.name, call.arguments))
        .collect();
    let outcomes = registry.call_all(calls).await;
    let ends: Vec<_> = outcomes.iter().map(Outcome::status).collect();
    let statuses = [
        Status::Ok,
        Status::Refused,
        Status::Violation,
        Status::Cancelled,
        Status::Refused,
    ];
    assert_eq!(ends, statuses);
    assert_eq!(outcomes[1].error(), Some("not add"));
    assert_eq!(outcomes[4].error(), Some("not halve"));
    assert_eq!(taken(&asked), expected);
    Ok(())
}

#[tokio::test]
async fn the_first_refusal_stands_and_a_panic_is_one() -> Result<(), BuildError> {
    let asked = Asked::default();
    let registry = builder()
        .before_call(noting(&asked))
        .before_call(async |call, _| {
            assert!(call.id != "panic", "this hook is broken");
            Err("the second".to_owned())
        })
        .before_call(async |_, _| Err("the third".to_owned()))
        .build()?;
    let error = |id: &'static str| {
        let call = registry.call(ToolCall::new(id, "add", r#"{"a":1,"b":2}"#));
        async { call.await.error().unwrap_or_default().to_owned() }
    };
    assert_eq!(error("no").await, "not add");
    assert_eq!(error("1").await, "the second");
    assert_eq!(
        error("panic").await,
        "the call was not run: a check before the call panicked; this is a fault of the program, not of the arguments"
    );
    assert_eq!(taken(&asked).len(), 3);
    let statistics = registry.statistics();
    assert_eq!(statistics.ended(Status::Refused), 2);
    assert_eq!(statistics.ended(Status::Panicked), 1);
    Ok(())
}

#[test]
fn who_only_makes_refused_calls_can_be_dropped() -> Result<(), Box<dyn std::error::Error>> {
    // On a thread of its own: one that never lets go could not be ended from within.
    let (send, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
        else {
            return;
        };
        let registry = builder()
            .before_call(async |_, _| Err("no".to_owned()))
            .build();
        let over = runtime.block_on(async {
            let registry = registry.ok()?;
            let calls = async {
                loop {
                    let _ = registry.call(ToolCall::new("1", "add", "{}")).await;
                }
            };
            let time = std::time::Duration::from_millis(10);
            tokio::time::timeout(time, calls).await.err()
        });
        let _ = send.send(over.is_some());
    });
    assert!(ended.recv_timeout(std::time::Duration::from_secs(30))?);
    Ok(())
}

/// Ask about every call.
#[tool(confirm = "Go on?")]
fn ask() {}

#[tokio::test]
async fn a_call_that_is_made_again_with_its_answer_is_asked_for_once() -> Result<(), BuildError> {
    let asked = Asked::default();
    let registry = builder().tool(ask).before_call(noting(&asked)).build()?;
    let call = |answer: Option<contract_runtime::approval::Answer>| {
        let context = answer.map_or_else(Context::new, |answer| Context::new().answer(answer));
        registry.call(("1", "ask", "{}")).context(context)
    };
    let request = call(None).await;
    let answer = request
        .approval_request()
        .map(contract_runtime::approval::ApprovalRequest::approve);
    assert_eq!(taken(&asked), ["ask {}"]);
    assert!(call(answer.clone()).await.is_ok());
    assert!(taken(&asked).is_empty(), "it was let in when it asked");
    // The answer is used up, so this is another call.
    assert_eq!(call(answer).await.status(), Status::Asked);
    assert_eq!(taken(&asked), ["ask {}"]);
    Ok(())
}

#[tokio::test]
async fn the_hook_of_a_run_is_asked_last_and_again_with_the_answer() -> Result<(), BuildError> {
    let (of_registry, of_run) = (Asked::default(), Asked::default());
    let registry = builder()
        .tool(ask)
        .before_call(noting(&of_registry))
        .build()?;
    let run = Run::new().before_call(noting(&of_run));
    // Settings that follow keep the hook, and so does the run of a session.
    let run = run.policy(Policy::Enforce).for_session();
    let context = || Context::new().run(&run);

    let refused = registry
        .call(("no", "add", r#"{"a":1,"b":2}"#))
        .context(context())
        .await;
    assert_eq!(refused.error(), Some("not add"));
    assert_eq!((taken(&of_registry).len(), taken(&of_run).len()), (1, 0));
    let outcome = registry
        .call(("1", "add", r#"{"a":1,"b":2}"#))
        .context(context())
        .await;
    assert!(outcome.is_ok());
    assert_eq!((taken(&of_registry).len(), taken(&of_run).len()), (1, 1));

    let asked = registry.call(("1", "ask", "")).context(context()).await;
    let answer = asked.approval_request().map(ApprovalRequest::approve);
    let answered = answer.map_or_else(context, |answer| context().answer(answer));
    let outcome = registry.call(("1", "ask", "")).context(answered).await;
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!((taken(&of_registry).len(), taken(&of_run).len()), (1, 2));
    Ok(())
}

#[tokio::test]
async fn a_hook_sees_the_context_and_may_wait_without_holding_up_a_batch() -> Result<(), BuildError>
{
    let registry = builder()
        .before_call(async |call, context| {
            if call.id == "slow" {
                tokio::task::yield_now().await;
                std::future::pending::<()>().await;
            }
            match context.caller() {
                Some("ada") => Ok(()),
                other => Err(format!("{other:?} may not call; try again in 5 s")),
            }
        })
        .build()?;
    let nobody = registry.call(("1", "add", r#"{"a":1,"b":2}"#)).await;
    assert_eq!(nobody.error(), Some("None may not call; try again in 5 s"));
    let ada = || Context::new().identified_as("ada");
    let slow = ToolCall::new("slow", "halve", r#"{"number":2}"#);
    let quick = ToolCall::new("2", "halve", r#"{"number":4}"#);
    let mut waits = Box::pin(registry.call_all([slow]).context(ada()).into_future());
    let quick = tokio::select! {
        biased;
        _ = &mut waits => None,
        quick = async { registry.call_all([quick]).context(ada()).await } => Some(quick),
    };
    assert!(quick.is_some_and(|outcomes| outcomes[0].is_ok()));
    let in_time = ada().timeout(std::time::Duration::from_millis(5));
    let late = registry
        .call(("slow", "add", r#"{"a":1,"b":2}"#))
        .context(in_time)
        .await;
    assert_eq!(
        late.error(),
        Some("`add` was not started, because its time was over")
    );
    Ok(())
}

#[tokio::test]
async fn a_hook_that_waits_ends_a_blocking_call_inside_a_runtime() -> Result<(), BuildError> {
    let registry = builder()
        .before_call(async |_, _| std::future::pending().await)
        .build()?;
    let outcome = registry.call(("1", "add", r#"{"a":1,"b":2}"#)).blocking();
    assert_eq!(outcome.status(), Status::Cancelled);
    assert_eq!(outcome.effect(), contract_runtime::Effect::None);
    Ok(())
}

/// Say what a call inside of this one is given.
#[tool(timeout = "1m")]
async fn inside(#[context] registry: &Registry, #[context] context: Context) -> String {
    let limited = context.deadline().is_some() && context.token().is_some();
    let call = ToolCall::new("2", "asker", "{}");
    let outcome = registry.call(call).context(context).await;
    format!("{} {limited}", outcome.output().unwrap_or_default())
}

/// Say who is asking, and in which call.
#[tool]
fn asker(
    #[context] call: &CallInfo,
    #[context] user: &String,
    #[context] context: &Context,
    #[context] key: Option<&IdempotencyKey>,
) -> String {
    let caller = context.caller().unwrap_or_default();
    format!("{user} {caller} {} {} {key:?}", call.id, context.has_run())
}

#[tokio::test]
async fn a_call_with_the_context_of_a_body_is_one_of_the_body() {
    let inner = Registry::builder()
        .tool(asker)
        .context_per_call::<String>()
        .build()
        .unwrap();
    let registry = Registry::builder()
        .tool(inside)
        .context(inner)
        .build()
        .unwrap();
    let before = Arc::new(Mutex::new(Vec::new()));
    let (asked, told) = (Arc::clone(&before), Arc::clone(&before));
    let run = Run::new().before_call(move |call, _| {
        asked.lock().unwrap().push(call.name);
        ready(Ok(()))
    });
    let began = Observer::new().call_began(move |call| {
        told.lock()
            .unwrap()
            .push(format!("began {}", call.call.name));
    });
    let context = Context::new()
        .with("ada".to_owned())
        .identified_as("ada's client")
        .idempotency_key(IdempotencyKey::new("of the outer call"))
        .run(&run)
        .observe(began);
    let call = ToolCall::new("1", "inside", "{}");
    let outcome = registry.call(call).context(context).await;
    assert_eq!(outcome.output(), Some("ada ada's client 2 false None true"));
    assert_eq!(*before.lock().unwrap(), ["began inside", "inside"]);
}
