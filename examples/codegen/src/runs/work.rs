use std::sync::Arc;

use contract_runtime::remote::{KeptCall, Session};
use tokio::sync::mpsc;

use super::engine::Shared;
use super::heard::shortened;
use super::keep::Keep;
use super::run::Run;
use super::turn::{Before, Ending, changes, turn};
use crate::contract::{Happening, Step};

/// Why a run has failed that was at work when the backend ended.
const ENDED: &str = "the backend ended while the model was at work; what its calls came to stands in the log, and what they wrote is still there: look at it, then begin again";

/// What is said while the calls of such a run come to their end.
const WAITS: &str = "the backend was started again while this was at work; what its executor knows of the calls that were under way comes next, and those that still run are cancelled";

/// What is said of a call of which nothing was kept.
const UNKNOWN: &str =
    "nothing was kept of this call; it may have been about to begin when the backend ended";

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
            Err(error) => fail(&run, &shared.keep, &error.to_string(), Vec::new()).await,
        }
    }
}

/// One turn of one run.
async fn one(shared: &Shared, run: &Arc<Run>, session: &Session) {
    let (mut said, mut text, mut before) = (Vec::new(), String::new(), Before::default());
    let started = run.change_anyway(&shared.keep, |record| {
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
    let working = async {
        tokio::select! {
            biased;
            () = run.stop.cancelled() => None,
            done = turn(session, model, said, text, &mut before, |what| run.tell(what)) => Some(done),
        }
    };
    let done = tokio::select! {
        done = working => done,
        () = run.flushes(&shared.keep) => None,
    };
    // A process that ends has no time for it.
    let is_here = run.record().owner == shared.keep.name();
    if is_here && !shared.closing.is_cancelled() {
        changes(session, &mut before, done.is_some(), |what| run.tell(what)).await;
    }
    let ended = run.change_anyway(&shared.keep, |record| {
        record.before = before.first;
        record.left = before.left;
        let Some(done) = done else {
            record.life.take(Step::Cancel)?;
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

async fn fail(run: &Run, keep: &Keep, why: &str, first: Vec<Happening>) {
    let failed = run.change_anyway(keep, |record| {
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
            let told = run.change_anyway(&shared.keep, |_| {
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
                        shared.task.cancel_left_behind().await;
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
        let kept = shared.task.calls().await.unwrap_or_default();
        let began_ms = run.turn_began_ms();
        let kept: Vec<_> = kept.iter().filter(|call| began(call) >= began_ms).collect();
        let ends = open.into_iter().map(|call| ended(call, &kept)).collect();
        if run.stop.is_cancelled() {
            let cancelled = run.change_anyway(&shared.keep, |record| {
                record.life.take(Step::Cancel)?;
                Ok(ends)
            });
            let _ = cancelled.await;
        } else {
            fail(&run, &shared.keep, ENDED, ends).await;
        }
    }
}

/// The calls of a run that have no end in its log, by id and tool.
fn open_calls(run: &Run) -> Vec<(String, String)> {
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
fn began(call: &KeptCall) -> u64 {
    let digits = call.key.tool_id.to_string().replace('-', "");
    let first = digits.get(..12).unwrap_or_default();
    u64::from_str_radix(first, 16).unwrap_or(0)
}

/// The end of a call as the store has it, among the calls since its turn began: conversations use ids again.
fn ended((call_id, tool): (String, String), kept: &[&KeptCall]) -> Happening {
    let found = kept.iter().rev().find(|call| call.call_id == call_id);
    let (status, text) = match found.map(|call| &call.end) {
        Some(Some((status, text))) => (status.name().to_owned(), shortened(text)),
        Some(None) => (
            "unknown".to_owned(),
            "it has no end yet, and may have run".to_owned(),
        ),
        None => ("unknown".to_owned(), UNKNOWN.to_owned()),
    };
    Happening::ToolResult {
        call_id,
        tool,
        status,
        text,
        travelled: found.is_some(),
    }
}
