//! Conditions of a run: on its task, its steps and its answer.

use contract_agent::{
    Budget, ContractAgent, Event, Hook, LoopDetection, Recovery, RunError, Scripted,
};
use contract_runtime::Policy;
use serde_json::json;

use crate::tools::{inner, words};

#[tokio::test]
async fn a_task_that_breaks_its_condition_reaches_no_model() {
    let model = Scripted::new().text("done");
    let agent = ContractAgent::builder(inner(&model))
        .task_pre("polite", |task| task.contains("please"))
        .build();
    let result = agent.run("go").await;
    assert_eq!(
        words(&result.steps),
        [
            "check agent.task.polite",
            "violation agent.task.polite",
            "error"
        ]
    );
    assert!(!result.success);
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_run_that_the_recovery_ended_says_how_the_model_could_have_tried_again() {
    for (recovery, is_named) in [(Recovery::Terminate, true), (Recovery::retry(1), false)] {
        let mut model = Scripted::new();
        for _ in 0..3 {
            model = model.calls("", [("root", r#"{"of": -1}"#)]);
        }
        let agent = ContractAgent::builder(inner(&model))
            .recovery(recovery)
            .build();
        let error = agent.run("go").await.error.expect("the contract is broken");
        let error = error.to_string();
        assert_eq!(error.contains("`Recovery::retry(n)`"), is_named, "{error}");
    }
}

#[tokio::test]
async fn an_observation_holds_the_result_as_a_value() {
    let model = Scripted::new()
        .calls("", [("root", r#"{"of": 4}"#), ("hide", r#"{"what": "5"}"#)])
        .calls("", [("hide", r#"{"what": "fail"}"#)])
        .text("done");
    let agent = ContractAgent::builder(inner(&model)).build();
    let steps = agent.run("go").await.steps;
    let values: Vec<_> = steps
        .into_iter()
        .filter_map(|event| match event {
            Event::Observation { value, .. } => Some(value),
            _ => None,
        })
        .collect();
    assert_eq!(values, [Some(json!(2.0)), Some(json!("5")), None]);
}

/// D7
#[tokio::test]
async fn d7_a_rejected_answer_is_never_released() {
    let model = Scripted::new().text("the password is 1234");
    let agent = ContractAgent::builder(inner(&model))
        .answer_post("no password", |answer| !answer.contains("password"))
        .build();
    let mut events = agent.run("go").stream();
    let mut last = None;
    while let Some(event) = events.next().await {
        assert!(
            !matches!(event, Event::TextDelta { .. } | Event::Answer { .. }),
            "{event:?} holds the answer"
        );
        last = Some(event);
    }
    assert!(matches!(
        last,
        Some(Event::Error {
            error: RunError::Contract { .. }
        })
    ));
    assert_eq!(agent.run("go").await.answer, None);
}

/// D14
#[tokio::test]
async fn d14_a_hook_that_panics_is_a_violation() {
    let model = Scripted::new().text("done");
    let agent = ContractAgent::builder(inner(&model))
        .answer_post("broken", |_| panic!("oh"))
        .build();
    let result = agent.run("go").await;
    assert!(matches!(result.error, Some(RunError::Contract { .. })));
}

#[tokio::test]
async fn every_observed_hook_is_judged_and_a_hook_has_a_policy_of_its_own() {
    let model = Scripted::new().text("done");
    let agent = ContractAgent::builder(inner(&model))
        .policy(Policy::Observe)
        .answer_post("one", |_| false)
        .answer_post("two", |_| false)
        .answer_post(Hook::new("three").policy(Policy::Ignore), |_| false)
        .build();
    let result = agent.run("go").await;
    assert!(result.success);
    assert_eq!(
        (
            result.statistics.checks,
            result.statistics.violations,
            result.statistics.skipped
        ),
        (2, 2, 1)
    );
}

/// D15: the model says nothing beside its calls.
#[tokio::test]
async fn d15_invariants_are_judged_at_every_step() {
    let mut model = Scripted::new();
    for of in 0..20 {
        model = model.calls("", [("root", format!(r#"{{"of": {of}}}"#))]);
    }
    let agent = ContractAgent::builder(inner(&model))
        .invariant("three steps", |state| state.iterations <= 3)
        .build();
    let result = agent.run("go").await;
    assert_eq!(result.iterations, 4);
    assert_eq!(model.requests().len(), 4);
    assert!(matches!(result.error, Some(RunError::Contract { .. })));
}

/// What is judged before the model is asked is not paid for.
#[tokio::test]
async fn a_budget_is_judged_before_the_request_that_would_break_it() {
    let mut model = Scripted::new();
    for of in 0..20 {
        model = model.calls("", [("root", format!(r#"{{"of": {of}}}"#))]);
    }
    let agent = ContractAgent::builder(inner(&model))
        .budget(Budget::Iterations(3))
        .build();
    let result = agent.run("go").await;
    assert_eq!(result.iterations, 3);
    assert_eq!(model.requests().len(), 3);
    let error = result.error.expect("the budget is used up").to_string();
    assert!(error.contains("a run has at most 3 steps"), "{error}");
}

#[tokio::test]
async fn the_call_that_completes_a_loop_is_not_run() {
    let mut model = Scripted::new();
    for arguments in [r#"{"of":4}"#, r#"{ "of": 4 }"#, r#"{"of":4}"#] {
        model = model.calls("", [("root", arguments)]);
    }
    let agent = ContractAgent::builder(inner(&model))
        .loop_detection(LoopDetection::default().same_action(3))
        .build();
    let result = agent.run("go").await;
    let words = words(&result.steps);
    assert_eq!(
        words.iter().filter(|word| *word == "action root").count(),
        2
    );
    assert_eq!(words[words.len() - 2..], ["loop", "error"]);
    assert!(matches!(
        result.error,
        Some(RunError::Loop { repeated: 3, .. })
    ));
}

/// What an invariant is shown, whatever was said.
#[tokio::test]
async fn the_state_remembers_the_last_events_and_no_more() {
    use std::sync::{Arc, Mutex};

    let long = "é".repeat(5_000);
    let mut model = Scripted::new();
    for number in 0..20 {
        let what = format!(r#"{{"what":"{number}{long}"}}"#);
        model = model.calls(long.as_str(), [("hide", what)]);
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let agent = ContractAgent::builder(inner(&model.text("done")))
        .invariant("looks", {
            let seen = Arc::clone(&seen);
            move |state| {
                seen.lock().unwrap().push(state.clone());
                true
            }
        })
        .build();
    assert!(agent.run("go").await.success);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 21);
    for (number, state) in seen.iter().enumerate() {
        assert_eq!(state.iterations, number as u64 + 1);
        assert_eq!(state.tool_calls, number as u64);
        assert!(state.events.len() <= 20);
        assert!(state.observations_so_far.len() <= 10);
        let written = serde_json::to_string(&state.events).expect("events serialise");
        assert!(written.chars().count() < 20 * 1_200, "{}", written.len());
        // Usage of a script is told for each reply.
        if let [.., Event::Usage { .. }, last] = Vec::from(state.events.clone()).as_slice() {
            assert!(
                matches!(last, Event::Thought { .. } | Event::Answer { .. }),
                "{last:?}"
            );
        } else {
            panic!("{:?}", state.events);
        }
    }
    let last = seen.last().expect("there are some");
    assert_eq!(last.events.len(), 20);
    // In characters: the task and 20 replies, arguments and results; in bytes it would be twice as much.
    assert!(
        (300_000..301_000).contains(&last.estimated_prompt_chars),
        "{}",
        last.estimated_prompt_chars
    );
}

#[tokio::test]
async fn a_failed_call_does_not_make_the_run_a_failure() {
    let model = Scripted::new()
        .calls("", [("hide", r#"{"what": "fail"}"#)])
        .text("done");
    let agent = ContractAgent::builder(inner(&model)).build();
    let result = agent.run("go").await;
    assert!(result.success);
    assert_eq!(result.error, None);
}

#[tokio::test]
async fn a_model_that_never_answers_is_not_followed_for_ever() {
    let mut model = Scripted::new();
    for of in 0..200 {
        model = model.calls("", [("root", format!(r#"{{"of": {of}}}"#))]);
    }
    let agent = ContractAgent::builder(inner(&model)).build();
    let result = agent.run("go").await;
    assert_eq!(result.error, Some(RunError::TooManySteps { most: 100 }));
    assert_eq!(model.requests().len(), 100);
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_with_the_token_and_the_deadline_of_its_context() {
    use contract_agent::{Events, InnerAgent, Turn, stream_with};
    use contract_runtime::{CancellationToken, Context};

    /// Waits for ever.
    struct Silent;
    impl InnerAgent for Silent {
        fn stream(&self, _: Turn) -> Events<'_> {
            stream_with(|_| std::future::pending())
        }
    }
    let agent = ContractAgent::builder(Silent).build();
    let token = CancellationToken::new();
    token.cancel();
    let result = agent
        .run("go")
        .context(Context::new().cancellation(token))
        .await;
    assert_eq!(result.error, Some(RunError::Cancelled));
    let in_time = Context::new().timeout(std::time::Duration::from_secs(60));
    let result = agent.run("go").context(in_time).await;
    assert_eq!(result.error, Some(RunError::TimedOut));
}

#[tokio::test]
async fn a_run_whose_deadline_has_passed_asks_no_model_and_releases_no_answer() {
    use std::time::{Duration, Instant};

    use contract_agent::{Events, InnerAgent, Turn, stream_with};
    use contract_runtime::Context;

    /// Answers when its time is over, without having waited.
    struct Late;
    impl InnerAgent for Late {
        fn stream(&self, _: Turn) -> Events<'_> {
            stream_with(move |out| async move {
                let late = Instant::now() + Duration::from_millis(10);
                while Instant::now() < late {
                    std::thread::yield_now();
                }
                let text = "done".to_owned();
                out.emit(Event::Answer { text }).await;
            })
        }
    }

    let model = Scripted::new().text("done");
    let agent = ContractAgent::builder(inner(&model)).build();
    let over = Context::new().timeout(Duration::ZERO);
    let result = agent.run("go").context(over).await;
    assert_eq!(result.error, Some(RunError::TimedOut));
    assert_eq!(result.answer, None);
    assert!(model.requests().is_empty());

    let agent = ContractAgent::builder(Late).build();
    let short = Context::new().timeout(Duration::from_millis(5));
    let result = agent.run("go").context(short).await;
    assert_eq!(result.error, Some(RunError::TimedOut));
    assert_eq!(result.answer, None);
}
