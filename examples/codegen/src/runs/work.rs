//! The worker that executes queued runs one at a time.

use std::sync::Arc;

use contract_remote::{CallRecord, Session};
use tokio::sync::mpsc;

use super::approval::approver;
use super::engine::Shared;
use super::run::Run;
use super::run_store::RunStore;
use super::translate::shortened;
use super::turn::{Before, Ending, changes, turn};
use crate::contract::{Happening, Step};

/// Why a run has failed that was at work when the backend ended.
const ENDED: &str = "the backend ended while the model was at work; the outcomes of its calls are in the log, and what they wrote is still there: look at it, then begin again";

/// What is said while the calls of such a run come to their end.
const WAITS: &str = "the backend restarted while this was running; what its executor knows of the calls that were under way comes next, and those that still run are cancelled";

/// What is said of a call whose end is not known.
struct Unended {
    status: &'static str,
    /// It had begun.
    begun: &'static str,
    /// Nothing was kept of it.
    not_kept: &'static str,
}

/// After the process that made it.
const WITH_ITS_BACKEND: Unended = Unended {
    status: "unknown",
    begun: "it has no end yet, and may have run",
    not_kept: "nothing was kept of this call; it may have been about to begin when the backend ended",
};

/// After a turn that was cut off.
const WITH_ITS_TURN: Unended = Unended {
    status: "cancelled",
    begun: "the run ended while this call was under way; it may have run",
    not_kept: "the run ended before this call began",
};

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
            () = run.stop.cancelled() => continue,
            session = shared.task.attached() => session,
        };
        match session {
            Ok(session) => one(&shared, &run, &session).await,
            Err(error) => fail(&run, &shared.run_store, &error.to_string(), Vec::new()).await,
        }
    }
}

/// One turn of one run.
async fn one(shared: &Shared, run: &Arc<Run>, session: &Session) {
    let (mut said, mut text, mut before) = (Vec::new(), String::new(), Before::default());
    let started = run.change_anyway(&shared.run_store, |record| {
        record.life.take(Step::Start)?;
        text = record.next.take().unwrap_or_default();
        said.clone_from(&record.said);
        before = Before {
            first: record.before.clone(),
            left: record.left.clone(),
        };
        Ok(Vec::new())
    });
    if started.await.is_err() {
        // It was cancelled while it waited.
        return;
    }
    let model = shared.models.model();
    let approver = approver(run, &shared.run_store);
    let working = async {
        tokio::select! {
            biased;
            () = run.stop.cancelled() => None,
            done = turn(session, model, approver, said, text, &mut before, |what| run.record_event(what)) => Some(done),
        }
    };
    let done = tokio::select! {
        done = working => done,
        () = run.flushes(&shared.run_store) => None,
    };
    let is_here = run.record().owner == shared.run_store.name();
    if is_here {
        for what in ends(shared, run, open_calls(run), &WITH_ITS_TURN).await {
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
        let Some(done) = done else {
            record.cancel()?;
            return Ok(Vec::new());
        };
        record.said = done.said;
        record.written.extend(done.written);
        record.last_written = done.last_written.or(record.last_written.take());
        Ok(match done.ending {
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
    });
    // A run that is at work takes every one of these steps, unless another backend has ended it.
    let _ = ended.await;
}

async fn fail(run: &Run, run_store: &RunStore, why: &str, first: Vec<Happening>) {
    let failed = run.change_anyway(run_store, |record| {
        record.life.take(Step::Fail)?;
        why.clone_into(&mut record.message);
        let message = why.to_owned();
        let error = Happening::Error { message };
        Ok(first.into_iter().chain([error]).collect())
    });
    // One that is over stays as it is.
    let _ = failed.await;
}

/// Ends the runs that an earlier process was at work at, once their calls have ended: nothing of them is under way when the
/// next run begins.
pub(super) async fn recover(shared: &Shared, broken: Vec<Arc<Run>>) {
    for run in broken {
        let open = open_calls(&run);
        if !open.is_empty() {
            let told = run.change_anyway(&shared.run_store, |_| {
                let text = WAITS.to_owned();
                Ok(vec![Happening::Notice { text }])
            });
            if told.await.is_err() {
                // Another backend has ended it.
                continue;
            }
            let settled = async {
                tokio::select! {
                    () = shared.task.settled() => {}
                    _ = shared.task.attached() => {
                        shared.task.cancel_orphaned().await;
                        shared.task.settled().await;
                    }
                }
            };
            tokio::select! {
                biased;
                () = settled => {}
                () = run.stop.cancelled() => {}
                // It is as it was for the process that comes next.
                () = shared.closing.cancelled() => return,
            }
        }
        let ends = ends(shared, &run, open, &WITH_ITS_BACKEND).await;
        if run.stop.is_cancelled() {
            let cancelled = run.change_anyway(&shared.run_store, |record| {
                record.cancel()?;
                Ok(ends)
            });
            let _ = cancelled.await;
        } else {
            fail(&run, &shared.run_store, ENDED, ends).await;
        }
    }
}

/// The calls of a run that have no end in its log, by id and tool.
pub(super) fn open_calls(run: &Run) -> Vec<(String, String)> {
    let mut open: Vec<(String, String)> = Vec::new();
    for event in run.after(0) {
        match event.what {
            Happening::ToolCall { call_id, tool, .. } => open.push((call_id, tool)),
            Happening::ToolResult { call_id, .. } => open.retain(|(id, _)| *id != call_id),
            _ => {}
        }
    }
    open
}

/// When a call began, in milliseconds since 1970, UTC (RFC 9562, 5.7, "UUID Version 7", 2024).
fn began(call: &CallRecord) -> u64 {
    let digits = call.key.tool_id.to_string().replace('-', "");
    let first = digits.get(..12).unwrap_or_default();
    u64::from_str_radix(first, 16).unwrap_or(0)
}

/// The ends of calls as the store has them, among the calls since their turn began: conversations use ids again.
async fn ends(
    shared: &Shared,
    run: &Run,
    open: Vec<(String, String)>,
    unended: &Unended,
) -> Vec<Happening> {
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
            Ok(None) => (unended.status, unended.not_kept.to_owned()),
            // Where the store cannot be read, it may have begun.
            Ok(Some(_)) | Err(_) => (unended.status, unended.begun.to_owned()),
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
