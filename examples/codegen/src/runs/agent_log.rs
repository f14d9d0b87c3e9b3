//! Keeps the logs of agents in the store of the backend, each beside the record of its run.

use std::sync::Arc;

use contract_agent::{RunStore, StoreError, Stored};
use contract_remote::store::{Expect, Store, Written};

use super::record::RunId;

/// The prefix of the names of records, each of which ends with its number.
const RECORD: &str = "codegen.agent.";

/// The logs of agents. A record is a value of its own, because a log of the store drops its oldest entries when it is full.
#[derive(Clone, Debug)]
pub(super) struct AgentLogs(pub(super) Arc<dyn Store>);

fn failed(run: &str, action: &'static str, reason: &dyn ToString) -> StoreError {
    StoreError::Failed {
        run: run.to_owned(),
        action,
        reason: reason.to_string(),
    }
}

impl RunStore for AgentLogs {
    fn append<'a>(&'a self, run: &'a str, expected: u64, record: &'a str) -> Stored<'a, ()> {
        Box::pin(async move {
            let failed = |reason: &dyn ToString| failed(run, "written", reason);
            let id: RunId = run.parse().map_err(|error| failed(&error))?;
            let name = format!("{RECORD}{expected:08}");
            let written = self.0.write(id, &name, record, Expect::Absent).await;
            match written.map_err(|error| failed(&error))? {
                Written::Done { .. } => Ok(()),
                Written::Conflict { .. } => Err(StoreError::Conflict {
                    run: run.to_owned(),
                    expected,
                }),
            }
        })
    }

    fn read<'a>(&'a self, run: &'a str) -> Stored<'a, Vec<String>> {
        Box::pin(async move {
            let failed = |reason: &dyn ToString| failed(run, "read", reason);
            let id: RunId = run.parse().map_err(|error| failed(&error))?;
            let records = self.0.list(id, RECORD).await;
            let records = records.map_err(|error| failed(&error))?.into_iter();
            Ok(records.map(|(_, record)| record.value).collect())
        })
    }
}
