//! What conditions add to the schemas of tools, and the schemas as providers take them.

pub(crate) mod dialects;
mod hints;
pub(crate) mod lower;

pub use contract_schema::{
    ArgumentProblem, Coercion, Decimal, InvalidArguments, ProblemKind, SchemaError, Validator,
    check_schema,
};
pub use dialects::{Definitions, Dialect, McpRevision, ToolDescription, UnknownDialect};
pub use hints::Hints;
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
