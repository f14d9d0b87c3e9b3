//! What the other side says is judged before anybody reads it: no text moves a cursor, and no result contradicts itself.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Executor, ExecutorEvent, Safeguards, SessionEvent};
use contract_runtime::prelude::*;
use contract_runtime::{Artifact, Context, Status};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;

use crate::plain::Doorway;
use crate::raw::{Next, handshake};
use crate::tools::{Tested, registry};

const SOON: Duration = Duration::from_secs(30);

/// Colours, a cleared screen in seven and in eight bits, a title, a line that is turned around, and its end.
const HOSTILE: &str =
    "a\u{1b}[31mb\u{9b}2Jc\u{1b}]0;title\u{7}d\u{202e}e\u{2066}f\u{2069}\r\n\tg\u{8}\u{7f}h";

/// What is left of it where it is prose, and where it is a name.
const PROSE: &str = "a[31mb2Jc]0;titledef\n\tgh";
const NAME: &str = "a[31mb2Jc]0;titledefgh";

fn moves_a_cursor(text: &str) -> bool {
    text.chars().any(|c| {
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        (c.is_control() && c != '\n' && c != '\t') || turns
    })
}

/// What came of one call of `echo`.
struct Came {
    outcome: Outcome,
    /// Progress reports and log messages.
    heard: Vec<String>,
    ended: Vec<Status>,
    /// What the backend said until the call was acknowledged.
    said: Vec<Value>,
}

/// Makes one call, which the executor answers with these frames: payloads, to which the key of the call is added.
async fn answered(frames: &[(&str, Value)]) -> Result<Came, Box<dyn std::error::Error>> {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let door = Doorway::of(backend.safeguards(Safeguards::off())).await?;
    let mut raw = door.enter().await?;
    raw.say(handshake(&door.task, &["echo"], &json!([])).to_string())
        .await?;
    let session = timeout(SOON, door.task.attached()).await??;
    let mut events = session.events();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let progress = Arc::clone(&heard);
    let logged = Arc::clone(&heard);
    let progress = Progress::new(move |report| {
        let mut heard = progress.lock().unwrap_or_else(PoisonError::into_inner);
        heard.push(report.message);
    });
    let context = Context::new().progress(progress).log(move |record| {
        let mut heard = logged.lock().unwrap_or_else(PoisonError::into_inner);
        heard.push(record.to_string());
    });
    let tools = session.registry().clone();
    let call = ToolCall::new("1", "echo", r#"{"text":"x"}"#);
    let call = tokio::spawn(async move { tools.call(call).context(context).await });
    let mut said = Vec::new();
    loop {
        let Next::Message(message) = raw.next().await else {
            return Err("the connection ended".into());
        };
        let kind = message["type"].as_str().unwrap_or_default().to_owned();
        if kind == "run_tool" {
            for (kind, payload) in frames {
                let mut payload = payload.clone();
                for name in ["tool_id", "attempt"] {
                    if payload[name].is_null() {
                        payload[name] = message["payload"][name].clone();
                    }
                }
                raw.say(json!({"type": kind, "payload": payload}).to_string())
                    .await?;
            }
        }
        said.push(message);
        if kind == "ack" {
            break;
        }
    }
    let outcome = timeout(SOON, call).await??;
    let mut ended = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let SessionEvent::CallEnded { status, .. } = event {
            ended.push(status);
        }
    }
    let heard = std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Came {
        outcome,
        heard,
        ended,
        said,
    })
}

