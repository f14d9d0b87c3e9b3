//! The worker that executes queued runs one at a time.

use std::sync::Arc;

use contract_agent::RunState as AgentLog;
use contract_remote::{CallRecord, Session};
use tokio::sync::mpsc;

use super::approval::approver;
use super::engine::Shared;
use super::record::RunRecord;
use super::refused::Refused;
use super::run::Run;
use super::run_store::RunStore;
use super::translate::shortened;
use super::turn::{Before, Ending, begin, changes, turn};
use crate::contract::{Happening, RunState, Step};

/// What is told where a run goes on that an earlier process was at work at.
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
                // One that is over stays as it is.
                let _ = run.change_anyway(&shared.run_store, cancelled).await;
                continue;
            }
            session = shared.task.attached() => session,
        };
        match session {
            Ok(session) => one(&shared, &run, &session).await,
            Err(error) => fail(&run, &shared.run_store, &error.to_string()).await,
        }
    }
}

fn cancelled(record: &mut RunRecord) -> Result<Vec<Happening>, Refused> {
    record.cancel()?;
    Ok(Vec::new())
}

/// One turn of one run, which an earlier process may have begun.
async fn one(shared: &Shared, run: &Arc<Run>, session: &Session) {
    let logs = shared.run_store.agent_logs();
    let log = match AgentLog::open(logs, run.id().to_string()).await {
        Ok(log) => log,
        Err(error) => return fail(run, &shared.run_store, &error.to_string()).await,
    };
    let said = log.messages().len();
    let (mut text, mut decided, mut is_begun) = (String::new(), None, false);
    let mut before = Before::default();
    let is_resumed = run.state().is_at_work();
    let started = run.change_anyway(&shared.run_store, |record| {
        text = record.next.clone().unwrap_or_default();
        decided = record.decided.take();
        before = Before {
            first: record.before.clone(),
            left: record.left.clone(),
        };
        if is_resumed {
            is_begun = said > record.said;
            if record.life.state() == RunState::WaitingApproval {
                // The call asks again.
                record.life.take(Step::Decide)?;
                record.approval = None;
            }
            let text = RESUMED.to_owned();
            return Ok(vec![Happening::Notice { text }]);
        }
        record.said = said;
        record.life.take(Step::Start)?;
        Ok(Vec::new())
    });
    if started.await.is_err() {
        // It was cancelled while it waited.
        return;
    }
    let decided = decided.filter(|(asked, _)| {
        let open = run.open_calls();
        is_resumed && open.iter().any(|(id, _)| *id == asked.call_id)
    });
    let approver = approver(run, &shared.run_store, decided);
    let task = (!is_begun).then_some(text);
    let model = shared.models.model();
    let turn = async {
        let log = match task {
            Some(_) => begin(log, &shared.run_store, run, session, &mut before).await,
            None => log,
        };
        turn(run, session, log, task, model, approver).await
    };
    let working = async {
        tokio::select! {
            biased;
            () = run.stop.cancelled() => None,
            done = turn => Some(done),
        }
    };
    let done = tokio::select! {
        done = working => done,
        () = run.flushes(&shared.run_store) => None,
    };
    let is_here = run.record().owner == shared.run_store.name();
    if is_here {
        for what in ends(shared, run).await {
            run.record_event(what);
        }
    }
    // A process that ends has no time for it.
    if is_here && !shared.closing.is_cancelled() {
        changes(session, &mut before, done.is_some(), |what| {
            run.record_event(what);
        })
        .await;
    }
    let ended = run.change_anyway(&shared.run_store, |record| {
        record.before = before.first;
        record.left = before.left;
        record.next = None;
        let Some(done) = done else {
            record.cancel()?;
            return Ok(Vec::new());
        };
        record.written = done.written;
        record.last_written = done.last_written;
        end(record, done.ending)
    });
    // A run that is at work takes every one of these steps, unless another backend has ended it.
    let _ = ended.await;
}

/// Takes the step with which a turn ended.
fn end(record: &mut RunRecord, ending: Ending) -> Result<Vec<Happening>, Refused> {
    Ok(match ending {
        Ending::Answered(text) => {
            record.life.take(Step::Complete)?;
            record.message.clone_from(&text);
            vec![Happening::Answer { text }]
        }
        Ending::Asked(questions, text) => {
            record.life.take(Step::Ask)?;
            record.message = text;
            record.questions.clone_from(&questions);
            vec![Happening::Questions { questions }]
        }
        Ending::Failed(message) => {
            record.life.take(Step::Fail)?;
            record.message.clone_from(&message);
            vec![Happening::Error { message }]
        }
    })
}

async fn fail(run: &Run, run_store: &RunStore, why: &str) {
    let failed = run.change_anyway(run_store, |record| {
        record.life.take(Step::Fail)?;
        why.clone_into(&mut record.message);
        let message = why.to_owned();
        Ok(vec![Happening::Error { message }])
    });
    // One that is over stays as it is.
    let _ = failed.await;
}

/// When a call began, in milliseconds since 1970, UTC (RFC 9562, 5.7, "UUID Version 7", 2024).
fn began(call: &CallRecord) -> u64 {
    let digits = call.key.tool_id.to_string().replace('-', "");
    let first = digits.get(..12).unwrap_or_default();
    u64::from_str_radix(first, 16).unwrap_or(0)
}

/// The ends of calls that the events lack, as the store has them, among the calls since their turn began: conversations use ids again.
async fn ends(shared: &Shared, run: &Run) -> Vec<Happening> {
    let open = run.open_calls();
    if open.is_empty() {
        return Vec::new();
    }
    let kept = shared.task.calls().await;
    let began_ms = run.turn_began_ms();
    let end = |(call_id, tool): (String, String)| {
        let found = kept.as_ref().map(|kept| {
            let mut latest = kept.iter().rev();
            latest.find(|call| call.call_id == call_id && began(call) >= began_ms)
        });
        let (status, text) = match found {
            Ok(Some(CallRecord {
                end: Some((status, text)),
                ..
            })) => (status.name(), shortened(text)),
            Ok(None) => (
                "cancelled",
                "the run ended before this call began".to_owned(),
            ),
            // Where the store cannot be read, it may have begun.
            Ok(Some(_)) | Err(_) => (
                "cancelled",
                "the run ended while this call was under way; it may have run".to_owned(),
            ),
        };
        Happening::ToolResult {
            call_id,
            tool,
            status: status.to_owned(),
            text,
            travelled: !matches!(found, Ok(None)),
        }
    };
    open.into_iter().map(end).collect()
}
