//! What a call is made of: its id, the name of its tool, its arguments.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::wire::ToolCall;

/// The three texts of a call, which [`Registry::call`](crate::Registry::call) takes or borrows.
///
/// It is made of a [`ToolCall`], of a reference to one, or of id, name and arguments; the arguments are JSON text or a
/// [`Value`].
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
}

/// Without the arguments, among which may be secrets.
impl fmt::Debug for CallInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show("CallInput", f)
    }
}

impl CallInput<'_> {
    /// Writes it under the name of a type.
    pub(super) fn show(&self, kind: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        ToolCall {
            id: self.id.to_string(),
            name: self.name.to_string(),
            arguments: self.arguments.to_string(),
        }
    }
}

impl From<ToolCall> for CallInput<'_> {
    fn from(call: ToolCall) -> Self {
        Self {
            id: call.id.into(),
            name: call.name.into(),
            arguments: call.arguments.into(),
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
            id: id.into(),
            name: name.into(),
            arguments: arguments.to_string().into(),
        }
    }
}
