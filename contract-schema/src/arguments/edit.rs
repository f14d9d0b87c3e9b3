//! Rewrites values before they are decoded: integers with a fraction of zero, coercions.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::findings::{Found, Verdict};
use super::literal::{exact, float};
use super::node::{Node, quote};
use super::path::Path;
use crate::{Decimal, Types};

/// A value that was given in one type and read as another: a string as the JSON value that it spells or a value as a list of it
/// alone, because the tool or registry admits it, or `null` as the default of an argument; or a value that was left out, because the registry
/// ignores unknown keys.
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
    /// A null in the place of an argument that has a default.
    pub(super) fn to_default(name: &str, default: &Value, secret: bool) -> Self {
        Self {
            pointer: Path::ROOT.key(name).pointer(),
            from: Value::Null,
            to: if secret { Value::Null } else { default.clone() },
            secret,
            left_out: false,
        }
    }

    pub(super) fn new(path: &Path<'_>, from: &Node, to: &Node) -> Self {
        let secret = path.is_secret();
        let value = |node: &Node| if secret { Value::Null } else { node.to_value() };
        Self {
            pointer: path.pointer(),
            from: value(from),
            to: value(to),
            secret,
            left_out: false,
        }
    }

    /// A value that is left out; it is not shown where it may be a secret under a misspelt name.
    pub(super) fn left_out(path: &Path<'_>, value: &Node, secrets: bool) -> Self {
        let value = if secrets { &Node::Null } else { value };
        let shown = Self::new(path, value, &Node::Null);
        Self {
            left_out: true,
            secret: shown.secret || secrets,
            ..shown
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A node of the parsed arguments, known by its address, and what replaces it; nothing for a member that is left out.
pub(super) struct Edit {
    at: usize,
    to: Option<Arc<Node>>,
}

impl Edit {
    pub(super) fn new(node: &Node, to: Option<Arc<Node>>) -> Self {
        Self {
            at: address(node),
            to,
        }
    }

    pub(super) fn removes(&self, node: &Node) -> bool {
        self.is_removal() && self.at == address(node)
    }

    pub(super) fn is_removal(&self) -> bool {
        self.to.is_none()
    }
}

/// Where a node lies in memory. Nodes of one parse are neither moved nor dropped while they are walked.
pub(super) fn address(node: &Node) -> usize {
    std::ptr::from_ref(node).addr()
}

/// Writes the arguments with the edits done.
pub(super) fn write(node: &Node, edits: &mut [Edit]) -> String {
    edits.sort_by_key(|edit| edit.at);
    let mut out = String::new();
    write_node(node, edits, &mut out);
    out
}

fn write_node(node: &Node, edits: &[Edit], out: &mut String) {
    let edited = edit(node, edits).and_then(|edit| edit.to.as_deref());
    let node = edited.unwrap_or(node);
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Node::Number(number) => out.push_str(&number.to_string()),
        Node::Literal(text) => out.push_str(text),
        Node::String(text) => quote(text, out),
        Node::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_node(item, edits, out);
            }
            out.push(']');
        }
        Node::Object(entries) => {
            out.push('{');
            let kept = entries
                .iter()
                .filter(|(_, value)| !edit(value, edits).is_some_and(Edit::is_removal));
            for (index, (key, value)) in kept.enumerate() {
                if index > 0 {
                    out.push(',');
                }
                quote(key, out);
                out.push(':');
                write_node(value, edits, out);
            }
            out.push('}');
        }
    }
}

fn edit<'e>(node: &Node, edits: &'e [Edit]) -> Option<&'e Edit> {
    let found = edits.binary_search_by_key(&address(node), |edit| edit.at);
    edits.get(found.ok()?)
}

/// Notes how an admitted number has to be written for a Rust integer, if it is not already.
pub(super) fn normalise(node: &Node, found: &mut Found) {
    let written = match node {
        Node::Number(number) => !number.is_f64(),
        Node::Literal(text) => text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_digit()),
        _ => true,
    };
    if written {
        return;
    }
    // An integer too long for its digits to be kept is left as it is: no Rust type reads it.
    if let Some(integer) = node.number().and_then(integer_node) {
        found.edit(Verdict::Normalised, node, Arc::new(integer));
    }
}

fn integer_node(number: Decimal) -> Option<Node> {
    let text = number.integer_text()?;
    let short = text
        .parse::<i64>()
        .map(Into::into)
        .or_else(|_| text.parse::<u64>().map(Into::into));
    Some(short.map_or_else(|_| Node::Literal(text.into()), Node::Number))
}

/// Longer texts are not numbers that somebody put between quotes.
const LONGEST_NUMBER: usize = 64;

/// The value of one of the wanted types that the string `text` spells: `true` and `false` for a boolean, digits for an
/// integer, and for a number also digits behind a point. Nothing else, neither `5.0` for an integer nor `1e10`.
pub(super) fn coerced(text: &str, wanted: Types) -> Option<Node> {
    if wanted.has(Types::BOOLEAN) {
        match text {
            "true" => return Some(Node::Bool(true)),
            "false" => return Some(Node::Bool(false)),
            _ => {}
        }
    }
    if text.len() > LONGEST_NUMBER || !wanted.has(Types::INTEGER | Types::NUMBER) {
        return None;
    }
    let whole = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        is_digits(digits) && (digits == "0" || !digits.starts_with('0'))
    };
    if whole(text) {
        return integer_node(exact(text)?);
    }
    let (before, behind) = text.split_once('.')?;
    let is_decimal = whole(before) && is_digits(behind);
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite())?;
    (is_decimal && wanted.has(Types::NUMBER)).then(|| float(value, text))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
