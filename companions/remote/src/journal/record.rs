//! Serialises records, each with a checksum over its table, its key and itself.
//!
//! The store checks its pages when a file is opened, and not when it reads them later.

use sha2::{Digest as _, Sha256};

use super::ArgumentsHash;
use super::index::{Call, CallRef, Stage, Task};
use crate::protocol::{CallId, CallKey, TaskId, ToolReply};

const CHECKSUM: usize = 8;

fn checksum(table: &str, key: &[u8], body: &[u8]) -> [u8; CHECKSUM] {
    let mut hasher = Sha256::new();
    hasher.update(table);
    hasher.update([0]);
    hasher.update(key);
    hasher.update(body);
    let whole: [u8; 32] = hasher.finalize().into();
    std::array::from_fn(|call_ref| whole[call_ref])
}

pub(super) fn with_checksum(table: &str, key: &[u8], mut body: Vec<u8>) -> Vec<u8> {
    let sum = checksum(table, key, &body);
    body.extend(sum);
    body
}

/// Returns the body of a record if its checksum is right.
pub(super) fn verify<'a>(table: &str, key: &[u8], record: &'a [u8]) -> Option<&'a [u8]> {
    let (body, found) = record.split_last_chunk::<CHECKSUM>()?;
    (*found == checksum(table, key, body)).then_some(body)
}

/// Encodes the key of a call.
pub(super) fn call_ref_bytes((task, key): CallRef) -> [u8; 36] {
    let mut bytes = [0; 36];
    bytes[..16].copy_from_slice(&task.to_bytes());
    bytes[16..].copy_from_slice(&key_bytes(key));
    bytes
}

pub(super) fn call_ref(bytes: &[u8; 36]) -> Option<CallRef> {
    let mut rest = bytes.as_slice();
    let task = TaskId::from_bytes(take(&mut rest)?);
    Some((task, key(&mut rest)?))
}

/// Big-endian, so that the order of the bytes is the order of the keys.
pub(super) fn key_bytes(key: CallKey) -> [u8; 20] {
    let mut bytes = [0; 20];
    bytes[..16].copy_from_slice(&key.tool_id.to_bytes());
    bytes[16..].copy_from_slice(&key.attempt.to_be_bytes());
    bytes
}

pub(super) fn key(rest: &mut &[u8]) -> Option<CallKey> {
    Some(CallKey {
        tool_id: CallId::from_bytes(take(rest)?),
        attempt: u32::from_be_bytes(take(rest)?),
    })
}

pub(super) fn call_bytes(call: &Call) -> Vec<u8> {
    let stage = match call.stage {
        Stage::Abandoned | Stage::Accepted => 1,
        Stage::Started | Stage::InDoubt => 2,
        Stage::Finished => 3,
    };
    let mut bytes = vec![stage];
    bytes.extend(call.acknowledged.unwrap_or(0).to_be_bytes());
    bytes.extend(call.reply_bytes.to_be_bytes());
    bytes.extend(call.hash.0);
    bytes
}

pub(super) fn call(mut rest: &[u8]) -> Option<Call> {
    let stage = match take::<1>(&mut rest)? {
        [1] => Stage::Accepted,
        [2] => Stage::Started,
        [3] => Stage::Finished,
        _ => return None,
    };
    let acknowledged = u64::from_be_bytes(take(&mut rest)?);
    let call = Call {
        stage,
        acknowledged: (acknowledged > 0).then_some(acknowledged),
        reply_bytes: u64::from_be_bytes(take(&mut rest)?),
        hash: ArgumentsHash(take(&mut rest)?),
    };
    rest.is_empty().then_some(call)
}

pub(super) fn task_bytes(task: &Task) -> Vec<u8> {
    let mut bytes = Vec::from(task.epoch.to_be_bytes());
    bytes.extend(task.touched.to_be_bytes());
    bytes.extend(task.forgotten.map(key_bytes).iter().flatten());
    bytes
}

pub(super) fn task(mut rest: &[u8]) -> Option<Task> {
    let task = Task {
        epoch: u64::from_be_bytes(take(&mut rest)?),
        touched: u64::from_be_bytes(take(&mut rest)?),
        forgotten: match rest {
            [] => None,
            _ => Some(key(&mut rest)?),
        },
    };
    rest.is_empty().then_some(task)
}

pub(super) fn reply_bytes(reply: &ToolReply) -> Vec<u8> {
    // Nothing in it can fail: all keys are strings.
    serde_json::to_vec(reply).unwrap_or_default()
}

pub(super) fn reply(bytes: &[u8]) -> Option<ToolReply> {
    serde_json::from_slice(bytes).ok()
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk::<N>()?;
    *rest = left;
    Some(*taken)
}