#[tokio::test]
async fn no_text_of_an_executor_moves_a_cursor() -> Tested {
    let failed = json!({"status": "error", "outcome": "failed", "error": HOSTILE});
    let reported = json!({"done": 1.0, "message": HOSTILE});
    let logged = json!({"level": "warning", "message": HOSTILE});
    let frames = [
        ("tool_progress", reported),
        ("tool_log", logged),
        ("tool_result", failed),
    ];
    let came = answered(&frames).await?;
    assert_eq!(came.outcome.error(), Some(PROSE));
    assert_eq!(
        came.heard,
        [PROSE.to_owned(), format!("warning: echo: {PROSE}")]
    );

    let violation = json!({
        "contract": HOSTILE, "kind": "pre", "tool": HOSTILE, "predicate": HOSTILE, "message": HOSTILE,
        "location": {"file": HOSTILE, "line": 1, "column": 1}, "policy": "enforce", "origin": "tool",
        "detection": "predicate_false", "blame": "model", "values": {HOSTILE: HOSTILE},
    });
    let broken = json!({"status": "error", "outcome": "violation", "violation": violation});
    let came = answered(&[("tool_result", broken)]).await?;
    let told = came.outcome.violation().ok_or("no violation")?;
    assert_eq!((&*told.contract, &*told.predicate), (NAME, PROSE));
    assert_eq!(told.message.as_deref(), Some(PROSE));
    assert_eq!(
        told.values.get(NAME),
        Some(&json!(HOSTILE)),
        "values are data"
    );
    assert!(!moves_a_cursor(&told.to_string()), "{told}");

    let problem = json!({
        "pointer": HOSTILE, "kind": "type", "expected": HOSTILE, "got": HOSTILE, "allowed": [HOSTILE], "nearest": HOSTILE,
    });
    let invalid = json!({"problems": [problem], "total": 1});
    let refused =
        json!({"status": "error", "outcome": "invalid_arguments", "invalid_arguments": invalid});
    let came = answered(&[("tool_result", refused)]).await?;
    assert_eq!(came.outcome.status(), Status::InvalidArguments);
    let told = came.outcome.error().unwrap_or_default();
    assert!(!moves_a_cursor(told), "{told:?}");
    Ok(())
}

#[tokio::test]
async fn a_result_is_data_and_what_comes_along_with_it_has_names() -> Tested {
    let artifacts = json!([
        {"type": "file", "name": format!("{HOSTILE}{}", "x".repeat(1_000)), "media_type": HOSTILE, "data": "GzE="},
        {"type": "value", "name": HOSTILE, "value": HOSTILE},
    ]);
    let told =
        json!({"status": "success", "outcome": "ok", "result": HOSTILE, "artifacts": artifacts});
    let came = answered(&[("tool_result", told)]).await?;
    assert_eq!(came.outcome.output(), Some(HOSTILE));
    let [file, value] = came.outcome.artifacts() else {
        return Err("not two artifacts".into());
    };
    let long = format!("{NAME}{}", "x".repeat(255 - NAME.len()));
    assert_eq!(*file, Artifact::file(long, NAME, [0x1b, b'1']));
    assert_eq!(*value, Artifact::value(NAME, HOSTILE));
    Ok(())
}

#[tokio::test]
async fn a_result_that_contradicts_itself_is_a_fault_and_never_a_success() -> Tested {
    let cases = [
        json!({"status": "success", "outcome": "violation", "result": "x"}),
        json!({"status": "success", "outcome": "failed", "result": "x"}),
        json!({"status": "error", "outcome": "ok", "result": "x"}),
        json!({"status": "success", "outcome": "ok", "result": "x", "error": "no disk"}),
        json!({"status": "success", "outcome": "ok", "result": "x", "violation": {}}),
        json!({"status": "success", "outcome": "ok", "result": "x", "invalid_arguments": {}}),
        json!({"status": "success", "outcome": "ok", "result": "x", "may_still_run": true}),
        json!({"status": "success", "outcome": "ok", "result": "{", "is_json": true}),
        json!({"status": "success", "outcome": "ok", "is_json": true}),
    ];
    for case in cases {
        let came = answered(&[("tool_result", case.clone())]).await?;
        assert_eq!(came.outcome.status(), Status::Failed, "{case}");
        let told = came.outcome.error().unwrap_or_default();
        assert!(told.starts_with("unknown outcome: "), "{case}: {told}");
        assert_eq!(came.ended, [Status::Failed], "{case}");
        let faults = came.said.iter().filter(|said| said["type"] == "fault");
        assert_eq!(faults.count(), 1, "{case}");
    }
    Ok(())
}

#[tokio::test]
async fn what_does_not_contradict_itself_is_taken() -> Tested {
    let deep = "[".repeat(500) + &"]".repeat(500);
    let cases = [
        (json!({"status": "success", "outcome": "ok"}), Status::Ok),
        (
            json!({"status": "success", "outcome": "ok", "result": " [1, 2]\n", "is_json": true}),
            Status::Ok,
        ),
        (
            json!({"status": "success", "outcome": "ok", "result": deep, "is_json": true}),
            Status::Ok,
        ),
        (
            json!({"status": "success", "outcome": "ok", "result": "{", "is_json": false}),
            Status::Ok,
        ),
        (
            json!({"status": "error", "outcome": "timed_out", "may_still_run": true}),
            Status::TimedOut,
        ),
    ];
    for (case, status) in cases {
        let came = answered(&[("tool_result", case.clone())]).await?;
        assert_eq!(came.outcome.status(), status, "{case}");
        assert!(came.said.iter().all(|said| said["type"] != "fault"));
    }
    Ok(())
}

