//! Parameters and results as JSON Schema: one neutral form, which is exactly what the dispatcher accepts.

mod compile;
mod correct;
mod decimal;
mod error;
mod exact;
mod neutral;
mod reader;
mod rules;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use error::SchemaError;

pub(crate) use correct::correct_output;
pub(crate) use decimal::Decimal;
pub(crate) use neutral::{InputSchema, ParameterSchema};
pub(crate) use rules::{
    ArrayRule, Limit, NumberRule, ObjectRule, Rule, RuleId, Rules, TextRule, Types,
};
