//! What is corrected in arguments before they are decoded: integers with a fraction of zero, coercions, members left out.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::place::Path;
use crate::lexer::Lexer;
use crate::{Decimal, Types};

/// A value that was read as another one: a string as the JSON value that it spells, or a value as a list with only this value, if the
/// tool or registry admits it; or `null` as the default of an argument. Or a value that was left out, because the registry ignores
/// unknown keys.
///
/// ```
/// use contract_runtime::prelude::*;
/// use serde_json::json;
///
/// /// Double a number.
/// #[tool(coerce)]
/// fn double(number: u8) -> u16 {
///     u16::from(number) * 2
/// }
///
/// let registry = Registry::builder().tool(double).build()?;
/// let outcome = registry.call(ToolCall::new("1", "double", r#"{"number": "21"}"#)).blocking();
/// assert_eq!(outcome.output(), Some("42"));
/// let coercion = &outcome.coercions()[0];
/// assert_eq!((&coercion.from, &coercion.to), (&json!("21"), &json!(21)));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Coercion {
    /// The value, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// The value as given; null when it is secret.
    pub from: Value,
    /// The value as read; null when it is secret.
    pub to: Value,
    /// Whether the values are left out because the argument is secret.
    pub secret: bool,
    /// Whether the value was left out of the call: no schema knows its key, or it is null below an argument, where only
    /// an absent member is admitted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub left_out: bool,
}

impl Coercion {
    /// Creates the record of a null that was read as the default of an argument.
    pub(super) fn to_default(path: &Path<'_>, default: &Value) -> Self {
        Self::between(path, Value::Null, default.clone())
    }

    /// Creates the record of a value that was read as another one; both are JSON.
    pub(super) fn new(path: &Path<'_>, from: &str, to: &str) -> Self {
        Self::between(path, value(from), value(to))
    }

    /// Creates the record of a member that was left out. `secret` says that it may be a secret under an unknown name.
    pub(super) fn left_out(path: &Path<'_>, from: &str, secret: bool) -> Self {
        let path = path.hidden(secret);
        Self {
            left_out: true,
            ..Self::between(&path, value(from), Value::Null)
        }
    }

    fn between(path: &Path<'_>, from: Value, to: Value) -> Self {
        let secret = path.is_secret();
        let shown = |value| if secret { Value::Null } else { value };
        Self {
            pointer: path.pointer(),
            from: shown(from),
            to: shown(to),
            secret,
            left_out: false,
        }
    }
}

/// Returns the value for the record. Of two equal keys the last one stays, and long numbers are rounded.
fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// An edit of a text: a value that is replaced, or a member that is left out.
pub(super) struct Edit {
    pub(super) span: Range<usize>,
    /// The new JSON; `None` leaves the member out.
    pub(super) to: Option<String>,
}

/// Writes a text with the edits done, and without white space between its tokens.
pub(super) fn write(text: &str, mut edits: Vec<Edit>) -> String {
    // Of several edits of one value the last one counts.
    edits.reverse();
    edits.sort_by_key(|edit| edit.span.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for Edit { span, to } in edits {
        // Edits inside a replaced value are part of its replacement.
        if span.start >= at {
            compact(text, at..span.start, &mut out);
            out.extend(to);
            at = span.end;
        }
    }
    compact(text, at..text.len(), &mut out);
    out
}

/// Copies whole tokens without the white space between them, and without the commas of members that were left out.
fn compact(text: &str, span: Range<usize>, out: &mut String) {
    let lexer = Lexer::new(text);
    let mut at = span.start;
    while at < span.end {
        let end = match lexer.byte(at) {
            b'"' => lexer.string(at).map_or(span.end, |string| string.end),
            _ => at + 1,
        };
        match lexer.between(at..end) {
            " " | "\t" | "\n" | "\r" => {}
            "," if out.ends_with(['{', ',']) => {}
            token => {
                if token == "}" && out.ends_with(',') {
                    out.pop();
                }
                out.push_str(token);
            }
        }
        at = end;
    }
}

/// Longer strings are not numbers in quotes.
const LONGEST_NUMBER: usize = 64;

/// The JSON of one of the wanted types that the string `text` spells: `true` and `false` for a boolean, digits for an
/// integer, and for a number also digits behind a point. Nothing else, neither `5.0` for an integer nor `1e10`.
pub(super) fn coerced(text: &str, wanted: Types) -> Option<String> {
    if wanted.has(Types::BOOLEAN) && matches!(text, "true" | "false") {
        return Some(text.to_owned());
    }
    if text.len() > LONGEST_NUMBER || !wanted.has(Types::INTEGER | Types::NUMBER) {
        return None;
    }
    let whole = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        is_digits(digits) && (digits == "0" || !digits.starts_with('0'))
    };
    if whole(text) {
        return Decimal::parse(text)?.integer_text();
    }
    let (before, behind) = text.split_once('.')?;
    let is_decimal = whole(before) && is_digits(behind);
    (is_decimal && wanted.has(Types::NUMBER)).then(|| text.to_owned())
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
