//! Parameters and results as JSON Schema: one neutral form, which is exactly what the dispatcher accepts.

mod compile;
mod correct;
mod decimal;
pub(crate) mod dialects;
mod error;
mod exact;
pub(crate) mod lower;
mod neutral;
pub(crate) mod portable;
mod reader;
mod rules;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use dialects::{Dialect, ExportProblem, McpRevision, UnknownDialect};
pub use error::SchemaError;
pub use lower::{Lowering, PublishedCondition};
pub use portable::PortableRule;

pub(crate) use compile::compile;
pub(crate) use correct::{correct_output, percent_decode};
pub(crate) use decimal::Decimal;
pub(crate) use neutral::{InputSchema, ParameterSchema};
pub(crate) use rules::{
    ArrayRule, Limit, NumberRule, ObjectRule, Rule, RuleId, Rules, TextRule, Types,
};
pub(crate) use vocabulary::{Holds, holds};
