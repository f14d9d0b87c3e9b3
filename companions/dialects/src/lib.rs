#![doc = include_str!("../README.md")]
//!
//! # How it works
//!
//! ```text
//! ToolInfo::describe --without widths--> one schema
//!   --walk: references (dnf), combinations, keywords--> the keywords of a dialect, and words (prose) for the rest
//!   --limits--> what one tool and one request may hold
//! ```

mod anthropic;
mod dialect;
mod dnf;
mod gemini;
mod keywords;
mod limits;
mod openai;
mod problem;
mod prose;
#[cfg(test)]
mod tests;
mod walk;

use contract_runtime::{Definitions, Registry, ToolDescription, ToolInfo};
use serde_json::Value;

pub use dialect::StrictDialect;
use limits::exceeded;
use problem::Problems;
pub use problem::{ExportError, ExportProblem};

/// Exports a registry in a strict or reduced format.
pub trait StrictExport {
    /// Exports the tools as a list in one provider's format.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use contract_dialects::{StrictDialect, StrictExport as _};
    /// use contract_runtime::prelude::*;
    ///
    /// /// Add two numbers.
    /// #[tool]
    /// fn add(a: i32, b: i32) -> Option<i32> {
    ///     a.checked_add(b)
    /// }
    ///
    /// /// Set some options.
    /// #[tool]
    /// fn set(options: BTreeMap<String, String>) -> usize {
    ///     options.len()
    /// }
    ///
    /// let registry = Registry::builder().tool(add).tool(set).build()?;
    /// let exported = registry.export_strict(StrictDialect::OpenAiResponses).unwrap();
    /// assert_eq!((&exported.tools[0]["strict"], &exported.tools[1]["strict"]), (&true.into(), &false.into()));
    /// assert_eq!(
    ///     exported.not_strict[0].to_string(),
    ///     "`set`: an object with any keys at `/properties/options` cannot be expressed in this dialect; \
    ///      use a struct, or a list of keys with their values",
    /// );
    /// # Ok::<(), BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ExportError`] with every [`ExportProblem`]: types that the format does not have even without `strict`, and totals that
    /// its provider does not accept in one request.
    fn export_strict(&self, dialect: StrictDialect) -> Result<StrictTools, ExportError>;
}

/// The tools of a registry in a strict or reduced format.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StrictTools {
    /// The tools, as a JSON array.
    pub tools: Value,
    /// Why tools are exported without `strict` in a strict format; empty if all are strict.
    ///
    /// The schema of such a tool is a hint to the model, which is held to those of the others. A call is judged by the
    /// whole contract either way.
    pub not_strict: Vec<ExportProblem>,
}

impl StrictExport for Registry {
    fn export_strict(&self, dialect: StrictDialect) -> Result<StrictTools, ExportError> {
        // Inlined definitions count each time towards the limits of a dialect.
        all(self, dialect, Definitions::Inlined)
            .or_else(|_| all(self, dialect, Definitions::Kept))
            .map_err(|problems| ExportError { dialect, problems })
    }
}

/// All tools, each as strict as it can be.
fn all(
    registry: &Registry,
    dialect: StrictDialect,
    definitions: Definitions,
) -> Result<StrictTools, Problems> {
    let plain = |index: usize| registry.export(dialect.plain()?).get(index);
    let (mut tools, mut not_strict, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for (index, tool) in registry.tools().enumerate() {
        match one(tool, dialect, definitions) {
            Ok(written) => tools.push(written),
            Err(why) => match plain(index) {
                Some(plain) => {
                    tools.push(plain.clone());
                    not_strict.extend(why);
                }
                None => problems.extend(why),
            },
        }
    }
    // What is missing cannot be counted.
    if problems.is_empty() {
        problems = totals(&tools, dialect);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let tools = Value::Array(tools);
    Ok(StrictTools { tools, not_strict })
}

/// One tool, with its references where the dialect cannot express it without.
fn one(
    tool: ToolInfo<'_>,
    dialect: StrictDialect,
    definitions: Definitions,
) -> Result<Value, Problems> {
    // Gemini accepts only plain names, and every other name has a plain one.
    let accepts = |name: &str| dialect.plain().is_some_and(|plain| plain.accepts(name));
    let with = |definitions| write(&tool.describe(definitions, accepts), dialect);
    with(definitions).or_else(|why| with(Definitions::Kept).map_err(|_| why))
}

fn write(tool: &ToolDescription<'_>, dialect: StrictDialect) -> Result<Value, Problems> {
    match dialect {
        StrictDialect::OpenAiChat => openai::chat(tool),
        StrictDialect::OpenAiResponses => openai::responses(tool),
        StrictDialect::Anthropic => anthropic::strict(tool),
        StrictDialect::GeminiParameters => gemini::with_parameters(tool),
        StrictDialect::GeminiJsonSchema => gemini::with_json_schema(tool),
    }
}

/// What a dialect limits over all strict tools of one request.
fn totals(tools: &[Value], dialect: StrictDialect) -> Problems {
    let strict = |at: &str| -> Vec<&Value> {
        let is_strict = |tool: &&Value| tool.pointer(at) == Some(&Value::Bool(true));
        tools.iter().filter(is_strict).collect()
    };
    match dialect {
        StrictDialect::OpenAiChat => exceeded(
            &strict("/function/strict"),
            "/function/parameters",
            &openai::TOTALS,
        ),
        StrictDialect::OpenAiResponses => {
            exceeded(&strict("/strict"), "/parameters", &openai::TOTALS)
        }
        StrictDialect::Anthropic => {
            exceeded(&strict("/strict"), "/input_schema", &anthropic::TOTALS)
        }
        StrictDialect::GeminiParameters | StrictDialect::GeminiJsonSchema => Vec::new(),
    }
}
