//! Tool calls and their results, and both as JSON.

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::content::Artifact;
use super::context::Context;
use super::outcome::Effect;
use crate::schema::json_text;

/// One tool call as a model made it.
///
/// On the wire it is `{"id", "name", "arguments"}`, or the shape of a chat-completions response:
/// `{"id", "type": "function", "function": {"name", "arguments"}}`. The arguments are JSON text or an object; blank text,
/// `null` and `{}` all mean none. They are kept as they were sent, duplicate keys included, until the dispatcher judges them.
///
/// ```
/// use contract_runtime::ToolCall;
///
/// let text = r#"{"id":"1","type":"function","function":{"name":"add","arguments":"{\"a\":1}"}}"#;
/// let call = ToolCall::from_json(text.as_bytes())?;
/// assert_eq!(call, ToolCall::new("1", "add", r#"{"a":1}"#));
/// # Ok::<(), contract_runtime::MalformedCall>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct ToolCall {
    /// The caller's id; equal ids are legal, because results go by position.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
}

/// Without the arguments, among which may be secrets.
impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        CallInput::from(self).show("ToolCall", f)
    }
}

impl ToolCall {
    /// Creates a call with its arguments: JSON text, or a [`Value`].
    ///
    /// ```
    /// use contract_runtime::ToolCall;
    /// use serde_json::json;
    ///
    /// let call = ToolCall::new("1", "add", json!({"a": 1}));
    /// assert_eq!(call, ToolCall::new("1", "add", r#"{"a":1}"#));
    /// ```
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl fmt::Display,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.to_string(),
        }
    }

    /// Parses one call in either shape.
    ///
    /// # Errors
    ///
    /// [`MalformedCall`] when the bytes are not a call; the message says what is missing and repeats no value.
    pub fn from_json(bytes: &[u8]) -> Result<Self, MalformedCall> {
        let members = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => MalformedCall::NotAnObject,
            _ => MalformedCall::NotJson {
                line: error.line(),
                column: error.column(),
            },
        })?;
        Self::new_from(members)
    }
}

/// What is expected instead, at the end of every refusal.
const SHAPE: &str =
    "expected an object with `id`, `name` and `arguments`, or with `id` and `function`";

/// The error for a text that is not a tool call; its message repeats nothing of the text.
///
/// ```
/// use contract_runtime::{MalformedCall, ToolCall};
///
/// let nameless = br#"{"id": "1", "arguments": "{}"}"#;
/// assert_eq!(ToolCall::from_json(nameless).unwrap_err(), MalformedCall::NoName);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MalformedCall {
    /// The text is not JSON.
    #[error("not a tool call: the text is not JSON, at line {line}, column {column}; {SHAPE}")]
    NotJson {
        /// The line of the first fault, from 1.
        line: usize,
        /// The column of the first fault, from 1.
        column: usize,
    },
    /// The text is JSON of another type than an object.
    #[error("not a tool call: {SHAPE}")]
    NotAnObject,
    /// A member has a value of the wrong type.
    #[error("not a tool call: `{member}` is not {expected}; {SHAPE}")]
    WrongKind {
        /// The name of the member.
        member: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// A member is given more than once.
    #[error("not a tool call: `{member}` is given twice; {SHAPE}")]
    Twice {
        /// The name of the member.
        member: &'static str,
    },
    /// Neither `name` nor `function` is present.
    #[error("not a tool call: `name` is missing; {SHAPE}")]
    NoName,
    /// The call mixes both shapes.
    #[error("not a tool call: `function` is given together with `name` or `arguments`; {SHAPE}")]
    TwoShapes,
}

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Members::deserialize(deserializer)?;
        Self::new_from(members).map_err(de::Error::custom)
    }
}

impl ToolCall {
    fn new_from(members: Members) -> Result<Self, MalformedCall> {
        let [id, name, arguments, function] = members.each_once()?;
        let (name, arguments) = match (name, function) {
            (Some(name), None) => (name, arguments),
            (None, Some(function)) if arguments.is_none() => {
                let members: Members = read(&function, "function", "an object")?;
                let [_, name, arguments, _] = members.each_once()?;
                (name.ok_or(MalformedCall::NoName)?, arguments)
            }
            (None, None) => return Err(MalformedCall::NoName),
            _ => return Err(MalformedCall::TwoShapes),
        };
        Ok(Self {
            id: match id {
                None => String::new(),
                Some(id) => read::<Option<String>>(&id, "id", "a string")?.unwrap_or_default(),
            },
            name: read(&name, "name", "a string")?,
            arguments: match arguments.filter(|raw| raw.get() != "null") {
                None => String::new(),
                // JSON inside a string, or JSON.
                Some(raw) if raw.get().starts_with('"') => read(&raw, "arguments", "text")?,
                Some(raw) => raw.get().to_owned(),
            },
        })
    }
}

/// Serde's own words would repeat the value and name our types.
fn read<T: serde::de::DeserializeOwned>(
    raw: &RawValue,
    member: &'static str,
    expected: &'static str,
) -> Result<T, MalformedCall> {
    serde_json::from_str(raw.get()).map_err(|_| MalformedCall::WrongKind { member, expected })
}

/// The members of a call that matter, each as it was sent; others are passed over.
#[derive(Default)]
struct Members {
    twice: Option<&'static str>,
    values: [Option<Box<RawValue>>; MEMBERS.len()],
}

const MEMBERS: [&str; 4] = ["id", "name", "arguments", "function"];

