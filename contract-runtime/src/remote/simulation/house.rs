use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::dice::Dice;
use super::hand::tool;
use super::shelf::Shelf;
use crate::ToolCall;
use crate::remote::backend::simulated::House;
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

/// What one process of a backend does: it settles what an earlier one left, and makes the calls that none has made.
pub(super) async fn work(house: House, shelf: Shelf, plan: Plan, dice: Dice) -> Result<(), String> {
    house.task.settled().await;
    let session = house
        .task
        .attached()
        .await
        .map_err(|error| error.to_string())?;
    let session = Arc::new(session);
    let known: BTreeSet<u64> = begun(&shelf).iter().map(number).collect();
    let mut under_way = JoinSet::new();
    for number in (0..plan.calls).filter(|number| !known.contains(number)) {
        if under_way.len() == plan.wide {
            under_way.join_next().await;
        }
        let patience = (plan.given_up != 0 && dice.once_in(plan.given_up)).then(|| dice.millis(80));
        let (session, pause) = (Arc::clone(&session), dice.millis(10));
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
