use std::collections::BTreeMap;

use super::figures::Usual;
use super::house::{begun, number};
use super::shelf::Shelf;
use crate::Status;
use crate::remote::protocol::CallKey;
use crate::remote::store::ledger::Ending;

/// What the plan of a run allows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Allowed {
    /// An executor was killed, replaced, or away for too long.
    pub(super) unknown: bool,
    pub(super) cancelled: bool,
    /// A backend was killed, or an executor away for too long or replaced.
    pub(super) not_run: bool,
}

/// Nothing is lost and nothing is doubled: the store says how each call ended, and the deeds what was done.
pub(super) fn judge(
    shelf: &Shelf,
    deeds: &BTreeMap<u64, u64>,
    allowed: Allowed,
    figures: &mut Usual,
) -> Result<(), String> {
    let mut endings: BTreeMap<String, Ending> = BTreeMap::new();
    for (name, ending) in shelf.look("ending.") {
        let ending = serde_json::from_str(&ending.value).map_err(|error| error.to_string())?;
        endings.insert(name.replace("ending.", "call."), ending);
    }
    let calls = begun(shelf);
    let names: Vec<String> = shelf
        .look("call.")
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
    for number in deeds.keys() {
        attempts
            .get(number)
            .ok_or(format!("{number} was done and never begun"))?;
    }
    figures.attempts += calls.len() as u64;
    for (number, attempts) in &mut attempts {
        figures.calls += 1;
        attempts.sort_by_key(|(key, _)| *key);
        let done = deeds.get(number).copied().unwrap_or(0);
        one(*number, attempts, done, allowed, figures)
            .map_err(|why| format!("call {number}, done {done} times: {why}: {attempts:?}"))?;
    }
    Ok(())
}

fn one(
    number: u64,
    attempts: &[(CallKey, Ending)],
    done: u64,
    allowed: Allowed,
    figures: &mut Usual,
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
    figures.done_again += done.saturating_sub(1);
    match &last.1 {
        Ending::Reply(reply) if reply.outcome == Status::Ok => {
            figures.replied += 1;
            let at_least = done >= 1 && (!once_only || done == 1);
            at_least.then_some(()).ok_or("it was answered and not done")
        }
        Ending::Reply(reply) if reply.outcome == Status::Cancelled => {
            figures.cancelled += 1;
            allowed.cancelled.then_some(()).ok_or("nobody gave it up")
        }
        Ending::Reply(_) => Err("it failed"),
        Ending::Unknown { .. } => {
            figures.unknown += 1;
            allowed
                .unknown
                .then_some(())
                .ok_or("there was nothing to doubt")
        }
        Ending::NotRun { .. } => {
            figures.not_run += 1;
            if done > 0 && earlier.is_empty() {
                return Err("it is said not to have run, and did");
            }
            allowed
                .not_run
                .then_some(())
                .ok_or("there was nothing in its way")
        }
        Ending::Cancelled { .. } => {
            figures.cancelled += 1;
            allowed.cancelled.then_some(()).ok_or("nobody gave it up")
        }
    }
}
