//! Saves runs in the store.

use std::sync::Arc;

use contract_remote::store::{Expect, Store, StoreError, Written};

use super::agent_log::AgentLogs;
use super::record::{RunId, RunRecord};
use crate::contract::RunEvent;

/// The store of a backend, as runs use it: each is a task of its own.
#[derive(Clone, Debug)]
pub struct RunStore {
    store: Arc<dyn Store>,
    name: Arc<str>,
    /// Tells what this process has written from what others have, even those of the same name.
    writer: Arc<str>,
    is_shared: bool,
}

/// Under which the store keeps what belongs to no run: "codegen", as bytes.
const SERVICE: &str = "00000000-0000-4000-8000-636f64656700";

/// The record of a run; its name tells runs from the tasks of executors.
const RECORD: &str = "codegen.run";

/// The log of a run.
const EVENTS: &str = "codegen.events";

/// The log in which all backends note the runs that they begin.
const BEGUN: &str = "codegen.begun";

/// Entries that are read at a time.
const PAGE: usize = 500;

/// What became of a record that was to be written.
#[derive(Debug)]
pub(super) enum Saved {
    /// It is there, as this version.
    Done(u64),
    /// Another process has written it since.
    Other,
}

/// An entry of a log, and who has written it.
pub(super) type Entry = (String, RunEvent);

impl RunStore {
    /// Keeps runs for the backend of this name, which has the store to itself.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, name: &str) -> Self {
        Self {
            store,
            name: name.into(),
            writer: RunId::random().to_string().into(),
            is_shared: false,
        }
    }

    /// Shares the store with other backends, each with a name of its own.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.is_shared = true;
        self
    }

    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn writer(&self) -> &str {
        &self.writer
    }

    /// Returns the logs of the agents of runs.
    pub(super) fn agent_logs(&self) -> Arc<AgentLogs> {
        Arc::new(AgentLogs(Arc::clone(&self.store)))
    }

    /// What belongs to no run.
    pub(crate) fn service() -> Result<RunId, StoreError> {
        SERVICE.parse().map_err(|_| StoreError::Closed)
    }

    /// Writes the record over the version that it was made from; 0 means there was none.
    pub(super) async fn save(
        &self,
        record: &RunRecord,
        mut version: u64,
    ) -> Result<Saved, StoreError> {
        let text = serde_json::to_string(record).unwrap_or_default();
        loop {
            let expect = match version {
                0 => Expect::Absent,
                version => Expect::Version(version),
            };
            let there = match self.store.write(record.id, RECORD, &text, expect).await? {
                Written::Done { version } => return Ok(Saved::Done(version)),
                Written::Conflict { current } => current,
            };
            let Some(there) = there else {
                return Ok(Saved::Other);
            };
            // An earlier write of this process, which was not confirmed.
            let read = serde_json::from_str::<RunRecord>(&there.value).ok();
            let own = read.is_some_and(|there| there.is_written_by(&self.writer));
            if !own || there.version == version {
                return Ok(Saved::Other);
            }
            version = there.version;
        }
    }

    /// The record and its version.
    pub(super) async fn read(&self, id: RunId) -> Result<Option<(RunRecord, u64)>, StoreError> {
        let there = self.store.read(id, RECORD).await?;
        Ok(there.and_then(|there| {
            let record = serde_json::from_str(&there.value).ok()?;
            Some((record, there.version))
        }))
    }

    /// Adds to the log; what is there already is not added again.
    pub(super) async fn log(&self, id: RunId, events: &[RunEvent]) -> Result<(), StoreError> {
        for event in events {
            // Where a change was refused half-way, another event may have its number later.
            let name = format!("{}.{}-{}", self.writer, event.sequence, event.at_ms);
            let text = serde_json::to_string(event).unwrap_or_default();
            self.store.append(id, EVENTS, &name, &text).await?;
        }
        Ok(())
    }

    /// The entries of a log behind a place, and the place behind them.
    pub(super) async fn entries(
        &self,
        id: RunId,
        mut after: u64,
    ) -> Result<(Vec<Entry>, u64), StoreError> {
        let mut entries = Vec::new();
        loop {
            let tail = self.store.tail(id, EVENTS, after, PAGE).await?;
            let Some(last) = tail.entries.last() else {
                return Ok((entries, after));
            };
            after = last.sequence;
            entries.extend(tail.entries.iter().filter_map(|entry| {
                let (writer, _) = entry.id.split_once('.')?;
                let event = serde_json::from_str(&entry.value).ok()?;
                Some((writer.to_owned(), event))
            }));
        }
    }

    /// All runs that are kept.
    pub(super) async fn runs(&self) -> Result<Vec<RunId>, StoreError> {
        self.store.tasks().await
    }

    /// Notes for the other backends that a run has begun.
    pub(super) async fn announce(&self, id: RunId) -> Result<(), StoreError> {
        let text = id.to_string();
        let noted = self.store.append(Self::service()?, BEGUN, &text, &text);
        noted.await.map(|_| ())
    }

    /// Runs that were begun behind a place in the order of all beginnings, and the place behind them; without one, only that.
    pub(super) async fn begun(&self, after: Option<u64>) -> Result<(Vec<RunId>, u64), StoreError> {
        let service = Self::service()?;
        let Some(after) = after else {
            let tail = self.store.tail(service, BEGUN, 0, 1).await?;
            return Ok((Vec::new(), tail.last));
        };
        let tail = self.store.tail(service, BEGUN, after, PAGE).await?;
        let ids = tail
            .entries
            .iter()
            .filter_map(|entry| entry.value.parse().ok());
        let last = tail.entries.last().map(|entry| entry.sequence);
        Ok((ids.collect(), last.unwrap_or(after)))
    }

    /// Shows the other backends that this one is there.
    pub(super) async fn show(&self) -> Result<(), StoreError> {
        let place = format!("codegen.backend.{}", self.name);
        let service = Self::service()?;
        let shown = self
            .store
            .write(service, &place, &self.writer, Expect::Any)
            .await?;
        drop(shown);
        Ok(())
    }

    /// How often a backend has shown that it is there.
    pub(super) async fn heartbeat(&self, name: &str) -> Result<u64, StoreError> {
        let place = format!("codegen.backend.{name}");
        let there = self.store.read(Self::service()?, &place).await?;
        Ok(there.map_or(0, |there| there.version))
    }

    /// Drops a run.
    pub(super) async fn forget(&self, id: RunId) -> Result<(), StoreError> {
        self.store.forget(id).await
    }
}

