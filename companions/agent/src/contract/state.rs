//! The state of a run, as its invariants see it.

use std::collections::VecDeque;
use std::time::Duration;

use contract_runtime::__family::canonical;
use contract_runtime::{Status, ToolCall};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::event::{Event, REPLY};
use crate::model::Usage;
use crate::run_log::{CallEnd, PastCall, Progress};

/// The most observations that a state holds, and the most characters of each.
const REMEMBERED: usize = 10;
const OBSERVATION: usize = 10_000;

/// The most events that a state holds, and the most characters of each text in them.
const EVENTS: usize = 20;
const TEXT: usize = 1_000;

/// What an answer without the model is made of: the latest results, each cut to a number of characters.
const RESULTS: usize = 5;
const RESULT: usize = 200;

/// The state of a run so far, which invariants check at the beginning of every step.
///
/// A step is one reply of the model, with what it does. Texts are counted in characters. The state is bounded, however long
/// the run is.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct IterationState {
    /// Steps that have begun, including this one.
    pub iterations: u64,
    /// Useless replies that were requested again; no step began with them.
    pub asked_again: u64,
    /// Requests to models by runs nested in calls.
    pub nested_requests: u64,
    /// Calls that the model made, including refused ones and those of nested runs.
    pub tool_calls: u64,
    /// Calls that did not succeed, including those of nested runs.
    pub errors: u64,
    /// Time since the run began, without that in which a person was asked.
    #[serde(rename = "elapsed_ms", serialize_with = "milliseconds")]
    pub elapsed: Duration,
    /// The tool of the last call.
    pub last_tool_name: Option<String>,
    /// The last observation, cut to 10,000 characters.
    #[serde(skip)]
    pub last_observation: Option<String>,
    /// The last ten observations, each cut in the same way.
    #[serde(skip)]
    pub observations_so_far: VecDeque<String>,
    /// The last 20 events of the inner agent, without pieces of text; each text is cut to 1,000 characters.
    #[serde(skip)]
    pub events: VecDeque<Event>,
    /// The characters of the messages that the model was sent for this step: of the system text, of what was said before the
    /// run, of the task, of replies with the names and arguments of their calls, and of results. What a provider is sent beside
    /// the messages, such as the schemas of tools, is not counted.
    pub estimated_prompt_chars: u64,
    /// How often in a row the last observation came.
    pub consecutive_same_observation: u64,
    /// How often in a row the last call came, with the same arguments.
    pub consecutive_same_action: u64,
    /// The tokens of the model's replies so far, including those of nested runs, as far as they are reported.
    pub usage: Usage,
    #[serde(skip)]
    last_action: Option<(String, String)>,
    /// How many steps in a row called one tool, and the step of the last call.
    #[serde(skip)]
    pub(super) same_tool_steps: u64,
    #[serde(skip)]
    last_step: u64,
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
    /// The state at the beginning of a resumed run, which has made these calls.
    pub(super) fn resumed(progress: Progress, past: &[PastCall]) -> Self {
        let mut state = Self::default();
        for step in past.chunk_by(|one, next| one.step == next.step) {
            // The first call begins the step.
            let calls = step.iter().filter(|past| past.step > 0);
            for PastCall { step, call, .. } in calls.clone() {
                let call = call.clone();
                if !state.in_step {
                    state.iterations = step - 1;
                }
                state.note(&Event::Action { call }, progress.elapsed);
            }
            for PastCall { call, end, .. } in calls {
                let observation = observation(call.clone(), end.clone());
                state.note(&observation, progress.elapsed);
            }
        }
        Self {
            iterations: progress.iterations,
            asked_again: progress.asked_again,
            nested_requests: progress.nested_requests,
            tool_calls: progress.tool_calls,
            errors: progress.errors,
            elapsed: progress.elapsed,
            usage: progress.usage,
            ..state
        }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress {
            iterations: self.iterations,
            asked_again: self.asked_again,
            nested_requests: self.nested_requests,
            tool_calls: self.tool_calls,
            errors: self.errors,
            elapsed: self.elapsed,
            usage: self.usage,
        }
    }

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
            // What comes after a rejected answer is a new step.
            Event::Answer { .. } => self.in_step = false,
            Event::Action { call } => {
                self.tool_calls += 1;
                let arguments = canonical(&call.arguments);
                let (same_tool, same_action) = match &self.last_action {
                    Some((name, last)) => {
                        let same_tool = *name == call.name;
                        (same_tool, same_tool && *last == arguments)
                    }
                    None => (false, false),
                };
                let before = if same_action {
                    self.consecutive_same_action
                } else {
                    0
                };
                self.consecutive_same_action = before + 1;
                self.same_tool_steps = match (same_tool, self.last_step == self.iterations) {
                    // Several calls of one reply are one step.
                    (true, true) => self.same_tool_steps,
                    (true, false) => self.same_tool_steps + 1,
                    // A step of several tools is not a step of one tool.
                    (false, true) => 0,
                    (false, false) => 1,
                };
                self.last_step = self.iterations;
                self.last_action = Some((call.name.clone(), arguments));
                self.last_tool_name = Some(call.name.clone());
            }
            Event::Observation { status, text, .. } => self.observed(*status, text),
            Event::Usage { usage } => self.usage += *usage,
            Event::Retry { contract, .. } if contract == REPLY => self.asked_again += 1,
            _ => {}
        }
        if !event.is_piece() {
            remember(&mut self.events, EVENTS, shortened(event));
        }
    }

    /// Notes an event of a nested run, as far as it counts here.
    pub(super) fn note_nested(&mut self, event: &Event) {
        match event {
            Event::Nested { event, .. } => self.note_nested(event),
            Event::Observation { status, .. } => self.errors += u64::from(*status != Status::Ok),
            Event::Usage { usage } => self.usage += *usage,
            _ => {}
        }
    }

    /// The state as it stands in a violation.
    pub(super) fn values(&self) -> Map<String, Value> {
        let state = serde_json::to_value(self).unwrap_or_default();
        Map::from_iter([("state".to_owned(), state)])
    }

    /// The replies that were paid for, as far as they are known of.
    pub(super) const fn replies(&self) -> u64 {
        self.iterations.saturating_add(self.asked_again)
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
            effect,
            text,
            ..
        } => Event::Observation {
            call_id: call_id.clone(),
            tool: tool.clone(),
            status: *status,
            effect: *effect,
            text: start(text),
            value: None,
        },
        other => other.clone(),
    }
}

/// The observation of a call that ended in this way.
pub(super) fn observation(call: ToolCall, end: CallEnd) -> Event {
    let value = end.value();
    Event::Observation {
        call_id: call.id,
        tool: call.name,
        status: end.status,
        effect: end.effect,
        text: end.text,
        value,
    }
}
