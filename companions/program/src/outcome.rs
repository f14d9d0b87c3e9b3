//! Prints the outcome of a call, as text or as JSON.

use std::io;

use contract_runtime::{Coercion, Outcome, Status};
use serde_json::{Value, json};

use super::approval::Request;
use super::artifacts::SavedArtifact;
use super::exit;
use super::output::{BAD, CAREFUL, FAINT, GOOD, Output};

/// Prints the result to standard output, everything else to standard error.
pub(super) fn print(
    outcome: &Outcome,
    asked: Option<&Request<'_>>,
    kept: &[SavedArtifact<'_>],
    code: u8,
    output: &mut Output,
) -> io::Result<()> {
    if output.json() {
        return output.data(&data(outcome, asked, kept, code));
    }
    notes(outcome, output);
    if let Some(asked) = asked {
        output.note(
            FAINT,
            "to approve it",
            &format!("call again with --approve {}", asked.id()),
        );
        output.data(&asked.json())?;
    }
    if let Some(text) = outcome.output() {
        output.out.text(text)?;
    }
    for (index, kept) in kept.iter().enumerate() {
        output.note(FAINT, &format!("artifact {}", index + 1), &kept.to_string());
    }
    Ok(())
}

/// Prints whether the body would have run.
pub(super) fn print_check(
    outcome: &Outcome,
    asked: Option<&Request<'_>>,
    output: &mut Output,
) -> io::Result<()> {
    if output.json() {
        return output.data(&data(outcome, asked, &[], exit::of(outcome.status())));
    }
    notes(outcome, output);
    if outcome.is_ok() {
        let word = output.out.painted(GOOD, "ok");
        let name = output.out.safe(outcome.tool());
        let line = format!("{word}: `{name}` would run\n");
        output.out.write(&line)?;
    }
    Ok(())
}

pub(super) fn notes(outcome: &Outcome, output: &mut Output) {
    for violation in outcome.observed() {
        output.note(CAREFUL, "observed", &violation.to_string());
    }
    for coercion in outcome.coercions() {
        if coercion.left_out {
            output.note(CAREFUL, "left out", &format!("`{}`", coercion.pointer));
            continue;
        }
        let text = match coercion {
            Coercion {
                pointer,
                secret: true,
                ..
            } => format!("`{pointer}`"),
            Coercion {
                pointer, from, to, ..
            } => format!("`{pointer}` from {from} to {to}"),
        };
        output.note(CAREFUL, "coerced", &text);
    }
    if let Some(error) = outcome.error() {
        let status = outcome.status();
        let style = match status {
            Status::Violation
            | Status::Cancelled
            | Status::Asked
            | Status::Denied
            | Status::Refused => CAREFUL,
            _ => BAD,
        };
        output.note(style, status.name(), error);
    }
}

/// Everything that is known about the outcome, without empty members.
pub(super) fn data(
    outcome: &Outcome,
    asked: Option<&Request<'_>>,
    kept: &[SavedArtifact<'_>],
    code: u8,
) -> Value {
    let mut data = json!(outcome);
    data["exit_code"] = code.into();
    if let Some(value) = outcome.value().filter(|value| !value.is_null()) {
        data["value"] = value;
    }
    if let Some(asked) = asked {
        data["approval_request"] = asked.json();
    }
    if !kept.is_empty() {
        data["artifacts"] = kept.iter().map(SavedArtifact::json).collect();
    }
    data
}
