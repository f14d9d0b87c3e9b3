//! Compares two manifests, and says which changes break callers.

mod conditions;
mod input;
mod output;
mod tools;

use std::fmt;

use serde::Serialize;

use super::Manifest;

/// Whether a change breaks callers that rely on the old contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Existing callers are not affected.
    Compatible,
    /// A call or a reader that was right before may be wrong now, or the opposite could not be shown.
    Breaking,
}

/// One difference between two manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The tool; empty if the change is in the manifest itself.
    pub tool: String,
    /// The part of the tool, such as `input/count` or ``pre `count > 0` ``; empty for the whole tool.
    pub path: String,
    /// Whether callers are affected.
    pub verdict: Verdict,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = [self.tool.as_str(), self.path.as_str()];
        let places = places.into_iter().filter(|place| !place.is_empty());
        places
            .into_iter()
            .try_for_each(|place| write!(f, "{place}: "))?;
        f.write_str(&self.reason)
    }
}

/// The differences between two manifests, breaking changes first.
///
/// Its text is a report for people, one change to a line.
///
/// ```
/// use contract_manifest::{ToManifest as _, Verdict};
/// use contract_runtime::prelude::*;
///
/// mod before {
///     # use contract_runtime::prelude::*;
///     /// Book a table.
///     #[tool]
///     #[pre(guests <= 12)]
///     pub fn book(guests: u8) {}
/// }
///
/// /// Book a table.
/// #[tool]
/// #[pre(guests <= 8)]
/// fn book(guests: u8) {}
///
/// let old = Registry::builder().tool(before::book).build()?.manifest();
/// let new = Registry::builder().tool(book).build()?.manifest();
/// let diff = new.diff(&old);
/// assert!(diff.is_breaking());
/// assert_eq!(diff.changes()[0].verdict, Verdict::Breaking);
/// assert!(diff.to_string().contains("before: at most 12; now: at most 8"));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    changes: Vec<Change>,
}

impl Diff {
    /// Returns each change.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns whether nothing has changed but locations in source files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns whether any change may break a caller.
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        self.with(Verdict::Breaking).next().is_some()
    }

    fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Change> {
        let changes = self.changes.iter();
        changes.filter(move |change| change.verdict == verdict)
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("the contracts have not changed");
        }
        let count = |verdict| self.with(verdict).count();
        write!(
            f,
            "the contracts have changed: {} breaking, {} compatible",
            count(Verdict::Breaking),
            count(Verdict::Compatible),
        )?;
        let sections = [
            ("breaking", Verdict::Breaking),
            ("compatible", Verdict::Compatible),
        ];
        for (title, verdict) in sections {
            if count(verdict) == 0 {
                continue;
            }
            write!(f, "\n{title}")?;
            self.with(verdict)
                .try_for_each(|change| write!(f, "\n  {change}"))?;
        }
        Ok(())
    }
}

impl Manifest {
    /// Compares the manifest with an older one by the substitution rule (Liskov and Wing, "A Behavioral Notion of
    /// Subtyping", 1994): preconditions may weaken, postconditions may strengthen.
    ///
    /// A change is [`Compatible`](Verdict::Compatible) only where that is shown from the two documents. A condition that is
    /// the same text is taken for the same condition, if its portable rule has not changed either; what a function that it
    /// calls does is not in a manifest.
    ///
    /// ```
    /// use contract_manifest::ToManifest as _;
    /// use contract_runtime::prelude::*;
    ///
    /// mod old {
    ///     use contract_runtime::prelude::*;
    ///
    ///     /// Roll dice.
    ///     #[tool]
    ///     pub fn roll(count: u8) -> u32 {
    ///         u32::from(count)
    ///     }
    /// }
    ///
    /// /// Roll dice.
    /// #[tool]
    /// fn roll(count: u16, #[arg(default = 6)] sides: u8) -> u32 {
    ///     u32::from(count) + u32::from(sides)
    /// }
    ///
    /// let before = Registry::builder().tool(old::roll).build()?.manifest();
    /// let now = Registry::builder().tool(roll).build()?.manifest();
    /// assert!(!now.diff(&before).is_breaking());
    /// assert!(before.diff(&now).is_breaking());
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn diff(&self, old: &Self) -> Diff {
        let mut report = Report::default();
        tools::compare(old, self, &mut report);
        let mut changes = report.changes;
        changes.sort_by_key(|change| change.verdict == Verdict::Compatible);
        Diff { changes }
    }
}

/// Collects changes, in the order in which they are found.
#[derive(Default)]
struct Report {
    tool: String,
    changes: Vec<Change>,
}

impl Report {
    fn add(&mut self, verdict: Verdict, path: impl Into<String>, reason: impl Into<String>) {
        self.changes.push(Change {
            tool: self.tool.clone(),
            path: path.into(),
            verdict,
            reason: reason.into(),
        });
    }

    fn compatible(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.add(Verdict::Compatible, path, reason);
    }

    fn breaking(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.add(Verdict::Breaking, path, reason);
    }

    fn unproven(&mut self, path: impl Into<String>, why: impl fmt::Display) {
        self.breaking(path, format!("cannot be proven compatible: {why}"));
    }
}
