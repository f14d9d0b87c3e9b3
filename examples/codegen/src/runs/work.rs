//! The worker that executes queued runs one at a time.

use std::collections::BTreeSet;
use std::sync::Arc;

use contract_agent::{Message, RunError, RunResult, RunState as AgentLog};
use contract_remote::{CallRecord, Session, Task, Tripped};
use contract_runtime::{Status, ToolCall};
use serde_json::Value;
use tokio::sync::mpsc;

use super::agent_log::AgentLogs;
use super::engine::Shared;
use super::project::{changes_since, look_around};
use super::record::RunRecord;
use super::run::{Run, now_ms};
use super::translate::shortened;
use super::turn::turn;
use crate::contract::{Approval, Happening, Problem, Question, RunState, Step};

/// The notice in a run that an earlier process was at work at.
const RESUMED: &str = "the backend was restarted while this was running; the run goes on";

pub(super) async fn work(shared: Arc<Shared>, mut coming: mpsc::Receiver<Arc<Run>>) {
    loop {
        let run = tokio::select! {
            biased;
            () = shared.closing.cancelled() => return,
            run = coming.recv() => match run {
                Some(run) => run,
                None => return,
            },
        };
        let session = tokio::select! {
            biased;
            () = shared.closing.cancelled() => return,
            () = run.stop.cancelled() => {
                cancel(&shared.task, &run).await;
                continue;
            }
            session = shared.task.attached() => session,
        };
        match session {
            Ok(session) => one(&shared, &run, &session).await,
            Err(error) => fail(&run, &error.to_string()).await,
        }
    }
}

/// One turn of one run, which an earlier process may have begun.
async fn one(shared: &Shared, run: &Arc<Run>, session: &Session) {
    let logs = Arc::new(AgentLogs(Arc::clone(&shared.store)));
    let log = match AgentLog::open(logs, run.id().to_string()).await {
        Ok(log) => log,
        Err(error) => return fail(run, &error.to_string()).await,
    };
    let said = log.messages().len();
    let before = run.record();
    let state = before.life.state();
    let is_begun = state != RunState::Queued && state != RunState::WaitingInput;
    let started = run.change_anyway(|record| {
        match record.life.state() {
            RunState::Running => {
                let text = RESUMED.to_owned();
                return Ok(vec![Happening::Notice { text }]);
            }
            RunState::WaitingApproval => record.life.take(Step::Decide)?,
            _ => {
                record.said = said;
                record.turn_began_ms = now_ms();
                record.life.take(Step::Start)?
            }
        };
        Ok(Vec::new())
    });
    if started.await.is_err() {
        // It was cancelled while it waited.
        return;
    }
    // A turn whose first message is in the log of the agent continues; one without it begins.
    let task = before.next.filter(|_| !is_begun || said <= before.said);
    let model = shared.models.model();
    let working = async {
        let log = match &task {
            Some(_) if log.messages().is_empty() => begin(log, run, session).await,
            _ => log,
        };
        turn(run, session, log, task, before.decided, model).await
    };
    let done = tokio::select! {
        biased;
        () = run.stop.cancelled() => None,
        done = working => Some(done),
        () = run.flushes() => None,
    };
    let Some((result, tripped)) = done else {
        // A process that ends has no time to ask what has changed.
        if !shared.closing.is_cancelled() {
            record_changes(run, session).await;
        }
        return cancel(&shared.task, run).await;
    };
    let approval = match (&result.error, &tripped) {
        (Some(RunError::Asked { requests }), None) => requests.first().map(Approval::from),
        _ => None,
    };
    if approval.is_none() {
        record_ends(&shared.task, run).await;
        record_changes(run, session).await;
    }
    // A run that is at work takes every one of these steps.
    let _ = run
        .change_anyway(|record| end(record, result, tripped, approval))
        .await;
}

/// Inspects the project before the first turn.
async fn begin(log: AgentLog, run: &Run, session: &Session) -> AgentLog {
    let found = look_around(session, |what| run.record_event(what)).await;
    match changes_since(session, None).await {
        Some(Ok(seen)) => {
            let kept = run.change_anyway(|record| {
                record.before = Some(seen.snapshot);
                Ok(Vec::new())
            });
            // Such a change is not refused.
            let _ = kept.await;
        }
        Some(Err(text)) => run.record_event(Happening::Notice { text }),
        None => {}
    }
    log.with_messages(found)
}

