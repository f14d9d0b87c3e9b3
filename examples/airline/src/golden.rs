//! Whether the calls that a task expects are accepted, and leave the expected database.

use std::sync::Arc;

use contract_runtime::Run;
use contract_runtime::approval::{Approval, Decision};
use contract_runtime::prelude::*;
use serde_json::Value;

use crate::digest;
use crate::recording::{Call, Task};
use crate::store::Airline;

/// What became of the expected calls of a task.
#[derive(Clone, Debug)]
pub struct Played {
    /// The calls that were refused, each with the sentence.
    pub refused: Vec<(Call, String)>,
    /// Whether the database ended as published; `None` where no digest is. After a refusal, the calls are played again
    /// with conditions that only observe, because the published database has the effect of the refused call.
    pub database_right: Option<bool>,
}

/// Expected calls that break the policy of their own suite: the tool, whom or what it is about, and why. All are in the first
/// suite and in early tasks of the second, whose later tasks correct them. Each was looked at.
const BREAKS_ITS_POLICY: [&str; 8] = [
    "cancel_reservation H9ZU1C: economy without insurance, booked two weeks ago",
    "cancel_reservation NQNU5R: both flights have landed",
    "cancel_reservation XEHM4B: economy without insurance, booked two weeks ago",
    "send_certificate ethan_martin_2396: a delayed flight that was neither changed nor cancelled",
    "send_certificate noah_muller_9847: no flight is delayed, and nothing was changed or cancelled",
    "update_reservation_flights VA5SGQ: another destination: JFK instead of LGA",
    "update_reservation_baggages VA5SGQ: charges a regular member for the free bag of economy",
    "update_reservation_baggages HXDUBJ: charges a gold member for two of three free bags",
];

/// Returns why a call that a task expects breaks the policy of its own suite, if it is known to.
#[must_use]
pub fn why_wrong(call: &Call) -> Option<&'static str> {
    let subject = ["reservation_id", "user_id"]
        .iter()
        .find_map(|key| call.arguments[key].as_str())?;
    let about = format!("{} {subject}: ", call.name);
    BREAKS_ITS_POLICY
        .iter()
        .find_map(|known| known.strip_prefix(&about))
}

/// Plays the expected calls of a task on copies of the airline, with a user who says yes.
///
/// `data` is the published data, for the tables that no call changes.
///
/// # Errors
///
/// Fails if the database cannot be copied or read, or the registry cannot be built.
pub async fn play(airline: &Airline, data: &Value, task: &Task) -> Result<Played, String> {
    let (refused, mut after) = play_under(Policy::Enforce, airline, task).await?;
    let Some(published) = &task.digest else {
        return Ok(Played {
            refused,
            database_right: None,
        });
    };
    if !refused.is_empty() {
        (_, after) = play_under(Policy::Observe, airline, task).await?;
    }
    let mut contents = after.contents().map_err(|error| error.to_string())?;
    contents["flights"] = data["flights"].clone();
    Ok(Played {
        refused,
        database_right: Some(digest::of(&contents) == *published),
    })
}

/// Returns the database after the expected calls of a task.
///
/// # Errors
///
/// Fails if the database cannot be copied or read, or the registry cannot be built.
pub async fn after(airline: &Airline, task: &Task) -> Result<Value, String> {
    let (_, after) = play_under(Policy::Observe, airline, task).await?;
    after.contents().map_err(|error| error.to_string())
}

type Refused = Vec<(Call, String)>;

async fn play_under(
    policy: Policy,
    airline: &Airline,
    task: &Task,
) -> Result<(Refused, Arc<Airline>), String> {
    let airline = Arc::new(airline.copy().map_err(|error| error.to_string())?);
    let registry = registry(&airline, policy)?;
    let run = Run::new();
    let mut refused = Vec::new();
    for (place, call) in task.expected.iter().enumerate() {
        if !registry.tools().any(|tool| tool.name() == call.name) {
            continue; // The first suite has a tool to think aloud.
        }
        let requested = ToolCall::new(place.to_string(), &call.name, call.arguments.to_string());
        let outcome = registry
            .call(requested)
            .context(
                Context::new()
                    .run(&run)
                    .approver(async |_| Decision::Approved(Approval::Once)),
            )
            .await;
        if let Some(sentence) = outcome.error() {
            refused.push((call.clone(), sentence.to_owned()));
        }
    }
    Ok((refused, airline))
}

/// Returns the tools of an airline, with conditions that end calls or only observe them.
///
/// # Errors
///
/// Fails if the registry cannot be built.
pub fn registry(airline: &Arc<Airline>, policy: Policy) -> Result<Registry, String> {
    let tools = Registry::builder().with(Arc::clone(airline)).policy(policy);
    tools.build().map_err(|error| error.to_string())
}
