//! Whether the calls that a task expects are accepted, and leave the expected database.

use std::sync::Arc;

use contract_runtime::prelude::*;
use serde_json::Value;

use crate::consent::Consent;
use crate::digest;
use crate::model::Edition;
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

/// Expected calls of the first suite that break its own written policy, by task. Each was looked at; the second suite
/// corrected these tasks.
const BREAKS_ITS_POLICY: [(u64, &str, &str); 10] = [
    (
        10,
        "cancel_reservation",
        "economy without insurance, booked two weeks ago",
    ),
    (
        16,
        "send_certificate",
        "a delayed flight that was neither changed nor cancelled",
    ),
    (
        19,
        "update_reservation_flights",
        "another destination: JFK instead of LGA",
    ),
    (
        19,
        "update_reservation_baggages",
        "charges a regular member for the free bag of economy",
    ),
    (
        23,
        "update_reservation_baggages",
        "charges a gold member for two of three free bags",
    ),
    (26, "cancel_reservation", "both flights have landed"),
    (27, "cancel_reservation", "both flights have landed"),
    (
        34,
        "cancel_reservation",
        "economy without insurance, booked two weeks ago",
    ),
    (
        45,
        "send_certificate",
        "no flight is delayed, and nothing was changed or cancelled",
    ),
    (
        46,
        "send_certificate",
        "no flight is delayed, and nothing was changed or cancelled",
    ),
];

/// Returns why an expected call breaks the policy of its own suite, if it is known to.
#[must_use]
pub fn why_wrong(edition: Edition, task: &Task, call: &Call) -> Option<&'static str> {
    let known = BREAKS_ITS_POLICY
        .iter()
        .filter(|_| edition == Edition::First);
    known
        .filter(|(number, tool, _)| (*number, *tool) == (task.number, &call.name))
        .map(|(.., reason)| *reason)
        .next()
}

/// Plays the expected calls of a task on copies of the airline, with a user who says yes.
///
/// `data` is the published data, for the tables that no call changes.
///
/// # Errors
///
/// Fails if the database cannot be copied or read, or the registry cannot be built.
pub fn play(airline: &Airline, data: &Value, task: &Task) -> Result<Played, String> {
    let (refused, mut after) = play_under(Policy::Enforce, airline, task)?;
    let Some(published) = &task.digest else {
        return Ok(Played {
            refused,
            database_right: None,
        });
    };
    if !refused.is_empty() {
        (_, after) = play_under(Policy::Observe, airline, task)?;
    }
    let mut contents = after.contents().map_err(|error| error.to_string())?;
    contents["flights"] = data["flights"].clone();
    Ok(Played {
        refused,
        database_right: Some(digest::of(&contents) == *published),
    })
}

type Refused = Vec<(Call, String)>;

fn play_under(
    policy: Policy,
    airline: &Airline,
    task: &Task,
) -> Result<(Refused, Arc<Airline>), String> {
    let airline = Arc::new(airline.copy().map_err(|error| error.to_string())?);
    let registry = registry(&airline, policy)?;
    let mut refused = Vec::new();
    for (place, call) in task.expected.iter().enumerate() {
        if !registry.tools().any(|tool| tool.name() == call.name) {
            continue; // The first suite has a tool to think aloud.
        }
        let requested = ToolCall::new(place.to_string(), &call.name, call.arguments.to_string());
        let outcome = registry.call_blocking_with(requested, Context::new().with(Consent::Given));
        if let Some(sentence) = outcome.error() {
            refused.push((call.clone(), sentence));
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
    let tools = Registry::builder()
        .with(Arc::clone(airline))
        .context_per_call::<Consent>()
        .policy(policy);
    tools.build().map_err(|error| error.to_string())
}
