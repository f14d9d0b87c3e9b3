//! One turn of a run: the model works until it answers, asks or fails.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use contract_agent::{
    Budget, ContractAgent, Event, Hook, Message, Model, Recovery, RunState as AgentLog,
    ToolCallingAgent,
};
use contract_remote::Session;
use contract_runtime::approval::{ApprovalRequest, Decision};
use contract_runtime::{Status, ToolCall};
use serde_json::Value;

use super::bootstrap::look_around;
use super::line::Line;
use super::run::Run;
use super::run_store::RunStore;
use super::translate::{Translator, told_call};
use crate::changes::Changes;
use crate::contract::{Happening, Question, RunEvent};
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
    pub(super) written: BTreeSet<String>,
    pub(super) last_written: Option<String>,
}

/// How a turn ended.
pub(super) enum Ending {
    Answered(String),
    Asked(Vec<Question>, String),
    Failed(String),
}

/// Lets the model work until it answers, asks or fails. Without a task the turn goes on that an earlier process began.
pub(super) async fn turn<F>(
    run: &Run,
    session: &Session,
    log: AgentLog,
    task: Option<String>,
    model: Arc<dyn Model>,
    approver: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
) -> Turn
where
    F: Future<Output = Decision> + Send + 'static,
{
    let mut translator = Translator::new(session.toolbelt());
    if let Some(text) = task.clone() {
        run.record_event(Happening::Message { text });
    } else {
        for call in untold(&log.messages(), run) {
            run.record_event(told_call(&call));
        }
    }
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
    let is_resumed = task.is_none();
    let work = match task {
        Some(text) => agent.run_after(log, text),
        None => agent.resume(log),
    };
    let mut events = work.stream();
    let mut line = Line::new(session);
    let working = async {
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                what = line.next() => {
                    for call in recorded.take() {
                        run.record_event(told_call(&call));
                    }
                    run.record_event(what);
                    continue;
                }
            };
            let Some(event) = event else { break };
            line.say(&event).await;
            for call in recorded.take() {
                run.record_event(told_call(&call));
            }
            for what in line.until_now() {
                run.record_event(what);
            }
            if is_resumed && is_told(&event, run) {
                continue;
            }
            for what in translator.event(event, &mut line) {
                run.record_event(what);
            }
        }
    };
    let tripped = session.guard(working).await.err();
    let result = events.finish();
    let done = Done::of(&result.messages);
    Turn {
        ending: match (result.answer, result.error) {
            (Some(answer), None) if done.questions.is_empty() => Ending::Answered(answer),
            (Some(answer), None) => Ending::Asked(done.questions, answer),
            (_, error) => {
                let error = error.map(|error| error.to_string());
                let error = tripped.map(|tripped| tripped.to_string()).or(error);
                Ending::Failed(error.unwrap_or_else(|| "no answer came".to_owned()))
            }
        },
        written: done.written,
        last_written: done.last_written,
    }
}

/// Looks around before the first turn, and at what has changed before a later one.
pub(super) async fn begin(
    log: AgentLog,
    run_store: &RunStore,
    run: &Run,
    session: &Session,
    before: &mut Before,
) -> AgentLog {
    if log.messages().is_empty() {
        let found = look_around(session, |what| run.record_event(what)).await;
        match changes_since(session, None, LOOKS).await {
            Some(Ok(seen)) => before.first = Some(seen.snapshot),
            Some(Err(text)) => run.record_event(Happening::Notice { text }),
            None => {}
        }
        let first = before.first.clone();
        let kept = run.change_anyway(run_store, |record| {
            record.before = first;
            Ok(Vec::new())
        });
        // Where another backend has ended the run, the agent finds that its log has grown.
        let _ = kept.await;
        return log.with_messages(found);
    }
    if let (Some(left), Some(Ok(seen))) = (&before.left, changes_since(session, None, LOOKS).await)
        && *left != seen.snapshot
    {
        let text = "the project is not as this session left it when it asked".to_owned();
        run.record_event(Happening::Notice { text });
    }
    log
}

/// The calls of the last reply that have no event yet.
fn untold(messages: &[Message], run: &Run) -> Vec<ToolCall> {
    let Some(Message::Assistant { calls, .. }) = messages.last() else {
        return Vec::new();
    };
    let told: Vec<RunEvent> = run.after(0);
    let is_told = |call: &&ToolCall| {
        told.iter().any(|event| {
            matches!(&event.what, Happening::ToolCall { call_id, .. } if *call_id == call.id)
        })
    };
    calls
        .iter()
        .filter(|call| !is_told(call))
        .cloned()
        .collect()
}

/// Whether an earlier process has told how this call ended.
fn is_told(event: &Event, run: &Run) -> bool {
    match event {
        Event::Observation { call_id, .. } => !run.open_calls().iter().any(|(id, _)| id == call_id),
        _ => false,
    }
}

/// What the calls of a run have done.
#[derive(Default)]
struct Done {
    /// What the model asked in its last turn.
    questions: Vec<Question>,
    /// Files that were written, and the last of them.
    written: BTreeSet<String>,
    last_written: Option<String>,
}

impl Done {
    fn of(messages: &[Message]) -> Self {
        let mut done = Self::default();
        let mut open: Vec<&ToolCall> = Vec::new();
        for message in messages {
            match message {
                Message::User { .. } => done.questions.clear(),
                Message::Assistant { calls, .. } => open = calls.iter().collect(),
                Message::Tool {
                    call_id,
                    status: Status::Ok,
                    ..
                } => {
                    if let Some(call) = open.iter().find(|call| call.id == *call_id) {
                        done.note(call);
                    }
                }
                _ => {}
            }
        }
        done
    }

    /// Notes a call that ended well.
    fn note(&mut self, call: &ToolCall) {
        let arguments = serde_json::from_str::<Value>(&call.arguments).unwrap_or_default();
        match &*call.name {
            "write_file" | "edit_file" => {
                let path = arguments["path"].as_str().map(str::to_owned);
                self.written.extend(path.clone());
                self.last_written = path;
            }
            "ask_user" => {
                let questions = arguments["questions"].clone();
                self.questions = serde_json::from_value(questions).unwrap_or_default();
            }
            _ => {}
        }
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
