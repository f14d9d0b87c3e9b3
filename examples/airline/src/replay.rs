//! What contracts would have done in a recorded conversation.
//!
//! Conditions only observe here, so the state follows the recording: a write that went through then is carried out, and
//! what it breaks is noted. Where the recording shows a reservation, it becomes that reservation.

use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};

use contract_runtime::approval::{Approval, Decision};
use contract_runtime::prelude::*;
use contract_runtime::{ConditionKind, Run, Violation};
use serde_json::Value;

use crate::agreement;
use crate::golden::registry;
use crate::model::Reservation;
use crate::recording::{Call, Conversation, Turn};
use crate::store::Airline;

/// A write that went through in a recorded conversation, judged.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Write {
    /// The call.
    pub call: Call,
    /// Whether the task expects it.
    pub expected: bool,
    /// The conditions about arguments and state that it breaks: the condition and the sentence. The first would have stopped
    /// it.
    pub breaks: Vec<(String, String)>,
    /// Whether the user said yes before it, as far as somebody is asked.
    pub agreed: bool,
    /// Whether the user gave a reason that insurance covers, as far as somebody is asked.
    pub reason: bool,
    /// Whether the model made it beside other calls, which the policy forbids.
    pub beside: bool,
}

/// What became of a conversation.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The writes, in their order.
    pub writes: Vec<Write>,
    /// Writes whose recorded result is not the one of this airline.
    pub differences: usize,
}

/// Judges the writes that went through in a conversation, on a copy of the airline.
///
/// # Errors
///
/// Fails if the airline does not know a user of the recording, the database cannot be copied or written, or the registry
/// cannot be built.
pub fn replay(airline: &Airline, conversation: &Conversation) -> Result<Replayed, String> {
    let airline = Arc::new(airline.copy().map_err(|error| error.to_string())?);
    let registry = registry(&airline, Policy::Observe)?;
    let run = Run::new();
    let mut replayed = Replayed {
        writes: Vec::new(),
        differences: 0,
    };
    for (place, turn) in conversation.turns.iter().enumerate() {
        let Turn::Call {
            call,
            answer,
            failed: false,
            beside,
        } = turn
        else {
            continue;
        };
        let shown = serde_json::from_str::<Reservation>(answer).ok();
        let Some(tool) = registry.tool(&call.name) else {
            continue;
        };
        let said = &conversation.turns[..place];
        let asked = Arc::new(Mutex::new(Vec::new()));
        let requested = ToolCall::new("replay", &call.name, call.arguments.to_string());
        // Each call is a turn of its own, so that the history of the run is that of the recording.
        let outcome = registry
            .call(requested)
            .context(noting(&asked).run(&run))
            .blocking();
        if tool.hints().read_only != Some(true) {
            if let Some(missing) = outcome
                .violation()
                .filter(|violation| violation.predicate.contains("user("))
            {
                return Err(format!(
                    "{}, so the data is not that of the recording; set AIRLINE_DATA",
                    missing.refusal()
                ));
            }
            replayed.writes.push(Write {
                call: call.clone(),
                expected: conversation
                    .task
                    .expected
                    .iter()
                    .any(|expected| same(expected, call)),
                breaks: breaks(&outcome),
                agreed: !asks(&asked, ".confirm") || agreement::to_write(said),
                reason: !asks(&asked, ".pre") || agreement::to_reason(said),
                beside: *beside,
            });
            let ours = outcome
                .value()
                .and_then(|ours| serde_json::from_value::<Reservation>(ours).ok());
            replayed.differences += usize::from(
                ours.zip(shown.as_ref())
                    .is_some_and(|(ours, shown)| differ(&ours, shown)),
            );
        }
        if let Some(shown) = shown {
            airline.follow(shown).map_err(|error| error.to_string())?;
        }
    }
    Ok(replayed)
}

/// A context that lets every call go on and notes which contracts asked.
fn noting(asked: &Arc<Mutex<Vec<String>>>) -> Context {
    let asked = Arc::clone(asked);
    Context::new().approver(move |request| {
        let contracts = request
            .questions
            .into_iter()
            .map(|question| question.contract);
        asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(contracts);
        ready(Decision::Approved(Approval::Once))
    })
}

fn asks(asked: &Mutex<Vec<String>>, kind: &str) -> bool {
    asked
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
        .any(|contract| contract.contains(kind))
}

/// Returns the conditions about arguments and state that would have stopped a call, in their order.
fn breaks(outcome: &Outcome) -> Vec<(String, String)> {
    let broken = outcome.observed().iter().chain(outcome.violation());
    let before =
        broken.filter(|broken| matches!(broken.kind, ConditionKind::Pre | ConditionKind::Given));
    let mut breaks: Vec<_> = before
        .map(|broken| (condition(broken), broken.refusal()))
        .collect();
    if outcome.violation().is_none() {
        breaks.extend(
            outcome
                .error()
                .map(|sentence| (outcome.status().to_string(), sentence.to_owned())),
        );
    }
    breaks
}

/// The name of the function that judges, or the condition itself.
fn condition(broken: &Violation) -> String {
    let name = broken.predicate.split('(').next().unwrap_or_default();
    let is_name = !name.is_empty() && name.chars().all(|c| c == '_' || c.is_alphanumeric());
    let shown = if is_name { name } else { &broken.predicate };
    shown.to_owned()
}

fn differ(ours: &Reservation, shown: &Reservation) -> bool {
    ours.flights != shown.flights || ours.payment_history != shown.payment_history
}

/// Says whether two calls are the same, whatever else their objects hold.
fn same(expected: &Call, call: &Call) -> bool {
    expected.name == call.name && covers(&call.arguments, &expected.arguments)
}

fn covers(given: &Value, expected: &Value) -> bool {
    match (given, expected) {
        (Value::Object(given), Value::Object(expected)) => expected
            .iter()
            .all(|(key, value)| given.get(key).is_some_and(|given| covers(given, value))),
        (Value::Array(given), Value::Array(expected)) => {
            given.len() == expected.len()
                && given
                    .iter()
                    .zip(expected)
                    .all(|(given, expected)| covers(given, expected))
        }
        (Value::Number(given), Value::Number(expected)) => given.as_f64() == expected.as_f64(),
        _ => given == expected,
    }
}
