//! The faults of the reference that are not repeated, one test for each; those of events and of hooks stand with these.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_agent::{
    ContractAgent, Event, InnerAgent, Message, ReActAgent, Scripted, ToolCallingAgent,
};
use contract_runtime::Status;
use contract_runtime::prelude::*;

use crate::tools::{inner, words};

/// What the tools below have seen.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

/// Contracts above and below `#[tool]`.
#[pre(number > 0, "above")]
#[tool]
#[pre(number < 100, "below")]
fn both_sides(number: i64) -> i64 {
    number
}

/// Take a count.
#[tool]
#[pre(count >= 1)]
#[post(|kept| kept.as_deref() != Some(""))]
fn keep(#[arg(default = 3)] count: i64, #[context] seen: &Seen) -> Option<String> {
    seen.0.lock().unwrap().push(count.to_string());
    None
}

/// Fail, always.
#[tool]
#[post(|text| text.len() > 1_000, "never judged, because there is no result")]
fn fail(number: i64) -> Result<String, String> {
    Err(format!("cannot do {number}"))
}

/// Break an observed condition, and then an enforced one.
#[tool]
#[pre(number > 10, "observed", policy = observe)]
#[pre(number > 20, "enforced", policy = enforce)]
fn two(number: i64) -> i64 {
    number
}

/// Assert something with a policy of its own.
#[tool]
fn asserting(observed: bool) -> &'static str {
    if observed {
        contract_assert!(false, "only observed", policy = observe);
    } else {
        contract_assert!(false, "enforced in any case", policy = enforce);
    }
    "went on"
}

/// Assert something on another thread, in time.
#[tool(blocking, timeout = "20s")]
fn elsewhere() -> &'static str {
    contract_assert!(false, "seen from here");
    "went on"
}

fn registry(seen: &Seen) -> Registry {
    Registry::builder()
        .tool(both_sides)
        .tool(keep)
        .tool(fail)
        .tool(two)
        .tool(asserting)
        .tool(elsewhere)
        .context(seen.clone())
        .build()
        .expect("the tools are sound")
}

/// One call by a native tool call, and one by text.
fn agents(tool: &str, arguments: &str, seen: &Seen) -> [Box<dyn InnerAgent>; 2] {
    let native = Scripted::new().calls("", [(tool, arguments)]).text("done");
    let text = Scripted::new()
        .text(format!("Action: {tool}\nAction Input: {arguments}"))
        .text("Answer: done");
    [
        Box::new(ToolCallingAgent::new(native, registry(seen))),
        Box::new(ReActAgent::new(text, registry(seen))),
    ]
}

/// The events of such a call, the same for every inner agent.
async fn told(policy: Policy, tool: &str, arguments: &str) -> (Vec<String>, Vec<String>) {
    let mut all = Vec::new();
    for inner in agents(tool, arguments, &Seen::default()) {
        let seen = Seen::default();
        let agent = ContractAgent::builder(inner).policy(policy).build();
        let result = agent.run("go").await;
        let _ = seen;
        all.push(words(&result.steps));
    }
    assert_eq!(all[0], all[1], "the inner agents differ");
    let words = all.swap_remove(0);
    let violations = words
        .iter()
        .filter(|word| word.starts_with("violation"))
        .cloned()
        .collect();
    (words, violations)
}

