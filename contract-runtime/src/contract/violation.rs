use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ConditionKind, Policy, PolicyOrigin};

/// A condition that did not hold, as data.
///
/// [`Display`](fmt::Display) is one sentence that a model can act on; the fields say everything else. Values under a
/// parameter marked `secret` are never in it; the others are, because the caller sent them:
/// use [`masked`](Self::masked) before a violation goes to a log.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// #[pre(parts > 0, "cannot share among {parts}")]
/// fn share(total: i64, parts: i64) -> i64 {
///     total / parts
/// }
///
/// let violation = contract_runtime::catch(|| share(10, 0)).unwrap_err();
/// assert_eq!(violation.contract, "share.pre[0]");
/// assert_eq!(violation.predicate, "parts > 0");
/// assert_eq!(violation.values["parts"], 0);
/// assert_eq!(
///     violation.to_string(),
///     "cannot share among 0; `share` requires `parts > 0`, got parts = 0",
/// );
/// assert!(!violation.masked().to_string().contains("parts = 0"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Violation {
    /// Which condition: function, kind and position, such as `divide.pre[0]`.
    pub contract: String,
    /// What the condition speaks about.
    pub kind: ConditionKind,
    /// The tool or function that states the condition; empty for an assertion outside any call.
    pub tool: String,
    /// The predicate as the author typed it.
    pub predicate: String,
    /// The author's message, with its placeholders filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Where the condition is written.
    pub location: Location,
    /// The policy that applied.
    pub policy: Policy,
    /// Whose setting decided the policy.
    pub origin: PolicyOrigin,
    /// How the failure showed.
    pub detection: Detection,
    /// Who has to change something.
    pub blame: Blame,
    /// The values of the parameters the predicate names, by name; `"***"` for a secret one.
    #[serde(default)]
    pub values: Map<String, Value>,
    /// The id of the call by name in which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The message with its placeholders unfilled, when it has any: what a log may show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) template: Option<String>,
}

/// Where a condition is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Location {
    /// The file as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// How a failure showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Detection {
    /// The predicate was evaluated and is false.
    PredicateFalse,
    /// The predicate panicked, so it could not be judged.
    Panicked,
}

/// Who has to change something for the condition to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Blame {
    /// The model that chose the arguments: a precondition of a tool called by name.
    Model,
    /// The Rust code that called: a precondition of a function called directly.
    Caller,
    /// The function that states the condition: a postcondition or an assertion.
    Callee,
}

pub(crate) const MASK: &str = "***";

/// The shortest secret that is looked for inside longer texts, in bytes; a shorter one is found by chance.
const TELLING: usize = 4;

/// The longest text of one value in a sentence, in characters.
const SHOWN: usize = 80;

impl Violation {
    /// The same violation without any value, for logs, events and spans.
    ///
    /// Every value becomes `"***"` and a message with placeholders shows them unfilled.
    #[must_use]
    pub fn masked(&self) -> Self {
        let mut masked = self.clone();
        for value in masked.values.values_mut() {
            *value = Value::from(MASK);
        }
        if let Some(template) = masked.template.take() {
            masked.message = Some(template);
        }
        masked
    }

    /// Takes a secret out, under whatever name and in whatever sentence it stands.
    pub(crate) fn hide(&mut self, secret: &Value) {
        let text = match secret {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        for value in self.values.values_mut() {
            if value == secret || (text.len() >= TELLING && value.to_string().contains(&text)) {
                *value = Value::from(MASK);
            }
        }
        if let Some(message) = self.message.as_mut().filter(|_| text.len() >= TELLING) {
            *message = message.replace(&text, MASK);
        }
    }

    fn verb(&self) -> &'static str {
        match self.kind {
            ConditionKind::Pre | ConditionKind::Task => "requires",
            ConditionKind::Post | ConditionKind::Answer => "promises",
            ConditionKind::Assert | ConditionKind::Invariant => "asserts",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(message) = &self.message {
            write!(f, "{message}; ")?;
        }
        match self.tool.as_str() {
            "" => write!(f, "the code {} `{}`", self.verb(), self.predicate)?,
            tool => write!(f, "`{tool}` {} `{}`", self.verb(), self.predicate)?,
        }
        if self.detection == Detection::Panicked {
            f.write_str(", which panicked when it was judged")?;
        }
        for (position, (name, value)) in self.values.iter().enumerate() {
            let lead = if position == 0 { ", got " } else { ", " };
            write!(f, "{lead}{name} = {}", shortened(&value.to_string()))?;
        }
        Ok(())
    }
}

impl std::error::Error for Violation {}

fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    // Characters that turn the direction of a line, or have no width, would falsify what people read.
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    if text.contains(hidden) {
        let shown = text.chars().map(|c| {
            if hidden(c) {
                return c.escape_unicode().to_string();
            }
            c.to_string()
        });
        return shortened(&shown.collect::<String>()).into_owned().into();
    }
    match text.char_indices().nth(SHOWN) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}
