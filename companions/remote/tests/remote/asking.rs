//! Tools that ask a person: nobody answers for the executor but whom its operator names, and a backend may ask by itself.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Executor, Session};
use contract_runtime::approval::{Approval, ApprovalRequest, Decision};
use contract_runtime::prelude::*;
use contract_runtime::{Dialect, Status};
use tokio::time::timeout;

use crate::tools::{House, Tested, house};

/// What was paid.
#[derive(Default)]
struct Paid(Mutex<Vec<u32>>);

impl Paid {
    fn all(&self) -> Vec<u32> {
        self.0.lock().expect("nothing panics").clone()
    }
}

/// Pay back cents.
#[tool]
#[pre(cents > 0, "nothing is paid back")]
#[pre(cents <= 100, "more than 100 needs approval", ask = "Pay back {cents} cents?")]
fn refund(cents: u32, #[context] paid: &Paid) -> u32 {
    paid.0.lock().expect("nothing panics").push(cents);
    cents
}

fn tools(paid: &Arc<Paid>) -> contract_runtime::Builder {
    Registry::builder()
        .tool(refund)
        .context_arc(Arc::clone(paid))
}

async fn call(session: &Session, cents: u32, context: Context) -> Outcome {
    let call = ToolCall::new("1", "refund", format!(r#"{{"cents":{cents}}}"#));
    let called = session.registry().call(call).context(context);
    timeout(Duration::from_secs(30), called)
        .await
        .expect("it ends")
}

fn yes(_: ApprovalRequest) -> std::future::Ready<Decision> {
    std::future::ready(Decision::Approved(Approval::Once))
}

#[tokio::test]
async fn what_asks_is_denied_where_nobody_may_answer() -> Tested {
    let paid = Arc::default();
    let tools = tools(&paid).build()?;
    let House { session, .. } = &house(tools.clone()).await?;
    // No approver of the backend's side is asked.
    let outcome = call(session, 500, Context::new().approver(yes)).await;
    assert_eq!(outcome.status(), Status::Denied);
    assert_eq!(
        outcome.error(),
        Some(
            "not started, because it was denied: nobody at the executor may answer what it asks: Pay back 500 cents?"
        )
    );
    assert_eq!(outcome.approval_request(), None);
    assert_eq!(call(session, 50, Context::new()).await.output(), Some("50"));
    assert_eq!(
        call(session, 0, Context::new()).await.status(),
        Status::Violation
    );
    assert_eq!(paid.all(), [50]);
    // The model is told as at home, and no rule refuses what a person may let through.
    let there = session.registry().export(Dialect::Neutral).to_string();
    assert_eq!(there, tools.export(Dialect::Neutral).to_string());
    let sent = session.toolbelt().tools().next().ok_or("it was taken")?;
    let rules = sent.conditions.iter().map(|one| one.rule.is_some());
    assert_eq!(rules.collect::<Vec<_>>(), [true, false]);
    Ok(())
}

#[tokio::test]
async fn the_approver_of_the_executor_decides() -> Tested {
    let paid = Arc::default();
    let tools = tools(&paid).approver(async |request| match request.to_string().as_str() {
        "Pay back 500 cents?" => Decision::Approved(Approval::Once),
        _ => Decision::Denied("too much".to_owned()),
    });
    let House { session, .. } = &house(tools.build()?).await?;
    assert_eq!(
        call(session, 500, Context::new()).await.output(),
        Some("500")
    );
    let outcome = call(session, 600, Context::new()).await;
    assert_eq!(outcome.status(), Status::Denied);
    let told = "not started, because it was denied: too much (for the rest of the run)";
    assert_eq!(outcome.error(), Some(told));
    assert_eq!(paid.all(), [500]);
    Ok(())
}

#[tokio::test]
async fn the_deadline_of_the_call_bounds_the_wait_there() -> Tested {
    let paid = Arc::default();
    let tools = tools(&paid).approver(|_| std::future::pending::<Decision>());
    let House { session, .. } = &house(tools.build()?).await?;
    let context = Context::new().timeout(Duration::from_millis(300));
    assert_eq!(call(session, 500, context).await.status(), Status::TimedOut);
    assert_eq!(paid.all(), [0; 0]);
    Ok(())
}

#[tokio::test]
async fn a_backend_asks_before_a_call_travels() -> Tested {
    let paid = Arc::<Paid>::default();
    let tools = tools(&paid).build()?;
    let backend = Backend::new(tools.manifest())
        .confirm("refund")
        .confirm("of another executor")
        .bind("127.0.0.1:0")
        .await?;
    let (task, token) = backend.task().await?;
    let _executor = Executor::new(tools).connect(task.address(), token);
    let session = timeout(Duration::from_secs(30), task.attached()).await??;

    let asked = call(&session, 50, Context::new()).await;
    let request = asked.approval_request().ok_or("a person is asked")?;
    assert_eq!(request.to_string(), "Run refund?");
    assert_eq!(request.arguments["cents"], 50);
    assert_eq!(task.calls().await?.len(), 0, "it has not travelled");

    let answer = || Context::new().answer(request.approve());
    assert_eq!(call(&session, 50, answer()).await.output(), Some("50"));
    assert_eq!(call(&session, 50, answer()).await.status(), Status::Asked);
    let times = Arc::new(AtomicU32::new(0));
    let approver = {
        let times = Arc::clone(&times);
        move |request| {
            times.fetch_add(1, Ordering::Relaxed);
            yes(request)
        }
    };
    // The backend's question is answered, and that of the executor is not.
    let outcome = call(&session, 500, Context::new().approver(approver)).await;
    assert_eq!(outcome.status(), Status::Denied);
    assert_eq!(times.load(Ordering::Relaxed), 1);
    assert_eq!(paid.all(), [50]);
    Ok(())
}