/// Takes the step with which a turn ended.
fn end(
    record: &mut RunRecord,
    result: RunResult,
    tripped: Option<Tripped>,
    approval: Option<Approval>,
) -> Result<Vec<Happening>, Problem> {
    let done = Done::of(&result.messages);
    record.written = done.written;
    record.last_written = done.last_written;
    record.decided = None;
    record.approval = approval;
    if let Some(approval) = record.approval.clone() {
        record.life.take(Step::Request)?;
        return Ok(vec![Happening::ApprovalRequested { approval }]);
    }
    record.next = None;
    Ok(vec![match (result.answer, result.error) {
        (Some(text), None) if done.questions.is_empty() => {
            record.life.take(Step::Complete)?;
            record.message.clone_from(&text);
            Happening::Answer { text }
        }
        (Some(text), None) => {
            record.life.take(Step::Ask)?;
            record.message = text;
            record.questions.clone_from(&done.questions);
            let questions = done.questions;
            Happening::Questions { questions }
        }
        (_, error) => {
            let error = error.map(|error| error.to_string());
            let error = tripped.map(|tripped| tripped.to_string()).or(error);
            let why = error.unwrap_or_else(|| "no answer came".to_owned());
            return failed(record, &why);
        }
    }])
}

fn failed(record: &mut RunRecord, why: &str) -> Result<Vec<Happening>, Problem> {
    record.life.take(Step::Fail)?;
    why.clone_into(&mut record.message);
    let message = why.to_owned();
    Ok(vec![Happening::Error { message }])
}

async fn fail(run: &Run, why: &str) {
    // One that is over stays as it is.
    let _ = run.change_anyway(|record| failed(record, why)).await;
}

/// Ends a run that is not over as cancelled, and before that each of its calls.
pub(super) async fn cancel(task: &Task, run: &Run) {
    if !run.state().is_over() {
        record_ends(task, run).await;
    }
    // One that is over stays as it is.
    let _ = run
        .change_anyway(|record| Ok(record.cancel().map(|()| Vec::new())?))
        .await;
}

/// Reports what the run has changed, as far as the executor can say it.
async fn record_changes(run: &Run, session: &Session) {
    let Some(before) = run.record().before else {
        return;
    };
    let what = match changes_since(session, Some(&before)).await {
        Some(Ok(seen)) => Happening::Diff {
            text: seen.diff,
            shortened: seen.shortened,
        },
        Some(Err(why)) => Happening::Notice {
            text: format!("it cannot be shown what has changed: {why}"),
        },
        None => return,
    };
    run.record_event(what);
}

/// Gives each call that has no end in the events the one that the store has, among the calls since the turn began: later turns use
/// ids again.
async fn record_ends(task: &Task, run: &Run) {
    let open = run.open_calls();
    if open.is_empty() {
        return;
    }
    let began_ms = run.record().turn_began_ms;
    let kept = task.calls().await;
    for (call_id, tool) in open {
        let found = kept.as_ref().map(|kept| {
            let mut latest = kept.iter().rev();
            latest.find(|call| call.call_id == call_id && began(call) >= began_ms)
        });
        let cancelled = Status::Cancelled.name();
        let (status, text) = match found {
            Ok(Some(CallRecord {
                end: Some((status, text)),
                ..
            })) => (status.name(), &**text),
            Ok(None) => (cancelled, "the run ended before this call began"),
            // Where the store cannot be read, it may have begun.
            Ok(Some(_)) | Err(_) => (
                cancelled,
                "the run ended while this call was under way; it may have run",
            ),
        };
        run.record_event(Happening::ToolResult {
            call_id,
            tool,
            status: status.to_owned(),
            text: shortened(text),
            travelled: !matches!(found, Ok(None)),
        });
    }
}

/// When a call began, in milliseconds since 1970, UTC (RFC 9562, 5.7, "UUID Version 7", 2024).
fn began(call: &CallRecord) -> u64 {
    let digits = call.key.tool_id.to_string().replace('-', "");
    let first = digits.get(..12).unwrap_or_default();
    u64::from_str_radix(first, 16).unwrap_or(0)
}

/// What the calls of a run have done.
#[derive(Default)]
struct Done {
    /// The questions of the model in its last turn.
    questions: Vec<Question>,
    written: BTreeSet<String>,
    last_written: Option<String>,
}

impl Done {
    fn of(messages: &[Message]) -> Self {
        let mut done = Self::default();
        let mut open: &[ToolCall] = &[];
        for message in messages {
            match message {
                Message::User { .. } => done.questions.clear(),
                Message::Assistant { calls, .. } => open = calls,
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
