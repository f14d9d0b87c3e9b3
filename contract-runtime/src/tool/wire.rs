use std::fmt;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::content::Artifact;

/// One call as a model made it.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolCall {
    /// The caller's id; equal ids are legal, because results go by position.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
}

impl ToolCall {
    /// A call with its arguments as JSON text.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    /// Reads one call in either shape.
    ///
    /// # Errors
    ///
    /// [`MalformedCall`] when the bytes are not a call; the message says what is missing and repeats no value.
    pub fn from_json(bytes: &[u8]) -> Result<Self, MalformedCall> {
        serde_json::from_slice(bytes).map_err(MalformedCall)
    }
}

/// The bytes are not a tool call.
#[derive(Debug, thiserror::Error)]
#[error(
    "not a tool call: {0}; expected an object with `id`, `name` and `arguments`, or with `id` and `function`"
)]
pub struct MalformedCall(#[source] serde_json::Error);

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Shape {
            id,
            name,
            arguments,
            function,
        } = Shape::deserialize(deserializer)?;
        let function = match (name, function) {
            (Some(name), None) => Function { name, arguments },
            (None, Some(function)) if arguments.is_none() => function,
            (None, None) => return Err(de::Error::missing_field("name")),
            _ => {
                return Err(de::Error::custom(
                    "`function` stands beside `name` or `arguments`",
                ));
            }
        };
        Ok(Self {
            id: id.unwrap_or_default(),
            name: function.name,
            arguments: match function.arguments {
                None => String::new(),
                Some(raw) => text(&raw).map_err(de::Error::custom)?,
            },
        })
    }
}

#[derive(Deserialize)]
struct Shape {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
    #[serde(default)]
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

/// Arguments come as JSON inside a string, or as JSON.
fn text(raw: &RawValue) -> Result<String, serde_json::Error> {
    if raw.get().starts_with('"') {
        return serde_json::from_str(raw.get());
    }
    Ok(raw.get().to_owned())
}

/// What goes back to the model.
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
/// let result = registry.call_blocking(ToolCall::new("1", "hello", "{}")).into_result();
/// assert_eq!(
///     serde_json::to_string(&result).unwrap(),
///     r#"{"id":"1","name":"hello","success":true,"output":"hello"}"#,
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
    /// What the tool gave, if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What went wrong, as a sentence for the model, if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What goes along with the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
}

impl ToolResult {
    pub(crate) fn new(
        id: String,
        name: String,
        answer: Result<(String, Vec<Artifact>), String>,
    ) -> Self {
        let success = answer.is_ok();
        let (output, error, artifacts) = match answer {
            Ok((output, artifacts)) => (Some(output), None, artifacts),
            Err(error) => (None, Some(error), Vec::new()),
        };
        Self {
            id,
            name,
            success,
            output,
            error,
            artifacts,
        }
    }

    /// The text for the model: the output, or the error.
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
