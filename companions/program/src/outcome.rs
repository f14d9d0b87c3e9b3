//! What came of a call, for people and for programs.

use std::io;

use serde_json::{Map, Value, json};

use super::artifacts::Kept;
use super::exit;
use super::screen::{BAD, CAREFUL, FAINT, GOOD, Screen};
use crate::{Coercion, Outcome, Status};

/// The result on standard output, everything else on standard error.
pub(super) fn print(
    outcome: &Outcome,
    kept: &[Kept<'_>],
    code: u8,
    screen: &mut Screen,
) -> io::Result<()> {
    if screen.json() {
        return screen.data(&data(outcome, kept, code));
    }
    notes(outcome, screen);
    if let Some(text) = outcome.output() {
        screen.out.text(text)?;
    }
    for (index, kept) in kept.iter().enumerate() {
        screen.note(FAINT, &format!("artifact {}", index + 1), &kept.to_string());
    }
    Ok(())
}

/// Whether the body would have run.
pub(super) fn print_check(outcome: &Outcome, screen: &mut Screen) -> io::Result<()> {
    if screen.json() {
        return screen.data(&data(outcome, &[], exit::of(outcome.status())));
    }
    notes(outcome, screen);
    if outcome.is_ok() {
        let word = screen.out.painted(GOOD, "ok");
        let name = screen.out.safe(outcome.tool());
        let line = format!("{word}: `{name}` would run\n");
        screen.out.write(&line)?;
    }
    Ok(())
}

fn notes(outcome: &Outcome, screen: &mut Screen) {
    for violation in outcome.observed() {
        screen.note(CAREFUL, "observed", &violation.to_string());
    }
    for coercion in outcome.coercions() {
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
        screen.note(CAREFUL, "coerced", &text);
    }
    if let Some(error) = outcome.error() {
        let status = outcome.status();
        let style = match status {
            Status::Violation | Status::Cancelled => CAREFUL,
            _ => BAD,
        };
        screen.note(style, status.name(), &error);
    }
}

/// Everything that is known of it; what there is not is left out.
fn data(outcome: &Outcome, kept: &[Kept<'_>], code: u8) -> Value {
    let mut data = Map::new();
    data.insert("tool".into(), outcome.tool().into());
    data.insert("status".into(), outcome.status().name().into());
    data.insert("exit_code".into(), code.into());
    let mut say = |name: &str, value: Value| {
        if !matches!(&value, Value::Null) && value != json!([]) {
            data.insert(name.to_owned(), value);
        }
    };
    say("output", json!(outcome.output()));
    say("value", outcome.value().unwrap_or_default());
    say("error", json!(outcome.error()));
    say("violation", json!(outcome.violation()));
    let invalid = outcome.invalid_arguments();
    say(
        "problems",
        json!(invalid.map(crate::InvalidArguments::problems)),
    );
    say("observed", json!(outcome.observed()));
    say("coercions", json!(outcome.coercions()));
    say("artifacts", kept.iter().map(Kept::json).collect());
    if outcome.may_still_be_running() {
        say("may_still_be_running", true.into());
    }
    data.into()
}
