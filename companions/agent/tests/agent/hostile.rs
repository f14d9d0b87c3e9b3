//! Replies that no model should give, and code of others that fails: a run ends, and says how.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use contract_agent::{
    ConstrainedAgent, ContractAgent, Delta, Event, InnerAgent, Model, ReActAgent, Recovery, Reply,
    Request, RunError, RunResult, Scripted, ToolCallingAgent, stream_with,
};
use contract_runtime::Status;
use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;

use crate::tools::{inner, registry};

/// Every inner agent over one model.
fn agents<M: Model + Clone + 'static>(model: &M) -> [Box<dyn InnerAgent>; 3] {
    [
        Box::new(ToolCallingAgent::new(model.clone(), registry())),
        Box::new(ReActAgent::new(model.clone(), registry())),
        Box::new(ConstrainedAgent::new(model.clone(), registry())),
    ]
}

/// The events are told as well as counted, and the result serialises.
async fn run(agent: Box<dyn InnerAgent>) -> RunResult {
    let agent = ContractAgent::builder(agent)
        .recovery(Recovery::retry(1))
        .answer_post("short", |answer| answer.len() < 1_000)
        .build();
    let result = agent.run("go").await;
    let last = result.steps.last();
    assert!(
        matches!(last, Some(Event::Answer { .. } | Event::Error { .. })),
        "{last:?}"
    );
    serde_json::to_string(&result).expect("results serialise");
    result
}

