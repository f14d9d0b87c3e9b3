//! Reconnection with exponential backoff and jitter.

use std::time::Duration;

use uuid::Uuid;

/// How an executor reconnects after its connection broke; it retries without a limit, unless `attempts` sets one.
///
/// The n-th attempt waits a random time between nothing and the n-th delay ("full jitter": Marc Brooker, Exponential Backoff
/// And Jitter, 2015), so that executors which lost one backend together do not come back together. An attempt that is let
/// in starts the count again. A refusal that another attempt would not cure, such as that of a wrong token, ends the
/// executor at once.
///
/// ```
/// use std::time::Duration;
///
/// use contract_remote::Reconnect;
///
/// // After 1, 2, 4, 8 and 16 seconds, and then no more.
/// let reconnect = Reconnect::default().attempts(5).jitter(false);
/// assert_eq!(reconnect.first, Duration::from_secs(1));
/// assert_eq!(Reconnect::default().attempts, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Reconnect {
    /// How many attempts in a row are made; without a limit by default. With 0 the executor does not reconnect.
    pub attempts: Option<u32>,
    /// The first delay; the default is 1 second. Each later one is twice as long.
    pub first: Duration,
    /// The longest delay; the default is 30 seconds, half of the time that a backend waits for an executor.
    pub most: Duration,
    /// Whether an attempt waits a random part of its delay, or all of it; by default a random part.
    pub jitter: bool,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self {
            attempts: None,
            first: Duration::from_secs(1),
            most: Duration::from_secs(30),
            jitter: true,
        }
    }
}

impl Reconnect {
    /// Sets after how many attempts in a row the executor gives up; `None` means never.
    pub fn attempts(mut self, attempts: impl Into<Option<u32>>) -> Self {
        self.attempts = attempts.into();
        self
    }

    /// Sets the first delay.
    pub fn first(mut self, delay: Duration) -> Self {
        self.first = delay;
        self
    }

    /// Sets the longest delay.
    pub fn most(mut self, delay: Duration) -> Self {
        self.most = delay;
        self
    }

    /// Sets whether an attempt waits a random part of its delay, or all of it.
    pub fn jitter(mut self, jitter: bool) -> Self {
        self.jitter = jitter;
        self
    }

    /// Returns the number of attempts made, if this one would exceed the limit.
    pub(super) fn is_exhausted(&self, attempt: u32) -> Option<u32> {
        self.attempts.filter(|most| attempt > *most)
    }

    /// Returns the delay before an attempt, counted from 1.
    pub(super) fn delay(&self, attempt: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let longest = self.first.saturating_mul(doubled).min(self.most);
        if !self.jitter {
            return longest;
        }
        // The first 32 bits of a random UUID are random (RFC 9562, 5.4, 2024).
        let (dice, ..) = Uuid::new_v4().as_fields();
        longest.mul_f64(f64::from(dice) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_longest_and_are_spread_over_all_of_it() {
        let reconnect = Reconnect::default();
        for (attempt, longest) in [(1, 1), (2, 2), (5, 16), (6, 30), (40, 30), (u32::MAX, 30)] {
            let longest = Duration::from_secs(longest);
            let delays: Vec<_> = (0..2_000).map(|_| reconnect.delay(attempt)).collect();
            assert!(delays.iter().all(|delay| *delay <= longest), "{attempt}");
            // Each would be missed by chance once in 10^88 runs.
            assert!(
                delays.iter().any(|delay| *delay < longest / 10),
                "{attempt}"
            );
            assert!(
                delays.iter().any(|delay| *delay > longest / 10 * 9),
                "{attempt}"
            );
        }
    }
}
