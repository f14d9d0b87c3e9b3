//! Round trips of an outcome through a reply.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use contract_runtime::dynamic::{Backing, CallError, DynamicContext};
use contract_runtime::prelude::*;
use contract_runtime::{DynamicSpec, Effect, Status};
use serde_json::{Map, Value, json};
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};

use super::{
    CallId, CallKey, Cancelled, ExecutorMessage, ToolReply, Verdict, WireArtifact, read, write,
};
use crate::MAX_MESSAGE_BYTES;

mod anything;

type Tested = Result<(), Box<dyn std::error::Error>>;

fn key() -> CallKey {
    CallKey {
        tool_id: CallId::next(),
        attempt: 1,
    }
}

type Answer = Result<Content, CallError>;

/// Answers its only call.
struct Answers(Mutex<Option<Answer>>);

impl Backing for Answers {
    async fn call(&self, _: Map<String, Value>, _: DynamicContext) -> Answer {
        let answer = self.0.lock().ok().and_then(|mut answer| answer.take());
        answer.unwrap_or_else(|| Err(failed("called twice")))
    }
}

fn failed(error: impl Into<String>) -> CallError {
    CallError::Failed(error.into())
}

/// The outcome of a call that is answered like this.
fn outcome(answer: Answer) -> Outcome {
    let spec = DynamicSpec::new("tool", "Do anything.");
    let tool = Tool::backed(spec, Answers(Mutex::new(Some(answer))));
    let builder = Registry::builder().with(tool);
    let registry = builder.max_output_chars(usize::MAX).build().unwrap();
    registry.call(ToolCall::new("1", "tool", "{}")).blocking()
}

/// A tool elsewhere, which ended like this, as an entry of a registry here.
fn there_and_back(there: &Outcome) -> Result<Outcome, Box<dyn std::error::Error>> {
    let message = ExecutorMessage::ToolResult(Box::new(ToolReply::of(key(), there)));
    let text = write(&message);
    assert!(text.len() <= MAX_MESSAGE_BYTES, "{} bytes", text.len());
    let ExecutorMessage::ToolResult(reply) = read(&text, &["tool_result"])? else {
        return Err("another message".into());
    };
    Ok(outcome(reply.into_content()))
}

fn equal(here: &Outcome, there: &Outcome) {
    assert_eq!(here.status(), there.status());
    assert_eq!(here.error(), there.error());
    assert_eq!(here.output(), there.output());
    assert_eq!(here.value(), there.value());
    assert_eq!(here.artifacts(), there.artifacts());
    assert_eq!(here.violation(), there.violation());
    assert_eq!(here.invalid_arguments(), there.invalid_arguments());
    assert_eq!(here.may_still_be_running(), there.may_still_be_running());
}

/// Give back what is asked for.
#[tool]
#[pre(!text.is_empty(), "say something")]
#[post(|given| given != "broken", "what was said is broken")]
fn give(text: String, #[arg(default = 1)] times: u8) -> String {
    text.repeat(times.into())
}

/// Delete everything.
#[tool(confirm = "Delete everything?")]
fn delete() {}

#[test]
fn what_asks_arrives_as_denied_whatever_the_executor_makes_of_it() -> Tested {
    let registry = Registry::builder().tool(delete).build()?;
    let asked = registry.call(ToolCall::new("1", "delete", "")).blocking();
    assert_eq!(asked.status(), Status::Asked);
    let sent = ToolReply::of(key(), &asked);
    assert_eq!(sent.outcome, Status::Denied);
    let here = there_and_back(&asked)?;
    assert_eq!(here.status(), Status::Denied);
    let error = here.error().unwrap_or_default();
    assert!(
        error.ends_with("may answer what it asks: Delete everything?"),
        "{error}"
    );
    // Another executor may send what this one does not.
    let other = ToolReply {
        outcome: Status::Asked,
        ..ToolReply::failed(key(), "ask somebody")
    };
    let here = outcome(other.into_content());
    assert_eq!(
        (here.status(), here.error()),
        (Status::Denied, Some("ask somebody"))
    );
    Ok(())
}

#[test]
fn every_end_of_a_call_arrives_as_it_was() -> Tested {
    let mut answers = vec![
        Ok(Content::default()),
        Ok(Content::text("")),
        Err(failed("no such file")),
        Err(failed("")),
    ];
    let statuses = [
        Status::Failed,
        Status::UnknownTool,
        Status::Denied,
        Status::Refused,
        Status::Panicked,
        Status::TimedOut,
        Status::Cancelled,
        Status::Overloaded,
    ];
    for status in statuses {
        answers.extend([false, true].map(|may_still_run| {
            Err(CallError::Ended {
                status,
                error: format!("it ended as {status}"),
                effect: if may_still_run {
                    Effect::Unknown
                } else {
                    Effect::None
                },
                may_still_run,
            })
        }));
    }
    for answer in answers {
        let there = outcome(answer);
        equal(&there_and_back(&there)?, &there);
    }
    let registry = Registry::builder().tool(give).build()?;
    let calls = [
        r#"{"text":"a"}"#,
        r#"{"text":""}"#,
        r#"{"text":"broken"}"#,
        r#"{"text":7,"times":300,"more":[]}"#,
        "{",
    ];
    let mut seen = Vec::new();
    for arguments in calls {
        let there = registry
            .call(ToolCall::new("1", "give", arguments))
            .blocking();
        equal(&there_and_back(&there)?, &there);
        seen.push(there.status());
    }
    let names = seen.iter().map(|status| status.name());
    let expected = [
        "ok",
        "violation",
        "violation",
        "invalid_arguments",
        "invalid_arguments",
    ];
    assert!(names.eq(expected), "{seen:?}");
    Ok(())
}