#[tokio::test]
async fn d1_contracts_on_both_sides_of_the_attribute_hold() {
    let (_, violations) = told(Policy::Enforce, "both_sides", r#"{"number":0}"#).await;
    assert_eq!(violations, ["violation both_sides.pre[0]"]);
    let (_, violations) = told(Policy::Enforce, "both_sides", r#"{"number":100}"#).await;
    assert_eq!(violations, ["violation both_sides.pre[1]"]);
}

/// The agent was given no list of tools, and an inner agent of whatever kind.
#[tokio::test]
async fn d2_tools_of_any_inner_agent_are_held_to_their_contracts() {
    struct Mine(Registry);
    impl InnerAgent for Mine {
        fn stream(&self, turn: contract_agent::Turn) -> contract_agent::Events<'_> {
            contract_agent::stream_with(move |emitter| async move {
                let call = ToolCall::new("1", "both_sides", r#"{"number":0}"#);
                let _ = turn.call_all(&self.0, vec![call]).await;
                emitter
                    .emit(Event::Answer {
                        text: "as if nothing had happened".to_owned(),
                    })
                    .await;
            })
        }
    }
    let agent = ContractAgent::builder(Mine(registry(&Seen::default()))).build();
    let result = agent.run("go").await;
    assert_eq!(result.answer, None);
    assert_eq!(
        words(&result.steps).last().map(String::as_str),
        Some("error")
    );
}

#[tokio::test]
async fn d3_contracts_hold_without_an_agent() {
    assert!(contract_runtime::catch(|| both_sides(0)).is_err());
    let call = ToolCall::new("1", "both_sides", r#"{"number":0}"#);
    let outcome = registry(&Seen::default()).call(call).await;
    assert_eq!(outcome.status(), Status::Violation);
}

#[tokio::test]
async fn d4_preconditions_see_typed_arguments_with_their_defaults() {
    let (words, violations) = told(Policy::Enforce, "keep", "{}").await;
    assert!(violations.is_empty(), "{words:?}");
    assert!(words.contains(&"observation ok".to_owned()));
    // A text is no number, and that is said; it is no violation.
    let (words, violations) = told(Policy::Enforce, "keep", r#"{"count":"5"}"#).await;
    assert!(violations.is_empty(), "{words:?}");
    assert!(words.contains(&"observation invalid_arguments".to_owned()));
}

#[tokio::test]
async fn d5_postconditions_are_judged_on_results_and_on_nothing_else() {
    for arguments in [r#"{"number":1}"#, r#"{"number":"x"}"#] {
        let (words, violations) = told(Policy::Enforce, "fail", arguments).await;
        assert!(violations.is_empty(), "{words:?}");
        assert_eq!(words.last().map(String::as_str), Some("answer done"));
    }
}

#[tokio::test]
async fn d9_an_observed_failure_hides_no_enforced_one() {
    let (words, violations) = told(Policy::Enforce, "two", r#"{"number":1}"#).await;
    assert_eq!(violations, ["violation two.pre[0]", "violation two.pre[1]"]);
    assert!(!words.iter().any(|word| word.starts_with("action")));
}

#[tokio::test]
async fn d10_the_policy_of_an_assertion_is_stronger_than_the_agents() {
    let (words, _) = told(Policy::Enforce, "asserting", r#"{"observed":true}"#).await;
    assert_eq!(words.last().map(String::as_str), Some("answer done"));
    for policy in [Policy::Observe, Policy::Ignore] {
        let (words, _) = told(policy, "asserting", r#"{"observed":false}"#).await;
        assert_eq!(
            words.last().map(String::as_str),
            Some("error"),
            "{policy:?}"
        );
    }
}

#[tokio::test]
async fn d12_a_body_on_another_thread_has_the_policy_of_the_run() {
    let (words, violations) = told(Policy::Observe, "elsewhere", "{}").await;
    assert_eq!(violations.len(), 1);
    assert_eq!(words.last().map(String::as_str), Some("answer done"));
    let (words, _) = told(Policy::Enforce, "elsewhere", "{}").await;
    assert_eq!(words.last().map(String::as_str), Some("error"));
}

#[tokio::test]
async fn d13_nothing_of_a_call_leaks_to_whoever_reads_the_events() {
    let model = Scripted::new()
        .calls("", [("root", r#"{"of": 4}"#)])
        .text("done");
    let agent = ContractAgent::builder(inner(&model))
        .policy(Policy::Ignore)
        .build();
    let mut events = agent.run("go").stream();
    while let Some(event) = events.next().await {
        let enforced = std::panic::catch_unwind(|| contract_assert!(false, "outside of any call"));
        assert!(
            enforced.is_err(),
            "the run's policy reached its reader at {event:?}"
        );
        if matches!(event, Event::Action { .. }) {
            break;
        }
    }
    drop(events);
    assert!(std::panic::catch_unwind(|| contract_assert!(false, "after it")).is_err());
}

#[tokio::test]
async fn d16_a_model_that_reads_text_is_told_every_bound() {
    let model = Scripted::new().text("Answer: done");
    let agent = ReActAgent::new(model.clone(), registry(&Seen::default()));
    ContractAgent::builder(agent).build().run("go").await;
    let asked = model.requests();
    let Some(Message::System { text, .. }) = asked[0].first() else {
        panic!("there is a system message: {asked:?}");
    };
    for bound in [
        r#""exclusiveMinimum":0"#,
        r#""minimum":1"#,
        r#""default":3"#,
    ] {
        assert!(
            text.contains(bound)
                || text.contains(&bound.replace("exclusiveMinimum\":0", "minimum\":1")),
            "{bound} is not in\n{text}"
        );
    }
}

#[tokio::test]
async fn concurrent_runs_of_one_agent_know_nothing_of_each_other() {
    let mut model = Scripted::new();
    for _ in 0..64 {
        model = model.text("done");
    }
    let agent = ContractAgent::builder(inner(&model))
        .answer_post("done", |answer| answer == "done")
        .build();
    let runs = (0..32).map(|number| {
        let agent = &agent;
        async move {
            tokio::time::sleep(Duration::from_millis(number % 7)).await;
            agent.run(format!("task {number}")).await
        }
    });
    for (number, result) in futures_of(runs).await.into_iter().enumerate() {
        assert_eq!(result.iterations, 1);
        assert_eq!(result.statistics.checks, 1);
        assert_eq!(result.messages.len(), 2);
        assert!(
            matches!(&result.messages[0], Message::User { text } if *text == format!("task {number}"))
        );
    }
}

async fn futures_of<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|task| {
        let mut waiting = false;
        for (future, done) in &mut running {
            if done.is_none() {
                match future.as_mut().poll(task) {
                    std::task::Poll::Ready(value) => *done = Some(value),
                    std::task::Poll::Pending => waiting = true,
                }
            }
        }
        if waiting {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    })
    .await;
    running.into_iter().filter_map(|(_, done)| done).collect()
}
