//! Counters of a registry: calls by status, and conditions.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};

use crate::contract::counts::Counts;
use crate::tool::Status;

/// Counts of a registry's calls by status, and of the conditions they reached.
///
/// ```
/// use contract_runtime::Status;
/// use contract_runtime::prelude::*;
///
/// let registry = Registry::builder().build()?;
/// let _ = registry.call(ToolCall::new("1", "nothing", "")).blocking();
/// let statistics = registry.statistics();
/// assert_eq!((statistics.calls(), statistics.ended(Status::UnknownTool)), (1, 1));
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// How many conditions were reached.
    pub conditions: Counts,
    ended: [u64; Status::ALL.len()],
}

impl Statistics {
    /// Returns how many calls have ended, with any status; a call whose future was dropped has ended as cancelled.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.ended.iter().sum()
    }

    /// Returns how many calls have ended with this status.
    #[must_use]
    pub fn ended(&self, status: Status) -> u64 {
        self.ended[status as usize]
    }
}

impl Serialize for Statistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Statistics", 2 + Status::ALL.len())?;
        fields.serialize_field("calls", &self.calls())?;
        for status in Status::ALL {
            fields.serialize_field(status.name(), &self.ended(*status))?;
        }
        fields.serialize_field("conditions", &self.conditions)?;
        fields.end()
    }
}

#[derive(Debug, Default)]
pub(super) struct Tally([AtomicU64; Status::ALL.len()]);

impl Tally {
    pub(super) fn count(&self, status: Status) {
        self.0[status as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_to(&self, statistics: &mut Statistics) {
        for (sum, count) in statistics.ended.iter_mut().zip(&self.0) {
            *sum += count.load(Ordering::Relaxed);
        }
    }
}
