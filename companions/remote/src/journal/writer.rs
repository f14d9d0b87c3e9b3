//! Reads and writes the file on one thread; queued requests share a commit.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::disk::Disk;
use super::index::{AcceptResult, CallRef, Index, Stage};
use super::thread::ThreadStatus;
use super::{Admission, ArgumentsHash, JournalError, State};
use crate::protocol::{Entry, EntryState, TaskId, ToolReply};

/// The most requests that wait, and that share one commit; each may hold a result.
pub(super) const QUEUE: usize = 256;
/// The most changes that wait for a step which has to be on disk.
const MAX_DEFERRED: usize = 1024;

pub(super) type Answer<T> = oneshot::Sender<Result<T, JournalError>>;

#[derive(Debug)]
pub(super) enum Request {
    Accept(CallRef, ArgumentsHash, Answer<Admission>),
    Start(CallRef, Answer<()>),
    Finish(CallRef, Vec<u8>, Answer<()>),
    Acknowledge(CallRef, Answer<()>),
    Unacknowledged(TaskId, u64, Answer<Vec<Entry>>),
    Epoch(TaskId, Answer<u64>),
    SetEpoch(TaskId, u64, Answer<()>),
}

/// Sends a reply once its change is on disk.
type DeferredReply = Box<dyn FnOnce() + Send>;

pub(super) struct Writer {
    pub(super) disk: Disk,
    pub(super) index: Index,
    pub(super) queue: mpsc::Receiver<Request>,
    pub(super) path: PathBuf,
    /// Read by callers that get no answer because the thread has stopped.
    pub(super) status: Arc<ThreadStatus>,
    pub(super) pending: PendingReplies,
}

/// Replies that wait for the disk.
#[derive(Default)]
pub(super) struct PendingReplies {
    /// Wait for the next commit.
    written: Vec<DeferredReply>,
    /// Wait for the next two.
    started: Vec<DeferredReply>,
    /// Wait for the second of two.
    repeated: Vec<DeferredReply>,
    /// Wait for earlier replies, and need no commit of their own.
    read: Vec<DeferredReply>,
}

impl Writer {
    /// Handles requests until the queue is closed or the disk fails.
    pub(super) fn run(mut self) {
        if let Err(error) = self.work() {
            // Before the replies are dropped, which is when callers read it.
            let _ = self.status.why.set(error.to_string());
        }
    }

    fn work(&mut self) -> Result<(), redb::Error> {
        loop {
            if self.pending.repeated.is_empty() {
                match self.queue.blocking_recv() {
                    Some(request) => self.take(request)?,
                    None => break,
                }
            }
            for _ in 1..QUEUE {
                match self.queue.try_recv() {
                    Ok(request) => self.take(request)?,
                    Err(_) => break,
                }
            }
            self.flush()?;
        }
        if !self.index.writes.is_empty() {
            self.commit()?;
        }
        Ok(())
    }

    fn take(&mut self, request: Request) -> Result<(), redb::Error> {
        match request {
            Request::Accept(call_ref, hash, answer) => self.accept(call_ref, hash, answer)?,
            Request::Start(call_ref, answer) => match self.index.start(call_ref) {
                Ok(()) => self.pending.started.push(deferred(answer, ())),
                Err(error) => respond(answer, Err(error)),
            },
            Request::Finish(call_ref, reply, answer) => match self.index.finish(call_ref, reply) {
                Ok(()) => self.pending.written.push(deferred(answer, ())),
                Err(error) => respond(answer, Err(error)),
            },
            Request::Acknowledge(call_ref, answer) => {
                respond(answer, self.index.acknowledge(call_ref));
            }
            Request::Unacknowledged(task, room, answer) => {
                let kept = self.unacknowledged(task, room)?;
                respond(answer, kept);
            }
            Request::Epoch(task, answer) => {
                // After earlier changes: an epoch counts only once it is on disk.
                let epoch = self.index.epoch(task);
                self.pending.read.push(deferred(answer, epoch));
            }
            Request::SetEpoch(task, epoch, answer) => {
                self.index.set_epoch(task, epoch);
                self.pending.written.push(deferred(answer, ()));
            }
        }
        Ok(())
    }

