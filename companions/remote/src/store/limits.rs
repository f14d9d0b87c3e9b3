//! The limits of a store.

use std::time::Duration;

use super::StoreError;

/// How much a store holds, and for how long.
///
/// ```
/// use std::time::Duration;
/// use contract_remote::store::StoreLimits;
///
/// let mut limits = StoreLimits::default();
/// limits.time_to_live = Duration::from_secs(24 * 3600);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreLimits {
    /// How long a task is kept after its last write.
    pub time_to_live: Duration,
    /// The maximum size of a value, in bytes.
    pub value_bytes: usize,
    /// The maximum number of names of one task.
    pub names: u64,
    /// The maximum number of logs of one task.
    pub logs: u64,
    /// The maximum size of a log entry, in bytes.
    pub entry_bytes: usize,
    /// The maximum number of entries of one log; the oldest are dropped first.
    pub entries: u64,
    /// The maximum size of one log in bytes, values and ids; the oldest entries are dropped first, but never the newest.
    pub log_bytes: u64,
}

impl Default for StoreLimits {
    /// 7 days; 100,000 names of 16 MiB each, twice the largest frame; 16 logs of 10,000 entries or 64 MiB, 1 MiB each entry.
    fn default() -> Self {
        Self {
            time_to_live: Duration::from_secs(7 * 24 * 3600),
            value_bytes: 16 << 20,
            names: 100_000,
            logs: 16,
            entry_bytes: 1 << 20,
            entries: 10_000,
            log_bytes: 64 << 20,
        }
    }
}

/// Characters of a name, a log or an id.
const MAX_NAME: usize = 100;

/// The most bytes of one answer beyond its first value, so that neither side buffers a whole task.
pub(super) const PAGE_BYTES: usize = 4 << 20;

impl StoreLimits {
    pub(super) fn value(&self, value: &str) -> Result<(), StoreError> {
        fits("value", value.len(), self.value_bytes)
    }

    pub(super) fn entry(&self, value: &str) -> Result<(), StoreError> {
        fits("entry of a log", value.len(), self.entry_bytes)
    }

    /// A time to live that every store can count with: 1 ms to 100 years.
    pub(super) fn milliseconds(&self) -> u64 {
        const CENTURY: u64 = 100 * 365 * 24 * 3600 * 1000;
        let asked = u64::try_from(self.time_to_live.as_millis()).unwrap_or(CENTURY);
        asked.clamp(1, CENTURY)
    }
}

pub(super) fn fits(what: &'static str, bytes: usize, most: usize) -> Result<(), StoreError> {
    if bytes <= most {
        return Ok(());
    }
    Err(StoreError::TooLarge { what, bytes, most })
}

/// Checks that a text can be a name, a log or an id: it has no character with a meaning in keys.
pub(super) fn name(text: &str) -> Result<(), StoreError> {
    if text.is_empty() {
        return Err(refused(text));
    }
    prefix(text)
}

/// As [`name`], and it may be empty.
pub(super) fn prefix(text: &str) -> Result<(), StoreError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.#".contains(&byte);
    if text.len() <= MAX_NAME && text.bytes().all(plain) {
        return Ok(());
    }
    Err(refused(text))
}

fn refused(text: &str) -> StoreError {
    // Escaped: it may come from a stranger, and lands in logs.
    let shown: String = text
        .chars()
        .take(40)
        .flat_map(char::escape_default)
        .collect();
    StoreError::Name {
        name: shown,
        longest: MAX_NAME,
    }
}