impl Members {
    fn each_once(self) -> Result<[Option<Box<RawValue>>; MEMBERS.len()], MalformedCall> {
        match self.twice {
            Some(member) => Err(MalformedCall::Twice { member }),
            None => Ok(self.values),
        }
    }
}

struct MembersReader;

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersReader)
    }
}

impl<'de> Visitor<'de> for MembersReader {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Members::default();
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            let value: Box<RawValue> = map.next_value()?;
            let mut known = MEMBERS.into_iter().zip(&mut members.values);
            if let Some((member, place)) = known.find(|(member, _)| *member == key)
                && place.replace(value).is_some()
            {
                members.twice = Some(member);
            }
        }
        Ok(members)
    }
}

/// The result of a tool call, as it goes back to the model.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Say hello.
/// #[tool]
/// fn hello() -> &'static str {
///     "hello"
/// }
///
/// let registry = Registry::builder().tool(hello).build()?;
/// let result = registry.call(ToolCall::new("1", "hello", "{}")).blocking().into_result();
/// assert_eq!(
///     serde_json::to_string(&result).unwrap(),
///     r#"{"id":"1","name":"hello","success":true,"effect":"complete","output":"hello"}"#,
/// );
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The caller's id of the call.
    pub id: String,
    /// The name by which the tool was called.
    pub name: String,
    /// Whether the outcome is `ok`.
    pub success: bool,
    /// Whether the call took effect; `unknown` if it is omitted.
    #[serde(default)]
    pub effect: Effect,
    /// The output of the tool, if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What went wrong, as a sentence for the model, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The artifacts of the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
}

impl ToolResult {
    /// Returns the text for the model: the output, or the error.
    #[must_use]
    pub fn text(&self) -> &str {
        self.output
            .as_deref()
            .or(self.error.as_deref())
            .unwrap_or_default()
    }
}

impl fmt::Display for ToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The three texts of a call, which [`Registry::call`](crate::Registry::call) takes or borrows.
///
/// It is made of a [`ToolCall`], alone or with a [`Context`] of its own, of a reference to one, or of id, name and arguments; the
/// arguments are JSON text or a [`Value`].
///
/// ```
/// use contract_runtime::prelude::*;
/// use serde_json::json;
///
/// /// Double a number.
/// #[tool]
/// fn double(number: i32) -> i64 {
///     i64::from(number) * 2
/// }
///
/// let registry = Registry::builder().tool(double).build()?;
/// let call = ToolCall::new("1", "double", json!({"number": 21}));
/// assert_eq!(registry.call(&call).blocking().output(), Some("42"));
/// assert_eq!(registry.call(("1", "double", r#"{"number":21}"#)).blocking().output(), Some("42"));
/// assert_eq!(registry.call(("1", "double", json!({"number": 21}))).blocking().output(), Some("42"));
/// assert_eq!(registry.call(call).blocking().output(), Some("42"));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone)]
pub struct CallInput<'c> {
    pub(crate) id: Cow<'c, str>,
    pub(crate) name: Cow<'c, str>,
    pub(crate) arguments: Cow<'c, str>,
    /// What this call alone is given.
    pub(crate) context: Context,
}

/// Without the arguments, among which may be secrets.
impl fmt::Debug for CallInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show("CallInput", f)
    }
}

impl CallInput<'_> {
    /// Writes it under the name of a type.
    fn show(&self, kind: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(kind)
            .field("id", &self.id)
            .field("name", &self.name)
            .field(
                "arguments",
                &format_args!("({} bytes)", self.arguments.len()),
            )
            .finish()
    }

    pub(crate) fn to_call(&self) -> ToolCall {
        ToolCall::new(&*self.id, &*self.name, &self.arguments)
    }
}

impl From<ToolCall> for CallInput<'_> {
    #[inline]
    fn from(call: ToolCall) -> Self {
        Self {
            arguments: call.arguments.into(),
            ..(call.id, call.name, "").into()
        }
    }
}

impl From<(ToolCall, Context)> for CallInput<'_> {
    fn from((call, context): (ToolCall, Context)) -> Self {
        Self {
            context,
            ..call.into()
        }
    }
}

impl<'c> From<&'c ToolCall> for CallInput<'c> {
    fn from(call: &'c ToolCall) -> Self {
        (&*call.id, &*call.name, &*call.arguments).into()
    }
}

impl<'c, I, N> From<(I, N, &'c str)> for CallInput<'c>
where
    I: Into<Cow<'c, str>>,
    N: Into<Cow<'c, str>>,
{
    fn from((id, name, arguments): (I, N, &'c str)) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            context: Context::new(),
        }
    }
}

impl<'c, I, N> From<(I, N, Value)> for CallInput<'c>
where
    I: Into<Cow<'c, str>>,
    N: Into<Cow<'c, str>>,
{
    fn from((id, name, arguments): (I, N, Value)) -> Self {
        Self {
            arguments: arguments.to_string().into(),
            ..(id, name, "").into()
        }
    }
}

/// The longest arguments, in bytes, that are compared by what they mean.
const LONGEST: usize = 64 * 1024;

/// One text for all arguments that mean the same, whatever their white space, their escapes and the order of their keys.
///
/// No digit of a number is lost. Of arguments that are longer than 64 kB, or that are not JSON, equal texts alone are equal; of
/// long ones only a hash is kept.
#[must_use]
pub fn canonical(arguments: &str) -> String {
    if arguments.len() > LONGEST {
        let mut hasher = DefaultHasher::new();
        arguments.hash(&mut hasher);
        return format!("{} bytes, {:x}", arguments.len(), hasher.finish());
    }
    json_text::canonical(arguments).unwrap_or_else(|| arguments.trim().to_owned())
}
