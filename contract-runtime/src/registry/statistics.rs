//! Counters of a registry: calls by status, and conditions.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};

use crate::contract::counts::Counts;
use crate::contract::scope::PolicyLayer;
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

/// The counters of one registry, sharded by thread. Their sums are exact whenever no call is running.
pub(super) struct Shards(Box<[Shard]>);

/// One shard, on cache lines of its own: processors fetch two lines of 64 bytes at once.
#[repr(align(128))]
struct Shard {
    /// Each running call holds a reference to it.
    layer: Arc<PolicyLayer>,
    /// The calls that have ended, by status.
    ended: [AtomicU64; Status::ALL.len()],
}

impl Shards {
    pub(super) fn new(layer: &PolicyLayer) -> Self {
        let shard = || Shard {
            layer: Arc::new(layer.uncounted()),
            ended: Default::default(),
        };
        Self((0..count()).map(|_| shard()).collect())
    }

    /// Returns the shard of this thread.
    #[inline]
    fn own(&self) -> &Shard {
        // The count is a power of two.
        &self.0[index() & (self.0.len() - 1)]
    }

    #[inline]
    pub(super) fn layer(&self) -> Arc<PolicyLayer> {
        Arc::clone(&self.own().layer)
    }

    /// Counts a call that has ended.
    #[inline]
    pub(super) fn count(&self, status: Status) {
        self.own().ended[status as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::default();
        for shard in &self.0 {
            statistics.conditions.add(shard.layer.counters.read());
            for (sum, count) in statistics.ended.iter_mut().zip(&shard.ended) {
                *sum += count.load(Ordering::Relaxed);
            }
        }
        statistics
    }
}

/// Returns the number of shards: several for each processor, so that few threads share one.
fn count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        (4 * processors).next_power_of_two().clamp(8, 128)
    })
}

/// Threads are numbered as they call for the first time.
#[inline]
fn index() -> usize {
    const NONE: usize = usize::MAX;
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static INDEX: Cell<usize> = const { Cell::new(NONE) };
    }
    match INDEX.get() {
        NONE => {
            let index = NEXT.fetch_add(1, Ordering::Relaxed);
            INDEX.set(index);
            index
        }
        index => index,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::sync::{Arc, OnceLock};

    use super::{Shards, index};
    use crate::DynamicSpec;
    use crate::contract::counts::Counts;
    use crate::prelude::*;
    use crate::tool::Status;

    /// Of each copy, how often it is held and what it has counted.
    fn written(shards: &Shards) -> Vec<(usize, Counts, u64)> {
        let seen = shards.0.iter().map(|shard| {
            let ended = shard.ended.iter().map(|one| one.load(Ordering::Relaxed));
            let layer = &shard.layer;
            (Arc::strong_count(layer), layer.counters.read(), ended.sum())
        });
        seen.collect()
    }

    const CALL: &str = r#"{"number":7}"#;

    /// A registry with a tool of two conditions, which shows what its call has written so far.
    fn registry(seen: impl Fn(&Registry) + Send + Sync + 'static) -> Registry {
        let own = Arc::new(OnceLock::<Registry>::new());
        let spec = DynamicSpec::new("look", "Look.").input_schema(serde_json::json!({
            "type": "object",
            "properties": {"number": {"type": "integer"}},
        }));
        let tool = Tool::dynamic(spec, {
            let own = Arc::clone(&own);
            move |_| {
                if let Some(registry) = own.get() {
                    seen(registry);
                }
                async { Ok::<_, String>(Content::text("seen")) }
            }
        })
        .pre("a number", |arguments| arguments.contains_key("number"))
        .post("a text", |_, result| result.is_string());
        let registry = Registry::builder().with(tool).build().unwrap();
        own.set(registry.clone()).unwrap();
        registry
    }

    /// Two threads whose calls write to the same place wait for each other at every call, and nothing but time shows it.
    #[test]
    fn a_call_writes_to_nothing_that_the_calls_of_other_threads_write_to() {
        let registry = registry(|registry| {
            let shards = &registry.inner.shards;
            let own = index() & (shards.0.len() - 1);
            for (place, (held, counts, calls)) in written(shards).into_iter().enumerate() {
                let expected = usize::from(place == own) + 1;
                assert_eq!((held, counts, calls), (expected, Counts::default(), 0));
            }
        });
        let outcome = registry.call(ToolCall::new("1", "look", CALL)).blocking();
        assert_eq!(outcome.output(), Some("seen"), "{outcome:?}");
        let shards = &registry.inner.shards;
        let own = index() & (shards.0.len() - 1);
        for (place, (held, counts, calls)) in written(shards).into_iter().enumerate() {
            let expected = if place == own { (1, 2, 1) } else { (1, 0, 0) };
            assert_eq!((held, counts.evaluated, calls), expected, "{place}");
        }
    }

    #[test]
    fn threads_that_begin_one_after_another_write_to_different_places() {
        let places: Vec<usize> = (0..4)
            .map(|_| std::thread::spawn(index).join().unwrap())
            .collect();
        let all: std::collections::HashSet<usize> = places.iter().copied().collect();
        assert_eq!(all.len(), places.len(), "{places:?}");
    }

    #[test]
    fn the_sums_of_all_threads_are_exact_at_rest() {
        const THREADS: u64 = 20;
        const CALLS: u64 = 50;
        let registry = registry(|_| {});
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for text in [CALL, "{}"] {
                        for _ in 0..CALLS {
                            let _ = registry.call(ToolCall::new("1", "look", text)).blocking();
                        }
                    }
                });
            }
        });
        let statistics = registry.statistics();
        let calls = THREADS * CALLS;
        assert_eq!(statistics.ended(Status::Ok), calls);
        assert_eq!(statistics.ended(Status::Violation), calls);
        assert_eq!(statistics.calls(), 2 * calls);
        let conditions = statistics.conditions;
        assert_eq!(
            (conditions.evaluated, conditions.violated),
            (3 * calls, calls)
        );
    }
}
