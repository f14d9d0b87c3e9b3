//! Reports one call to subscribers: its start, its checked conditions and its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::{Context, LogRecord, Outcome, Registry, Run, ToolCall, ToolInfo};
use serde_json::{Value, json};

use super::event_log::EventLog;
use super::page_json;
use crate::explain::masked;

/// The most reported checks of one call; a loop may make millions.
const CHECKS: usize = 100;

/// The most reported characters of arguments and results.
const LONGEST: usize = 2_000;

/// A call in progress; if it is dropped before it has ended, it is reported as cancelled.
pub(super) struct CallReporter {
    number: u64,
    events: Arc<EventLog>,
    began: Instant,
    checks: AtomicUsize,
    over: AtomicBool,
}

impl CallReporter {
    pub(super) fn new(events: &Arc<EventLog>) -> Arc<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            events: Arc::clone(events),
            began: Instant::now(),
            checks: AtomicUsize::new(0),
            over: AtomicBool::new(true),
        })
    }

    /// Reports the start.
    pub(super) fn begin(&self, registry: &Registry, call: &ToolCall, from: &str) {
        self.over.store(false, Ordering::Relaxed);
        self.emit(json!({
            "kind": "begun",
            "tool": clipped(&call.name),
            "from": from,
            "arguments": clipped(&arguments(registry, call)),
        }));
    }

    /// Returns what a call is made with, so that its checks and its log are reported.
    pub(super) fn context(self: &Arc<Self>) -> Context {
        let (events, logs) = (Arc::clone(self), Arc::clone(self));
        let observer = Observer::new().events(move |event| events.report(event));
        Context::new()
            .run(&Run::new())
            .observe(observer)
            .log(move |record| logs.log(record))
    }

    fn log(&self, record: &LogRecord) {
        if self.is_told() {
            self.emit(json!({
                "kind": "log",
                "level": record.level,
                "text": clipped(&record.message),
            }));
        }
    }

    fn report(&self, event: CheckEvent<'_>) {
        match event {
            CheckEvent::Check(check) if self.is_told() => self.emit(json!({
                "kind": "check",
                "contract": check.contract,
                "predicate": check.predicate,
            })),
            CheckEvent::Violation(violation) if self.is_told() => self.emit(json!({
                "kind": "violation",
                "contract": violation.contract,
                "text": clipped(&violation.to_string()),
            })),
            CheckEvent::Entered { .. } => self.emit(json!({"kind": "entered"})),
            _ => {}
        }
    }

    fn is_told(&self) -> bool {
        self.checks.fetch_add(1, Ordering::Relaxed) < CHECKS
    }

    /// Reports the outcome, and returns it as JSON for the page.
    pub(super) fn end(&self, outcome: &Outcome) -> Value {
        let mut shown = page_json::outcome(outcome, self.began.elapsed());
        shown["call"] = json!(self.number);
        let text = outcome.output().or_else(|| outcome.error());
        self.over(&json!(outcome.status()), &clipped(text.unwrap_or_default()));
        shown
    }

    /// Reports that it was cancelled, unless it has ended.
    pub(super) fn break_off(&self) {
        self.over(&json!("cancelled"), "the caller gave up");
    }

    fn over(&self, status: &Value, text: &str) {
        if self.over.swap(true, Ordering::Relaxed) {
            return;
        }
        let checks = self.checks.load(Ordering::Relaxed);
        self.emit(json!({
            "kind": "ended",
            "status": status,
            "text": text,
            "milliseconds": page_json::milliseconds(self.began.elapsed()),
            "untold": checks.saturating_sub(CHECKS),
        }));
    }

    fn emit(&self, mut event: Value) {
        event["call"] = json!(self.number);
        self.events.push(event);
    }
}

impl Drop for CallReporter {
    fn drop(&mut self) {
        self.break_off();
    }
}

/// The arguments with secrets masked.
fn arguments(registry: &Registry, call: &ToolCall) -> String {
    let shown = match registry.tool(&call.name) {
        Some(tool) => masked(tool, &call.arguments),
        // The name may be a misspelt name of a tool that has secrets.
        None if registry.tools().any(ToolInfo::has_secrets) => None,
        None => Some(call.arguments.clone()),
    };
    shown.unwrap_or_else(|| "***".to_owned())
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