fn done_with(artifacts: impl IntoIterator<Item = Artifact>) -> Content {
    artifacts
        .into_iter()
        .fold(Content::text("done"), Content::with)
}

#[test]
fn artifacts_arrive_byte_for_byte() -> Tested {
    let content = Content::json_text("{\"a\":1}")?
        .with(Artifact::image("image/png", [0, 255, 128, 10]))
        .with(Artifact::file("a.csv", "text/csv", Vec::new()))
        .with(Artifact::value(
            "figures",
            json!({"a": [1, null, "\u{0}é"]}),
        ));
    let there = outcome(Ok(content));
    let here = there_and_back(&there)?;
    equal(&here, &there);
    assert_eq!(here.value(), Some(json!({"a": 1})));
    Ok(())
}

#[test]
fn what_a_message_cannot_hold_is_replaced_by_a_note_and_the_rest_kept() -> Tested {
    let large = Artifact::file("film.mp4", "video/mp4", vec![1; MAX_MESSAGE_BYTES]);
    let small = Artifact::image("image/png", vec![2; 1_000]);
    let middle = Artifact::value("list", vec![7; 1 << 20]);
    let artifacts = [small.clone(), large, middle.clone()];
    let there = outcome(Ok(done_with(artifacts)));
    let here = there_and_back(&there)?;
    assert_eq!(here.output(), Some("done"));
    let [first, note, last] = here.artifacts() else {
        return Err("not three artifacts".into());
    };
    assert_eq!((first, last), (&small, &middle));
    let Artifact::Value { name, value } = note else {
        return Err("no note".into());
    };
    assert_eq!(name, "film.mp4");
    let why = value.as_str().unwrap_or_default();
    assert!(
        why.starts_with("left out: 11184") && why.contains("video/mp4"),
        "{why}"
    );

    // So many that not even their notes have room.
    let many = vec![Artifact::value("x".repeat(90), "y".repeat(200)); 60_000];
    let there = outcome(Ok(done_with(many)));
    let here = there_and_back(&there)?;
    assert_eq!((here.output(), here.artifacts().len()), (Some("done"), 1));
    Ok(())
}

#[test]
fn a_result_or_a_violation_that_is_too_large_is_said_in_words() -> Tested {
    for text in [
        "x".repeat(MAX_MESSAGE_BYTES),
        "\u{1}".repeat(MAX_MESSAGE_BYTES / 4),
    ] {
        let there = outcome(Ok(Content::text(text)));
        let here = there_and_back(&there)?;
        assert_eq!(here.status(), Status::Failed);
        assert!(
            here.error()
                .is_some_and(|error| error.contains("ask it for less at once"))
        );
    }
    let large = "x".repeat(2 * MAX_MESSAGE_BYTES);
    let here = there_and_back(&violated_with(large.into())?)?;
    let violation = here.violation().ok_or("no violation")?;
    assert_eq!(violation.contract, "give.pre[0]");
    assert!(violation.values.is_empty());
    let there = outcome(Err(failed("x".repeat(2 * MAX_MESSAGE_BYTES))));
    let here = there_and_back(&there)?;
    assert_eq!(here.error().map(str::len), Some(10_000));
    Ok(())
}

