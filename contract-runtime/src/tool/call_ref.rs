//! A tool call in texts that its caller keeps.

use std::fmt;

use super::wire::ToolCall;

/// One tool call in texts that the caller keeps, as [`Registry::call_text`](crate::Registry::call_text) takes it.
///
/// ```
/// use contract_runtime::{ToolCall, ToolCallRef};
///
/// let call = ToolCall::new("1", "add", r#"{"a":1}"#);
/// assert_eq!(ToolCallRef::from(&call), ToolCallRef::new("1", "add", r#"{"a":1}"#));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ToolCallRef<'c> {
    /// The caller's id; equal ids are legal, because results go by position.
    pub id: &'c str,
    /// The name of the tool.
    pub name: &'c str,
    /// The arguments as JSON text.
    pub arguments: &'c str,
}

/// Without the arguments, among which may be secrets.
impl fmt::Debug for ToolCallRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show("ToolCallRef", f)
    }
}

impl ToolCallRef<'_> {
    /// Writes it under the name of a type, for those that hide their arguments likewise.
    pub(super) fn show(&self, kind: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.arguments.len();
        f.debug_struct(kind)
            .field("id", &self.id)
            .field("name", &self.name)
            .field("arguments", &format_args!("({length} bytes)"))
            .finish()
    }
}

impl<'c> ToolCallRef<'c> {
    /// Creates a call with its arguments as JSON text.
    #[must_use]
    pub const fn new(id: &'c str, name: &'c str, arguments: &'c str) -> Self {
        Self {
            id,
            name,
            arguments,
        }
    }
}

impl<'c> From<&'c ToolCall> for ToolCallRef<'c> {
    #[inline]
    fn from(call: &'c ToolCall) -> Self {
        Self::new(&call.id, &call.name, &call.arguments)
    }
}

impl From<ToolCallRef<'_>> for ToolCall {
    fn from(call: ToolCallRef<'_>) -> Self {
        Self::new(call.id, call.name, call.arguments)
    }
}

impl<'c> From<ToolCallRef<'c>> for super::CallInput<'c> {
    fn from(call: ToolCallRef<'c>) -> Self {
        (call.id, call.name, call.arguments).into()
    }
}
