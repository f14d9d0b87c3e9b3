//! Examines arguments: parse, walk, rewrite.

use serde_json::error::Category;

use super::edit::{Coercion, Edit, write};
use super::error_position::locate;
use super::node::Node;
use super::object::duplicates;
use super::path::Path;
use super::problem::{ArgumentProblem, ProblemKind};
use super::refusal::InvalidArguments;
use super::stream;
use super::walk::Walk;
use crate::InputSchema;

/// Arguments that the schema admits.
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// A JSON object in the form that typed decoding reads.
    pub text: String,
    /// The values that were read as another type.
    pub coercions: Vec<Coercion>,
}

/// Reads the arguments of a call: as [`examine`], and where they are refused for it, null in the place of an absent member
/// is taken as that. Under strict schemas a model must write every member, and this is how it leaves one out.
///
/// # Errors
/// Everything else that is wrong with the arguments.
pub fn read(text: &str, schema: &InputSchema, coerce: bool) -> Result<Examined, InvalidArguments> {
    match examine(text, schema, coerce) {
        Err(_) if text.contains("null") => judge(text, schema, coerce, true),
        examined => examined,
    }
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
    judge(text, schema, coerce, false)
}

/// Judges a value that is not a set of arguments, such as a result, by the schema of values like it.
///
/// # Errors
/// Everything that is wrong with it.
pub fn conforms(text: &str, schema: &InputSchema) -> Result<(), InvalidArguments> {
    if stream::admits(text, schema) {
        return Ok(());
    }
    let node = Node::parse(text).map_err(|error| malformed(&error, text))?;
    let mut walk = Walk::new(schema, false);
    let found = walk.arguments(&node);
    if walk.is_exhausted() {
        return Err(too_complex());
    }
    if found.total > 0 {
        return Err(InvalidArguments::new(found.problems, found.total));
    }
    Ok(())
}

/// Reads as [`read`] does, arguments that are handed on as JSON values: an integer that a [`serde_json::Number`] would round
/// is refused.
///
/// # Errors
/// Everything that is wrong with the arguments.
pub fn read_values(
    text: &str,
    schema: &InputSchema,
    coerce: bool,
) -> Result<Examined, InvalidArguments> {
    // An integer that a `Number` would round is not decided there.
    if stream::admits(text, schema) {
        return Ok(Examined {
            text: text.to_owned(),
            coercions: Vec::new(),
        });
    }
    let examined = read(text, schema, coerce)?;
    // The shortest that is refused is -2^63 - 1.
    let long = |digits: &[u8]| digits.len() >= 19;
    let mut runs = examined
        .text
        .as_bytes()
        .split(|byte| !byte.is_ascii_digit());
    if !runs.any(long) {
        return Ok(examined);
    }
    let node = Node::parse(&examined.text).map_err(|error| malformed(&error, &examined.text))?;
    let mut walk = Walk::new(schema, false);
    walk.as_values = true;
    let found = walk.arguments(&node);
    if found.total > 0 {
        return Err(InvalidArguments::new(found.problems, found.total));
    }
    Ok(examined)
}

fn judge(
    text: &str,
    schema: &InputSchema,
    coerce: bool,
    null_is_absent: bool,
) -> Result<Examined, InvalidArguments> {
    let text = if is_blank(text) { "{}" } else { text };
    let node = match Node::parse(text).map_err(|error| malformed(&error, text))? {
        Node::Null => Node::Object(Box::default()),
        node => node,
    };
    let mut walk = Walk::new(schema, coerce);
    walk.null_is_absent = null_is_absent;
    let mut found = walk.arguments(&node);
    if walk.is_exhausted() {
        return Err(too_complex());
    }
    duplicates(&walk, &node, &Path::ROOT, &mut found);
    if found.total > 0 {
        let refusal = InvalidArguments::new(found.problems, found.total);
        return Err(explained(&node, schema, refusal));
    }
    let shortened = found.edits.iter().any(Edit::is_removal);
    if shortened && let Node::Object(entries) = &node {
        let is_left_out = |value| found.edits.iter().any(|edit| edit.removes(value));
        let nulls = entries
            .iter()
            .filter(|(_, value)| *value == Node::Null && is_left_out(value));
        let defaults = nulls.filter_map(|(name, _)| {
            let default = schema.default_of(name)?;
            Some(Coercion::to_default(name, default, schema.is_secret(name)))
        });
        let defaults: Vec<_> = defaults.collect();
        found.coercions.extend(defaults);
    }
    let text = match (&node, found.edits.is_empty()) {
        (Node::Object(entries), true) if !entries.is_empty() => text.to_owned(),
        _ => write(&node, &mut found.edits),
    };
    if found.coercions.is_empty() && !shortened {
        return Ok(Examined {
            text,
            coercions: Vec::new(),
        });
    }
    // What one schema coerces or leaves out, another that is applied to the same value has seen as it was.
    let examined = examine(&text, schema, false)?;
    Ok(Examined {
        coercions: found.coercions,
        ..examined
    })
}

/// A refusal with all that the formats of strings say besides: a type stops at its first mistake.
pub fn with_formats(
    text: &str,
    schema: &InputSchema,
    refusal: InvalidArguments,
) -> InvalidArguments {
    match Node::parse(text) {
        Ok(node) => explained(&node, schema, refusal),
        Err(_) => refusal,
    }
}

fn explained(node: &Node, schema: &InputSchema, refusal: InvalidArguments) -> InvalidArguments {
    let mut walk = Walk::new(schema, true);
    walk.null_is_absent = true;
    walk.formats = true;
    let mut found = walk.arguments(node);
    found
        .problems
        .retain(|problem| problem.kind == ProblemKind::Format);
    refusal.with(found.problems)
}

/// Nothing but the white space of JSON.
fn is_blank(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

fn too_complex() -> InvalidArguments {
    InvalidArguments::one(ArgumentProblem::new(
        String::new(),
        ProblemKind::TooComplex,
        "too large and too deeply nested to be judged; send less at once",
        "more than can be judged",
    ))
}

/// The parser's own words without the text that was sent: `serde_json` never quotes it in a syntax error.
fn malformed(error: &serde_json::Error, text: &str) -> InvalidArguments {
    let place = format!("line {}, column {}", error.line(), error.column());
    let message = error.to_string();
    let reason = message.split(" at line ").next().unwrap_or_default();
    let mut pointer = String::new();
    let (expected, got) = match reason {
        "recursion limit exceeded" => (
            "at most 127 arrays and objects inside each other".to_owned(),
            format!("more than that at {place}"),
        ),
        "number out of range" => {
            // The number is JSON, so it is known where it stands.
            let found = locate(text, error.line(), error.column());
            pointer = found.map(|found| found.pointer).unwrap_or_default();
            (
                "a number between -1.8e308 and 1.8e308".to_owned(),
                format!("one out of range at {place}"),
            )
        }
        _ if error.classify() == Category::Eof => (
            "a JSON object".to_owned(),
            format!("text that ends too early, at {place}"),
        ),
        _ => (
            "a JSON object".to_owned(),
            format!("text that is not JSON: {reason} at {place}"),
        ),
    };
    InvalidArguments::one(ArgumentProblem::new(
        pointer,
        ProblemKind::Malformed,
        expected,
        got,
    ))
}
