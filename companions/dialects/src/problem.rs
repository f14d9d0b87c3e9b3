//! Why tools cannot be exported, or not as strictly as requested.

use std::fmt;

use crate::dialect::StrictDialect;

/// Every reason, together.
pub(super) type Problems = Vec<ExportProblem>;

/// Why a tool, or all tools of one request, cannot be exported, or not as strictly as requested.
///
/// ```
/// use std::collections::BTreeMap;
/// use contract_dialects::{ExportProblem, StrictDialect, StrictExport as _};
/// use contract_runtime::prelude::*;
///
/// /// Count words.
/// #[tool]
/// fn total(counts: BTreeMap<String, u32>) -> u32 {
///     counts.values().sum()
/// }
///
/// let registry = Registry::builder().tool(total).build()?;
/// let error = registry.export_strict(StrictDialect::GeminiParameters).unwrap_err();
/// let [ExportProblem::Inexpressible { pointer, .. }] = error.problems() else { panic!("{error}") };
/// assert_eq!(pointer, "/properties/counts");
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportProblem {
    /// A type that the dialect cannot express.
    #[error("`{tool}`: {what} at `{pointer}` cannot be expressed in this dialect; {advice}")]
    Inexpressible {
        /// The tool.
        tool: String,
        /// Where it is in the schema of the arguments, as a JSON pointer (RFC 6901).
        pointer: String,
        /// What it is.
        what: String,
        /// What to do instead.
        advice: &'static str,
    },
    /// More of something than the dialect accepts in one request, counted over all tools.
    #[error(
        "{found} {what}, and one request may hold {limit}; most are in {}; export fewer tools at once, or make these smaller",
        Listed(most)
    )]
    Total {
        /// What is counted, in the plural.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        limit: usize,
        /// The tools that have most of them and how many each has, largest first.
        most: Vec<(String, usize)>,
    },
    /// More of something than the dialect accepts in one tool.
    #[error(
        "`{tool}`: {found} {what}{}, and there may be {limit}; {advice}",
        At(pointer)
    )]
    Limit {
        /// The tool.
        tool: String,
        /// Where, as a JSON pointer into the exported schema (RFC 6901); empty for the whole of it.
        pointer: String,
        /// What is counted, in the plural.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        limit: usize,
        /// What to do instead.
        advice: &'static str,
    },
}

impl ExportProblem {
    pub(super) fn inexpressible(tool: &str, at: &str, what: &str, advice: &'static str) -> Self {
        Self::Inexpressible {
            tool: tool.to_owned(),
            pointer: at.to_owned(),
            what: what.to_owned(),
            advice,
        }
    }
}

struct At<'p>(&'p str);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            pointer => write!(f, " at `{pointer}`"),
        }
    }
}

struct Listed<'p>(&'p [(String, usize)]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (tool, count)) in self.0.iter().enumerate() {
            let between = if index == 0 { "" } else { ", " };
            write!(f, "{between}`{tool}` ({count})")?;
        }
        Ok(())
    }
}

/// Why the tools of a registry cannot be exported to a dialect: every reason, together.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use contract_dialects::{StrictDialect, StrictExport as _};
/// use contract_runtime::prelude::*;
///
/// /// Set some options.
/// #[tool]
/// fn set(options: BTreeMap<String, String>) -> usize {
///     options.len()
/// }
///
/// let registry = Registry::builder().tool(set).build()?;
/// let error = registry.export_strict(StrictDialect::GeminiParameters).unwrap_err();
/// assert_eq!(error.problems().len(), 1);
/// assert_eq!(
///     error.to_string(),
///     "the tools cannot be exported to `gemini-parameters`:\n  - `set`: an object without properties at `/properties/options` \
///      cannot be expressed in this dialect; give it fields, use a list of keys with their values, or export with `parametersJsonSchema`",
/// );
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportError {
    pub(super) dialect: StrictDialect,
    pub(super) problems: Problems,
}

impl ExportError {
    /// Returns the requested dialect.
    #[must_use]
    pub const fn dialect(&self) -> StrictDialect {
        self.dialect
    }

    /// Returns each reason.
    #[must_use]
    pub fn problems(&self) -> &[ExportProblem] {
        &self.problems
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tools cannot be exported to `{}`:", self.dialect)?;
        self.problems
            .iter()
            .try_for_each(|problem| write!(f, "\n  - {problem}"))
    }
}

impl std::error::Error for ExportError {}