#[tokio::test]
async fn attempts_are_counted_from_one() -> Tested {
    let fine = |attempt: u32| json!({"attempt": attempt, "status": "success", "outcome": "ok"});
    let came = answered(&[("tool_result", fine(0)), ("tool_result", fine(1))]).await?;
    assert!(came.outcome.is_ok(), "{:?}", came.outcome);
    let faults: Vec<_> = came
        .said
        .iter()
        .filter(|said| said["type"] == "fault")
        .collect();
    let [fault] = faults[..] else {
        return Err(format!("{faults:?}").into());
    };
    let why = "`tool_result` does not come with such a payload";
    assert_eq!(fault["payload"]["message"], why);
    Ok(())
}

#[tokio::test]
async fn the_third_contradiction_ends_the_line_and_every_call_has_its_end() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let door = Doorway::of(backend.safeguards(Safeguards::off())).await?;
    let mut raw = door.enter().await?;
    raw.say(handshake(&door.task, &["echo"], &json!([])).to_string())
        .await?;
    let session = timeout(SOON, door.task.attached()).await??;
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let tools = session.registry().clone();
            let call = ToolCall::new("1", "echo", r#"{"text":"x"}"#);
            tokio::spawn(async move { tools.call(call).await })
        })
        .collect();
    loop {
        match raw.next().await {
            Next::Message(message) if message["type"] == "run_tool" => {
                let key = &message["payload"];
                let reply = json!({"type": "tool_result", "payload": {
                    "tool_id": key["tool_id"], "attempt": key["attempt"], "status": "success", "outcome": "failed",
                }});
                raw.say(reply.to_string()).await?;
                // The frame after the third fault is not heard any more.
                raw.say(r#"{"type":"ping"}"#).await?;
            }
            Next::Message(_) => {}
            end => {
                assert_eq!(end, Next::Closed(1002, "too many faults".to_owned()));
                break;
            }
        }
    }
    for call in calls {
        let outcome = timeout(SOON, call).await??;
        let told = outcome.error().unwrap_or_default();
        assert!(told.contains("contradicts itself"), "{told}");
    }
    Ok(())
}

#[tokio::test]
async fn no_text_of_a_backend_moves_a_cursor() -> Tested {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let task = "7f2c6d0e-51b4-4a0e-9a57-0c2f7d1be8a3";
    let events: Arc<Mutex<Vec<ExecutorEvent>>> = Arc::default();
    let told = Arc::clone(&events);
    let executor = Executor::new(registry(&Arc::default())?)
        .on_event(move |event| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.push(event);
        })
        .connect(format!("ws://{address}/executor/{task}"), "token");
    let (stream, _) = timeout(SOON, listener.accept()).await??;
    let mut socket = accept_async(stream).await?;
    let shake = timeout(SOON, socket.next()).await?;
    assert!(matches!(shake, Some(Ok(Message::Text(_)))));
    let frames = [
        json!({"type": "handshake_ok", "payload": {
            "epoch": 1, "toolbelt": [HOSTILE], "keep_alive_ms": 15_000,
            "refused": [{"name": HOSTILE, "reason": HOSTILE}],
        }}),
        json!({"type": "agent_message_delta", "payload": {"generation_id": 1, "text": HOSTILE}}),
        json!({"type": "agent_message_delta", "payload": {"generation_id": 1, "text": "می\u{200c}خواهم 👩\u{200d}💻"}}),
        json!({"type": "finished", "payload": {"success": true, "message": HOSTILE}}),
    ];
    for frame in frames {
        socket.send(Message::text(frame.to_string())).await?;
    }
    timeout(SOON, executor.ended()).await??;
    let events = events.lock().unwrap_or_else(PoisonError::into_inner);
    let mut said = Vec::new();
    for event in &*events {
        match event {
            ExecutorEvent::Attached {
                toolbelt, refused, ..
            } => {
                assert_eq!(*toolbelt, [NAME]);
                assert_eq!((&*refused[0].name, &*refused[0].reason), (NAME, PROSE));
            }
            ExecutorEvent::MessageDelta(delta) => said.push(delta.text.as_str()),
            ExecutorEvent::Finished(finished) => said.push(&finished.message),
            other => return Err(format!("{other:?}").into()),
        }
    }
    // What joins and parts letters is the spelling of a language.
    assert_eq!(said, [PROSE, "می\u{200c}خواهم 👩\u{200d}💻", PROSE]);
    Ok(())
}
