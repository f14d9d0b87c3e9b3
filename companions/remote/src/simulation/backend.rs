//! A simulated backend process that makes the calls of a plan.

use contract_runtime::ToolCall;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::executor::tool;
use super::fake_store::FakeStore;
use super::rng::Rng;
use crate::RemoteError;
use crate::backend::Task;
use crate::store::task_store::StoredCall;

/// How the calls of a run are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) calls: u64,
    /// How many at once.
    pub(super) wide: usize,
    /// The caller gives up on one in this many; 0 means never.
    pub(super) given_up: u64,
}

impl Plan {
    pub(super) fn of(rng: &Rng, most: u64) -> Self {
        Self {
            calls: 2 + rng.below(most),
            wide: usize::try_from(1 + rng.below(6)).unwrap_or(1),
            given_up: [0, 0, 2, 5][usize::try_from(rng.below(4)).unwrap_or(0)],
        }
    }
}

/// Returns the calls that any process has stored.
pub(super) fn stored_calls(fake_store: &FakeStore) -> Vec<StoredCall> {
    let records = fake_store.snapshot("call.").into_iter();
    records
        .map(|(_, call)| serde_json::from_str(&call.value).unwrap())
        .collect()
}

pub(super) fn number(call: &StoredCall) -> u64 {
    call.parameters["number"].as_u64().unwrap()
}

/// Runs one backend process: it waits for the orphaned calls of an earlier one, and makes the calls that are due, until
/// another process takes the task over.
pub(super) async fn work(
    task: Task,
    plan: Plan,
    rng: Rng,
    mut due: impl FnMut() -> Option<u64>,
) -> Result<(), String> {
    task.settled().await;
    let mut under_way = JoinSet::new();
    loop {
        let session = match task.attached().await {
            Ok(session) => session,
            Err(RemoteError::TakenOver { .. }) => break,
            Err(error) => return Err(error.to_string()),
        };
        if under_way.len() == plan.wide {
            under_way.join_next().await;
        }
        let Some(number) = due() else {
            break;
        };
        let patience = (plan.given_up != 0 && rng.once_in(plan.given_up)).then(|| rng.millis(80));
        let pause = rng.millis(10);
        under_way.spawn(async move {
            sleep(pause).await;
            let arguments = format!(r#"{{"number":{number}}}"#);
            let call = ToolCall::new(number.to_string(), tool(number), arguments);
            let call = session.registry().call(call);
            match patience {
                Some(patience) => timeout(patience, call).await.ok(),
                None => Some(call.await),
            }
        });
    }
    while let Some(call) = under_way.join_next().await {
        call.map_err(|error| error.to_string())?;
    }
    Ok(())
}
