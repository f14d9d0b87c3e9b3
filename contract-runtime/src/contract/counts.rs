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

#[derive(Debug, Default)]
pub(crate) struct Counters([AtomicU64; 4]);

impl Counters {
    pub(crate) fn add(&self, counts: Counts) {
        let Counts {
            evaluated,
            violated,
            waived,
            skipped,
        } = counts;
        for (counter, count) in self.0.iter().zip([evaluated, violated, waived, skipped]) {
            // One addition in the ordinary case; the others are rare.
            if count > 0 {
                counter.fetch_add(count, Ordering::Relaxed);
            }
        }
    }

    pub(crate) fn read(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let [evaluated, violated, waived, skipped] = self.0.each_ref().map(read);
        Counts {
            evaluated,
            violated,
            waived,
            skipped,
        }
    }
}
