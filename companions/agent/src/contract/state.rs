//! What a run has done so far, for its invariants.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::agent::event::Event;
use crate::agent::model::Usage;
use crate::tool::canonical::canonical;
use crate::tool::{Status, ToolCall};

/// The most observations that a state holds, and the most characters of each.
const REMEMBERED: usize = 10;
const OBSERVATION: usize = 10_000;

/// The most events that a state holds, and the most characters of each text in them.
const EVENTS: usize = 20;
const TEXT: usize = 1_000;

/// What an answer without the model is made of: so many results, and so many characters of each.
const RESULTS: usize = 5;
const RESULT: usize = 200;

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
    /// The last 20 events of the inner agent, with at most 1,000 characters of each text; pieces of text are not among them.
    #[serde(skip)]
    pub events: VecDeque<Event>,
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
    /// The last results of calls that ended well.
    #[serde(skip)]
    results: VecDeque<String>,
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
        if !matches!(event, Event::TextDelta { .. }) {
            remember(&mut self.events, EVENTS, shortened(event));
        }
    }

    /// What the tools have given, for an answer without the model.
    pub(super) fn answer_of_results(&self) -> Option<String> {
        if self.results.is_empty() {
            return None;
        }
        let results: Vec<&str> = self.results.iter().map(String::as_str).collect();
        Some(results.join("\n"))
    }

    fn observed(&mut self, status: Status, text: &str) {
        self.in_step = false;
        self.errors += u64::from(status != Status::Ok);
        self.said(text);
        if status == Status::Ok {
            remember(&mut self.results, RESULTS, start_of(text, RESULT));
        }
        let text = start_of(text, OBSERVATION);
        self.consecutive_same_observation = if self.last_observation.as_ref() == Some(&text) {
            self.consecutive_same_observation + 1
        } else {
            1
        };
        remember(&mut self.observations_so_far, REMEMBERED, text.clone());
        self.last_observation = Some(text);
    }

    fn said(&mut self, text: &str) {
        self.estimated_prompt_chars += text.chars().count() as u64;
    }
}

/// Adds the newest, and forgets the oldest where there are too many.
fn remember<T>(all: &mut VecDeque<T>, most: usize, newest: T) {
    if all.len() == most {
        all.pop_front();
    }
    all.push_back(newest);
}

fn start_of(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// An event for the memory of a state, which is small whatever a model says.
fn shortened(event: &Event) -> Event {
    let start = |text: &String| start_of(text, TEXT);
    match event {
        Event::Thought { text } => Event::Thought { text: start(text) },
        Event::Answer { text } => Event::Answer { text: start(text) },
        Event::Action { call } => {
            let arguments = start(&call.arguments);
            let call = ToolCall::new(call.id.clone(), call.name.clone(), arguments);
            Event::Action { call }
        }
        Event::Observation {
            call_id,
            tool,
            status,
            text,
        } => Event::Observation {
            call_id: call_id.clone(),
            tool: tool.clone(),
            status: *status,
            text: start(text),
        },
        other => other.clone(),
    }
}
