//! Checks that no call was lost or run twice.

use std::collections::BTreeMap;

use contract_runtime::Status;

use super::backend::{number, stored_calls};
use super::fake_store::FakeStore;
use super::statistics::{DiskStatistics, RunStatistics};
use crate::protocol::{CallKey, ToolReply};
use crate::store::task_store::Ending;

/// What the plan of a run allows.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is allowed by itself")]
pub(super) struct Allowed {
    /// An executor was killed, replaced, or away for too long.
    pub(super) unknown: bool,
    pub(super) cancelled: bool,
    /// A backend was killed, or an executor away for too long or replaced.
    pub(super) not_run: bool,
    /// A journal could not be written.
    pub(super) refused: bool,
}

/// Checks that no call was lost or doubled: the store has the ends, and the side effects what was done.
pub(super) fn check_invariants(
    fake_store: &FakeStore,
    side_effects: &BTreeMap<u64, u64>,
    allowed: Allowed,
    (statistics, full): (&mut RunStatistics, &mut DiskStatistics),
) -> Result<(), String> {
    let mut endings: BTreeMap<String, Ending> = BTreeMap::new();
    for (name, ending) in fake_store.snapshot("ending.") {
        let ending = serde_json::from_str(&ending.value).map_err(|error| error.to_string())?;
        endings.insert(name.replace("ending.", "call."), ending);
    }
    let calls = stored_calls(fake_store);
    let names: Vec<String> = fake_store
        .snapshot("call.")
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let mut attempts: BTreeMap<u64, Vec<(CallKey, Ending)>> = BTreeMap::new();
    for (name, call) in names.iter().zip(&calls) {
        let ending = endings.remove(name).ok_or(format!("{name} has no end"))?;
        attempts
            .entry(number(call))
            .or_default()
            .push((call.key, ending));
    }
    if !endings.is_empty() {
        return Err(format!("these ended and never began: {:?}", endings.keys()));
    }
    for number in side_effects.keys() {
        attempts
            .get(number)
            .ok_or(format!("{number} was done and never begun"))?;
    }
    statistics.attempts += calls.len() as u64;
    for (number, attempts) in &mut attempts {
        statistics.calls += 1;
        attempts.sort_by_key(|(key, _)| *key);
        let done = side_effects.get(number).copied().unwrap_or(0);
        one(*number, attempts, done, allowed, (statistics, full))
            .map_err(|why| format!("call {number}, done {done} times: {why}: {attempts:?}"))?;
    }
    Ok(())
}

fn one(
    number: u64,
    attempts: &[(CallKey, Ending)],
    done: u64,
    allowed: Allowed,
    (statistics, full): (&mut RunStatistics, &mut DiskStatistics),
) -> Result<(), &'static str> {
    let once_only = number.is_multiple_of(2);
    let (last, earlier) = attempts.split_last().ok_or("it has no attempt")?;
    let same = |(key, _): &(CallKey, Ending)| key.tool_id == last.0.tool_id;
    if !earlier.iter().all(same) {
        return Err("it was made twice");
    }
    if earlier
        .iter()
        .any(|(_, ending)| !matches!(ending, Ending::Unknown { .. }))
    {
        return Err("it was tried again without a doubt");
    }
    if once_only && (done > 1 || !earlier.is_empty()) {
        return Err("it was done or tried again");
    }
    statistics.done_again += done.saturating_sub(1);
    match &last.1 {
        Ending::Reply(reply) if reply.outcome == Status::Ok => {
            statistics.replied += 1;
            let at_least = done >= 1 && (!once_only || done == 1);
            at_least.then_some(()).ok_or("it was answered and not done")
        }
        Ending::Reply(reply) if reply.outcome == Status::Cancelled => {
            statistics.cancelled += 1;
            allowed
                .cancelled
                .then_some(())
                .ok_or("it was not cancelled")
        }
        Ending::Reply(reply) if is_refused(reply) => {
            full.refused += 1;
            if done > 0 && earlier.is_empty() {
                return Err("it is said not to have run, and did");
            }
            allowed
                .refused
                .then_some(())
                .ok_or("the journal could be written")
        }
        Ending::Reply(_) => Err("it failed"),
        Ending::Unknown { .. } => {
            statistics.unknown += 1;
            allowed
                .unknown
                .then_some(())
                .ok_or("there was nothing to doubt")
        }
        Ending::NotRun { .. } => {
            statistics.not_run += 1;
            if done > 0 && earlier.is_empty() {
                return Err("it is said not to have run, and did");
            }
            allowed
                .not_run
                .then_some(())
                .ok_or("there was nothing in its way")
        }
        Ending::Cancelled { .. } => {
            statistics.cancelled += 1;
            allowed
                .cancelled
                .then_some(())
                .ok_or("it was not cancelled")
        }
    }
}

fn is_refused(reply: &ToolReply) -> bool {
    let error = reply.error.as_deref().unwrap_or_default();
    reply.outcome == Status::Failed && error.starts_with("not run: the journal ")
}