/// A violation of the precondition of `give`, with this value.
fn violated_with(value: Value) -> Result<Outcome, Box<dyn std::error::Error>> {
    let registry = Registry::builder().tool(give).build()?;
    let there = registry
        .call(ToolCall::new("1", "give", r#"{"text":""}"#))
        .blocking();
    let mut violation = there.violation().cloned().ok_or("no violation")?;
    violation.values.insert("text", value);
    Ok(outcome(Err(CallError::Violation(Box::new(violation)))))
}

#[test]
fn values_that_no_reader_of_json_takes_are_left_out() -> Tested {
    let deep = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    for levels in [100, 119, 120, 126, 500] {
        let there = outcome(Ok(done_with([Artifact::value("deep", deep(levels))])));
        let here = there_and_back(&there)?;
        let [Artifact::Value { value, .. }] = here.artifacts() else {
            return Err("no artifact".into());
        };
        assert_eq!(value.is_array(), levels < 120, "{levels}");
    }
    let here = there_and_back(&violated_with(deep(126))?)?;
    assert_eq!(here.status(), Status::Violation);
    Ok(())
}

#[test]
fn a_reply_says_whether_its_call_took_effect_and_an_older_one_does_not() -> Tested {
    let read = |reply: Value| -> Result<_, Box<dyn std::error::Error>> {
        let mut reply = reply;
        reply["tool_id"] = json!(key().tool_id);
        let here = outcome(serde_json::from_value::<ToolReply>(reply)?.into_content());
        Ok((here.status(), here.effect()))
    };
    let error = |outcome: &str| json!({"status": "error", "error": "why", "outcome": outcome});
    let said = |outcome: &str, effect: &str| {
        let mut reply = error(outcome);
        reply["effect"] = json!(effect);
        reply
    };
    let expected = [
        (
            json!({"status": "success", "result": "a"}),
            (Status::Ok, Effect::Complete),
        ),
        (
            json!({"status": "error", "error": "why"}),
            (Status::Failed, Effect::Unknown),
        ),
        (error("denied"), (Status::Denied, Effect::None)),
        (error("refused"), (Status::Refused, Effect::None)),
        (error("overloaded"), (Status::Overloaded, Effect::None)),
        (error("panicked"), (Status::Panicked, Effect::Unknown)),
        (
            error("of a later release"),
            (Status::Failed, Effect::Unknown),
        ),
        (said("panicked", "none"), (Status::Panicked, Effect::None)),
        (
            said("failed", "complete"),
            (Status::Failed, Effect::Complete),
        ),
        (
            said("failed", "of a later release"),
            (Status::Failed, Effect::Unknown),
        ),
    ];
    for (reply, expected) in expected {
        let said = reply.to_string();
        assert_eq!(read(reply)?, expected, "{said}");
    }
    Ok(())
}

#[test]
fn a_reply_that_contradicts_itself_is_a_failure() -> Tested {
    let fine = ToolReply {
        status: Verdict::Success,
        outcome: Status::Ok,
        result: Some("a".to_owned()),
        error: None,
        ..ToolReply::failed(key(), "")
    };
    assert!(fine.clone().into_content().is_ok());
    let contradictions = [
        ToolReply {
            status: Verdict::Error,
            ..fine.clone()
        },
        ToolReply {
            outcome: Status::Violation,
            ..fine.clone()
        },
        ToolReply {
            error: Some("why".to_owned()),
            ..fine.clone()
        },
        ToolReply {
            is_json: true,
            ..fine.clone()
        },
    ];
    for reply in contradictions {
        let came = reply.into_content();
        assert!(
            matches!(came, Err(CallError::Failed(error)) if error.starts_with("unknown outcome"))
        );
    }
    // What a later release says in another way has ended all the same.
    let failed = ToolReply::failed(key(), "why");
    let unreadable = [
        ToolReply {
            outcome: Status::Violation,
            violation: Some(json!({"contract": 7})),
            ..failed.clone()
        },
        ToolReply {
            outcome: Status::InvalidArguments,
            invalid_arguments: Some(json!([])),
            ..failed
        },
    ];
    for reply in unreadable {
        assert!(matches!(reply.into_content(), Err(CallError::Failed(error)) if error == "why"));
    }
    let broken = ToolReply {
        artifacts: vec![
            WireArtifact::Image {
                media_type: "image/png".to_owned(),
                data: "no base64!".to_owned(),
            },
            WireArtifact::File {
                name: "../../etc/passwd".to_owned(),
                media_type: String::new(),
                data: "YQ==".to_owned(),
            },
            WireArtifact::File {
                name: "a\\..".to_owned(),
                media_type: String::new(),
                data: String::new(),
            },
        ],
        ..fine
    };
    let content = broken.into_content()?;
    let note = Artifact::value("image", "left out: it is not valid Base64");
    let named = |name: &str, data: &[u8]| Artifact::file(name, "", data);
    assert_eq!(
        content.artifacts(),
        [note, named("passwd", b"a"), named("file", b"")]
    );
    Ok(())
}

static STARTED: Semaphore = Semaphore::const_new(0);

/// Wait until it is dropped.
#[tool]
async fn wait() {
    STARTED.add_permits(1);
    std::future::pending::<()>().await;
}

/// Wait, and cannot be stopped.
#[tool(blocking)]
fn sleep() {
    STARTED.add_permits(1);
    thread::sleep(Duration::from_millis(100));
}

#[tokio::test]
async fn a_cancellation_is_a_reply() -> Tested {
    let registry = Registry::builder().tool(wait).tool(sleep).build()?;
    for (name, may_still_run) in [("wait", false), ("sleep", true)] {
        let token = CancellationToken::new();
        let context = Context::new().cancellation(token.clone());
        let call = registry
            .call(ToolCall::new("1", name, "{}"))
            .context(context);
        let cancel = async {
            STARTED.acquire().await.map(SemaphorePermit::forget)?;
            token.cancel();
            Ok::<_, AcquireError>(())
        };
        let (local, cancelled) = tokio::join!(call, cancel);
        cancelled?;
        let cancelled = Cancelled {
            key: key(),
            effect: Effect::Unknown,
            may_still_run,
        };
        let reply = ToolReply::from(cancelled.clone());
        assert_eq!(reply, ToolReply::of(cancelled.key, &local));
    }
    Ok(())
}
