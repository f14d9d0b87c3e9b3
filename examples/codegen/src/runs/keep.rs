use std::collections::BTreeMap;
use std::sync::Arc;

use contract_runtime::remote::store::{Expect, Store, StoreError};

use super::record::{RunId, RunRecord};
use crate::contract::RunEvent;

/// The store of a backend, as runs use it: each is a task of its own.
#[derive(Clone, Debug)]
pub struct Keep {
    store: Arc<dyn Store>,
    /// The name of the records: it tells runs from the tasks of executors, and from the runs of other backends.
    record: String,
}

/// The name of the log.
const EVENTS: &str = "codegen.events";

/// Entries that are read at a time.
const PAGE: usize = 500;

impl Keep {
    /// Keeps the runs of the backend of this name; backends that share a store have different names.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, name: &str) -> Self {
        let record = format!("codegen.run.{name}");
        Self { store, record }
    }

    /// Writes the record.
    pub(super) async fn save(&self, record: &RunRecord) -> Result<(), StoreError> {
        let text = serde_json::to_string(record).unwrap_or_default();
        let written = self
            .store
            .write(record.id, &self.record, &text, Expect::Any);
        written.await.map(|_| ())
    }

    /// Adds to the log; what is there already is not added again.
    pub(super) async fn log(&self, id: RunId, events: &[RunEvent]) -> Result<(), StoreError> {
        for event in events {
            // Where a change was refused half-way, another event may have its number later.
            let name = format!("{}-{}", event.sequence, event.at_ms);
            let text = serde_json::to_string(event).unwrap_or_default();
            self.store.append(id, EVENTS, &name, &text).await?;
        }
        Ok(())
    }

    /// Everything that was kept.
    pub(super) async fn load(&self) -> Result<Vec<(RunRecord, Vec<RunEvent>)>, StoreError> {
        let mut runs = Vec::new();
        for task in self.store.tasks().await? {
            let record = self.store.read(task, &self.record).await?;
            let record = record.and_then(|record| serde_json::from_str(&record.value).ok());
            if let Some(record) = record {
                runs.push((record, self.events(task).await?));
            }
        }
        Ok(runs)
    }

    async fn events(&self, id: RunId) -> Result<Vec<RunEvent>, StoreError> {
        let mut events = BTreeMap::new();
        let mut after = 0;
        loop {
            let tail = self.store.tail(id, EVENTS, after, PAGE).await?;
            let Some(last) = tail.entries.last() else {
                return Ok(events.into_values().collect());
            };
            after = last.sequence;
            let texts = tail.entries.iter().map(|entry| &entry.value);
            let read = texts.filter_map(|text| serde_json::from_str::<RunEvent>(text).ok());
            events.extend(read.map(|event| (event.sequence, event)));
        }
    }

    /// Drops a run.
    pub(super) async fn forget(&self, id: RunId) -> Result<(), StoreError> {
        self.store.forget(id).await
    }
}
