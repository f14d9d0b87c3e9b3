use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Whether a [`RedisStore`](super::RedisStore) is in touch with its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisState {
    /// The last attempt succeeded, or there was none yet.
    Working,
    /// Attempts fail, and are made again.
    Failing {
        /// How many in a row.
        attempts: u32,
    },
    /// Too many failed: operations end at once.
    Open {
        /// When one is tried again.
        probe_in: Duration,
    },
    /// One operation tries for all; the others end at once.
    Probing,
}

/// Stops asking a server that does not answer.
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

/// Leave for one attempt. Dropped without a verdict, it says nothing of the server.
#[must_use]
#[derive(Debug)]
pub(super) struct Pass<'b> {
    breaker: &'b Breaker,
    probe: bool,
    judged: bool,
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

    pub(super) fn shown(&self) -> RedisState {
        match *self.state() {
            State::Closed { failed: 0, .. } => RedisState::Working,
            State::Closed { failed, .. } => RedisState::Failing { attempts: failed },
            State::Open { until } => RedisState::Open {
                probe_in: until.saturating_duration_since(Instant::now()),
            },
            State::Probing => RedisState::Probing,
        }
    }

    /// Leave for one attempt, when there is any.
    pub(super) fn enter(&self) -> Option<Pass<'_>> {
        let mut state = self.state();
        let probe = match *state {
            State::Closed { .. } => false,
            State::Open { until } if until <= Instant::now() => {
                *state = State::Probing;
                true
            }
            State::Open { .. } | State::Probing => return None,
        };
        Some(Pass {
            breaker: self,
            probe,
            judged: false,
        })
    }
}

impl Pass<'_> {
    /// The server answered.
    pub(super) fn good(mut self) {
        self.judged = true;
        let since = Instant::now();
        *self.breaker.state() = State::Closed { failed: 0, since };
    }

    /// It did not.
    pub(super) fn bad(mut self) {
        self.judged = true;
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

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.probe && !self.judged {
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
            breaker.enter().expect("closed").bad();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn opens_after_failures_over_time_and_lets_one_try_for_all() {
        let breaker = Breaker::new(5, SPAN, REST);
        assert_eq!(breaker.shown(), RedisState::Working);
        fail(&breaker, 40);
        assert_eq!(breaker.shown(), RedisState::Failing { attempts: 40 });

        tokio::time::advance(SPAN).await;
        fail(&breaker, 1);
        assert_eq!(breaker.shown(), RedisState::Open { probe_in: REST });
        assert!(breaker.enter().is_none());

        tokio::time::advance(REST).await;
        let probe = breaker.enter().expect("one may try");
        assert_eq!(breaker.shown(), RedisState::Probing);
        assert!(breaker.enter().is_none(), "and no other");
        probe.bad();
        assert!(breaker.enter().is_none());

        tokio::time::advance(REST).await;
        breaker.enter().expect("one may try").good();
        assert_eq!(breaker.shown(), RedisState::Working);
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_in_between_starts_the_count_again() {
        let breaker = Breaker::new(5, SPAN, REST);
        fail(&breaker, 4);
        tokio::time::advance(SPAN).await;
        breaker.enter().expect("closed").good();
        fail(&breaker, 4);
        assert_eq!(breaker.shown(), RedisState::Failing { attempts: 4 });
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_is_given_up_leaves_room_for_the_next() {
        let breaker = Breaker::new(1, Duration::ZERO, REST);
        fail(&breaker, 2);
        tokio::time::advance(REST).await;
        drop(breaker.enter().expect("one may try"));
        assert!(breaker.enter().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_from_before_does_not_end_the_probe() {
        let breaker = Breaker::new(1, Duration::ZERO, REST);
        let (early, late) = (breaker.enter().expect("closed"), breaker.enter());
        fail(&breaker, 2);
        tokio::time::advance(REST).await;
        let probe = breaker.enter().expect("one may try");
        early.bad();
        assert_eq!(breaker.shown(), RedisState::Probing);
        drop(probe);
        late.expect("closed").good();
        assert_eq!(breaker.shown(), RedisState::Working);
    }
}
