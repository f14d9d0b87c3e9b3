//! The journal's state machine, in memory.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::{ArgumentsHash, JournalError};
use crate::protocol::{CallId, CallKey, TaskId};

pub(super) type CallRef = (TaskId, CallKey);

/// The limits of a journal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Acknowledged calls that are kept to answer a repetition. A run has 100 steps unless it is told otherwise, and a
    /// repetition comes within one connection or the next: this is forty such runs, and 1 MiB of memory.
    pub(super) kept: usize,
    /// Bytes of their results: eight of the largest messages (8 MiB), or 160 texts of the longest (100,000 characters of
    /// 4 bytes); read within a second when the file is opened.
    pub(super) kept_bytes: u64,
    /// Calls that are not acknowledged. Those are never forgotten, so that there is an end to what a backend can pile up
    /// that acknowledges nothing.
    pub(super) open: usize,
    /// Bytes of their results.
    pub(super) open_bytes: u64,
    /// Tasks whose epoch and watermark are kept one by one.
    pub(super) tasks: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            kept: 4096,
            kept_bytes: 64 << 20,
            open: 16_384,
            open_bytes: 256 << 20,
            tasks: 4096,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Accepted by an earlier process, and not started.
    Abandoned,
    Accepted,
    Started,
    /// Started by an earlier process.
    InDoubt,
    Finished,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Abandoned => "accepted by a process that is gone",
            Self::Accepted => "accepted",
            Self::Started => "started",
            Self::InDoubt => "in doubt",
            Self::Finished => "finished",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) hash: ArgumentsHash,
    pub(super) stage: Stage,
    /// Its position in the order of acknowledgements, from 1.
    pub(super) acknowledged: Option<u64>,
    pub(super) reply_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) epoch: u64,
    /// The greatest key that was forgotten; what is not known up to here may have run.
    pub(super) forgotten: Option<CallKey>,
    /// Its position in the order of changes.
    pub(super) touched: u64,
}

/// A change that has to reach the file.
#[derive(Debug)]
pub(super) enum Write {
    Call(CallRef, Call),
    Reply(CallRef, Vec<u8>),
    Forget(CallRef),
    Task(TaskId, Task),
    ForgetTask(TaskId),
    Floor(CallKey),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AcceptResult {
    New,
    Known(Stage),
    Different,
    TooOld,
    Full { calls: usize, bytes: u64 },
}

#[derive(Debug)]
pub(super) struct Index {
    calls: BTreeMap<CallRef, Call>,
    /// What is acknowledged, oldest first.
    closed: VecDeque<CallRef>,
    closed_bytes: u64,
    open_bytes: u64,
    tasks: HashMap<TaskId, Task>,
    /// The watermark of every task that has none of its own.
    floor: Option<CallKey>,
    clock: u64,
    limits: Limits,
    /// In the order in which they happened.
    pub(super) writes: Vec<Write>,
}

impl Index {
    /// Builds the index of a file. What was in flight then no longer is: only one process has the file open.
    pub(super) fn load(
        calls: BTreeMap<CallRef, Call>,
        tasks: HashMap<TaskId, Task>,
        floor: Option<CallKey>,
        limits: Limits,
    ) -> Self {
        let mut closed: Vec<(u64, CallRef)> = calls
            .iter()
            .filter_map(|(call_ref, call)| Some((call.acknowledged?, *call_ref)))
            .collect();
        closed.sort_unstable();
        let bytes = |acknowledged: bool| {
            let those = calls.values();
            let those = those.filter(|call| call.acknowledged.is_some() == acknowledged);
            those.map(|call| call.reply_bytes).sum()
        };
        let clock = tasks.values().map(|task| task.touched);
        let clock = clock.chain(closed.iter().map(|(order, _)| *order)).max();
        let mut index = Self {
            closed_bytes: bytes(true),
            open_bytes: bytes(false),
            closed: closed.into_iter().map(|(_, call_ref)| call_ref).collect(),
            clock: clock.unwrap_or(0),
            calls,
            tasks,
            floor,
            limits,
            writes: Vec::new(),
        };
        for call in index.calls.values_mut() {
            call.stage = match call.stage {
                Stage::Accepted => Stage::Abandoned,
                Stage::Started => Stage::InDoubt,
                other => other,
            };
        }
        index.prune();
        index
    }

    pub(super) fn accept(&mut self, call_ref: CallRef, hash: ArgumentsHash) -> AcceptResult {
        let open = self.calls.len() - self.closed.len();
        match self.calls.get(&call_ref).copied() {
            Some(call) if call.hash != hash => AcceptResult::Different,
            Some(call) if call.stage == Stage::Abandoned => {
                let stage = Stage::Accepted;
                // On disk it is the same.
                self.calls.insert(call_ref, Call { stage, ..call });
                AcceptResult::New
            }
            Some(call) => AcceptResult::Known(call.stage),
            None if Some(call_ref.1) <= self.forgotten(call_ref.0) => AcceptResult::TooOld,
            None if open >= self.limits.open || self.open_bytes >= self.limits.open_bytes => {
                AcceptResult::Full {
                    calls: open,
                    bytes: self.open_bytes,
                }
            }
            None => {
                let call = Call {
                    hash,
                    stage: Stage::Accepted,
                    acknowledged: None,
                    reply_bytes: 0,
                };
                self.insert(call_ref, call);
                AcceptResult::New
            }
        }
    }

