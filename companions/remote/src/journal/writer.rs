//! The one thread that reads and writes the file: what has come in meanwhile goes to the disk together.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tokio::sync::{mpsc, oneshot};

use super::disk::Disk;
use super::index::{Index, Place, Stage, Taken};
use super::{Admission, ArgumentsHash, JournalError, State};
use crate::remote::protocol::{Entry, EntryState, TaskId, ToolReply};

/// Steps that wait, and that go to the disk together at most; each may hold a result.
pub(super) const QUEUE: usize = 256;
/// Changes that wait for a step which has to be on disk.
const LAZY: usize = 1024;

pub(super) type Answer<T> = oneshot::Sender<Result<T, JournalError>>;

#[derive(Debug)]
pub(super) enum Ask {
    Accept(Place, ArgumentsHash, Answer<Admission>),
    Start(Place, Answer<()>),
    Finish(Place, Vec<u8>, Answer<()>),
    Acknowledge(Place, Answer<()>),
    Unacknowledged(TaskId, u64, Answer<Vec<Entry>>),
    Epoch(TaskId, Answer<u64>),
    SetEpoch(TaskId, u64, Answer<()>),
}

/// Says what was asked for, when the disk has it.
type Release = Box<dyn FnOnce() + Send>;

pub(super) struct Writer {
    pub(super) disk: Disk,
    pub(super) index: Index,
    pub(super) queue: mpsc::Receiver<Ask>,
    pub(super) path: PathBuf,
    /// Why it stopped. Whoever waits is not answered then, and looks here.
    pub(super) why: Arc<OnceLock<String>>,
    pub(super) held: Held,
}

/// Answers that wait for the disk.
#[derive(Default)]
pub(super) struct Held {
    /// For the next commit.
    written: Vec<Release>,
    /// For the next two.
    started: Vec<Release>,
    /// For the second of two.
    repeated: Vec<Release>,
    /// For those that came before them, and for no commit of their own.
    read: Vec<Release>,
}

impl Writer {
    /// Works until nobody can ask any more, or until the disk fails.
    pub(super) fn run(mut self) {
        if let Err(error) = self.work() {
            // Before the answers are dropped, which is when others look.
            let _ = self.why.set(error.to_string());
        }
    }

    fn work(&mut self) -> Result<(), redb::Error> {
        loop {
            if self.held.repeated.is_empty() {
                match self.queue.blocking_recv() {
                    Some(ask) => self.take(ask)?,
                    None => break,
                }
            }
            for _ in 1..QUEUE {
                match self.queue.try_recv() {
                    Ok(ask) => self.take(ask)?,
                    Err(_) => break,
                }
            }
            self.settle()?;
        }
        if !self.index.writes.is_empty() {
            self.commit()?;
        }
        Ok(())
    }

    fn take(&mut self, ask: Ask) -> Result<(), redb::Error> {
        match ask {
            Ask::Accept(place, hash, answer) => self.accept(place, hash, answer)?,
            Ask::Start(place, answer) => match self.index.start(place) {
                Ok(()) => self.held.started.push(release(answer, ())),
                Err(error) => tell(answer, Err(error)),
            },
            Ask::Finish(place, reply, answer) => match self.index.finish(place, reply) {
                Ok(()) => self.held.written.push(release(answer, ())),
                Err(error) => tell(answer, Err(error)),
            },
            Ask::Acknowledge(place, answer) => tell(answer, self.index.acknowledge(place)),
            Ask::Unacknowledged(task, room, answer) => {
                let kept = self.unacknowledged(task, room)?;
                tell(answer, kept);
            }
            Ask::Epoch(task, answer) => {
                // One that is not on disk yet is no epoch.
                let epoch = self.index.epoch(task);
                self.held.read.push(release(answer, epoch));
            }
            Ask::SetEpoch(task, epoch, answer) => {
                self.index.set_epoch(task, epoch);
                self.held.written.push(release(answer, ()));
            }
        }
        Ok(())
    }

    fn accept(
        &mut self,
        place: Place,
        hash: ArgumentsHash,
        answer: Answer<Admission>,
    ) -> Result<(), redb::Error> {
        let admission = match self.index.accept(place, hash) {
            Taken::New => Admission::New,
            Taken::Known(stage) => match self.state(place, stage)? {
                Ok(known) => Admission::Known(known),
                Err(error) => {
                    tell(answer, Err(error));
                    return Ok(());
                }
            },
            Taken::Different => Admission::Different,
            Taken::TooOld => Admission::TooOld,
            Taken::Full { calls, bytes } => {
                let path = self.path.clone();
                tell(answer, Err(JournalError::Full { path, calls, bytes }));
                return Ok(());
            }
        };
        self.held.written.push(release(answer, admission));
        Ok(())
    }

    fn unacknowledged(
        &mut self,
        task: TaskId,
        mut room: u64,
    ) -> Result<Result<Vec<Entry>, JournalError>, redb::Error> {
        let mut kept = Vec::new();
        for (key, stage) in self.index.unacknowledged(task) {
            let place = (task, key);
            let (state, reply) = match stage {
                Stage::Left | Stage::Accepted => (EntryState::Accepted, None),
                Stage::Started => (EntryState::Running, None),
                Stage::InDoubt => (EntryState::InDoubt, None),
                Stage::Finished => match room.checked_sub(self.index.reply_bytes(place)) {
                    None => (EntryState::Finished, None),
                    Some(left) => {
                        room = left;
                        match self.reply(place)? {
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
        place: Place,
        stage: Stage,
    ) -> Result<Result<State, JournalError>, redb::Error> {
        Ok(Ok(match stage {
            Stage::Left | Stage::Accepted => State::Accepted,
            Stage::Started => State::Started,
            Stage::InDoubt => State::InDoubt,
            Stage::Finished => match self.reply(place)? {
                Ok(reply) => State::Finished(reply),
                Err(error) => return Ok(Err(error)),
            },
        }))
    }

    fn reply(&mut self, place: Place) -> Result<Result<Box<ToolReply>, JournalError>, redb::Error> {
        // It may have finished a moment ago.
        if !self.index.writes.is_empty() {
            self.settle()?;
        }
        let reply = self.disk.reply(place)?;
        Ok(reply.map(Box::new).ok_or_else(|| JournalError::Damaged {
            path: self.path.clone(),
            reason: format!("the result of call {} is not as it was written", place.1),
        }))
    }

    /// Brings to the disk what somebody waits for, and says so.
    fn settle(&mut self) -> Result<(), redb::Error> {
        let waits = !self.held.written.is_empty() || !self.held.started.is_empty();
        let changed = !self.index.writes.is_empty();
        let full = self.index.writes.len() > LAZY;
        if !self.held.repeated.is_empty() || (waits && changed) || full {
            self.commit()?;
        }
        let mut held = std::mem::take(&mut self.held);
        // A page that is damaged later sends the store back by one commit, to where the call had not begun and would begin
        // again. So a start is said only when the commit after it is on disk as well.
        self.held.repeated = held.started;
        held.repeated.append(&mut held.written);
        for release in held.repeated.into_iter().chain(held.read) {
            release();
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), redb::Error> {
        self.disk.commit(std::mem::take(&mut self.index.writes))
    }
}

/// Whoever asked may have gone.
fn tell<T>(answer: Answer<T>, told: Result<T, JournalError>) {
    let _ = answer.send(told);
}

fn release<T: Send + 'static>(answer: Answer<T>, told: T) -> Release {
    Box::new(move || tell(answer, Ok(told)))
}
