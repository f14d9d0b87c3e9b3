//! A reference model of the journal: plain lists, and no file.

use std::path::Path;

use super::super::disk::Disk;
use super::super::index::{AcceptResult, Limits, Stage};
use super::super::{Admission, Journal, JournalError, State};
use super::medium::Medium;
use super::{hash, key, reply, task, wait};
use crate::protocol::{CallKey, ToolReply};

pub(super) const TASKS: u8 = 3;
pub(super) const CALLS: u32 = 4;
pub(super) const ATTEMPTS: u32 = 2;

pub(super) const LIMITS: Limits = Limits {
    kept: 2,
    kept_bytes: 600,
    open: 100,
    open_bytes: 1 << 20,
    tasks: 2,
};

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Accept(u8, CallKey, u8),
    Start(u8, CallKey),
    /// With so many bytes of text.
    Finish(u8, CallKey, u16),
    Acknowledge(u8, CallKey),
    SetEpoch(u8, u64),
}

#[derive(Clone, Debug)]
struct Entry {
    task: u8,
    key: CallKey,
    hash: u8,
    stage: Stage,
    reply: Option<ToolReply>,
    acknowledged: bool,
}

#[derive(Clone, Debug)]
struct TaskModel {
    task: u8,
    epoch: u64,
    forgotten: Option<CallKey>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    /// Acknowledged ones first, in that order.
    entries: Vec<Entry>,
    /// The one that was changed last comes last.
    tasks: Vec<TaskModel>,
    floor: Option<CallKey>,
}

/// All that can be asked, of every task and every key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    epochs: Vec<u64>,
    open: Vec<Vec<(CallKey, Stage, Option<ToolReply>)>>,
    calls: Vec<(AcceptResult, Option<ToolReply>)>,
}

pub(super) fn every_key() -> impl Iterator<Item = CallKey> {
    (0..CALLS).flat_map(|number| (1..=ATTEMPTS).map(move |attempt| key(number, attempt)))
}

impl Model {
    fn find(&mut self, task: u8, key: CallKey) -> Option<&mut Entry> {
        let mut entries = self.entries.iter_mut();
        entries.find(|entry| entry.task == task && entry.key == key)
    }

    fn forgotten(&self, task: u8) -> Option<CallKey> {
        let known = self.tasks.iter().find(|known| known.task == task);
        known.map_or(self.floor, |known| known.forgotten)
    }

    /// Takes a step, and says whether it may be taken.
    pub(super) fn step(&mut self, step: Step) -> bool {
        match step {
            Step::Accept(task, key, hash) => self.accept(task, key, hash) == AcceptResult::New,
            Step::Start(task, key) => match self.find(task, key) {
                Some(entry) if entry.stage == Stage::Accepted => {
                    entry.stage = Stage::Started;
                    true
                }
                _ => false,
            },
            Step::Finish(task, key, length) => {
                let old = Some(key) <= self.forgotten(task);
                let Some(entry) = self.find(task, key) else {
                    return old;
                };
                if entry.stage != Stage::Finished && !entry.acknowledged {
                    entry.stage = Stage::Finished;
                    entry.reply = Some(text(key, length));
                }
                true
            }
            Step::Acknowledge(task, key) => self.acknowledge(task, key),
            Step::SetEpoch(task, epoch) => {
                self.touch(task).epoch = epoch;
                self.trim(task);
                true
            }
        }
    }

    fn accept(&mut self, task: u8, key: CallKey, hash: u8) -> AcceptResult {
        let old = Some(key) <= self.forgotten(task);
        let Some(entry) = self.find(task, key) else {
            if old {
                return AcceptResult::TooOld;
            }
            self.entries.push(Entry {
                task,
                key,
                hash,
                stage: Stage::Accepted,
                reply: None,
                acknowledged: false,
            });
            return AcceptResult::New;
        };
        if entry.hash != hash {
            return AcceptResult::Different;
        }
        if entry.stage == Stage::Abandoned {
            entry.stage = Stage::Accepted;
            return AcceptResult::New;
        }
        AcceptResult::Known(entry.stage)
    }

