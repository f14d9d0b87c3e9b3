//! What conditions add to the schemas of tools, and the schemas as providers take them.

pub(crate) mod dialects;
pub(crate) mod lower;

use serde::{Deserialize, Serialize};

pub use contract_schema::{
    ArgumentProblem, Coercion, Decimal, InvalidArguments, ProblemKind, SchemaError, Validator,
    check_schema,
};
pub use dialects::{Definitions, Dialect, McpRevision, ToolDescription, UnknownDialect};
pub use lower::{Heading, Lowering, PublishedCondition};

pub use contract_schema::normalize::{correct_output, percent_decode};
pub use contract_schema::type_schema::Describe;
pub use contract_schema::vocabulary::{KeywordValue, holds};

#[cfg(test)]
pub(crate) use contract_schema::input_schema::ParameterSchema;
pub(crate) use contract_schema::input_schema::{Constants, InputSchema, Parameter};
pub(crate) use contract_schema::renames::Renames;
pub(crate) use contract_schema::stored::StoredSchema;
pub(crate) use contract_schema::type_schema::{DescribedParameter, TypeSchemas};
pub(crate) use contract_schema::{
    arguments, json_text, lexer, normalize, pattern, stored, vocabulary,
};

/// What a tool declares about its own effects; advice for the caller, enforced only by [`call_all`].
///
/// The four are those of the Model Context Protocol (tool annotations, revision 2025-11-25); `None` is "not said".
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Say what time zone the host is in.
/// #[tool(read_only, open_world = false)]
/// fn time_zone() -> &'static str {
///     "UTC"
/// }
///
/// let registry = Registry::builder().tool(time_zone).build()?;
/// let hints = registry.tool("time_zone").unwrap().hints();
/// assert_eq!(hints.read_only, Some(true));
/// assert_eq!(hints.destructive, None);
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
///
/// [`call_all`]: crate::Registry::call_all
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hints {
    /// The tool changes nothing, so calls may run concurrently.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// The tool may remove or overwrite something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Repeating the same call has no further effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// The tool interacts with an open world, such as the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl Hints {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        read_only: Option<bool>,
        destructive: Option<bool>,
        idempotent: Option<bool>,
        open_world: Option<bool>,
    ) -> Self {
        Self {
            read_only,
            destructive,
            idempotent,
            open_world,
        }
    }
}
