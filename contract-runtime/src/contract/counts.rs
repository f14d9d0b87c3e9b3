//! Counters of evaluated, violated, waived and skipped conditions.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// How many conditions were evaluated, violated, waived and skipped.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Take a square root.
/// #[tool]
/// #[pre(of >= 0.0)]
/// fn root(of: f64) -> f64 {
///     of.sqrt()
/// }
///
/// let registry = Registry::builder().tool(root).build()?;
/// registry.call(ToolCall::new("1", "root", r#"{"of":4}"#)).blocking();
/// registry.call(ToolCall::new("2", "root", r#"{"of":-4}"#)).blocking();
/// let counts = registry.statistics().conditions;
/// assert_eq!((counts.evaluated, counts.violated, counts.skipped), (2, 1, 0));
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Conditions that were evaluated, whatever came of it.
    pub evaluated: u64,
    /// Conditions that were evaluated and did not hold.
    pub violated: u64,
    /// Conditions that did not hold, and questions of a tool, that a person let through.
    pub waived: u64,
    /// Conditions that were reached and not evaluated, under [`Policy::Ignore`](crate::Policy::Ignore).
    pub skipped: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Self) {
        self.evaluated += other.evaluated;
        self.violated += other.violated;
        self.waived += other.waived;
        self.skipped += other.skipped;
    }
}

/// The counts of one execution, which has few conditions. Violations are counted as they are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) evaluated: u32,
    pub(crate) waived: u32,
    pub(crate) skipped: u32,
}

impl From<Reached> for Counts {
    fn from(reached: Reached) -> Self {
        Self {
            evaluated: reached.evaluated.into(),
            violated: 0,
            waived: reached.waived.into(),
            skipped: reached.skipped.into(),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    evaluated: AtomicU64,
    violated: AtomicU64,
    waived: AtomicU64,
    skipped: AtomicU64,
}

impl Counters {
    pub(crate) fn add(&self, counts: Counts) {
        // One addition in the ordinary case; the others are rare.
        if counts.evaluated > 0 {
            self.evaluated
                .fetch_add(counts.evaluated, Ordering::Relaxed);
        }
        if counts.violated > 0 {
            self.violated.fetch_add(counts.violated, Ordering::Relaxed);
        }
        if counts.waived > 0 {
            self.waived.fetch_add(counts.waived, Ordering::Relaxed);
        }
        if counts.skipped > 0 {
            self.skipped.fetch_add(counts.skipped, Ordering::Relaxed);
        }
    }

    pub(crate) fn read(&self) -> Counts {
        Counts {
            evaluated: self.evaluated.load(Ordering::Relaxed),
            violated: self.violated.load(Ordering::Relaxed),
            waived: self.waived.load(Ordering::Relaxed),
            skipped: self.skipped.load(Ordering::Relaxed),
        }
    }
}
