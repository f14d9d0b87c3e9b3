//! Calls that the backend makes of its own accord: it inspects the project before a run, and reports what the run has changed.

use std::time::Duration;

use contract_agent::Message;
use contract_remote::Session;
use contract_runtime::{Outcome, ToolCall};

use super::translate::{call_made, shortened};
use crate::changes::Changes;
use crate::contract::Happening;

const SYSTEM: &str = include_str!("../system.txt");

/// The task in front of the calls that inspect the project.
const LOOK: &str = "Look around in the project.";

/// The calls that inspect the project, as far as the executor has these tools.
const CALLS: [(&str, &str); 2] = [
    ("get_working_directory", "{}"),
    ("read_folder", r#"{"path":".","depth":2}"#),
];

/// The tool that reports changes.
const DIFF: &str = "workspace_diff";

/// How long the executor may take to report changes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Inspects the project by ordinary calls, and returns the beginning of a conversation.
///
/// What was found stands in it as results of tools: it comes from the executor, and is to be trusted no more than the rest of
/// what comes from there.
pub(super) async fn look_around(session: &Session, tell: impl Fn(Happening)) -> Vec<Message> {
    let belt = session.toolbelt();
    let refused = belt.refused().iter();
    tell(Happening::Attached {
        tools: belt.tools().map(|tool| tool.name.clone()).collect(),
        refused: refused
            .map(|one| format!("{}: {}", one.name, one.reason))
            .collect(),
    });
    let calls: Vec<_> = (1..)
        .zip(CALLS.into_iter().filter(|(name, _)| has(session, name)))
        .map(|(number, (name, arguments))| ToolCall::new(format!("look_{number}"), name, arguments))
        .collect();
    for call in &calls {
        tell(call_made(call));
    }
    let outcomes = session.bootstrap(calls.clone()).await;
    let mut messages = vec![Message::System {
        text: SYSTEM.to_owned(),
        by_agent: false,
    }];
    if !calls.is_empty() {
        messages.push(Message::User {
            text: LOOK.to_owned(),
        });
        messages.push(Message::Assistant {
            text: String::new(),
            calls,
            reasoning: None,
        });
    }
    for outcome in &outcomes {
        let text = text_of(outcome);
        tell(Happening::ToolResult {
            call_id: outcome.id().to_owned(),
            tool: outcome.tool().to_owned(),
            status: outcome.status().name().to_owned(),
            text: shortened(text),
            travelled: true,
        });
        messages.push(Message::Tool {
            call_id: outcome.id().to_owned(),
            tool: outcome.tool().to_owned(),
            status: outcome.status(),
            effect: outcome.effect(),
            text: text.to_owned(),
        });
    }
    tell(Happening::BootstrapFinished);
    messages
}

/// Asks the executor what has changed in the project since a snapshot; `None` if it has no tool for that.
///
/// # Errors
///
/// Why it cannot say so.
pub(super) async fn changes_since(
    session: &Session,
    since: Option<&str>,
) -> Option<Result<Changes, String>> {
    if !has(session, DIFF) {
        return None;
    }
    let arguments = serde_json::json!({ "since": since }).to_string();
    let call = ToolCall::new(DIFF, DIFF, arguments);
    // A guard of its own: a turn that came to its limits has changed something too.
    let asked = session.guard(session.registry().call(call));
    Some(match tokio::time::timeout(PATIENCE, asked).await {
        Err(_) => Err(format!("the executor did not answer within {PATIENCE:?}")),
        Ok(Err(tripped)) => Err(tripped.to_string()),
        Ok(Ok(outcome)) => match outcome.output().map(serde_json::from_str) {
            Some(changes) => {
                changes.map_err(|error| format!("`{DIFF}` has answered something else: {error}"))
            }
            None => Err(text_of(&outcome).to_owned()),
        },
    })
}

fn has(session: &Session, name: &str) -> bool {
    session.toolbelt().tools().any(|tool| tool.name == name)
}

fn text_of(outcome: &Outcome) -> &str {
    let text = outcome.output().or_else(|| outcome.error());
    text.unwrap_or_default()
}
