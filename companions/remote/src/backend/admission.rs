//! Admission control for incoming connections: connection limits and rate limits.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::DefaultClock;
use governor::state::keyed::HashMapStateStore;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::ConnectionLimits;
use super::state::{Counters, Rejection};
use crate::protocol::TaskId;

/// Connections beyond the limit that still get an answer; those beyond these are closed at once.
const MAX_REJECTING: usize = 256;

/// The longest `Retry-After`, in seconds.
const MAX_RETRY_AFTER: u64 = 30;

/// After how many checks the rate limiters of idle tasks are dropped.
const SWEEP_INTERVAL: usize = 1_024;

type TaskRateLimiter = RateLimiter<TaskId, HashMapStateStore<TaskId>, DefaultClock>;

/// Admission control: how many connections there are, and how fast they arrive.
pub(super) struct Admission {
    pub(super) counts: Counters,
    connections: Arc<Semaphore>,
    max_connections: usize,
    rejecting: Arc<Semaphore>,
    per_task: usize,
    rate: DefaultDirectRateLimiter,
    visits: TaskRateLimiter,
    state: Mutex<AdmissionState>,
    per_second: NonZeroU32,
    started: Instant,
}

#[derive(Debug, Default)]
struct AdmissionState {
    /// Connections by task.
    by_task: HashMap<TaskId, usize>,
    /// The latest retry time that was given out, since `started`.
    last_retry: Duration,
    /// Checks since the last sweep.
    visits: usize,
}

/// A limit was exceeded; after how many seconds to retry.
#[derive(Debug)]
pub(super) struct Throttled {
    pub(super) reason: Rejection,
    pub(super) retry_after: u64,
}

/// Admits one connection, until it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    _permit: OwnedSemaphorePermit,
    /// The limit is reached: this connection only gets an answer that says so.
    pub(super) over_limit: bool,
}

/// Admits one connection of a task, until it is dropped.
#[derive(Debug)]
pub(super) struct TaskPermit {
    admission: Arc<Admission>,
    task: TaskId,
}

