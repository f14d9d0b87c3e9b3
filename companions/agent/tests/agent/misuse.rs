//! Models and inner agents that misbehave, and what nobody must read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use contract_agent::{
    Budget, ContractAgent, Emitter, Event, Events, InnerAgent, Message, Recovery, RunError,
    Scripted, ToolCallingAgent, Turn, stream_with,
};
use contract_runtime::prelude::*;
use contract_runtime::{Effect, Status};

use crate::tools::{inner, registry as roots, words};

/// How often a tool has done something.
#[derive(Clone, Default)]
struct Done(Arc<AtomicUsize>);

/// Do something.
#[tool]
#[pre(number > 0)]
fn effect(number: i64, #[context] done: &Done) -> usize {
    done.0.fetch_add(1, Ordering::Relaxed) + usize::from(number < 0)
}

/// Wait a little, and break a promise.
#[tool(read_only)]
#[post(|number| *number > 1_000)]
async fn promise(number: i64) -> i64 {
    tokio::time::sleep(Duration::from_millis(1)).await;
    number
}

fn registry(done: &Done) -> Registry {
    Registry::builder()
        .tool(effect)
        .tool(promise)
        .context(done.clone())
        .build()
        .expect("the tools are sound")
}

#[tokio::test]
async fn d7_a_rejected_answer_stands_in_no_event_and_in_no_result() {
    for recovery in [Recovery::Terminate, Recovery::retry(2)] {
        let model = Scripted::new().text("SECRET ada@x").text("fine");
        let agent = ContractAgent::builder(inner(&model))
            .answer_post("no address", |answer| !answer.contains('@'))
            .recovery(recovery)
            .build();
        let mut events = agent.run("go").stream();
        let mut told = String::new();
        while let Some(event) = events.next().await {
            told += &serde_json::to_string(&event).expect("events serialise");
        }
        drop(events);
        assert!(!told.contains("SECRET"), "{recovery:?}: {told}");
        let model = Scripted::new().text("SECRET ada@x").text("fine");
        let agent = ContractAgent::builder(inner(&model))
            .answer_post("no address", |answer| !answer.contains('@'))
            .recovery(recovery)
            .build();
        let result = serde_json::to_string(&agent.run("go").await).expect("results serialise");
        assert!(!result.contains("SECRET"), "{recovery:?}: {result}");
        // The model itself is told.
        let told = format!("{:?}", model.requests().last());
        assert_eq!(
            told.contains("SECRET"),
            recovery != Recovery::Terminate,
            "{told}"
        );
    }
}

