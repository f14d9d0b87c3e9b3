//! A task from its beginning to its end, with a connection that breaks in the middle, as it is said on the line.

use std::error::Error;
use std::fmt::Write as _;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Executor, Reconnect};
use contract_runtime::prelude::*;
use serde_json::Value;
use tokio::time::timeout;

use crate::tap::{Heard, Tap};

const SOON: Duration = Duration::from_secs(60);

/// In the place of ids, which are others each time, in the order in which they come.
const IDS: [&str; 4] = [
    "7f2c6d0e-51b4-4a0e-9a57-0c2f7d1be8a3",
    "c1a9e4d2-3b7f-4f0a-8d6e-5e2b90f7a614",
    "019ac0de-7d40-7c31-b2a5-64f0a1c9e2b7",
    "019ac0de-7f93-7a08-91d6-3be85f20c74d",
];

/// The frames, as the page shows them.
pub(crate) async fn captured() -> Result<String, Box<dyn Error>> {
    let tools = registry!().build()?;
    let backend = Backend::new(tools.manifest()).bind("127.0.0.1:0").await?;
    let (task, token) = backend.task().await?;
    let tap = Tap::to(task.address()).await?;
    let executor = Executor::new(tools)
        .reconnect(Reconnect::default().first(Duration::from_millis(10)))
        .connect(tap.address.as_str(), token);
    let session = timeout(SOON, task.attached()).await??;
    let call = async |id: &str, arguments: &str| {
        let call = ToolCall::new(id, "book_room", arguments);
        timeout(SOON, session.registry().call(call)).await
    };
    let first = call("1", r#"{"start":540,"end":600}"#).await?;
    assert_eq!(first.output(), Some("60"), "{first:?}");
    tap.cut_the_next_result();
    let second = call("2", r#"{"start":600,"end":690}"#).await?;
    assert_eq!(second.output(), Some("90"), "{second:?}");
    session.finish(true, "Both rooms are booked.").await;
    timeout(SOON, executor.ended()).await??;
    Ok(shown(tap.heard()))
}

fn shown(heard: Vec<Heard>) -> String {
    let mut text = String::new();
    let mut ids = Vec::new();
    let (mut handshakes, mut was_cut) = (0, false);
    for one in heard {
        let (by, mut message) = match one {
            Heard::Executor(message) => ("The executor", message),
            Heard::Backend(message) => ("The backend", message),
            Heard::Cut => {
                text.push_str("Here the connection breaks, and the result does not arrive.\n\n");
                was_cut = true;
                continue;
            }
        };
        let kind = message["type"].as_str().unwrap_or_default().to_owned();
        steady(&mut message, &mut ids);
        let title = match (&*kind, handshakes, was_cut) {
            ("handshake", 0, _) => Some("The handshake"),
            ("handshake", ..) => Some("The same executor again"),
            ("run_tool", ..) if ids.len() == IDS.len() => {
                Some("A call whose result is lost on its way")
            }
            ("run_tool", ..) => Some("A call"),
            ("finished", ..) => Some("The end"),
            _ => None,
        };
        handshakes += usize::from(kind == "handshake");
        if let Some(title) = title {
            let _ = write!(text, "### {title}\n\n");
        }
        let _ = write!(text, "{by}:\n\n```json\n{}\n```\n\n", lines(&message));
    }
    text.trim_end().to_owned() + "\n"
}

/// On one line where it is short.
fn lines(message: &Value) -> String {
    let short = message.to_string();
    if short.len() <= 100 {
        short
    } else {
        format!("{message:#}")
    }
}

/// Without what differs from one run, or one machine, to another.
fn steady(value: &mut Value, ids: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match name.as_str() {
                    "task" | "journal" | "tool_id" => {
                        let id = field.as_str().unwrap_or_default().to_owned();
                        let known = ids.iter().position(|one| *one == id);
                        let place = known.unwrap_or_else(|| {
                            ids.push(id);
                            ids.len() - 1
                        });
                        *field = IDS.get(place).copied().unwrap_or("one id too many").into();
                    }
                    "deadline_ms" => *field = 600_000.into(),
                    "system" => *field = "linux".into(),
                    "architecture" => *field = "x86_64".into(),
                    "parallel" => *field = 2.into(),
                    _ => steady(field, ids),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| steady(item, ids)),
        _ => {}
    }
}
