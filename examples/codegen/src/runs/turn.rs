//! One turn of a run: the model works until it answers, asks or fails.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use contract_agent::{Budget, ContractAgent, Hook, Message, Model, Recovery, ToolCallingAgent};
use contract_remote::Session;
use contract_runtime::ToolCall;
use contract_runtime::approval::{ApprovalRequest, Decision};

use super::bootstrap::look_around;
use super::line::Line;
use super::translate::Translator;
use crate::changes::Changes;
use crate::contract::{Happening, Question};
use crate::model::RecordingModel;

/// The longest that a model may work on one turn.
const LONGEST: Duration = Duration::from_secs(20 * 60);

/// The tool that says what has changed.
const DIFF: &str = "workspace_diff";

/// The most steps of one turn.
const STEPS: u64 = 60;

/// How long the executor may take to say what has changed.
const LOOKS: Duration = Duration::from_secs(10);

/// The same limit after a cancellation, while a client waits for the run to end.
const LOOKS_QUICKLY: Duration = Duration::from_secs(3);

/// What the executor calls the project as it was before the run, and as the last turn left it.
#[derive(Debug, Default)]
pub(super) struct Before {
    pub(super) first: Option<String>,
    pub(super) left: Option<String>,
}

/// What came of a turn.
pub(super) struct Turn {
    pub(super) ending: Ending,
    pub(super) said: Vec<Message>,
    pub(super) written: BTreeSet<String>,
    pub(super) last_written: Option<String>,
}

/// How a turn ended.
pub(super) enum Ending {
    Answered(String),
    Asked(Vec<Question>, String),
    Failed(String),
}

/// Lets the model work until it answers, asks or fails.
pub(super) async fn turn<F>(
    session: &Session,
    model: Arc<dyn Model>,
    approver: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    mut said: Vec<Message>,
    text: String,
    before: &mut Before,
    mut tell: impl FnMut(Happening),
) -> Turn
where
    F: Future<Output = Decision> + Send + 'static,
{
    if said.is_empty() {
        said = look_around(session, &mut tell).await;
        match changes_since(session, None, LOOKS).await {
            Some(Ok(seen)) => before.first = Some(seen.snapshot),
            Some(Err(text)) => tell(Happening::Notice { text }),
            None => {}
        }
    } else if let (Some(left), Some(Ok(seen))) =
        (&before.left, changes_since(session, None, LOOKS).await)
        && *left != seen.snapshot
    {
        let text = "the project is not as this session left it when it asked".to_owned();
        tell(Happening::Notice { text });
    }
    tell(Happening::Message { text: text.clone() });
    let (model, recorded) = RecordingModel::new(model);
    let inner = ToolCallingAgent::new(model, session.registry().clone());
    let agent = ContractAgent::builder(inner)
        .task_pre(Hook::new("a task").message("say what to do"), |task| {
            !task.trim().is_empty()
        })
        .budget(Budget::Iterations(STEPS))
        .budget(Budget::Time(LONGEST))
        .recovery(Recovery::retry(3))
        .approver(approver)
        .build();
    let mut translator = Translator::new(session.toolbelt());
    let mut events = agent.run_after(said, text).stream();
    let mut line = Line::new(session);
    let working = async {
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                what = line.next() => {
                    for call in recorded.calls() {
                        tell(translator.call(call));
                    }
                    tell(what);
                    continue;
                }
            };
            let Some(event) = event else { break };
            line.say(&event).await;
            for call in recorded.calls() {
                tell(translator.call(call));
            }
            for what in line.until_now() {
                tell(what);
            }
            for what in translator.event(event, &mut line) {
                tell(what);
            }
        }
    };
    let tripped = session.guard(working).await.err();
    drop(events);
    let mut said = recorded.messages();
    let Translator {
        questions,
        written,
        last_written,
        answer,
        error,
        ..
    } = translator;
    if let Some(answer) = &answer {
        said.push(Message::Assistant {
            text: answer.clone(),
            calls: Vec::new(),
            reasoning: None,
        });
    }
    Turn {
        ending: match (answer, error) {
            (Some(answer), None) if questions.is_empty() => Ending::Answered(answer),
            (Some(answer), None) => Ending::Asked(questions, answer),
            (_, error) => {
                let error = tripped.map(|tripped| tripped.to_string()).or(error);
                Ending::Failed(error.unwrap_or_else(|| "no answer came".to_owned()))
            }
        },
        said,
        written,
        last_written,
    }
}

/// Tells what the run has changed, as far as the executor can say it.
pub(super) async fn changes(
    session: &Session,
    before: &mut Before,
    is_done: bool,
    tell: impl FnOnce(Happening),
) {
    let Some(first) = &before.first else { return };
    let patience = if is_done { LOOKS } else { LOOKS_QUICKLY };
    match changes_since(session, Some(first), patience).await {
        Some(Ok(seen)) => {
            before.left = Some(seen.snapshot);
            tell(Happening::Diff {
                text: seen.diff,
                shortened: seen.shortened,
            });
        }
        Some(Err(why)) => tell(Happening::Notice {
            text: format!("it cannot be shown what has changed: {why}"),
        }),
        None => {}
    }
}

/// What the executor says of the project; nothing where it has no such tool.
async fn changes_since(
    session: &Session,
    since: Option<&str>,
    patience: Duration,
) -> Option<Result<Changes, String>> {
    let mut tools = session.toolbelt().tools();
    tools.find(|tool| tool.name == DIFF)?;
    let arguments = serde_json::json!({ "since": since }).to_string();
    // Counted by itself: a turn that came to its limits has changed something too.
    let asked = session.guard(async {
        let call = ToolCall::new(DIFF, DIFF, arguments);
        session.registry().call(call).await
    });
    let Ok(asked) = tokio::time::timeout(patience, asked).await else {
        return Some(Err(format!(
            "the executor did not answer within {patience:?}"
        )));
    };
    let outcome = match asked {
        Ok(outcome) => outcome,
        Err(tripped) => return Some(Err(tripped.to_string())),
    };
    let read = outcome.output().map(serde_json::from_str);
    Some(match read {
        Some(Ok(changes)) => Ok(changes),
        Some(Err(error)) => Err(format!("`{DIFF}` has answered something else: {error}")),
        None => Err(outcome.error().unwrap_or_default().to_owned()),
    })
}
