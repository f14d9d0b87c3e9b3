//! Compares the side effects of the tools with what the callers were told.

use std::collections::BTreeMap;
use std::path::Path;

use contract_remote::protocol::TaskId;
use contract_remote::store::{EmbeddedStore, Store};
use serde_json::Value;

use crate::sides::{Done, tool};

/// What so many runs came to.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) faults: u64,
    pub(crate) repeated: u64,
    calls: u64,
    unknown: u64,
    not_run: u64,
    cancelled: u64,
    again: u64,
}

impl Seen {
    /// Whether calls ended in every way that a fault may end them.
    pub(crate) fn is_wide(&self) -> bool {
        let ways = [self.unknown, self.not_run, self.cancelled, self.again];
        ways.iter().all(|number| *number > 0)
    }

    pub(crate) fn add(&mut self, more: &Self) {
        let Self {
            faults,
            repeated,
            calls,
            unknown,
            not_run,
            cancelled,
            again,
        } = more;
        for (sum, more) in [
            (&mut self.faults, faults),
            (&mut self.repeated, repeated),
            (&mut self.calls, calls),
            (&mut self.unknown, unknown),
            (&mut self.not_run, not_run),
            (&mut self.cancelled, cancelled),
            (&mut self.again, again),
        ] {
            *sum += more;
        }
    }
}

/// What a fault may do to a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allowed {
    pub(crate) unknown: bool,
    pub(crate) not_run: bool,
    pub(crate) cancelled: bool,
}

/// Nothing is lost and nothing is doubled: the store says of each call how it ended, and the marks say what was done.
pub(crate) async fn judge(folder: &Path, calls: u64, allowed: Allowed, seen: &mut Seen) -> Done {
    let store = EmbeddedStore::open(folder.join("store"))?;
    let task = *store.tasks().await?.first().ok_or("no task")?;
    judge_task(
        &store,
        task,
        folder,
        (calls, allowed.cancelled),
        allowed,
        seen,
    )
    .await
}

/// The same, of one task of any store; of so many calls some may have been refused before they were written down.
pub(crate) async fn judge_task(
    store: &dyn Store,
    task: TaskId,
    folder: &Path,
    (calls, may_be_unwritten): (u64, bool),
    allowed: Allowed,
    seen: &mut Seen,
) -> Done {
    let begun = store.list(task, "call.").await?;
    let ended = store.list(task, "ending.").await?;
    let of = |name: &str| name.split_once('.').map(|(_, key)| key.to_owned());
    let keys: Vec<_> = begun.iter().map(|(name, _)| of(name)).collect();
    let ends: Vec<_> = ended.iter().map(|(name, _)| of(name)).collect();
    assert_eq!(keys, ends, "each call that was begun has one end");
    let marks = std::fs::read_to_string(folder.join("marks")).unwrap_or_default();
    let mut left: BTreeMap<&str, u64> = BTreeMap::new();
    for mark in marks.lines() {
        *left.entry(mark).or_default() += 1;
    }
    let mut ran: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for ((_, call), (_, ending)) in begun.iter().zip(&ended) {
        let call: Value = serde_json::from_str(&call.value)?;
        let number = call["parameters"]["number"].as_u64().ok_or("a number")?;
        let ending: Value = serde_json::from_str(&ending.value)?;
        let how = ending
            .as_object()
            .and_then(|ending| ending.keys().next())
            .cloned();
        let mut how = how.ok_or("an ending")?;
        if how == "reply" && ending["reply"]["outcome"] == "cancelled" {
            "cancelled".clone_into(&mut how);
        } else if how == "reply" {
            assert_eq!(ending["reply"]["outcome"], "ok", "{ending}");
        }
        ran.entry(number).or_default().push(how);
    }
    for number in (0..calls).filter(|number| !ran.contains_key(number)) {
        // It was given up before anything was written, or nobody made it.
        assert!(may_be_unwritten, "call {number} was never begun");
        let mark = format!("{} {number}", tool(number));
        assert_eq!(
            left.get(&*mark),
            None,
            "call {number} ran and was never begun"
        );
    }
    for (number, endings) in &ran {
        let name = tool(*number);
        let times = left.get(&*format!("{name} {number}")).copied().unwrap_or(0);
        let last = endings.last().map(String::as_str);
        let told = format!("{name} {number} ended {endings:?} and left {times} marks");
        seen.calls += 1;
        match (name, last) {
            ("mark", Some("reply")) => assert_eq!(times, 1, "{told}"),
            ("note", Some("reply")) => assert!((1..=2).contains(&times), "{told}"),
            ("mark", Some("unknown" | "cancelled")) => assert!(times <= 1, "{told}"),
            ("note", Some("unknown" | "cancelled")) => {}
            (_, Some("not_run")) => assert_eq!(times, 0, "{told}"),
            _ => return Err(told.into()),
        }
        seen.again += times.saturating_sub(1);
        let (count, may_be) = match last {
            Some("unknown") => (&mut seen.unknown, allowed.unknown),
            Some("not_run") => (&mut seen.not_run, allowed.not_run),
            Some("cancelled") => (&mut seen.cancelled, allowed.cancelled),
            _ => continue,
        };
        *count += 1;
        assert!(may_be, "{told}, with {allowed:?}");
    }
    Ok(())
}