    fn acknowledge(&mut self, task: u8, key: CallKey) -> bool {
        let place = |entry: &Entry| entry.task == task && entry.key == key;
        let Some(at) = self.entries.iter().position(place) else {
            return true;
        };
        let entry = &self.entries[at];
        if entry.acknowledged {
            return true;
        }
        match entry.stage {
            Stage::Started => return false,
            Stage::Accepted | Stage::Abandoned => {
                self.entries.remove(at);
            }
            Stage::InDoubt | Stage::Finished => {
                let mut entry = self.entries.remove(at);
                entry.acknowledged = true;
                let end = self
                    .entries
                    .iter()
                    .filter(|entry| entry.acknowledged)
                    .count();
                self.entries.insert(end, entry);
                self.forget();
            }
        }
        true
    }

    fn forget(&mut self) {
        loop {
            let closed = self.entries.iter().filter(|entry| entry.acknowledged);
            let length = |entry: &Entry| {
                let reply = entry.reply.as_ref();
                reply.map_or(0, |reply| serde_json::to_vec(reply).unwrap().len() as u64)
            };
            let bytes: u64 = closed.clone().map(length).sum();
            if closed.count() <= LIMITS.kept && bytes <= LIMITS.kept_bytes {
                return;
            }
            let gone = self.entries.remove(0);
            let task = self.touch(gone.task);
            task.forgotten = task.forgotten.max(Some(gone.key));
            self.trim(gone.task);
        }
    }

    fn touch(&mut self, task: u8) -> &mut TaskModel {
        let at = self.tasks.iter().position(|known| known.task == task);
        let known = at.map_or(
            TaskModel {
                task,
                epoch: 0,
                forgotten: self.floor,
            },
            |at| self.tasks.remove(at),
        );
        self.tasks.push(known);
        self.tasks.last_mut().unwrap()
    }

    fn trim(&mut self, spared: u8) {
        while self.tasks.len() > LIMITS.tasks {
            let has_entries = |task| self.entries.iter().any(|entry| entry.task == task);
            let free = |known: &TaskModel| known.task != spared && !has_entries(known.task);
            let Some(at) = self.tasks.iter().position(free) else {
                return;
            };
            let gone = self.tasks.remove(at);
            self.floor = self.floor.max(gone.forgotten);
        }
    }

    /// What is left of it when its process is gone.
    pub(super) fn orphan(mut self) -> Self {
        for entry in &mut self.entries {
            entry.stage = match entry.stage {
                Stage::Accepted => Stage::Abandoned,
                Stage::Started => Stage::InDoubt,
                other => other,
            };
        }
        self
    }

    pub(super) fn told(&self) -> Told {
        let open = |task: u8| {
            let those = self.entries.iter();
            let those = those.filter(|entry| entry.task == task && !entry.acknowledged);
            let mut open: Vec<_> = those
                .map(|entry| (entry.key, entry.stage, entry.reply.clone()))
                .collect();
            open.sort_by_key(|(key, ..)| *key);
            open
        };
        let call = |(task, key)| {
            let mut copy = self.clone();
            let taken = copy.accept(task, key, 0);
            let reply = copy.find(task, key).and_then(|entry| entry.reply.clone());
            let reply = reply.filter(|_| taken == AcceptResult::Known(Stage::Finished));
            (taken, reply)
        };
        let epoch = |task| {
            self.tasks
                .iter()
                .find(|known| known.task == task)
                .map_or(0, |known| known.epoch)
        };
        Told {
            epochs: (0..TASKS).map(epoch).collect(),
            open: (0..TASKS).map(open).collect(),
            calls: (0..TASKS)
                .flat_map(|task| every_key().map(move |key| (task, key)))
                .map(call)
                .collect(),
        }
    }
}

