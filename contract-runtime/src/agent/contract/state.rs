//! What a run has done so far, for its invariants.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::agent::event::Event;
use crate::agent::model::Usage;
use crate::tool::Status;

/// The most observations that a state holds, and the most characters of each.
const REMEMBERED: usize = 10;
const OBSERVATION: usize = 10_000;

/// What a run has done so far; invariants look at it at the beginning of every step.
///
/// A step is one reply of the model, with what it does. Texts are counted in characters. The state is bounded, however long
/// the run is.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct IterationState {
    /// Steps that have begun, this one among them.
    pub iterations: u64,
    /// Calls that the model made, refused ones among them.
    pub tool_calls: u64,
    /// Calls that did not end well.
    pub errors: u64,
    /// Since the run began.
    #[serde(rename = "elapsed_ms", serialize_with = "milliseconds")]
    pub elapsed: Duration,
    /// The tool of the last call.
    pub last_tool_name: Option<String>,
    /// The last observation, at most 10,000 characters of it.
    #[serde(skip)]
    pub last_observation: Option<String>,
    /// The last ten observations, each cut in the same way.
    #[serde(skip)]
    pub observations_so_far: VecDeque<String>,
    /// The characters of everything that was said and observed, which is nearly what the next prompt holds.
    pub estimated_prompt_chars: u64,
    /// How often the last observation stood in a row.
    pub consecutive_same_observation: u64,
    /// How often the last call stood in a row, with the same arguments.
    pub consecutive_same_action: u64,
    /// What the model's replies cost so far, where it says so.
    pub usage: Usage,
    #[serde(skip)]
    last_action: Option<(String, String)>,
    #[serde(skip)]
    in_step: bool,
}

fn milliseconds<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
}

impl IterationState {
    /// Whether an event begins a step; an observation ends one.
    pub(super) fn begins_step(&self, event: &Event) -> bool {
        match event {
            Event::Thought { .. } => true,
            Event::Action { .. } | Event::Answer { .. } => !self.in_step,
            _ => false,
        }
    }

    pub(super) fn note(&mut self, event: &Event, elapsed: Duration) {
        self.elapsed = elapsed;
        if self.begins_step(event) {
            self.iterations += 1;
            self.in_step = true;
        }
        match event {
            Event::Thought { text } => self.said(text),
            Event::Answer { text } => {
                self.said(text);
                // What comes after a rejected answer is a new step.
                self.in_step = false;
            }
            Event::Action { call } => {
                self.tool_calls += 1;
                self.said(&call.arguments);
                let arguments = canonical(&call.arguments);
                let same = self
                    .last_action
                    .as_ref()
                    .is_some_and(|(name, last)| *name == call.name && *last == arguments);
                self.consecutive_same_action = if same {
                    self.consecutive_same_action + 1
                } else {
                    1
                };
                self.last_action = Some((call.name.clone(), arguments));
                self.last_tool_name = Some(call.name.clone());
            }
            Event::Observation { status, text, .. } => self.observed(*status, text),
            Event::Usage { usage } => self.usage += *usage,
            _ => {}
        }
    }

    fn observed(&mut self, status: Status, text: &str) {
        self.in_step = false;
        self.errors += u64::from(status != Status::Ok);
        self.said(text);
        let text: String = text.chars().take(OBSERVATION).collect();
        self.consecutive_same_observation = if self.last_observation.as_ref() == Some(&text) {
            self.consecutive_same_observation + 1
        } else {
            1
        };
        if self.observations_so_far.len() == REMEMBERED {
            self.observations_so_far.pop_front();
        }
        self.observations_so_far.push_back(text.clone());
        self.last_observation = Some(text);
    }

    fn said(&mut self, text: &str) {
        self.estimated_prompt_chars += text.chars().count() as u64;
    }
}

/// Arguments without what does not matter: white space, and the order of keys.
///
/// Numbers that a float cannot tell apart, and keys that are given twice, are told apart by the characters that are there.
pub(super) fn canonical(arguments: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(arguments) else {
        return arguments.trim().to_owned();
    };
    value.sort_all_objects();
    let mut characters: Vec<char> = arguments.chars().filter(|c| !c.is_whitespace()).collect();
    characters.sort_unstable();
    format!("{value} {}", characters.into_iter().collect::<String>())
}
