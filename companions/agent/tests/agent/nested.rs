//! Agents as tools: what a run that is nested in a call shares with the run around it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use contract_agent::{
    Budget, ContractAgent, ContractAgentBuilder, Delta, Event, Hook, MemoryStore, Recovery,
    RunError, RunResult, RunState, Scripted, ToolCallingAgent, Usage,
};
use contract_runtime::Outcome;
use contract_runtime::approval::{Approval, Decision};
use contract_runtime::observe::{ObservedCall, Observer};
use contract_runtime::prelude::*;

use crate::tools::{inner, words};

type Helper = ContractAgent<ToolCallingAgent<Scripted>>;

async fn work(helper: &Helper, context: Context, task: String) -> RunResult {
    helper.run(task).context(context).await
}

/// Have somebody look something up.
#[tool]
async fn research(
    question: String,
    #[context] helper: &Helper,
    #[context] context: Context,
) -> Result<String, String> {
    let result = work(helper, context, question).await;
    let failed = || result.error.map(|error| error.to_string());
    result.answer.ok_or_else(|| failed().unwrap_or_default())
}

/// An agent with the tool `research`, which this helper does, and its model.
fn above(helper: Helper) -> (Scripted, ContractAgentBuilder<ToolCallingAgent<Scripted>>) {
    let registry = Registry::builder().tool(research).context(helper).build();
    let call = ToolCall::new("r-1", "research", r#"{"question":"the root of 4"}"#);
    let model = Scripted::new()
        .reply([Delta::Call(call), Delta::Usage(Usage::new(100, 50))])
        .reply([
            Delta::Text("done".to_owned()),
            Delta::Usage(Usage::new(100, 50)),
        ]);
    let inner = ToolCallingAgent::new(model.clone(), registry.expect("the tool is sound"));
    let agent = ContractAgent::builder(inner).recovery(Recovery::retry(1));
    (model, agent)
}

/// A model that calls `root`, then fails with `hide`, and answers.
fn helpers_model() -> Scripted {
    let call = |tool: &str, arguments| Delta::Call(ToolCall::new("r-1", tool, arguments));
    let usage = || Delta::Usage(Usage::new(10, 5));
    Scripted::new()
        .reply([call("root", r#"{"of":4}"#), usage()])
        .reply([call("hide", r#"{"what":"fail"}"#), usage()])
        .reply([Delta::Text("two".to_owned()), usage()])
}

fn helper(model: &Scripted) -> Helper {
    ContractAgent::builder(inner(model)).build()
}

fn ended_by(result: &RunResult) -> &str {
    match &result.error {
        Some(RunError::Contract { contract, .. }) => contract,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_a_nested_run_uses_up_counts_in_the_run_around_it() {
    // With the requests to the helper, and to the agent.
    for (budget, ends, asked) in [
        (Budget::Iterations(5), None, (3, 2)),
        (Budget::Iterations(4), Some("iterations"), (3, 1)),
        (Budget::Iterations(3), Some("iterations"), (2, 1)),
        (Budget::ToolCalls(3), None, (3, 2)),
        (Budget::ToolCalls(2), Some("tool calls"), (2, 1)),
        (Budget::ToolCalls(1), Some("tool calls"), (1, 1)),
        (Budget::Errors(1), None, (3, 2)),
        (Budget::Errors(0), Some("errors"), (2, 1)),
        (Budget::Tokens(345), None, (3, 2)),
        (Budget::Tokens(194), Some("tokens"), (3, 1)),
        (Budget::Tokens(179), Some("tokens"), (2, 1)),
    ] {
        // The same with one more run in between.
        for levels in [1, 2] {
            let of_helper = helpers_model();
            let mut helper = helper(&of_helper);
            if levels == 2 {
                let registry = Registry::builder().tool(research).context(helper).build();
                let between = Scripted::new()
                    .calls("", [("research", r#"{"question":"the root of 4"}"#)])
                    .text("two");
                let inner = ToolCallingAgent::new(between, registry.expect("it is sound"));
                helper = ContractAgent::builder(inner).build();
            }
            let (budget, asked_of_helper) = match (levels, budget) {
                (2, Budget::Iterations(most)) => (Budget::Iterations(most + 2), asked.0),
                (2, Budget::ToolCalls(most)) => (Budget::ToolCalls(most + 1), asked.0),
                (_, budget) => (budget, asked.0),
            };
            let (model, agent) = above(helper);
            let result = agent.budget(budget).build().run("go").await;
            match ends {
                None => {
                    assert!(result.success, "{budget:?}: {:?}", result.error);
                    assert_eq!(result.usage, Usage::new(230, 115));
                    assert_eq!(result.iterations, 2, "its own steps");
                }
                Some(name) => {
                    assert_eq!(ended_by(&result), format!("agent.invariant.budget: {name}"));
                }
            }
            // Of the two requests of the run in between, the second comes after those of the helper.
            if levels == 1 || !matches!(budget, Budget::Iterations(_)) {
                assert_eq!(of_helper.requests().len(), asked_of_helper, "{budget:?}");
                assert_eq!(model.requests().len(), asked.1, "{budget:?}");
            }
        }
    }
}

#[tokio::test]
async fn the_budgets_of_a_nested_run_are_its_own() {
    let model = helpers_model();
    let helper = ContractAgent::builder(inner(&model)).budget(Budget::ToolCalls(1));
    let (_, agent) = above(helper.build());
    let result = agent.build().run("go").await;
    assert!(result.success, "{:?}", result.error);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn the_events_of_a_nested_run_are_read_before_it_goes_on() {
    let of_helper = helpers_model();
    let (_, agent) = above(helper(&of_helper));
    let agent = agent.build();
    let mut events = agent.run("go").stream();
    let (mut all, mut nested) = (Vec::new(), Vec::new());
    while let Some(event) = events.next().await {
        if let Event::Nested {
            call_id,
            tool,
            event,
        } = &event
        {
            assert_eq!((call_id.as_str(), tool.as_str()), ("r-1", "research"));
            let observed = |event: &Event| matches!(event, Event::Observation { .. });
            let replies = 1 + nested.iter().filter(|event| observed(event)).count();
            assert_eq!(of_helper.requests().len(), replies, "{event:?}");
            nested.push(Event::clone(event));
            all.push(Event::Answer {
                text: "(nested)".to_owned(),
            });
        } else {
            all.push(event);
        }
    }
    nested.retain(|event| !matches!(event, Event::ContractCheck { check } if check.contract.starts_with("hide")));
    assert_eq!(
        words(&nested),
        [
            "thought",
            "check root.pre[0]",
            "action root",
            "check root.post[1]",
            "observation ok",
            "thought",
            "action hide",
            "observation failed",
            "answer two",
        ]
    );
    let mut words = words(&all);
    words.dedup();
    assert_eq!(
        words,
        [
            "thought",
            "action research",
            "answer (nested)",
            "observation ok",
            "answer done",
        ]
    );
}

#[tokio::test]
async fn a_nested_run_tells_no_rejected_answer_and_no_value_that_the_run_around_it_hides() {
    for shows in [false, true] {
        let model = Scripted::new()
            .calls("", [("root", r#"{"of":-4711}"#)])
            .text("REJECTED")
            .text("two");
        let helper = ContractAgent::builder(inner(&model))
            .show_values(true)
            .recovery(Recovery::retry(2))
            .answer_post(Hook::new("calm"), |answer| answer != "REJECTED")
            .build();
        let (_, agent) = above(helper);
        let agent = agent.show_values(shows).build();
        let mut events = agent.run("go").stream();
        let mut told = String::new();
        while let Some(event) = events.next().await {
            let nested = matches!(event, Event::Nested { .. });
            let is_action = format!("{event:?}").contains("Action");
            if nested && !is_action {
                told.push_str(&serde_json::to_string(&event).expect("it serializes"));
            }
        }
        assert!(told.contains("root.pre[0]"), "{told}");
        let violations = told.matches("-4711").count();
        // The observation is what the model reads.
        assert_eq!(violations > 1, shows, "{told}");
        assert_eq!(told.contains("REJECTED"), shows, "{told}");
    }
}

/// Cancel an order.
#[tool(confirm = "Cancel order {order_id}?")]
fn cancel(order_id: String) -> String {
    format!("{order_id} is cancelled")
}

fn canceller(model: &Scripted) -> Helper {
    let registry = Registry::builder().tool(cancel).build();
    let inner = ToolCallingAgent::new(model.clone(), registry.expect("the tool is sound"));
    ContractAgent::builder(inner).build()
}

#[tokio::test(start_paused = true)]
async fn the_approver_of_a_run_decides_in_nested_runs_and_the_time_counts_against_no_budget() {
    let model = Scripted::new()
        .calls("", [("cancel", r#"{"order_id":"W1"}"#)])
        .text("cancelled");
    let (_, agent) = above(canceller(&model));
    let agent = agent
        .budget(Budget::Time(Duration::from_secs(60)))
        .approver(async |request| {
            assert_eq!(request.questions[0].text, "Cancel order \"W1\"?");
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            Decision::Approved(Approval::Once)
        })
        .build();
    let result = agent.run("go").await;
    assert!(result.success, "{:?}", result.error);
    let is_asked = |event: &&Event| matches!(event, Event::Nested { event, .. } if matches!(**event, Event::ApprovalRequested { .. } | Event::ApprovalAnswered { .. }));
    assert_eq!(result.steps.iter().filter(is_asked).count(), 2);
    let said = format!("{:?}", model.requests().last());
    assert!(said.contains("W1 is cancelled"), "{said}");
}

/// Have an order cancelled, in a run that a store keeps.
#[tool]
async fn manage(
    #[context] helper: &Helper,
    #[context] store: Arc<MemoryStore>,
    #[context] context: Context,
) -> Result<String, String> {
    let run = RunState::open(store, "nested").await;
    let run = run.map_err(|error| error.to_string())?;
    let result = helper.run_after(run, "Cancel W1.").context(context).await;
    result.answer.ok_or_else(|| "no answer".to_owned())
}

#[tokio::test]
async fn the_log_of_a_nested_run_knows_that_the_approver_around_it_was_asked() {
    let store = Arc::new(MemoryStore::new());
    let model = Scripted::new()
        .calls("", [("cancel", r#"{"order_id":"W1"}"#)])
        .text("cancelled");
    let helper = canceller(&model);
    let registry = Registry::builder()
        .tool(manage)
        .context(helper)
        .context_arc(store.clone())
        .build()
        .expect("the tool is sound");
    let outer = Scripted::new().calls("", [("manage", "{}")]).text("done");
    let token = CancellationToken::new();
    let agent = ContractAgent::builder(ToolCallingAgent::new(outer, registry))
        .approver({
            let token = token.clone();
            move |_| {
                token.cancel();
                std::future::pending::<contract_runtime::approval::Decision>()
            }
        })
        .build();
    let context = Context::new().cancellation(token);
    let result = agent.run("go").context(context).await;
    assert_eq!(result.error, Some(RunError::Cancelled));
    // The nested run asks again, because its call had not begun.
    let run = RunState::open(store, "nested").await.expect("it is kept");
    let rest = canceller(&Scripted::new()).resume(run).await;
    assert!(
        matches!(rest.error, Some(RunError::Asked { .. })),
        "{:?}",
        rest.error
    );
}

/// Sets a flag when it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Wait for a letter.
#[tool]
async fn wait(#[context] dropped: Arc<AtomicBool>) {
    let _dropped = Dropped(dropped);
    std::future::pending::<()>().await;
}

fn waiter(dropped: &Arc<AtomicBool>) -> Helper {
    let registry = Registry::builder()
        .tool(wait)
        .context_arc(Arc::clone(dropped))
        .build()
        .expect("the tool is sound");
    let model = Scripted::new().calls("", [("wait", "{}")]);
    ContractAgent::builder(ToolCallingAgent::new(model, registry)).build()
}

#[tokio::test(start_paused = true)]
async fn the_deadline_and_the_token_of_a_run_end_the_nested_one() {
    for by_token in [false, true] {
        let dropped = Arc::new(AtomicBool::new(false));
        let (_, agent) = above(waiter(&dropped));
        let agent = agent.build();
        let token = CancellationToken::new();
        let context = Context::new().cancellation(token.clone());
        let context = if by_token {
            context
        } else {
            context.timeout(Duration::from_secs(60))
        };
        let cancelled = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            if by_token {
                token.cancel();
            }
        };
        let (result, ()) = tokio::join!(agent.run("go").context(context), cancelled);
        let expected = [RunError::TimedOut, RunError::Cancelled];
        assert_eq!(
            result.error.as_ref(),
            Some(&expected[usize::from(by_token)])
        );
        assert!(dropped.load(Ordering::Relaxed));
    }
}

type Left = std::sync::Mutex<Option<tokio::task::JoinHandle<RunResult>>>;

/// Begin research and do not wait for it.
#[tool]
fn begin_research(
    #[context] helper: Arc<Helper>,
    #[context] left: &Left,
    #[context] context: Context,
) {
    let run = async move { work(&helper, context, "the root of 4".to_owned()).await };
    *left.lock().unwrap() = Some(tokio::spawn(run));
}

#[tokio::test]
async fn a_nested_run_that_outlives_the_run_around_it_goes_on_alone() {
    let left = Arc::new(Left::default());
    let registry = Registry::builder()
        .tool(begin_research)
        .context(helper(&helpers_model()))
        .context_arc(Arc::clone(&left))
        .build()
        .expect("the tool is sound");
    let model = Scripted::new()
        .calls("", [("begin_research", "{}")])
        .text("done");
    let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry)).build();
    assert!(agent.run("go").await.success);
    let left = left.lock().unwrap().take().expect("it was begun");
    let limit = tokio::time::timeout(Duration::from_secs(10), left);
    let nested = limit.await.expect("it ends").expect("it does not panic");
    assert_eq!(nested.answer.as_deref(), Some("two"));
}

/// Say something to people.
#[tool]
fn say(#[context] log: &Log) {
    log.info("said");
}

#[tokio::test]
async fn what_a_nested_call_says_is_told_once() {
    let registry = Registry::builder().tool(say).build();
    let model = Scripted::new().calls("", [("say", "{}")]).text("two");
    let inner = ToolCallingAgent::new(model, registry.expect("the tool is sound"));
    let (_, agent) = above(ContractAgent::builder(inner).build());
    let (sender, heard) = std::sync::mpsc::channel();
    let context = Context::new().log(move |record| {
        let _ = sender.send(record.message.clone());
    });
    let result = agent.build().run("go").context(context).await;
    let events = format!("{:?}", result.steps);
    assert_eq!(events.matches("Log {").count(), 1, "{events}");
    assert!(events.contains("event: Log {"), "{events}");
    assert_eq!(heard.try_iter().collect::<Vec<_>>(), ["said"]);
}

#[tokio::test]
async fn the_policy_and_the_observer_of_a_run_hold_in_nested_runs() {
    let model = Scripted::new()
        .calls("", [("root", r#"{"of":40000}"#)])
        .text("two");
    let (_, agent) = above(helper(&model));
    let (sender, heard) = std::sync::mpsc::channel();
    let ended = move |call: &ObservedCall, _: &Outcome, _| {
        let _ = sender.send(call.call.name.clone());
    };
    let agent = agent
        .policy(Policy::Observe)
        .observe(Observer::new().call_ended(ended))
        .build();
    let result = agent.run("go").await;
    assert!(result.success, "{:?}", result.error);
    assert_eq!(heard.try_iter().collect::<Vec<_>>(), ["root", "research"]);
    let observed = |event: &&Event| matches!(event, Event::Nested { event, .. } if matches!(**event, Event::ContractViolation { .. }));
    assert_eq!(result.steps.iter().filter(observed).count(), 1);
}
