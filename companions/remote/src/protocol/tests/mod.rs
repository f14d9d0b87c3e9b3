//! The end of a call, there and back.

use std::time::Duration;

use serde_json::json;

use super::{
    CallId, CallKey, Cancelled, ExecutorMessage, ToolReply, Verdict, WireArtifact, read, write,
};
use crate::prelude::*;
use crate::remote::LARGEST;
use crate::tool::outcome::End;
use crate::tool::reply::{Ended, Output};
use crate::{Artifact, InvalidArguments};

mod anything;

type Tested = Result<(), Box<dyn std::error::Error>>;

fn key() -> CallKey {
    CallKey {
        tool_id: CallId::next(),
        attempt: 1,
    }
}

fn outcome(end: End) -> Outcome {
    Outcome::new("1".to_owned(), "tool".to_owned(), end)
}

/// A tool elsewhere, which ended like this, as an entry of a registry here.
fn there_and_back(there: &Outcome) -> Result<Outcome, Box<dyn std::error::Error>> {
    let message = ExecutorMessage::ToolResult(Box::new(ToolReply::of(key(), there)));
    let text = write(&message);
    assert!(text.len() <= LARGEST, "{} bytes", text.len());
    let ExecutorMessage::ToolResult(reply) = read(&text, &["tool_result"])? else {
        return Err("another message".into());
    };
    let end = match reply.into_output() {
        Ok(output) => End::Ok(output),
        Err(Ended::Violation(violation)) => End::Violation(violation),
        Err(Ended::Invalid(invalid)) => End::InvalidArguments(invalid),
        Err(Ended::Failed(error)) => End::Failed(error),
        Err(Ended::Said {
            status,
            error,
            may_still_run,
        }) => End::Said {
            status,
            error,
            may_still_run,
        },
        Err(other) => return Err(format!("{other:?}").into()),
    };
    Ok(outcome(end))
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
#[tool(crate = crate)]
#[pre(!text.is_empty(), "say something")]
#[post(|given| given != "broken", "what was said is broken")]
fn give(text: String, #[arg(default = 1)] times: u8) -> String {
    text.repeat(times.into())
}

#[tokio::test]
async fn every_end_of_a_call_arrives_as_it_was() -> Tested {
    let after = Duration::from_millis(1_500);
    let ends = [
        End::Ok(Output::default()),
        End::Failed("no such file".to_owned()),
        End::Failed(String::new()),
        End::Panicked,
        End::UnknownTool {
            nearest: Some("tools".to_owned()),
        },
        End::UnknownTool { nearest: None },
        End::TimedOut {
            after,
            may_still_run: true,
        },
        End::TimedOut {
            after: Duration::ZERO,
            may_still_run: false,
        },
        End::Cancelled {
            reason: "the call was cancelled",
            may_still_run: true,
        },
        End::Cancelled {
            reason: "not started",
            may_still_run: false,
        },
        End::Overloaded { limit: 3 },
        End::Said {
            status: Status::Cancelled,
            error: "no steps are left".to_owned(),
            may_still_run: false,
        },
        End::InvalidArguments(Box::new(InvalidArguments::too_large(1, 2))),
    ];
    for end in ends {
        let there = outcome(end);
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
        let there = registry.call(ToolCall::new("1", "give", arguments)).await;
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

#[test]
fn artifacts_arrive_byte_for_byte() -> Tested {
    let artifacts = vec![
        Artifact::image("image/png", [0, 255, 128, 10]),
        Artifact::file("a.csv", "text/csv", Vec::new()),
        Artifact::value("figures", json!({"a": [1, null, "\u{0}é"]})),
    ];
    let there = outcome(End::Ok(Output {
        text: "{\"a\":1}".to_owned(),
        is_json: true,
        artifacts: Some(Box::new(artifacts)),
    }));
    let here = there_and_back(&there)?;
    equal(&here, &there);
    assert_eq!(here.value(), Some(json!({"a": 1})));
    Ok(())
}

#[test]
fn what_a_message_cannot_hold_is_replaced_by_a_note_and_the_rest_kept() -> Tested {
    let large = Artifact::file("film.mp4", "video/mp4", vec![1; LARGEST]);
    let small = Artifact::image("image/png", vec![2; 1_000]);
    let middle = Artifact::value("list", vec![7; 1 << 20]);
    let artifacts = vec![small.clone(), large, middle.clone()];
    let there = outcome(End::Ok(Output {
        text: "done".to_owned(),
        is_json: false,
        artifacts: Some(Box::new(artifacts)),
    }));
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
    let there = outcome(End::Ok(Output {
        text: "done".to_owned(),
        is_json: false,
        artifacts: Some(Box::new(many)),
    }));
    let here = there_and_back(&there)?;
    assert_eq!((here.output(), here.artifacts().len()), (Some("done"), 1));
    Ok(())
}

#[tokio::test]
async fn a_result_or_a_violation_that_is_too_large_is_said_in_words() -> Tested {
    for text in ["x".repeat(LARGEST), "\u{1}".repeat(LARGEST / 4)] {
        let there = outcome(End::Ok(Output {
            text,
            ..Output::default()
        }));
        let here = there_and_back(&there)?;
        assert_eq!(here.status(), Status::Failed);
        assert!(
            here.error()
                .is_some_and(|error| error.contains("ask it for less at once"))
        );
    }
    let registry = Registry::builder().tool(give).build()?;
    let call = ToolCall::new("1", "give", r#"{"text":""}"#);
    let mut there = registry.call(call).await;
    if let End::Violation(violation) = &mut there.end {
        violation
            .values
            .insert("text".to_owned(), "x".repeat(2 * LARGEST).into());
    }
    let here = there_and_back(&there)?;
    let violation = here.violation().ok_or("no violation")?;
    assert_eq!(violation.contract, "give.pre[0]");
    assert!(violation.values.is_empty());
    let there = outcome(End::Failed("x".repeat(2 * LARGEST)));
    let here = there_and_back(&there)?;
    assert_eq!(here.error().map(|error| error.len()), Some(10_000));
    Ok(())
}

#[tokio::test]
async fn values_that_no_reader_of_json_takes_are_left_out() -> Tested {
    let deep = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    for levels in [100, 119, 120, 126, 500] {
        let there = outcome(End::Ok(Output {
            text: "done".to_owned(),
            is_json: false,
            artifacts: Some(Box::new(vec![Artifact::value("deep", deep(levels))])),
        }));
        let here = there_and_back(&there)?;
        let [Artifact::Value { value, .. }] = here.artifacts() else {
            return Err("no artifact".into());
        };
        assert_eq!(value.is_array(), levels < 120, "{levels}");
    }
    let registry = Registry::builder().tool(give).build()?;
    let mut there = registry
        .call(ToolCall::new("1", "give", r#"{"text":""}"#))
        .await;
    if let End::Violation(violation) = &mut there.end {
        violation.values.insert("text".to_owned(), deep(126));
    }
    let here = there_and_back(&there)?;
    assert_eq!(here.status(), Status::Violation);
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
    assert!(fine.clone().into_output().is_ok());
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
        let came = reply.into_output();
        assert!(matches!(came, Err(Ended::Failed(error)) if error.starts_with("unknown outcome")));
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
        assert!(matches!(reply.into_output(), Err(Ended::Failed(error)) if error == "why"));
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
    let output = broken.into_output().map_err(|ended| format!("{ended:?}"))?;
    let artifacts = *output.artifacts.ok_or("no artifacts")?;
    let note = Artifact::value("image", "left out: what came is no Base64");
    let named = |name: &str, data: &[u8]| Artifact::file(name, "", data);
    assert_eq!(artifacts, [note, named("passwd", b"a"), named("file", b"")]);
    Ok(())
}

#[test]
fn a_cancellation_is_a_reply() {
    for may_still_run in [false, true] {
        let cancelled = Cancelled {
            key: key(),
            may_still_run,
        };
        let local = outcome(End::Cancelled {
            reason: "the call was cancelled",
            may_still_run,
        });
        let reply = ToolReply::from(cancelled.clone());
        assert_eq!(reply, ToolReply::of(cancelled.key, &local));
    }
}
