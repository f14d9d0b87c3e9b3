//! A circuit breaker for the Redis server.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The state of a [`RedisStore`](super::RedisStore)'s connection to its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisState {
    /// The last attempt succeeded, or there has been none yet.
    Working,
    /// Attempts fail, and are retried.
    Failing {
        /// The number of failures in a row.
        attempts: u32,
    },
    /// Too many attempts failed: operations fail at once.
    Open {
        /// When the next attempt is made.
        probe_in: Duration,
    },
    /// One operation probes the server; the others fail at once.
    Probing,
}

/// A circuit breaker: stops sending requests to a server that does not answer.
#[derive(Debug)]
pub(super) struct Breaker {
    state: Mutex<State>,
    failures: u32,
    span: Duration,
    rest: Duration,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed { failed: u32, since: Instant },
    Open { until: Instant },
    Probing,
}

/// Permission for one attempt. If it is dropped without a result, it does not count.
#[must_use]
#[derive(Debug)]
pub(super) struct Attempt<'b> {
    breaker: &'b Breaker,
    probe: bool,
    recorded: bool,
}

impl Breaker {
    pub(super) fn new(failures: u32, span: Duration, rest: Duration) -> Self {
        let since = Instant::now();
        Self {
            state: Mutex::new(State::Closed { failed: 0, since }),
            failures: failures.max(1),
            span,
            rest,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn snapshot(&self) -> RedisState {
        match *self.state() {
            State::Closed { failed: 0, .. } => RedisState::Working,
            State::Closed { failed, .. } => RedisState::Failing { attempts: failed },
            State::Open { until } => RedisState::Open {
                probe_in: until.saturating_duration_since(Instant::now()),
            },
            State::Probing => RedisState::Probing,
        }
    }

    /// Permits one attempt, unless the breaker is open.
    pub(super) fn try_begin(&self) -> Option<Attempt<'_>> {
        let mut state = self.state();
        let probe = match *state {
            State::Closed { .. } => false,
            State::Open { until } if until <= Instant::now() => {
                *state = State::Probing;
                true
            }
            State::Open { .. } | State::Probing => return None,
        };
        Some(Attempt {
            breaker: self,
            probe,
            recorded: false,
        })
    }
}

impl Attempt<'_> {
    /// The server answered.
    pub(super) fn record_success(mut self) {
        self.recorded = true;
        let since = Instant::now();
        *self.breaker.state() = State::Closed { failed: 0, since };
    }

    /// It did not.
    pub(super) fn record_failure(mut self) {
        self.recorded = true;
        let breaker = self.breaker;
        let now = Instant::now();
        let until = now + breaker.rest;
        let mut state = breaker.state();
        *state = match *state {
            State::Closed { failed: 0, .. } => State::Closed {
                failed: 1,
                since: now,
            },
            State::Closed { failed, since } => {
                let failed = failed.saturating_add(1);
                if failed >= breaker.failures && now - since >= breaker.span {
                    State::Open { until }
                } else {
                    State::Closed { failed, since }
                }
            }
            State::Probing if self.probe => State::Open { until },
            // An attempt from before says nothing new.
            other => other,
        };
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.probe && !self.recorded {
            let mut state = self.breaker.state();
            if matches!(*state, State::Probing) {
                *state = State::Open {
                    until: Instant::now(),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Duration = Duration::from_secs(3);
    const REST: Duration = Duration::from_secs(1);

    fn fail(breaker: &Breaker, times: u32) {
        for _ in 0..times {
            breaker.try_begin().expect("closed").record_failure();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn opens_after_failures_over_time_and_lets_one_try_for_all() {
        let breaker = Breaker::new(5, SPAN, REST);
        assert_eq!(breaker.snapshot(), RedisState::Working);
        fail(&breaker, 40);
        assert_eq!(breaker.snapshot(), RedisState::Failing { attempts: 40 });

        tokio::time::advance(SPAN).await;
        fail(&breaker, 1);
        assert_eq!(breaker.snapshot(), RedisState::Open { probe_in: REST });
        assert!(breaker.try_begin().is_none());

        tokio::time::advance(REST).await;
        let probe = breaker.try_begin().expect("one may try");
        assert_eq!(breaker.snapshot(), RedisState::Probing);
        assert!(breaker.try_begin().is_none(), "and no other");
        probe.record_failure();
        assert!(breaker.try_begin().is_none());

        tokio::time::advance(REST).await;
        breaker.try_begin().expect("one may try").record_success();
        assert_eq!(breaker.snapshot(), RedisState::Working);
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_in_between_starts_the_count_again() {
        let breaker = Breaker::new(5, SPAN, REST);
        fail(&breaker, 4);
        tokio::time::advance(SPAN).await;
        breaker.try_begin().expect("closed").record_success();
        fail(&breaker, 4);
        assert_eq!(breaker.snapshot(), RedisState::Failing { attempts: 4 });
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_is_given_up_leaves_room_for_the_next() {
        let breaker = Breaker::new(1, Duration::ZERO, REST);
        fail(&breaker, 2);
        tokio::time::advance(REST).await;
        drop(breaker.try_begin().expect("one may try"));
        assert!(breaker.try_begin().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_from_before_does_not_end_the_probe() {
        let breaker = Breaker::new(1, Duration::ZERO, REST);
        let (early, late) = (breaker.try_begin().expect("closed"), breaker.try_begin());
        fail(&breaker, 2);
        tokio::time::advance(REST).await;
        let probe = breaker.try_begin().expect("one may try");
        early.record_failure();
        assert_eq!(breaker.snapshot(), RedisState::Probing);
        drop(probe);
        late.expect("closed").record_success();
        assert_eq!(breaker.snapshot(), RedisState::Working);
    }
}