    fn accept(
        &mut self,
        call_ref: CallRef,
        hash: ArgumentsHash,
        answer: Answer<Admission>,
    ) -> Result<(), redb::Error> {
        let admission = match self.index.accept(call_ref, hash) {
            AcceptResult::New => Admission::New,
            AcceptResult::Known(stage) => match self.state(call_ref, stage)? {
                Ok(known) => Admission::Known(known),
                Err(error) => {
                    respond(answer, Err(error));
                    return Ok(());
                }
            },
            AcceptResult::Different => Admission::Different,
            AcceptResult::TooOld => Admission::TooOld,
            AcceptResult::Full { calls, bytes } => {
                let path = self.path.clone();
                respond(answer, Err(JournalError::Full { path, calls, bytes }));
                return Ok(());
            }
        };
        self.pending.written.push(deferred(answer, admission));
        Ok(())
    }

    fn unacknowledged(
        &mut self,
        task: TaskId,
        mut room: u64,
    ) -> Result<Result<Vec<Entry>, JournalError>, redb::Error> {
        let mut kept = Vec::new();
        for (key, stage) in self.index.unacknowledged(task) {
            let call_ref = (task, key);
            let (state, reply) = match stage {
                Stage::Abandoned | Stage::Accepted => (EntryState::Accepted, None),
                Stage::Started => (EntryState::Running, None),
                Stage::InDoubt => (EntryState::InDoubt, None),
                Stage::Finished => match room.checked_sub(self.index.reply_bytes(call_ref)) {
                    None => (EntryState::Finished, None),
                    Some(left) => {
                        room = left;
                        match self.reply(call_ref)? {
                            Ok(reply) => (EntryState::Finished, Some(reply)),
                            Err(error) => return Ok(Err(error)),
                        }
                    }
                },
            };
            kept.push(Entry { key, state, reply });
        }
        Ok(Ok(kept))
    }

    fn state(
        &mut self,
        call_ref: CallRef,
        stage: Stage,
    ) -> Result<Result<State, JournalError>, redb::Error> {
        Ok(Ok(match stage {
            Stage::Abandoned | Stage::Accepted => State::Accepted,
            Stage::Started => State::Started,
            Stage::InDoubt => State::InDoubt,
            Stage::Finished => match self.reply(call_ref)? {
                Ok(reply) => State::Finished(reply),
                Err(error) => return Ok(Err(error)),
            },
        }))
    }

    fn reply(
        &mut self,
        call_ref: CallRef,
    ) -> Result<Result<Box<ToolReply>, JournalError>, redb::Error> {
        // It may have finished just now, and not be on disk yet.
        if !self.index.writes.is_empty() {
            self.flush()?;
        }
        let reply = self.disk.reply(call_ref)?;
        Ok(reply.map(Box::new).ok_or_else(|| JournalError::Damaged {
            path: self.path.clone(),
            reason: format!("the result of call {} is not as it was written", call_ref.1),
        }))
    }

    /// Commits what callers wait for, and sends their replies.
    fn flush(&mut self) -> Result<(), redb::Error> {
        let waits = !self.pending.written.is_empty() || !self.pending.started.is_empty();
        let changed = !self.index.writes.is_empty();
        let full = self.index.writes.len() > MAX_DEFERRED;
        if !self.pending.repeated.is_empty() || (waits && changed) || full {
            self.commit()?;
        }
        let mut pending = std::mem::take(&mut self.pending);
        // If a page is damaged later, the store rolls back by one commit, to where the call had not begun and would begin
        // again. So a start is confirmed only when the commit after it is on disk as well.
        self.pending.repeated = pending.started;
        pending.repeated.append(&mut pending.written);
        for deferred in pending.repeated.into_iter().chain(pending.read) {
            deferred();
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), redb::Error> {
        self.disk.commit(std::mem::take(&mut self.index.writes))
    }
}

/// Sends a reply; the caller may have been dropped.
fn respond<T>(answer: Answer<T>, result: Result<T, JournalError>) {
    let _ = answer.send(result);
}

fn deferred<T: Send + 'static>(answer: Answer<T>, result: T) -> DeferredReply {
    Box::new(move || respond(answer, Ok(result)))
}
