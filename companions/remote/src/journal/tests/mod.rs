//! Tests of the journal.
//!
//! | file | asks |
//! |---|---|
//! | `crash` | what is left when power goes between any two writes |
//! | `damage` | what a damaged file says, of whatever was written |
//! | `fail` | what happens when a write fails |
//! | `figures` | how fast it is |
//! | `files` | which files are taken |
//! | `flips` | what a changed byte does |
//! | `kill` | what a process leaves that is killed |
//! | `medium` | a disk for tests |
//! | `model` | the same rules, written plainly |
//! | `random` | whether journal and model agree |
//! | `steps` | what is said of one call |
//! | `together` | what happens to calls at the same time |

#![cfg_attr(not(test), allow(dead_code, reason = "the fuzzer has a part of it"))]
#![cfg_attr(not(fuzzing), allow(unreachable_pub, reason = "the fuzzer reaches it"))]

#[cfg(test)]
mod crash;
pub(super) mod damage;
#[cfg(test)]
mod fail;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod files;
#[cfg(test)]
mod flips;
#[cfg(test)]
mod kill;
mod medium;
mod model;
#[cfg(test)]
mod random;
#[cfg(test)]
mod steps;
#[cfg(test)]
mod together;

use std::path::Path;

use serde_json::json;

use self::medium::Medium;
use super::index::Limits;
use super::{Admission, ArgumentsHash, Journal, JournalError, State, UnacknowledgedCall};
use crate::protocol::{CallId, CallKey, EntryState, TaskId, ToolReply};

impl Journal {
    /// As for a handshake that has room for everything.
    pub(crate) async fn unacknowledged(
        &self,
        task: TaskId,
    ) -> Result<Vec<UnacknowledgedCall>, JournalError> {
        let entries = self.unacknowledged_within(task, u64::MAX).await?;
        let entries = entries.into_iter();
        let kept = entries.map(|entry| UnacknowledgedCall {
            key: entry.key,
            state: match (entry.state, entry.reply) {
                (EntryState::Accepted, _) => State::Accepted,
                (EntryState::Running, _) => State::Started,
                (EntryState::InDoubt, _) => State::InDoubt,
                (EntryState::Finished, reply) => State::Finished(reply.unwrap()),
            },
        });
        Ok(kept.collect())
    }
}

fn task(number: u8) -> TaskId {
    TaskId::from_bytes([number; 16])
}

fn key(number: u32, attempt: u32) -> CallKey {
    let tool_id = CallId::from_bytes(u128::from(number).to_be_bytes());
    CallKey { tool_id, attempt }
}

fn hash(number: u8) -> ArgumentsHash {
    ArgumentsHash::of("put", &json!({ "number": number }))
}

fn reply(key: CallKey, text: &str) -> ToolReply {
    ToolReply::failed(key, text)
}

fn open(medium: &Medium, limits: Limits) -> Result<Journal, JournalError> {
    Journal::start_with(medium.clone(), Path::new("(test)"), limits)
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}