fn at_least_one(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

impl Admission {
    pub(super) fn new(limits: &ConnectionLimits) -> Self {
        let per_second = at_least_one(limits.per_second);
        let burst = at_least_one(limits.burst);
        let max_connections = limits.connections.min(Semaphore::MAX_PERMITS);
        let visits = Quota::per_minute(at_least_one(limits.per_task_and_minute));
        Self {
            counts: Counters::default(),
            connections: Arc::new(Semaphore::new(max_connections)),
            max_connections,
            rejecting: Arc::new(Semaphore::new(MAX_REJECTING)),
            per_task: limits.per_task,
            rate: RateLimiter::direct(Quota::per_second(per_second).allow_burst(burst)),
            visits: RateLimiter::hashmap(visits),
            state: Mutex::default(),
            per_second,
            started: Instant::now(),
        }
    }

    fn state(&self) -> MutexGuard<'_, AdmissionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of connections, including those that only get a rejection.
    pub(super) fn connections(&self) -> usize {
        let free = self.connections.available_permits() + self.rejecting.available_permits();
        (self.max_connections + MAX_REJECTING).saturating_sub(free)
    }

    /// Admits a connection; `None` if there is not even room to reject it.
    pub(super) fn admit_connection(&self) -> Option<ConnectionPermit> {
        let of = |connections: &Arc<Semaphore>| Arc::clone(connections).try_acquire_owned().ok();
        let (permit, over_limit) = match of(&self.connections) {
            Some(permit) => (permit, false),
            None => (of(&self.rejecting)?, true),
        };
        Some(ConnectionPermit {
            _permit: permit,
            over_limit,
        })
    }

    /// Admits an authenticated connection of a task.
    pub(super) fn admit_task(self: &Arc<Self>, task: TaskId) -> Result<TaskPermit, Throttled> {
        // One task alone must not use up the shared rate limit.
        if self.visits.check_key(&task).is_err() {
            return Err(self.throttle());
        }
        {
            let mut state = self.state();
            state.visits += 1;
            if state.visits >= SWEEP_INTERVAL {
                state.visits = 0;
                self.visits.retain_recent();
            }
            let taken = state.by_task.get(&task).copied().unwrap_or_default();
            if taken >= self.per_task {
                let (reason, retry_after) = (Rejection::Full, 1);
                return Err(Throttled {
                    reason,
                    retry_after,
                });
            }
            if self.rate.check().is_ok() {
                state.by_task.insert(task, taken + 1);
                drop(state);
                self.counts.accepted.fetch_add(1, Ordering::Relaxed);
                let admission = Arc::clone(self);
                return Ok(TaskPermit { admission, task });
            }
        }
        Err(self.throttle())
    }

    /// Spreads retries: each rejected connection gets a later time than the one before.
    fn throttle(&self) -> Throttled {
        let now = self.started.elapsed();
        let mut state = self.state();
        let turn = state.last_retry.max(now) + Duration::from_secs(1) / self.per_second.get();
        state.last_retry = turn.min(now + Duration::from_secs(MAX_RETRY_AFTER));
        Throttled {
            reason: Rejection::Rate,
            retry_after: turn
                .saturating_sub(now)
                .as_secs()
                .saturating_add(1)
                .min(MAX_RETRY_AFTER),
        }
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admission")
            .field("connections", &self.connections())
            .finish_non_exhaustive()
    }
}

impl Drop for TaskPermit {
    fn drop(&mut self) {
        let mut state = self.admission.state();
        if let Some(taken) = state.by_task.get_mut(&self.task) {
            *taken -= 1;
            if *taken == 0 {
                state.by_task.remove(&self.task);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(change: impl FnOnce(&mut ConnectionLimits)) -> Arc<Admission> {
        let mut limits = ConnectionLimits::default();
        change(&mut limits);
        Arc::new(Admission::new(&limits))
    }

    #[test]
    fn a_storm_is_spread_over_retries() {
        let admission = admission(|limits| (limits.per_second, limits.burst) = (10, 20));
        let mut asked = Vec::new();
        let mut by_task = Vec::new();
        for _ in 0..1_000 {
            match admission.admit_task(TaskId::random()) {
                Ok(permit) => by_task.push(permit),
                Err(too_many) => asked.push(too_many.retry_after),
            }
        }
        // As many as the burst, and what time brought meanwhile.
        assert!((20..100).contains(&by_task.len()), "{}", by_task.len());
        assert_eq!(asked.first(), Some(&1));
        assert!(asked.is_sorted());
        assert_eq!(asked.last(), Some(&MAX_RETRY_AFTER));
        for second in 2..MAX_RETRY_AFTER - 1 {
            let turns = asked.iter().filter(|asked| **asked == second).count();
            assert!((9..=11).contains(&turns), "second {second}: {turns}");
        }
    }

    #[test]
    fn one_task_uses_up_nothing_of_the_others() {
        let admission = admission(|limits| {
            (limits.per_second, limits.burst) = (1, 10);
            limits.per_task_and_minute = 5;
        });
        let task = TaskId::random();
        let accepted = (0..100)
            .filter(|_| admission.admit_task(task).is_ok())
            .count();
        assert_eq!(accepted, 5);
        assert!(admission.admit_task(TaskId::random()).is_ok());
    }

    #[test]
    fn dropped_permits_are_released() {
        let admission = admission(|limits| (limits.connections, limits.per_task) = (2, 2));
        let task = TaskId::random();
        let by_task = [admission.admit_task(task), admission.admit_task(task)];
        assert!(by_task.iter().all(Result::is_ok));
        assert_eq!(
            admission.admit_task(task).err().map(|e| e.reason),
            Some(Rejection::Full)
        );
        drop(by_task);
        assert!(admission.admit_task(task).is_ok());
        assert!(admission.state().by_task.is_empty());

        let mut connections: Vec<_> = (0..2 + MAX_REJECTING)
            .map(|_| admission.admit_connection())
            .collect();
        let over_limit =
            |permit: &Option<ConnectionPermit>| permit.as_ref().map(|permit| permit.over_limit);
        assert_eq!(over_limit(&connections[1]), Some(false));
        assert_eq!(over_limit(&connections[2]), Some(true));
        assert_eq!(over_limit(&admission.admit_connection()), None);
        assert_eq!(admission.connections(), 2 + MAX_REJECTING);
        connections.truncate(1);
        assert_eq!(admission.connections(), 1);
        assert_eq!(over_limit(&admission.admit_connection()), Some(false));
    }
}
