//! A violation of a condition, as data.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ConditionKind, Policy, PolicyOrigin, Values, thread};

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
    /// The id of the condition: function, kind and position, such as `divide.pre[0]`.
    pub contract: String,
    /// The name that the author gave the condition with `id = ".."`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the condition applies to.
    pub kind: ConditionKind,
    /// The tool or function that states the condition; empty for an assertion outside any call.
    pub tool: String,
    /// The predicate as the author typed it.
    pub predicate: String,
    /// The author's message, with its placeholders filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Where the condition is defined.
    pub location: Location,
    /// The policy that applied.
    pub policy: Policy,
    /// Which setting decided the policy.
    pub origin: PolicyOrigin,
    /// How the failure was detected.
    pub detection: Detection,
    /// Which side has to change.
    pub blame: Blame,
    /// The values of the parameters that the predicate names, by name; `"***"` for a secret one.
    #[serde(default)]
    pub values: Values,
    /// The id of the call by name in which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The message with its placeholders unfilled, when it has any: what a log may show. Empty if the condition computed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) template: Option<String>,
    /// What the condition demands of a call, as its description says it to a model; empty if only the program can read the
    /// condition, `None` if nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) demand: Option<String>,
}

/// Where a condition is defined; [`default`](Self::default) if it is not known.
///
/// ```
/// use contract_runtime::Location;
/// use contract_runtime::prelude::*;
///
/// #[pre(amount > 0)]
/// fn pay(amount: u32) {}
///
/// let broken = contract_runtime::catch(|| pay(0)).unwrap_err();
/// assert_eq!(broken.location.file, Location::caller().file);
/// assert_eq!(broken.location.column, 7);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Location {
    /// The file as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl Location {
    /// Returns the place of the call of the function that calls this, if that has `#[track_caller]`.
    #[must_use]
    #[track_caller]
    pub fn caller() -> Self {
        let caller = std::panic::Location::caller();
        Self {
            file: caller.file().to_owned(),
            line: caller.line(),
            column: caller.column(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// How a failure was detected.
///
/// ```
/// use contract_runtime::Detection;
/// use contract_runtime::prelude::*;
///
/// #[pre(prices[0] > 0)]
/// fn pay(prices: &[u32]) {}
///
/// let detection = |prices: &[u32]| contract_runtime::catch(|| pay(prices)).unwrap_err().detection;
/// assert_eq!(detection(&[0]), Detection::PredicateFalse);
/// assert_eq!(detection(&[]), Detection::Panicked, "there is no first price");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Detection {
    /// The predicate was evaluated and is false.
    PredicateFalse,
    /// The predicate panicked, so it could not be evaluated.
    Panicked,
    /// The predicate leads to endlessly nested conditions, so it could not be evaluated.
    NestedTooDeep,
    /// The predicate asks the history of a run what that cannot answer; the message says why. See
    /// [`history`](crate::history()).
    Unanswered,
}

/// Which side has to change for the condition to hold.
///
/// ```
/// use contract_runtime::Blame;
/// use contract_runtime::prelude::*;
///
/// /// Halve a number.
/// #[tool]
/// #[pre(number % 2 == 0, "only even numbers are halved")]
/// fn halve(number: u8) -> u8 {
///     number / 2
/// }
///
/// let registry = Registry::builder().tool(halve).build()?;
/// let call = |arguments| registry.call(ToolCall::new("1", "halve", arguments)).blocking();
/// let outcome = call(r#"{"number": 5}"#);
/// assert_eq!(outcome.violation().unwrap().blame, Blame::Model);
/// // A direct call from Rust is the fault of the code that calls.
/// let violation = contract_runtime::catch(|| halve(5)).unwrap_err();
/// assert_eq!(violation.blame, Blame::Caller);
/// # Ok::<(), BuildError>(())
/// ```
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

/// The longest value of a violation that is kept short, in characters.
const KEPT: usize = 1_000;

/// The longest text of one value in a sentence, in characters.
const SHOWN: usize = 80;

impl Violation {
    /// Creates a violation of a condition that was judged elsewhere, by its id and predicate.
    ///
    /// The blame follows from the kind; the other fields are set afterwards.
    ///
    /// ```
    /// use contract_runtime::{Blame, ConditionKind, Violation};
    ///
    /// let mut violation = Violation::new("pay.pre[0]", ConditionKind::Pre, "pay", "cents <= limit");
    /// violation.message = Some("above the limit of the account".to_owned());
    /// assert_eq!(violation.blame, Blame::Model);
    /// assert_eq!(
    ///     violation.to_string(),
    ///     "above the limit of the account; `pay` requires `cents <= limit`",
    /// );
    /// ```
    #[must_use]
    pub fn new(
        contract: impl Into<String>,
        kind: ConditionKind,
        tool: impl Into<String>,
        predicate: impl Into<String>,
    ) -> Self {
        Self {
            contract: contract.into(),
            kind,
            tool: tool.into(),
            predicate: predicate.into(),
            message: None,
            location: Location::default(),
            policy: Policy::Enforce,
            origin: PolicyOrigin::Process,
            detection: Detection::PredicateFalse,
            blame: match kind {
                ConditionKind::Pre
                | ConditionKind::Given
                | ConditionKind::Answer
                | ConditionKind::Invariant => Blame::Model,
                ConditionKind::Task => Blame::Caller,
                ConditionKind::Post | ConditionKind::Assert => Blame::Callee,
            },
            id: None,
            values: Values::new(),
            call_id: None,
            template: None,
            demand: None,
        }
    }

    /// Returns the violation without any value, for logs, events and spans.
    ///
    /// Every value becomes `"***"` and a message with placeholders shows them unfilled.
    #[must_use]
    pub fn masked(&self) -> Self {
        let mut masked = self.clone();
        masked.values.replace(|_| Some(Value::from(MASK)));
        if let Some(template) = masked.template.take() {
            masked.message = (!template.is_empty()).then_some(template);
        }
        masked
    }

    /// Cuts values that are long, where the violation may be kept for longer than anybody looks at it.
    pub(crate) fn shorten_values(&mut self) {
        self.values.replace(|value| {
            let text = match value {
                Value::String(text) => text.as_str().into(),
                Value::Array(_) | Value::Object(_) => Cow::Owned(value.to_string()),
                _ => return None,
            };
            let (end, _) = text.char_indices().nth(KEPT)?;
            Some(Value::from(format!("{}…", text.get(..end)?)))
        });
    }

    /// Takes a secret out, under whatever name and in whatever sentence it stands. Not out of one that its author wrote whole: the
    /// published text beside it would tell what was taken out.
    pub(crate) fn hide(&mut self, secret: &Value, author_wrote_it_whole: bool) {
        let text = match secret {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.values.replace(|value| {
            let tells = text.len() >= TELLING && value.to_string().contains(&text);
            (value == secret || tells).then(|| Value::from(MASK))
        });
        let looked_through = !author_wrote_it_whole && text.len() >= TELLING;
        if let Some(message) = self.message.as_mut().filter(|_| looked_through) {
            *message = message.replace(&text, MASK);
        }
    }

    /// Returns the sentence that a model reads about a call which this violation ended.
    ///
    /// If the model can correct the call, it reads the author's message with the values that it does not show already. Without
    /// a message it reads what the condition demands, as the description of the tool says it; of a predicate that only the
    /// program can evaluate it reads the values alone. For a fault of the tool itself, it reads one sentence; the rest is for
    /// handlers, logs and authors. [`Outcome::error`](crate::Outcome::error) adds whether the call took effect.
    ///
    /// ```
    /// use contract_runtime::{ConditionKind, Violation};
    ///
    /// let mut refused = Violation::new("pay.pre[0]", ConditionKind::Pre, "pay", "cents <= limit");
    /// refused.message = Some("above the limit of the account".to_owned());
    /// refused.values.insert("cents", 900);
    /// assert_eq!(refused.refusal(), "above the limit of the account, got cents = 900");
    ///
    /// let broken = Violation::new("pay.post[1]", ConditionKind::Post, "pay", "|left| *left >= 0");
    /// assert_eq!(
    ///     broken.refusal(),
    ///     "`pay` ran, but its result breaks its own contract and is withheld",
    /// );
    /// ```
    #[must_use]
    pub fn refusal(&self) -> String {
        let tool = &self.tool;
        match (self.blame, self.kind) {
            (Blame::Model, _) | (_, ConditionKind::Task) => {}
            _ if self.detection == Detection::Unanswered => {
                return self.message.clone().unwrap_or_else(|| self.to_string());
            }
            (_, ConditionKind::Post) => {
                return format!(
                    "`{tool}` ran, but its result breaks its own contract and is withheld"
                );
            }
            _ => {
                return "the tool broke a contract of its own and was stopped".to_owned();
            }
        }
        let Some(message) = self
            .message
            .as_ref()
            .filter(|_| self.detection == Detection::PredicateFalse)
        else {
            return self.demanded();
        };
        let template = self.template.as_deref();
        if template == Some("") {
            return message.clone();
        }
        let template = template.unwrap_or_default();
        let shows = |name: &str| {
            template.contains(&format!("{{{name}}}")) || template.contains(&format!("{{{name}:"))
        };
        let values = self.values.iter().filter(|(name, _)| !shows(name));
        format!("{message}{}", listed(values))
    }

    /// The refusal without a message: no Rust that its reader cannot evaluate, where it is known what that is.
    fn demanded(&self) -> String {
        let Some(demand) = &self.demand else {
            return self.to_string();
        };
        let tool = &self.tool;
        let values = listed(self.values.iter());
        match (self.detection, demand.as_str()) {
            (Detection::PredicateFalse, "") => format!("`{tool}` refuses this call{values}"),
            (Detection::PredicateFalse, demand) => format!("`{tool}` {demand}{values}"),
            _ => format!(
                "`{tool}` cannot judge this call, because its condition fails to run{values}"
            ),
        }
    }

    fn verb(&self) -> &'static str {
        match self.kind {
            ConditionKind::Pre | ConditionKind::Task => "requires",
            ConditionKind::Given => "looks up",
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
        match self.detection {
            Detection::PredicateFalse | Detection::Unanswered => {}
            Detection::Panicked => f.write_str(", which panicked when it was evaluated")?,
            Detection::NestedTooDeep => {
                write!(
                    f,
                    ", which cannot be evaluated, because {}",
                    thread::refusal()
                )?;
            }
        }
        f.write_str(&listed(self.values.iter()))
    }
}

impl std::error::Error for Violation {}

/// `, got start = 5, end = 3`
fn listed<'v>(values: impl Iterator<Item = (&'v str, &'v Value)>) -> String {
    let mut text = String::new();
    for (name, value) in values {
        text.push_str(if text.is_empty() { ", got " } else { ", " });
        text.extend([name, " = ", &shortened(&value.to_string())]);
    }
    text
}

fn shortened(text: &str) -> Cow<'_, str> {
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
