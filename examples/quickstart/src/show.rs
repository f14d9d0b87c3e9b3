//! Results for people: colours only on a terminal.

use std::io::IsTerminal as _;

use contract_runtime::{MalformedCall, Outcome, Statistics, Status, ToolCall};

pub(crate) struct Show {
    colours: bool,
}

impl Show {
    pub(crate) fn new() -> Self {
        Self {
            colours: std::io::stdout().is_terminal(),
        }
    }

    pub(crate) fn heading(&self, text: &str) {
        println!("\n{}", self.painted("1", &format!("# {text}")));
    }

    pub(crate) fn call(&self, call: &ToolCall, outcome: Outcome) {
        let colour = match outcome.status() {
            Status::Ok => "32",
            Status::Violation => "33",
            _ => "31",
        };
        let status = self.painted(colour, outcome.status().name());
        println!("\n{} {}({})", call.id, call.name, call.arguments);
        for violation in outcome.observed() {
            println!("  {} {violation}", self.painted("33", "observed"));
        }
        let result = outcome.into_result();
        println!("  {status} {}", result.text().replace('\n', "\n    "));
    }

    pub(crate) fn malformed(&self, line: usize, error: &MalformedCall) {
        println!(
            "\nline {line}\n  {} {error}",
            self.painted("31", "malformed")
        );
    }

    pub(crate) fn statistics(&self, statistics: &Statistics) {
        println!(
            "{} calls",
            self.painted("1", &statistics.calls().to_string())
        );
        for status in [
            Status::Ok,
            Status::InvalidArguments,
            Status::UnknownTool,
            Status::Violation,
            Status::Failed,
            Status::Panicked,
            Status::TimedOut,
        ] {
            println!("  {:<18}{}", status.name(), statistics.ended(status));
        }
        let conditions = statistics.conditions;
        println!(
            "conditions: {} evaluated, {} violated, {} skipped",
            conditions.evaluated, conditions.violated, conditions.skipped
        );
    }

    fn painted(&self, colour: &str, text: &str) -> String {
        if self.colours {
            format!("\x1b[{colour}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