#[tokio::test]
async fn ten_megabytes_in_one_piece_are_read_and_refused() {
    let huge = "x".repeat(10_000_000);
    let object = format!(r#"{{"type":"answer","content":"{huge}"}}"#);
    let said = [huge.clone(), format!("Answer: {huge}"), object];
    for (place, said) in said.into_iter().enumerate() {
        let model = Scripted::new().text(said.clone()).text(said);
        let agent = agents(&model).into_iter().nth(place);
        assert!(!run(agent.expect("one for each")).await.success);
    }
    // The arguments of a call are more than dispatch reads.
    let arguments = format!(r#"{{"what":"{huge}"}}"#);
    let model = Scripted::new()
        .calls("", [("hide", arguments)])
        .text("done");
    let result = run(Box::new(ToolCallingAgent::new(model, registry()))).await;
    assert_eq!(result.answer.as_deref(), Some("done"));
    let refused = result.steps.iter().any(|event| {
        matches!(event, Event::Observation { status, .. } if *status == Status::InvalidArguments)
    });
    assert!(refused);
}

#[tokio::test]
async fn what_is_nested_without_end_overflows_nothing() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let deep = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        let half = open.repeat(50_000);
        for value in [deep, half] {
            let texts = [
                value.clone(),
                format!("Action: hide\nAction Input: {value}"),
                format!(r#"{{"type":"tool_call","tool":"hide","arguments":{value}}}"#),
            ];
            let model = texts
                .into_iter()
                .fold(Scripted::new(), Scripted::text)
                .text("Answer: done");
            for agent in agents(&model) {
                run(agent).await;
            }
            let model = Scripted::new().calls("", [("hide", value)]).text("done");
            let result = run(Box::new(ToolCallingAgent::new(model, registry()))).await;
            assert_eq!(result.answer.as_deref(), Some("done"));
        }
    }
}

#[tokio::test]
async fn letters_of_every_kind_are_letters() {
    let strange = "\u{0}\u{7}\u{1b}[2J\u{202e}\u{200b}\u{feff}e\u{301}\u{1f468}\u{200d}\u{1f469}\u{10ffff}\\\"\r\n";
    let arguments = serde_json::json!({ "what": strange }).to_string();
    let model = Scripted::new()
        .calls(strange, [("hide", arguments.as_str()), (strange, "{}")])
        .text(strange);
    let result = run(Box::new(ToolCallingAgent::new(model, registry()))).await;
    assert_eq!(result.answer.as_deref(), Some(strange));
    let statuses: Vec<_> = result
        .steps
        .iter()
        .filter_map(|event| match event {
            Event::Observation { status, text, .. } => Some((*status, text.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(statuses[0], (Status::Ok, strange.to_owned()));
    assert_eq!(statuses[1].0, Status::UnknownTool);
    let text = format!("{strange}\nAction: hide\nAction Input: {arguments}");
    let object = serde_json::json!({"reasoning": strange, "type": "answer", "content": strange});
    let model = Scripted::new().text(text).text(object.to_string());
    for agent in agents(&model) {
        run(agent).await;
    }
}

/// Panics where it is told to.
#[derive(Clone)]
struct Panicking {
    at_once: bool,
}

impl Model for Panicking {
    fn name(&self) -> &'static str {
        "panicking"
    }

    fn reply<'a>(&'a self, _: Request<'a>) -> Reply<'a> {
        assert!(!self.at_once, "before there is a reply");
        Box::pin(stream_with(|emitter| async move {
            emitter.emit(Ok(Delta::Text("{".to_owned()))).await;
            panic!("in the middle of a reply");
        }))
    }
}

#[tokio::test]
async fn a_model_that_panics_ends_the_run_and_not_the_program() {
    for at_once in [true, false] {
        for agent in agents(&Panicking { at_once }) {
            assert_eq!(run(agent).await.error, Some(RunError::Panicked));
        }
    }
}

#[tokio::test]
async fn every_hook_may_panic_and_an_observer_too() {
    let model = || {
        Scripted::new()
            .calls("", [("root", r#"{"of":4}"#)])
            .text("done")
    };
    let panics = || Observer::new().violations(|_| panic!("observer"));
    let build = || ContractAgent::builder(inner(&model())).observe(panics());
    let agents = [
        build().task_pre("t", |_| panic!("task")),
        build().invariant("i", |_| panic!("invariant")),
        build().answer_post("a", |_| panic!("answer")),
    ];
    for agent in agents {
        let result = agent.build().run("go").await;
        let detected = result.steps.iter().any(|event| {
            matches!(event, Event::ContractViolation { violation }
                if violation.detection == contract_runtime::Detection::Panicked)
        });
        assert!(detected, "{:?}", result.steps);
        assert!(matches!(result.error, Some(RunError::Contract { .. })));
    }
    let observed = build()
        .policy(Policy::Observe)
        .task_pre("t", |_| panic!("task"))
        .invariant("i", |_| panic!("invariant"))
        .answer_post("a", |_| panic!("answer"))
        .build();
    let result = observed.run("go").await;
    assert_eq!(result.answer.as_deref(), Some("done"));
    assert_eq!(
        result.statistics.violations, 4,
        "an invariant for each of two steps"
    );
}

/// A hook that waits for another run of the same agent: nothing is locked while it is judged.
#[test]
fn a_hook_that_blocks_holds_up_no_other_run() {
    let (over, is_over) = channel::<()>();
    let is_over = std::sync::Mutex::new(is_over);
    let (begun, has_begun) = channel::<()>();
    let model = Scripted::new().text("done").text("done");
    let agent = Arc::new(
        ContractAgent::builder(inner(&model))
            .answer_post("when the other is over", move |_| true)
            .task_pre("waits", move |task| {
                if task == "first" {
                    begun.send(()).expect("the test waits for it");
                    let patience = std::time::Duration::from_secs(60);
                    is_over.lock().unwrap().recv_timeout(patience).is_ok()
                } else {
                    true
                }
            })
            .build(),
    );
    let on_a_thread = |task: &'static str| {
        let agent = Arc::clone(&agent);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            runtime.expect("a runtime").block_on(agent.run(task))
        })
    };
    let first = on_a_thread("first");
    has_begun.recv().expect("the hook is judged");
    let second = on_a_thread("second").join().expect("it does not panic");
    assert!(second.success, "{:?}", second.error);
    over.send(()).expect("the hook waits for it");
    let first = first.join().expect("it does not panic");
    assert!(first.success, "{:?}", first.error);
}

/// Counts how many of its replies are being given.
#[derive(Clone, Default)]
struct Open(Arc<AtomicUsize>);

struct Closes(Arc<AtomicUsize>);

impl Drop for Closes {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Model for Open {
    fn name(&self) -> &'static str {
        "open"
    }

    fn reply<'a>(&'a self, _: Request<'a>) -> Reply<'a> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let closes = Closes(Arc::clone(&self.0));
        Box::pin(stream_with(|emitter| async move {
            let _closes = closes;
            for piece in [r#"{"reasoning":""#, "a", "b", "c"] {
                emitter.emit(Ok(Delta::Text(piece.to_owned()))).await;
            }
            std::future::pending::<()>().await;
        }))
    }
}

#[tokio::test]
async fn dropping_the_events_in_the_middle_of_a_reply_ends_the_reply() {
    let model = Open::default();
    for agent in agents(&model) {
        let agent = ContractAgent::builder(agent).build();
        for events_before in 1..4 {
            let mut events = agent.run("go").stream();
            for _ in 0..events_before {
                assert!(events.next().await.is_some());
            }
            assert_eq!(model.0.load(Ordering::SeqCst), 1);
            drop(events);
            assert_eq!(model.0.load(Ordering::SeqCst), 0);
        }
    }
}
