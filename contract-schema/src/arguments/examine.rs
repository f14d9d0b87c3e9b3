//! Reads arguments: judges them, and rewrites them in the form that the types read.

use serde_json::error::Category;

use super::correct::{Coercion, write};
use super::place::locate;
use super::problem::{ArgumentProblem, InvalidArguments, ProblemKind};
use super::walk::{Found, Options, Stop, Walk};
use crate::InputSchema;
use crate::lexer::Lexer;

/// Arguments that the schema admits.
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// A JSON object in the form that typed decoding reads.
    pub text: String,
    /// The values that were read as another type.
    pub coercions: Vec<Coercion>,
}

/// Reads the arguments of a call like [`examine`]. If they are refused, it reads them again with null as an absent member: under
/// strict schemas a model must write every member, and leaves one out by null.
///
/// # Errors
/// Everything else that is wrong with the arguments.
pub fn read(text: &str, schema: &InputSchema, coerce: bool) -> Result<Examined, InvalidArguments> {
    match examine(text, schema, coerce) {
        Err(_) if text.contains("null") => {
            let options = Options {
                coerce,
                null_is_absent: true,
                ..Options::default()
            };
            judge(text, schema, options)
        }
        examined => examined,
    }
}

/// Reads arguments that are passed on as JSON values, like [`read`]. An integer that a [`serde_json::Number`] would round is refused.
///
/// # Errors
/// Everything that is wrong with the arguments.
pub fn read_values(
    text: &str,
    schema: &InputSchema,
    coerce: bool,
) -> Result<Examined, InvalidArguments> {
    let examined = read(text, schema, coerce)?;
    // The shortest that is refused is -2^63 - 1.
    let mut runs = examined.text.split(|c: char| !c.is_ascii_digit());
    if runs.any(|digits| digits.len() >= 19) {
        let options = Options {
            as_values: true,
            ..Options::default()
        };
        admits(&examined.text, schema, options)?;
    }
    Ok(examined)
}

/// Judges `text` by `schema`. Blank text and `null` mean no arguments.
///
/// # Errors
/// Everything that is wrong with the arguments; with text that is not JSON, that alone.
pub fn examine(
    text: &str,
    schema: &InputSchema,
    coerce: bool,
) -> Result<Examined, InvalidArguments> {
    let options = Options {
        coerce,
        ..Options::default()
    };
    judge(text, schema, options)
}

/// Judges a value that is not a set of arguments, such as a result, by the schema of values like it.
///
/// # Errors
/// Everything that is wrong with it.
pub fn conforms(text: &str, schema: &InputSchema) -> Result<(), InvalidArguments> {
    admits(text, schema, Options::default())
}

fn admits(text: &str, schema: &InputSchema, options: Options) -> Result<(), InvalidArguments> {
    let found = walked(text, schema, options)?;
    match found.total {
        0 => Ok(()),
        total => Err(InvalidArguments::new(found.problems, total)),
    }
}

fn judge(text: &str, schema: &InputSchema, options: Options) -> Result<Examined, InvalidArguments> {
    let text = match text.trim_matches([' ', '\t', '\n', '\r']) {
        "" | "null" => "{}",
        _ => text,
    };
    let mut found = walked(text, schema, options)?;
    if found.total > 0 {
        let refusal = InvalidArguments::new(found.problems, found.total);
        return Err(with_formats(text, schema, refusal));
    }
    found.coercions.append(&mut found.defaults);
    let coercions = found.coercions;
    let lexer = Lexer::new(text);
    let is_empty = lexer.first(lexer.behind_space(0), b'}').is_break();
    if found.edits.is_empty() && !is_empty {
        let text = text.to_owned();
        return Ok(Examined { text, coercions });
    }
    let shortened = found.edits.iter().any(|edit| edit.to.is_none());
    let text = write(text, found.edits);
    if coercions.is_empty() && !shortened {
        return Ok(Examined { text, coercions });
    }
    // A second schema for the same value has judged it before the coercion of the first one.
    let Examined { text, .. } = examine(&text, schema, false)?;
    Ok(Examined { text, coercions })
}

/// Adds the problems of formats of strings to a refusal, because a type stops at its first mistake.
pub fn with_formats(
    text: &str,
    schema: &InputSchema,
    refusal: InvalidArguments,
) -> InvalidArguments {
    let options = Options {
        coerce: true,
        null_is_absent: true,
        formats: true,
        as_values: false,
    };
    let Ok(mut found) = walked(text, schema, options) else {
        return refusal;
    };
    found
        .problems
        .retain(|problem| problem.kind == ProblemKind::Format);
    refusal.with(found.problems)
}

/// Judges a text in a loud walk, and parses it if the walk could not read it.
fn walked(text: &str, schema: &InputSchema, options: Options) -> Result<Found, InvalidArguments> {
    Walk::of_text(text, schema, options).map_err(|stop| {
        match (serde_json::from_str::<serde_json::Value>(text), stop) {
            (Err(error), _) => malformed(&error, text),
            (Ok(_), Stop::TooComplex) => too_complex(),
            // This happens with a parser that keeps numbers of any size.
            (Ok(_), _) => {
                let (line, column) = behind_too_large(text);
                out_of_range(text, line, column)
            }
        }
    })
}

fn too_complex() -> InvalidArguments {
    InvalidArguments::one(ArgumentProblem::new(
        String::new(),
        ProblemKind::TooComplex,
        "too large and too deeply nested to be judged; send less at once",
        "more than can be judged",
    ))
}

/// Returns the message of the parser, which never quotes the text in a syntax error.
fn malformed(error: &serde_json::Error, text: &str) -> InvalidArguments {
    let place = format!("line {}, column {}", error.line(), error.column());
    let message = error.to_string();
    let reason = message.split(" at line ").next().unwrap_or_default();
    let (expected, got) = match reason {
        "recursion limit exceeded" => (
            "at most 127 arrays and objects inside each other".to_owned(),
            format!("more than that at {place}"),
        ),
        "number out of range" => return out_of_range(text, error.line(), error.column()),
        _ if error.classify() == Category::Eof => (
            "a JSON object".to_owned(),
            format!("text that ends too early, at {place}"),
        ),
        _ => (
            "a JSON object".to_owned(),
            format!("text that is not JSON: {reason} at {place}"),
        ),
    };
    let pointer = String::new();
    let kind = ProblemKind::Malformed;
    InvalidArguments::one(ArgumentProblem::new(pointer, kind, expected, got))
}

fn out_of_range(text: &str, line: usize, column: usize) -> InvalidArguments {
    // The number itself is valid JSON, so its place is known.
    let found = locate(text, line, column);
    InvalidArguments::one(ArgumentProblem::new(
        found.map(|found| found.pointer).unwrap_or_default(),
        ProblemKind::Malformed,
        "a number between -1.8e308 and 1.8e308",
        format!("one out of range at line {line}, column {column}"),
    ))
}

/// The line and column behind the first number that no float holds.
#[cold]
fn behind_too_large(text: &str) -> (usize, usize) {
    let lexer = Lexer::new(text);
    let mut at = 0;
    while at < text.len() {
        at = match lexer.byte(at) {
            b'"' => lexer.string(at).map_or(text.len(), |string| string.end),
            b'-' | b'0'..=b'9' => match lexer.number(at) {
                Ok((_, end)) => end,
                Err(_) => break,
            },
            _ => at + 1,
        };
    }
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    at += lexer.rest(at).bytes().take_while(is_part).count();
    let before = lexer.between(0..at);
    let begins = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, at - begins)
}