    /// Lets a call begin, once.
    pub(super) fn start(&mut self, call_ref: CallRef) -> Result<(), JournalError> {
        let stage = self.calls.get(&call_ref).map(|call| call.stage);
        match self.calls.get(&call_ref) {
            Some(call) if call.stage == Stage::Accepted => {
                let stage = Stage::Started;
                self.insert(call_ref, Call { stage, ..*call });
                Ok(())
            }
            _ => Err(out_of_order(call_ref, "started", stage)),
        }
    }

    pub(super) fn finish(&mut self, call_ref: CallRef, reply: Vec<u8>) -> Result<(), JournalError> {
        match self.calls.get(&call_ref) {
            // The first end stands, and an acknowledged call is not waited for.
            Some(call) if call.stage == Stage::Finished || call.acknowledged.is_some() => Ok(()),
            Some(call) => {
                let call = Call {
                    stage: Stage::Finished,
                    reply_bytes: reply.len() as u64,
                    ..*call
                };
                self.open_bytes += call.reply_bytes;
                self.insert(call_ref, call);
                self.writes.push(Write::Reply(call_ref, reply));
                Ok(())
            }
            None if Some(call_ref.1) <= self.forgotten(call_ref.0) => Ok(()),
            None => Err(out_of_order(call_ref, "finished", None)),
        }
    }

    pub(super) fn acknowledge(&mut self, call_ref: CallRef) -> Result<(), JournalError> {
        let Some(call) = self.calls.get(&call_ref) else {
            return Ok(());
        };
        match call.stage {
            _ if call.acknowledged.is_some() => Ok(()),
            // It has not run, and is not wanted any more.
            Stage::Accepted | Stage::Abandoned => {
                self.calls.remove(&call_ref);
                self.writes.push(Write::Forget(call_ref));
                Ok(())
            }
            Stage::Started => Err(out_of_order(call_ref, "acknowledged", Some(call.stage))),
            Stage::InDoubt | Stage::Finished => {
                self.clock += 1;
                let call = Call {
                    acknowledged: Some(self.clock),
                    ..*call
                };
                self.open_bytes -= call.reply_bytes;
                self.closed_bytes += call.reply_bytes;
                self.closed.push_back(call_ref);
                self.insert(call_ref, call);
                self.prune();
                Ok(())
            }
        }
    }

    /// Returns the calls of a task whose end was not acknowledged, by key.
    pub(super) fn unacknowledged(&self, task: TaskId) -> Vec<(CallKey, Stage)> {
        self.calls_of(task)
            .filter(|(_, call)| call.acknowledged.is_none())
            .map(|((_, key), call)| (*key, call.stage))
            .collect()
    }

    pub(super) fn reply_bytes(&self, call_ref: CallRef) -> u64 {
        self.calls.get(&call_ref).map_or(0, |call| call.reply_bytes)
    }

    pub(super) fn epoch(&self, task: TaskId) -> u64 {
        self.tasks.get(&task).map_or(0, |task| task.epoch)
    }

    pub(super) fn set_epoch(&mut self, task: TaskId, epoch: u64) {
        self.touch(task, |task| task.epoch = epoch);
    }

    fn calls_of(&self, task: TaskId) -> impl Iterator<Item = (&CallRef, &Call)> {
        let key = |id, attempt| {
            let tool_id = CallId::from_bytes([id; 16]);
            (task, CallKey { tool_id, attempt })
        };
        self.calls.range(key(0, 0)..=key(u8::MAX, u32::MAX))
    }

    fn forgotten(&self, task: TaskId) -> Option<CallKey> {
        self.tasks
            .get(&task)
            .map_or(self.floor, |task| task.forgotten)
    }

    fn insert(&mut self, call_ref: CallRef, call: Call) {
        self.calls.insert(call_ref, call);
        self.writes.push(Write::Call(call_ref, call));
    }

    fn prune(&mut self) {
        while self.closed.len() > self.limits.kept || self.closed_bytes > self.limits.kept_bytes {
            let Some(call_ref) = self.closed.pop_front() else {
                return;
            };
            let call = self.calls.remove(&call_ref);
            self.closed_bytes -= call.map_or(0, |call| call.reply_bytes);
            self.writes.push(Write::Forget(call_ref));
            self.touch(call_ref.0, |task| {
                task.forgotten = task.forgotten.max(Some(call_ref.1));
            });
        }
    }

    fn touch(&mut self, id: TaskId, change: impl FnOnce(&mut Task)) {
        self.clock += 1;
        let task = self.tasks.entry(id).or_insert(Task {
            epoch: 0,
            forgotten: self.floor,
            touched: 0,
        });
        task.touched = self.clock;
        change(task);
        self.writes.push(Write::Task(id, *task));
        while self.tasks.len() > self.limits.tasks {
            let oldest = self.tasks.iter().filter(|(other, _)| **other != id);
            let oldest = oldest.filter(|(other, _)| self.calls_of(**other).next().is_none());
            let Some((other, task)) = oldest.min_by_key(|(_, task)| task.touched) else {
                return;
            };
            let (other, forgotten) = (*other, task.forgotten);
            self.tasks.remove(&other);
            self.writes.push(Write::ForgetTask(other));
            if let Some(key) = forgotten
                && forgotten > self.floor
            {
                self.floor = forgotten;
                self.writes.push(Write::Floor(key));
            }
        }
    }
}

fn out_of_order(call_ref: CallRef, step: &'static str, stage: Option<Stage>) -> JournalError {
    JournalError::OutOfOrder {
        key: call_ref.1,
        step,
        found: stage.map_or("not known", Stage::name),
    }
}