#[cfg(test)]
mod tests {
    use contract_remote::store::EmbeddedStore;

    use super::super::record::Writer;
    use super::*;

    #[tokio::test]
    async fn a_step_is_written_over_the_state_it_was_made_from() {
        let store: Arc<dyn Store> = Arc::new(EmbeddedStore::in_memory().unwrap());
        let [one, other] = ["a", "b"].map(|name| RunStore::new(Arc::clone(&store), name).shared());
        let mut record = RunRecord::new("a", "add a price list", 0);
        let step = |run_store: &RunStore, record: &mut RunRecord| {
            let name = run_store.writer().to_owned();
            record.writers.push(Writer { name, after: 0 });
            record.clone()
        };
        let first = step(&one, &mut record);
        assert!(matches!(one.save(&first, 0).await, Ok(Saved::Done(1))));
        // Both have read it, and both take the next step.
        let by_one = step(&one, &mut record.clone());
        let by_other = step(&other, &mut record.clone());
        assert!(matches!(one.save(&by_one, 1).await, Ok(Saved::Done(2))));
        assert!(matches!(other.save(&by_other, 1).await, Ok(Saved::Other)));
        let (kept, version) = other.read(record.id).await.unwrap().unwrap();
        assert!(kept.is_written_by(one.writer()));
        assert_eq!(version, 2);
        // A write whose confirmation was lost is not a step of another.
        assert!(matches!(one.save(&by_one, 1).await, Ok(Saved::Done(3))));
        assert!(matches!(other.save(&by_other, 3).await, Ok(Saved::Done(4))));
        assert!(matches!(one.save(&by_one, 3).await, Ok(Saved::Other)));
    }
}
