//! Why tools cannot be exported, or not as strictly as requested.

use std::fmt;

/// Why a tool, or all tools of one request, cannot be exported, or not as strictly as requested.
///
/// ```
/// use std::collections::BTreeMap;
/// use contract_runtime::{Dialect, ExportProblem, prelude::*};
///
/// /// Count words.
/// #[tool]
/// fn total(counts: BTreeMap<String, u32>) -> u32 {
///     counts.values().sum()
/// }
///
/// let registry = Registry::builder().tool(total).build()?;
/// let error = registry.export(Dialect::GeminiParameters).unwrap_err();
/// let [ExportProblem::Inexpressible { pointer, .. }] = error.problems() else { panic!("{error}") };
/// assert_eq!(pointer, "/properties/counts");
/// # Ok::<(), contract_runtime::BuildError>(())
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