#[tokio::test]
async fn values_are_masked_in_events_unless_they_are_asked_for() {
    for shows in [false, true] {
        let model = Scripted::new().calls("", [("root", r#"{"of": -4711}"#)]);
        let agent = ContractAgent::builder(inner(&model))
            .show_values(shows)
            .build();
        let result = agent.run("go").await;
        let violation = result.steps.iter().find_map(|event| match event {
            Event::ContractViolation { violation } => Some(violation.to_string()),
            _ => None,
        });
        assert_eq!(violation.expect("there is one").contains("-4711"), shows);
        assert_eq!(
            result
                .error
                .expect("an error")
                .to_string()
                .contains("-4711"),
            shows
        );
    }
}

/// An inner agent made of one closure.
struct Mine<F>(F);

impl<F, O> InnerAgent for Mine<F>
where
    F: Fn(Turn, Emitter) -> O + Send + Sync,
    O: Future<Output = ()> + Send + 'static,
{
    fn stream(&self, turn: Turn) -> Events<'_> {
        stream_with(move |emitter| (self.0)(turn, emitter))
    }
}

#[tokio::test]
async fn no_tool_runs_after_the_violation_that_ends_the_run() {
    let done = Done::default();
    let registry = registry(&done);
    let agent = ContractAgent::builder(Mine(move |turn: Turn, _| {
        let registry = registry.clone();
        async move {
            let call =
                |number: i64| ToolCall::new("1", "effect", format!(r#"{{"number":{number}}}"#));
            for calls in [vec![call(0), call(1)], vec![call(2)]] {
                let _ = turn.call_all(&registry, calls).await;
            }
        }
    }))
    .build();
    let result = agent.run("go").await;
    assert!(matches!(result.error, Some(RunError::Contract { .. })));
    assert_eq!(done.0.load(Ordering::Relaxed), 0);
}

/// Each asker gets its own outcomes, however an inner agent joins, races and gives up what it asks for.
#[tokio::test]
async fn outcomes_go_to_those_who_asked_for_them() {
    let done = Done::default();
    let registry = registry(&done);
    let agent = ContractAgent::builder(Mine(move |turn: Turn, emitter: Emitter| {
        let registry = registry.clone();
        async move {
            let calls = |id: &str, number: i64| {
                let arguments = format!(r#"{{"number":{number}}}"#);
                vec![ToolCall::new(id, "effect", arguments)]
            };
            // It is polled once, so that it has asked, and is then dropped.
            tokio::select! {
                biased;
                _ = turn.call_all(&registry, calls("given up", 1)) => {}
                () = std::future::ready(()) => {}
            }
            turn.before_request().await;
            let (one, other) = tokio::join!(
                turn.call_all(&registry, calls("one", 2)),
                turn.call_all(&registry, calls("other", 3)),
            );
            let ids = [one, other].map(|outcomes| match outcomes.as_slice() {
                [outcome] => outcome.id().to_owned(),
                several => format!("{several:?}"),
            });
            let text = ids.join(", ");
            emitter.emit(Event::Answer { text }).await;
        }
    }))
    .build();
    let run = tokio::time::timeout(Duration::from_secs(10), agent.run("go"));
    let result = run.await.expect("it comes to its end");
    assert_eq!(result.answer.as_deref(), Some("one, other"));
    assert_eq!(
        done.0.load(Ordering::Relaxed),
        2,
        "what was given up is not made"
    );
}

#[tokio::test]
async fn an_inner_agent_that_says_one_thing_for_ever_is_not_followed() {
    let endless: [fn(u64) -> Event; 4] = [
        |_| Event::Thought {
            text: "hm".to_owned(),
        },
        |_| Event::TextDelta {
            text: String::new(),
        },
        |number| Event::Action {
            call: ToolCall::new("1", "effect", format!(r#"{{"number":{number}}}"#)),
        },
        |_| Event::Observation {
            call_id: "1".to_owned(),
            tool: "effect".to_owned(),
            status: Status::Ok,
            effect: Effect::Complete,
            text: String::new(),
            value: None,
        },
    ];
    for event in endless {
        let agent = ContractAgent::builder(Mine(move |_, emitter: Emitter| async move {
            for number in 0.. {
                emitter.emit(event(number)).await;
            }
        }))
        .max_steps(5)
        .build();
        let result = agent.run("go").await;
        assert!(
            matches!(
                result.error,
                Some(RunError::TooManySteps { .. } | RunError::EndlessStep { .. })
            ),
            "{:?}: {:?}",
            event(0),
            result.error
        );
    }
}

#[tokio::test]
async fn what_is_broken_twice_in_one_reply_is_one_try() {
    let model = Scripted::new()
        .calls(
            "",
            [
                ("promise", r#"{"number":1}"#),
                ("promise", r#"{"number":2}"#),
            ],
        )
        .text("I see");
    let agent = ContractAgent::builder(ToolCallingAgent::new(
        model.clone(),
        registry(&Done::default()),
    ))
    .recovery(Recovery::retry(1))
    .build();
    let result = agent.run("go").await;
    assert_eq!(
        result.answer.as_deref(),
        Some("I see"),
        "{:?}",
        words(&result.steps)
    );
}

#[tokio::test]
async fn every_call_in_the_messages_of_a_run_has_its_answer() {
    let model = Scripted::new().calls("", [("root", r#"{"of": -4}"#), ("root", r#"{"of": 4}"#)]);
    let agent = ContractAgent::builder(inner(&model)).build();
    let result = agent.run("go").await;
    assert!(!result.success);
    let answers = result
        .messages
        .iter()
        .filter(|message| matches!(message, Message::Tool { .. }))
        .count();
    assert_eq!(answers, 2, "{:?}", result.messages);
}

#[tokio::test]
async fn a_budget_of_calls_holds_within_one_reply() {
    let done = Done::default();
    let calls = (1..500).map(|number| ("effect", format!(r#"{{"number":{number}}}"#)));
    let model = Scripted::new().calls("", calls);
    let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry(&done)))
        .budget(Budget::ToolCalls(30))
        .build();
    let result = agent.run("go").await;
    assert!(matches!(result.error, Some(RunError::Contract { .. })));
    assert!(
        done.0.load(Ordering::Relaxed) <= 30,
        "{}",
        done.0.load(Ordering::Relaxed)
    );
}

#[tokio::test]
async fn arguments_that_differ_in_their_last_digit_are_no_loop() {
    let mut model = Scripted::new();
    for digit in 0..6 {
        let arguments = format!(r#"{{"of":12345678901234567890123456789{digit}}}"#);
        model = model.calls("", [("root", arguments)]);
    }
    let agent = ContractAgent::builder(ToolCallingAgent::new(model.text("done"), roots()))
        .policy(Policy::Ignore)
        .build();
    assert!(agent.run("go").await.success);
}

#[tokio::test]
async fn a_panic_of_an_inner_agent_ends_the_run_and_not_the_program() {
    let agent = ContractAgent::builder(Mine(|_, emitter: Emitter| async move {
        emitter
            .emit(Event::Thought {
                text: "hm".to_owned(),
            })
            .await;
        panic!("oh");
    }))
    .build();
    assert_eq!(agent.run("go").await.error, Some(RunError::Panicked));
}

#[test]
fn a_deadline_needs_a_runtime_and_says_so() {
    let agent = ContractAgent::builder(inner(&Scripted::new().text("done"))).build();
    let context = Context::new().timeout(Duration::from_secs(60));
    let run = std::pin::pin!(agent.run("go").context(context));
    let polled = run.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    let std::task::Poll::Ready(result) = polled else {
        panic!("it is over at once");
    };
    assert_eq!(result.error, Some(RunError::NoTimer));
}
