//! Inspects the project before a run, for the start of the conversation.

use contract_agent::Message;
use contract_remote::Session;
use contract_runtime::{Outcome, ToolCall};

use super::translate::shortened;
use crate::contract::Happening;

/// What the model is told of its work in general.
const SYSTEM: &str = include_str!("../system.txt");

/// What stands in the place of its wish to look around.
const LOOK: &str = "Look around in the project.";

/// What is asked of every executor, if it has such a tool.
const CALLS: [(&str, &str); 2] = [
    ("get_working_directory", "{}"),
    ("read_folder", r#"{"path":".","depth":2}"#),
];

/// Looks at the project by ordinary calls, and makes of it the beginning of a conversation.
///
/// What was found stands in it as results of tools: it comes from the executor, and is to be trusted no more than the rest of
/// what comes from there.
pub(super) async fn look_around(
    session: &Session,
    mut tell: impl FnMut(Happening),
) -> Vec<Message> {
    tell(attached(session));
    let tools: Vec<_> = session.toolbelt().tools().map(|tool| &tool.name).collect();
    let there = CALLS
        .into_iter()
        .filter(|(name, _)| tools.iter().any(|tool| tool == name));
    let calls: Vec<_> = (1..)
        .zip(there)
        .map(|(number, (name, arguments))| ToolCall::new(format!("look_{number}"), name, arguments))
        .collect();
    for call in &calls {
        tell(Happening::ToolCall {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
        });
    }
    let outcomes = session.bootstrap(calls.clone()).await;
    for outcome in &outcomes {
        tell(result_of(outcome));
    }
    let results = outcomes.iter().map(|outcome| Message::Tool {
        call_id: outcome.id().to_owned(),
        tool: outcome.tool().to_owned(),
        status: outcome.status(),
        effect: outcome.effect(),
        text: text_of(outcome),
    });
    tell(Happening::BootstrapFinished);
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
        messages.extend(results);
    }
    messages
}

fn attached(session: &Session) -> Happening {
    let belt = session.toolbelt();
    let refused = belt.refused().iter();
    Happening::Attached {
        tools: belt.tools().map(|tool| tool.name.clone()).collect(),
        refused: refused
            .map(|one| format!("{}: {}", one.name, one.reason))
            .collect(),
    }
}

fn text_of(outcome: &Outcome) -> String {
    let text = outcome.output().or_else(|| outcome.error());
    text.unwrap_or_default().to_owned()
}

fn result_of(outcome: &Outcome) -> Happening {
    Happening::ToolResult {
        call_id: outcome.id().to_owned(),
        tool: outcome.tool().to_owned(),
        status: outcome.status().name().to_owned(),
        text: shortened(&text_of(outcome)),
        travelled: true,
    }
}
