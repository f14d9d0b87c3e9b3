//! Parameters and results as JSON Schema, in one neutral form that the dispatcher enforces.

pub(crate) mod arguments;
mod close;
mod compile;
mod decimal;
pub(crate) mod dialects;
mod draft07;
mod error;
mod format;
mod hints;
mod input_schema;
pub(crate) mod json_text;
pub(crate) mod lexer;
pub(crate) mod lower;
mod normalize;
mod pointer;
pub(crate) mod portable;
mod reader;
mod renames;
mod rules;
pub(crate) mod stored;
mod strict_types;
#[cfg(test)]
mod tests;
mod type_schema;
mod validator;
mod vocabulary;

pub use arguments::{ArgumentProblem, Coercion, InvalidArguments, ProblemKind};
pub use dialects::{Dialect, ExportProblem, McpRevision, UnknownDialect};
pub use error::SchemaError;
pub use hints::Hints;
pub use lower::{Heading, Lowering, PublishedCondition};
pub use portable::PortableRule;
pub use validator::Validator;
pub use vocabulary::{KeywordValue, holds};

pub use compile::check_schema;
pub(crate) use compile::compile;
pub use decimal::Decimal;
pub(crate) use format::Format;
#[cfg(test)]
pub(crate) use input_schema::ParameterSchema;
pub(crate) use input_schema::{Constants, InputSchema, Parameter};
pub use normalize::{correct_output, percent_decode};
pub(crate) use renames::Renames;
pub(crate) use rules::{
    ArrayRule, Limit, NumberRule, ObjectRule, Rule, RuleId, Rules, TextRule, Types,
};
pub(crate) use stored::StoredSchema;
pub use type_schema::Describe;
pub(crate) use type_schema::{DescribedParameter, TypeSchemas};
