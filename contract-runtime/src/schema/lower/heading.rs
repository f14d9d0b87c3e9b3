//! The headings under which a description lists conditions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The heading under which a tool's description lists a condition.
///
/// ```
/// use contract_runtime::prelude::*;
/// use contract_runtime::Heading;
///
/// /// Read a note.
/// #[tool]
/// #[pre(title.trim() == title, "there are blanks around the title")]
/// fn read_note(title: String) -> String {
///     title
/// }
///
/// let registry = Registry::builder().tool(read_note).build()?;
/// let condition = &registry.tool("read_note").unwrap().conditions()[0];
/// assert_eq!(condition.heading(), Some(Heading::PossibleRefusals));
/// assert_eq!(Heading::PossibleRefusals.to_string(), "Possible refusals");
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Heading {
    /// What must hold of the arguments.
    Requires,
    /// What the tool says when a condition fails, as quoted speech.
    PossibleRefusals,
    /// When a person is asked whether the call may go on.
    Approval,
    /// What holds of the result.
    Ensures,
}

impl Heading {
    /// In the order in which a description has them.
    pub(super) const ALL: [Self; 4] = [
        Self::Requires,
        Self::PossibleRefusals,
        Self::Approval,
        Self::Ensures,
    ];
}

impl fmt::Display for Heading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Requires => "Requires",
            Self::PossibleRefusals => "Possible refusals",
            Self::Approval => "Needs a person's approval",
            Self::Ensures => "Ensures",
        })
    }
}
