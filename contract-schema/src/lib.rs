#![doc = include_str!("../README.md")]
//!
//! # How it works
//!
//! ```text
//! Rust types  --type_schema, normalize-->  one neutral schema  --compile-->  rules
//! a JSON text --arguments (judged by the rules)-->  every problem at once, in sentences that a model can act on
//! ```

#![allow(
    clippy::must_use_candidate,
    reason = "most items are hidden, and public for contract-runtime alone"
)]

#[doc(hidden)]
pub mod arguments;
#[doc(hidden)]
pub mod compile;
mod decimal;
mod error;
mod format;
#[doc(hidden)]
pub mod input_schema;
#[doc(hidden)]
pub mod json_text;
#[doc(hidden)]
pub mod lexer;
#[doc(hidden)]
pub mod normalize;
#[doc(hidden)]
pub mod pattern;
#[doc(hidden)]
pub mod reader;
#[doc(hidden)]
pub mod renames;
#[doc(hidden)]
pub mod rules;
#[doc(hidden)]
pub mod stored;
#[cfg(test)]
mod tests;
#[doc(hidden)]
pub mod type_schema;
mod validator;
#[doc(hidden)]
pub mod vocabulary;

pub use arguments::{ArgumentProblem, Coercion, InvalidArguments, ProblemKind};
pub use compile::check_schema;
pub use decimal::Decimal;
pub use error::SchemaError;
pub use validator::Validator;

pub(crate) use compile::compile;
pub(crate) use input_schema::InputSchema;
#[cfg(test)]
pub(crate) use input_schema::ParameterSchema;
pub(crate) use renames::Renames;
pub(crate) use rules::{
    ArrayRule, Limit, NumberRule, ObjectRule, Rule, RuleId, Rules, TextRule, Types,
};
