//! Recordings: played back byte for byte, and strict about what is said.

use contract_agent::{
    ConstrainedAgent, ContractAgent, Delta, InnerAgent, Model, ModelError, ReActAgent, Recorder,
    RecordingError, Replay, Request, RunError, Scripted, ToolCallingAgent,
};
use contract_runtime::prelude::*;

use crate::tools::registry;

fn file(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!(
        "contract-agent-{name}-{}.jsonl",
        std::process::id()
    ))
}

#[tokio::test]
async fn a_replay_that_is_recorded_again_is_the_same_file() {
    let (first, second) = (file("first"), file("second"));
    let model = Scripted::new()
        .calls(
            "two at once\n",
            [
                ("root", r#"{"of": 4}"#),
                ("root", r#"{ "of" : "x", "of": 1 }"#),
            ],
        )
        .text("é \u{1f980}");
    let recorder = Recorder::new(model, &first).expect("a file");
    let agent = ContractAgent::builder(ToolCallingAgent::new(recorder, registry())).build();
    let first_run = agent.run("go").await;
    let again = Recorder::new(Replay::open(&first).expect("a recording").strict(), &second)
        .expect("a file");
    let agent = ContractAgent::builder(ToolCallingAgent::new(again, registry())).build();
    let played = agent.run("go").await;
    assert_eq!(played.steps, first_run.steps);
    let one = std::fs::read(&first).expect("the first");
    // The name of the model stands in the first line, and is the same too.
    assert_eq!(one, std::fs::read(&second).expect("the second"));
    for file in [first, second] {
        std::fs::remove_file(file).expect("it was there");
    }
}

/// How often the world was asked.
#[derive(Clone, Default)]
struct Asked(std::sync::Arc<std::sync::atomic::AtomicU64>);

/// Give another number each time.
#[tool(read_only)]
fn changing(#[context] asked: &Asked) -> u64 {
    asked.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// One of the three inner agents.
fn agent<M: Model + 'static>(way: usize, model: M, registry: &Registry) -> Box<dyn InnerAgent> {
    let registry = registry.clone();
    match way {
        0 => Box::new(ToolCallingAgent::new(model, registry)),
        1 => Box::new(ReActAgent::new(model, registry)),
        _ => Box::new(ConstrainedAgent::new(model, registry)),
    }
}

#[tokio::test]
async fn a_result_that_has_changed_is_refused_by_a_strict_replay_alone() {
    let registry = Registry::builder()
        .tool(changing)
        .context(Asked::default())
        .build()
        .expect("the tool is sound");
    let native = Scripted::new().calls("", [("changing", "{}")]).text("done");
    let text = Scripted::new()
        .text("Action: changing\nAction Input: {}")
        .text("Answer: done");
    let object = Scripted::new()
        .text(r#"{"type":"tool_call","tool":"changing","arguments":{}}"#)
        .text(r#"{"type":"answer","content":"done"}"#);
    for (way, model) in [native, text, object].into_iter().enumerate() {
        let path = file(&format!("strict-{way}"));
        let recorder = Recorder::new(model, &path).expect("a file");
        let original = agent(way, recorder, &registry);
        assert!(
            ContractAgent::builder(original)
                .build()
                .run("go")
                .await
                .success
        );
        let open = || Replay::open(&path).expect("a recording");
        let lenient = agent(way, open(), &registry);
        let played = ContractAgent::builder(lenient).build().run("go").await;
        let strict = agent(way, open().strict(), &registry);
        let refused = ContractAgent::builder(strict).build().run("go").await;
        std::fs::remove_file(path).expect("it was there");
        assert_eq!(
            played.answer.as_deref(),
            Some("done"),
            "{way}: {:?}",
            played.error
        );
        assert_eq!(refused.answer, None, "{way}");
        let error = refused.error.expect("an error");
        assert!(
            matches!(
                &error,
                RunError::Model {
                    error: ModelError::Diverged { request: 2, .. }
                }
            ),
            "{way}: {error}"
        );
    }
}

#[tokio::test]
async fn another_task_is_another_conversation() {
    let path = file("task");
    let recorder = Recorder::new(Scripted::new().text("done"), &path).expect("a file");
    ContractAgent::builder(ToolCallingAgent::new(recorder, registry()))
        .build()
        .run("go")
        .await;
    let replay = Replay::open(&path).expect("a recording");
    let result = ContractAgent::builder(ToolCallingAgent::new(replay, registry()))
        .build()
        .run("stay")
        .await;
    std::fs::remove_file(path).expect("it was there");
    assert_eq!(result.answer, None);
    let error = result.error.expect("an error").to_string();
    assert!(
        error.contains("request 1 differs from the recording"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_no_recording_is_refused_with_its_line() {
    let path = file("broken");
    std::fs::write(&path, "{\"format\":1,\"model\":\"m\"}\nnot json\n").expect("a file");
    let error = Replay::open(&path).expect_err("it is broken").to_string();
    std::fs::write(&path, "{\"format\":9,\"model\":\"m\"}\n").expect("a file");
    let other = Replay::open(&path).expect_err("another format").to_string();
    std::fs::remove_file(&path).expect("it was there");
    assert!(error.starts_with("line 2 of the recording"), "{error}");
    assert!(other.contains("has format 9"), "{other}");
    assert!(Replay::open(&path).is_err());
}

#[test]
fn a_recording_is_not_written_over() {
    let path = file("kept");
    std::fs::write(&path, "kept").expect("a file");
    let error = Recorder::new(Scripted::new(), &path).expect_err("there is a file");
    let kept = std::fs::read_to_string(&path).expect("it is there");
    std::fs::remove_file(&path).expect("it was there");
    assert_eq!(kept, "kept");
    assert!(matches!(error, RecordingError::Exists { .. }), "{error:?}");
    let error = error.to_string();
    assert!(
        error.ends_with("already exists; remove it, or record to another one"),
        "{error}"
    );
}

#[tokio::test]
async fn blank_lines_are_passed_over_and_the_end_of_a_recording_is_said() {
    let path = file("blank");
    let exchange = r#"{"said":[{"role":"user","text":"go"}],"reply":[{"text":"done"}]}"#;
    let lines = format!("{{\"format\":1,\"model\":\"m\"}}\n\n{exchange}\r\n  \n\n");
    std::fs::write(&path, lines).expect("a file");
    let replay = Replay::open(&path).expect("a recording");
    std::fs::remove_file(&path).expect("it was there");
    let agent = ContractAgent::builder(ToolCallingAgent::new(replay, registry())).build();
    assert_eq!(agent.run("go").await.answer.as_deref(), Some("done"));
    let error = agent.run("go").await.error.expect("an error").to_string();
    assert_eq!(
        error,
        "the model failed: the recording ended after 1 replies; record it again"
    );
}

#[tokio::test]
async fn a_run_that_goes_on_is_played_from_where_it_stands() {
    let path = file("middle");
    let model = Scripted::new()
        .calls("", [("root", r#"{"of": 4}"#)])
        .calls("", [("root", r#"{"of": 9}"#)])
        .text("two and three");
    let recorder = Recorder::new(model, &path).expect("a file");
    let agent = ContractAgent::builder(ToolCallingAgent::new(recorder, registry())).build();
    let messages = agent.run("go").await.messages;
    for (told, expected) in [(1, "4"), (3, "9"), (5, "two and three")] {
        let recording = Replay::open(&path).expect("a recording");
        let mut reply = recording.reply(Request::new(&messages[..told]));
        let piece = std::future::poll_fn(|task| reply.as_mut().poll_next(task)).await;
        let text = match piece.expect("a reply") {
            Ok(Delta::Text(text)) => text,
            Ok(Delta::Call(call)) => call.arguments,
            other => format!("{other:?}"),
        };
        assert!(text.contains(expected), "{told}: {text}");
    }
    // A conversation that the recording does not have is not played.
    let recording = Replay::open(&path).expect("a recording");
    let mut reply = recording.reply(Request::new(&messages[..2]));
    let piece = std::future::poll_fn(|task| reply.as_mut().poll_next(task)).await;
    assert!(
        matches!(piece, Some(Err(ModelError::Diverged { .. }))),
        "{piece:?}"
    );
    std::fs::remove_file(path).expect("it was there");
}
