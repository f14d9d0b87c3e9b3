//! What a call leaves behind, and runs inside of other runs.

use std::sync::{Arc, Mutex};

use contract_agent::{ContractAgent, Recovery, RunError, Scripted, ToolCallingAgent};
use contract_runtime::ContractScope;
use contract_runtime::Run;
use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::prelude::*;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::tools::{inner, words};

/// A task that outlives the call that began it.
#[derive(Clone, Default)]
struct Left {
    go: Arc<Notify>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

/// Begin something, and do not wait for it.
#[tool]
fn leave(#[context] left: &Left) -> &'static str {
    let go = Arc::clone(&left.go);
    let work = ContractScope::current().wrap(async move {
        go.notified().await;
        contract_assert!(false, "broken when nobody looked");
    });
    *left.task.lock().unwrap() = Some(tokio::spawn(work));
    "begun"
}

/// Wait until that is over.
#[tool]
async fn release(#[context] left: &Left) -> &'static str {
    left.go.notify_one();
    let task = left.task.lock().unwrap().take();
    if let Some(task) = task {
        let _ = task.await;
    }
    "it is over"
}

async fn left_behind(policy: Policy, recovery: Recovery) -> (Vec<String>, Option<RunError>) {
    let registry = Registry::builder()
        .tool(leave)
        .tool(release)
        .context(Left::default())
        .build()
        .expect("the tools are sound");
    let model = Scripted::new()
        .calls("", [("leave", "{}")])
        .calls("", [("release", "{}")])
        .text("done");
    let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry))
        .policy(policy)
        .recovery(recovery)
        .build();
    let result = agent.run("go").await;
    (words(&result.steps), result.error)
}

#[tokio::test]
async fn what_a_call_left_behind_ends_the_run_when_it_breaks_a_contract() {
    for recovery in [Recovery::Terminate, Recovery::retry(5)] {
        let (words, error) = left_behind(Policy::Enforce, recovery).await;
        assert!(
            matches!(&error, Some(RunError::Contract { message, .. })
                if message.contains("broken when nobody looked")),
            "{recovery:?}: {error:?}"
        );
        assert_eq!(
            words[..4],
            ["thought", "action leave", "observation ok", "thought"]
        );
        assert_eq!(words[4], "action release");
        assert!(words[5].starts_with("check leave.assert@"), "{words:?}");
        assert!(words[6].starts_with("violation leave.assert@"), "{words:?}");
        assert_eq!(words[7..], ["error"]);
    }
    let (words, error) = left_behind(Policy::Observe, Recovery::Terminate).await;
    assert_eq!(error, None);
    assert_eq!(words.last().map(String::as_str), Some("answer done"));
}

/// A run with two observers, and the number of violations that each was told of.
fn watched(policy: Policy) -> (Run, Arc<Mutex<(u64, u64)>>) {
    let heard = Arc::new(Mutex::new((0, 0)));
    let (handled, seen) = (Arc::clone(&heard), Arc::clone(&heard));
    let run = Run::new()
        .policy(policy)
        .observe(Observer::new().violations(move |_| handled.lock().unwrap().0 += 1))
        .observe(Observer::new().events(move |event| {
            if matches!(event, CheckEvent::Violation(_)) {
                seen.lock().unwrap().1 += 1;
            }
        }));
    (run, heard)
}

#[tokio::test]
async fn a_run_in_the_context_decides_what_the_agent_leaves_open() {
    let model = Scripted::new()
        .calls("", [("root", r#"{"of":-4}"#)])
        .text("done");
    let agent = ContractAgent::builder(inner(&model))
        .answer_post("never", |_| false)
        .build();
    let (run, heard) = watched(Policy::Observe);
    let context = Context::new().run(&run);
    let result = agent.run("go").context(context).await;
    assert!(result.success, "{:?}", words(&result.steps));
    assert_eq!(result.statistics.violations, 3);
    // The condition of the answer belongs to no call.
    assert_eq!(*heard.lock().unwrap(), (3, 3));
    assert_eq!((run.counts().evaluated, run.counts().violated), (2, 2));
}

#[tokio::test]
async fn the_agents_own_terms_are_stronger_than_those_of_a_run_around_it() {
    let model = Scripted::new().calls("", [("root", r#"{"of":-4}"#)]);
    let own = Arc::new(Mutex::new(0));
    let handled = Arc::clone(&own);
    let agent = ContractAgent::builder(inner(&model))
        .policy(Policy::Enforce)
        .observe(Observer::new().violations(move |_| *handled.lock().unwrap() += 1))
        .build();
    let (run, heard) = watched(Policy::Observe);
    let context = Context::new().run(&run);
    let result = agent.run("go").context(context).await;
    assert!(matches!(result.error, Some(RunError::Contract { .. })));
    assert_eq!(*own.lock().unwrap(), 1);
    assert_eq!(*heard.lock().unwrap(), (1, 1));
    assert_eq!(run.counts().violated, 1);
}

#[tokio::test]
async fn an_observer_that_panics_keeps_nothing_from_the_run() {
    let model = Scripted::new().calls("", [("root", r#"{"of":-4}"#)]);
    let agent = ContractAgent::builder(inner(&model)).build();
    let run = Run::new().observe(Observer::new().events(|_| panic!("oh")));
    let result = agent.run("go").context(Context::new().run(&run)).await;
    assert!(matches!(result.error, Some(RunError::Contract { .. })));
    assert_eq!(result.statistics.violations, 1);
}
