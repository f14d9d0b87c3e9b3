//! | file | asks |
//! |---|---|
//! | `crash` | what is left when power goes between any two writes |
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

mod crash;
mod fail;
mod figures;
mod files;
mod flips;
mod kill;
mod medium;
mod model;
mod random;
mod steps;
mod together;

use std::path::Path;

use serde_json::json;

use self::medium::Medium;
use super::index::Limits;
use super::{ArgumentsHash, Journal, JournalError};
use crate::remote::protocol::{CallId, CallKey, TaskId, ToolReply};

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
