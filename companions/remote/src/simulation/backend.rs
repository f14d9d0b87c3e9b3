use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::dice::Dice;
use super::hand::tool;
use super::shelf::Shelf;
use crate::ToolCall;
use crate::remote::RemoteError;
use crate::remote::backend::Task;
use crate::remote::store::ledger::CallRecord;

/// How the calls of a run are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) calls: u64,
    /// How many at once.
    pub(super) wide: usize,
    /// One in so many is given up; 0 is none.
    pub(super) given_up: u64,
}

impl Plan {
    pub(super) fn of(dice: &Dice, most: u64) -> Self {
        Self {
            calls: 2 + dice.below(most),
            wide: usize::try_from(1 + dice.below(6)).unwrap_or(1),
            given_up: [0, 0, 2, 5][usize::try_from(dice.below(4)).unwrap_or(0)],
        }
    }
}

/// The calls that any process has begun.
pub(super) fn begun(shelf: &Shelf) -> Vec<CallRecord> {
    let records = shelf.look("call.").into_iter();
    records
        .map(|(_, call)| serde_json::from_str(&call.value).unwrap())
        .collect()
}

pub(super) fn number(call: &CallRecord) -> u64 {
    call.parameters["number"].as_u64().unwrap()
}

/// What one process of a backend does: it settles what an earlier one left, and makes the calls that are due, until another
/// process takes the task over.
pub(super) async fn work(
    task: Task,
    plan: Plan,
    dice: Dice,
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
        let patience = (plan.given_up != 0 && dice.once_in(plan.given_up)).then(|| dice.millis(80));
        let pause = dice.millis(10);
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
