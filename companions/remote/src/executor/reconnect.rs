use std::time::Duration;

use uuid::Uuid;

/// How an executor dials again after its connection broke.
///
/// The n-th attempt waits a random time between nothing and the n-th delay ("full jitter": Marc Brooker, Exponential Backoff
/// And Jitter, 2015), so that executors which lost one backend together do not come back together. An attempt that is let
/// in starts the count again.
///
/// ```
/// use std::time::Duration;
///
/// use contract_runtime::remote::Reconnect;
///
/// let mut patient = Reconnect::default();
/// assert_eq!((patient.attempts, patient.first), (5, Duration::from_secs(1)));
/// patient.attempts = 20;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reconnect {
    /// Attempts in a row before it gives up; 0 does not dial again.
    pub attempts: u32,
    /// The first delay; each later one is twice as long.
    pub first: Duration,
    /// The longest delay.
    pub most: Duration,
}

impl Default for Reconnect {
    /// 5 attempts, from 1 second to 30.
    fn default() -> Self {
        Self {
            attempts: 5,
            first: Duration::from_secs(1),
            most: Duration::from_secs(30),
        }
    }
}

impl Reconnect {
    /// How long the attempt waits, counted from 1.
    pub(super) fn delay(&self, attempt: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let longest = self.first.saturating_mul(doubled).min(self.most);
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