pub(super) fn text(key: CallKey, length: u16) -> ToolReply {
    reply(key, &"x".repeat(length.into()))
}

/// What a process finds that opens what is on a disk.
pub(super) fn found(bytes: &[u8]) -> Result<Told, JournalError> {
    let medium = Medium::holding(bytes.to_vec());
    let (disk, mut index, _) = Disk::open(medium, Path::new("(test)"), LIMITS)?;
    let stored = |task, key, stage| {
        (stage == Stage::Finished).then(|| disk.reply((task, key)).unwrap().unwrap())
    };
    let open = |number| {
        let calls = index.unacknowledged(task(number)).into_iter();
        calls
            .map(|(key, stage)| (key, stage, stored(task(number), key, stage)))
            .collect()
    };
    let open = (0..TASKS).map(open).collect();
    let epochs = (0..TASKS).map(|number| index.epoch(task(number))).collect();
    let mut calls = Vec::new();
    for number in 0..TASKS {
        for key in every_key() {
            let taken = index.accept((task(number), key), hash(0));
            let reply = match taken {
                AcceptResult::Known(stage) => stored(task(number), key, stage),
                _ => None,
            };
            calls.push((taken, reply));
        }
    }
    Ok(Told {
        epochs,
        open,
        calls,
    })
}

/// Takes a step, and says whether it may be taken.
pub(super) fn take(journal: &Journal, step: Step) -> Result<bool, JournalError> {
    let done = match step {
        Step::Accept(number, key, arguments) => {
            let admission = wait(journal.accept(task(number), key, hash(arguments)))?;
            return Ok(admission == Admission::New);
        }
        Step::Start(number, key) => wait(journal.start(task(number), key)),
        Step::Finish(number, key, length) => {
            wait(journal.finish(task(number), key, text(key, length)))
        }
        Step::Acknowledge(number, key) => wait(journal.acknowledge(task(number), key)),
        Step::SetEpoch(number, epoch) => wait(journal.set_epoch(task(number), epoch)),
    };
    match done {
        Ok(()) => Ok(true),
        Err(JournalError::OutOfOrder { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// That everything which was done so far is on disk when the step has been taken.
pub(super) fn is_durable(step: Step, taken: bool) -> bool {
    taken && matches!(step, Step::Accept(..) | Step::Start(..) | Step::Finish(..))
}

/// What a running journal says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heard {
    epochs: Vec<u64>,
    open: Vec<Vec<(CallKey, State)>>,
}

pub(super) fn heard(journal: &Journal) -> Result<Heard, JournalError> {
    let open = |number| {
        let kept = wait(journal.unacknowledged(task(number)))?.into_iter();
        Ok(kept.map(|kept| (kept.key, kept.state)).collect())
    };
    Ok(Heard {
        epochs: (0..TASKS)
            .map(|number| wait(journal.epoch(task(number))))
            .collect::<Result<_, _>>()?,
        open: (0..TASKS).map(open).collect::<Result<_, JournalError>>()?,
    })
}

impl Model {
    /// What a journal should say.
    pub(super) fn heard(&self) -> Heard {
        let Told { epochs, open, .. } = self.told();
        let state = |stage: Stage, reply: Option<ToolReply>| match stage {
            Stage::Abandoned | Stage::Accepted => State::Accepted,
            Stage::Started => State::Started,
            Stage::InDoubt => State::InDoubt,
            Stage::Finished => State::Finished(Box::new(reply.unwrap())),
        };
        let states = |open: Vec<(CallKey, Stage, Option<ToolReply>)>| {
            let open = open.into_iter();
            open.map(|(key, stage, reply)| (key, state(stage, reply)))
                .collect()
        };
        Heard {
            epochs,
            open: open.into_iter().map(states).collect(),
        }
    }
}

/// That a running journal says what the model says.
pub(super) fn agrees(journal: &Journal, model: &Model) -> Result<(), JournalError> {
    assert_eq!(heard(journal)?, model.heard());
    Ok(())
}
