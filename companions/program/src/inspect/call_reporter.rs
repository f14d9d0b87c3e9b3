//! One call that is told to those who follow: that it began, what was judged, how it ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::events::Events;
use super::shown;
use crate::{Outcome, Registry, Run, ToolCall, Watched};

/// Checks of one call that are told; a loop may make millions.
const CHECKS: usize = 100;

/// The most characters of arguments and of results that are told.
const LONGEST: usize = 2_000;

/// A call that is under way. Where nobody holds it any more before it has ended, it was broken off.
pub(super) struct Followed {
    number: u64,
    events: Arc<Events>,
    began: Instant,
    checks: AtomicUsize,
    over: AtomicBool,
}

impl Followed {
    pub(super) fn new(events: &Arc<Events>) -> Arc<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            events: Arc::clone(events),
            began: Instant::now(),
            checks: AtomicUsize::new(0),
            over: AtomicBool::new(true),
        })
    }

    /// Says that it begins.
    pub(super) fn begin(&self, registry: &Registry, call: &ToolCall, from: &str) {
        self.over.store(false, Ordering::Relaxed);
        self.tell(json!({
            "kind": "begun",
            "tool": clipped(&call.name),
            "from": from,
            "arguments": clipped(&arguments(registry, call)),
        }));
    }

    /// The run to make the call in, which tells what is judged.
    pub(super) fn run(self: &Arc<Self>) -> Run {
        let followed = Arc::clone(self);
        Run::new().watch(move |watched| followed.hear(watched))
    }

    fn hear(&self, watched: Watched<'_>) {
        match watched {
            Watched::Check(check) if self.is_told() => self.tell(json!({
                "kind": "check",
                "contract": check.contract,
                "predicate": check.predicate,
            })),
            Watched::Violation(violation) if self.is_told() => self.tell(json!({
                "kind": "violation",
                "contract": violation.contract,
                "text": clipped(&violation.to_string()),
            })),
            Watched::Entered { .. } => self.tell(json!({"kind": "entered"})),
            _ => {}
        }
    }

    fn is_told(&self) -> bool {
        self.checks.fetch_add(1, Ordering::Relaxed) < CHECKS
    }

    /// Says how it ended, and gives the outcome as the page shows it.
    pub(super) fn end(&self, outcome: &Outcome) -> Value {
        let mut shown = shown::outcome(outcome, self.began.elapsed());
        shown["call"] = json!(self.number);
        let text = match outcome.output() {
            Some(text) => clipped(text),
            None => clipped(&outcome.error().unwrap_or_default()),
        };
        self.over(&json!(outcome.status()), &text);
        shown
    }

    /// Says that nobody waits for it any more, unless it has ended.
    pub(super) fn break_off(&self) {
        self.over(&json!("cancelled"), "the caller broke it off");
    }

    fn over(&self, status: &Value, text: &str) {
        if self.over.swap(true, Ordering::Relaxed) {
            return;
        }
        let checks = self.checks.load(Ordering::Relaxed);
        self.tell(json!({
            "kind": "ended",
            "status": status,
            "text": text,
            "milliseconds": shown::milliseconds(self.began.elapsed()),
            "untold": checks.saturating_sub(CHECKS),
        }));
    }

    fn tell(&self, mut event: Value) {
        event["call"] = json!(self.number);
        self.events.tell(event);
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.break_off();
    }
}

/// The arguments without those that must be shown nowhere.
fn arguments(registry: &Registry, call: &ToolCall) -> String {
    let Some(tool) = registry.tool(&call.name) else {
        // A misspelt name may stand before the arguments of a tool that has secrets.
        let may_be_secret = registry.tools().any(|tool| tool.has_secrets());
        return if may_be_secret {
            "***".to_owned()
        } else {
            call.arguments.clone()
        };
    };
    if !tool.has_secrets() {
        return call.arguments.clone();
    }
    let known = tool.input_schema()["properties"].as_object();
    let Ok(given) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(&call.arguments) else {
        return "***".to_owned();
    };
    // A misspelt name may stand before a secret as well.
    let open =
        |name: &str| known.is_some_and(|all| all.contains_key(name)) && !tool.is_secret(name);
    let members: Vec<String> = given
        .iter()
        .map(|(name, value)| {
            let value = if open(name) { value.get() } else { "\"***\"" };
            format!("{}:{value}", Value::from(name.as_str()))
        })
        .collect();
    format!("{{{}}}", members.join(","))
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
