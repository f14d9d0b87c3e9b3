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
use super::state::{Counts, Why};
use crate::remote::protocol::TaskId;

/// Connections beyond the limit that are told so; whoever comes beyond these finds the line closed.
const TOLD: usize = 256;

/// The longest time that anybody is asked to wait.
const LONGEST: u64 = 30;

/// Visits after which those of tasks that are quiet are forgotten.
const SWEEP: usize = 1_024;

type Visits = RateLimiter<TaskId, HashMapStateStore<TaskId>, DefaultClock>;

/// How many are here, and how fast they come.
pub(super) struct Crowd {
    pub(super) counts: Counts,
    places: Arc<Semaphore>,
    most: usize,
    told: Arc<Semaphore>,
    per_task: usize,
    rate: DefaultDirectRateLimiter,
    visits: Visits,
    inner: Mutex<Inner>,
    per_second: NonZeroU32,
    begun: Instant,
}

#[derive(Debug, Default)]
struct Inner {
    /// Connections by task.
    seats: HashMap<TaskId, usize>,
    /// When the last one who was turned away is to come back, since the beginning.
    promised: Duration,
    /// Since the last sweep.
    visits: usize,
}

/// Too many; in how many seconds there may be room.
#[derive(Debug)]
pub(super) struct TooMany {
    pub(super) why: Why,
    pub(super) seconds: u64,
}

/// Room for one connection, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
    /// There is room to say that there is none.
    pub(super) crowded: bool,
}

/// One of the connections of a task, until it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    crowd: Arc<Crowd>,
    task: TaskId,
}

fn at_least_one(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

impl Crowd {
    pub(super) fn new(limits: &ConnectionLimits) -> Self {
        let per_second = at_least_one(limits.per_second);
        let burst = at_least_one(limits.burst);
        let most = limits.connections.min(Semaphore::MAX_PERMITS);
        let visits = Quota::per_minute(at_least_one(limits.per_task_and_minute));
        Self {
            counts: Counts::default(),
            places: Arc::new(Semaphore::new(most)),
            most,
            told: Arc::new(Semaphore::new(TOLD)),
            per_task: limits.per_task,
            rate: RateLimiter::direct(Quota::per_second(per_second).allow_burst(burst)),
            visits: RateLimiter::hashmap(visits),
            inner: Mutex::default(),
            per_second,
            begun: Instant::now(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connections that have a place, those included that are told that there is none.
    pub(super) fn connections(&self) -> usize {
        let free = self.places.available_permits() + self.told.available_permits();
        (self.most + TOLD).saturating_sub(free)
    }

    /// Room for a connection; `None` when there is none even to say so.
    pub(super) fn place(&self) -> Option<Place> {
        let of = |places: &Arc<Semaphore>| Arc::clone(places).try_acquire_owned().ok();
        let (permit, crowded) = match of(&self.places) {
            Some(permit) => (permit, false),
            None => (of(&self.told)?, true),
        };
        Some(Place {
            _permit: permit,
            crowded,
        })
    }

    /// Takes a seat for one who has shown the token of the task.
    pub(super) fn seat(self: &Arc<Self>, task: TaskId) -> Result<Seat, TooMany> {
        // What one task does alone must not use up what is there for all.
        if self.visits.check_key(&task).is_err() {
            return Err(self.rated());
        }
        {
            let mut inner = self.inner();
            inner.visits += 1;
            if inner.visits >= SWEEP {
                inner.visits = 0;
                self.visits.retain_recent();
            }
            let taken = inner.seats.get(&task).copied().unwrap_or_default();
            if taken >= self.per_task {
                let (why, seconds) = (Why::Full, 1);
                return Err(TooMany { why, seconds });
            }
            if self.rate.check().is_ok() {
                inner.seats.insert(task, taken + 1);
                drop(inner);
                self.counts.let_in.fetch_add(1, Ordering::Relaxed);
                let crowd = Arc::clone(self);
                return Ok(Seat { crowd, task });
            }
        }
        Err(self.rated())
    }

    /// Each is given a time of its own to come back, one after the other.
    fn rated(&self) -> TooMany {
        let now = self.begun.elapsed();
        let mut inner = self.inner();
        let turn = inner.promised.max(now) + Duration::from_secs(1) / self.per_second.get();
        inner.promised = turn.min(now + Duration::from_secs(LONGEST));
        TooMany {
            why: Why::Rate,
            seconds: turn
                .saturating_sub(now)
                .as_secs()
                .saturating_add(1)
                .min(LONGEST),
        }
    }
}

impl fmt::Debug for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crowd")
            .field("connections", &self.connections())
            .finish_non_exhaustive()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut inner = self.crowd.inner();
        if let Some(taken) = inner.seats.get_mut(&self.task) {
            *taken -= 1;
            if *taken == 0 {
                inner.seats.remove(&self.task);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd(change: impl FnOnce(&mut ConnectionLimits)) -> Arc<Crowd> {
        let mut limits = ConnectionLimits::default();
        change(&mut limits);
        Arc::new(Crowd::new(&limits))
    }

    #[test]
    fn a_storm_is_asked_back_one_after_the_other() {
        let crowd = crowd(|limits| (limits.per_second, limits.burst) = (10, 20));
        let mut asked = Vec::new();
        let mut seats = Vec::new();
        for _ in 0..1_000 {
            match crowd.seat(TaskId::random()) {
                Ok(seat) => seats.push(seat),
                Err(too_many) => asked.push(too_many.seconds),
            }
        }
        // As many as the burst, and what time brought meanwhile.
        assert!((20..100).contains(&seats.len()), "{}", seats.len());
        assert_eq!(asked.first(), Some(&1));
        assert!(asked.is_sorted());
        assert_eq!(asked.last(), Some(&LONGEST));
        for second in 2..LONGEST - 1 {
            let turns = asked.iter().filter(|asked| **asked == second).count();
            assert!((9..=11).contains(&turns), "second {second}: {turns}");
        }
    }

    #[test]
    fn one_task_uses_up_nothing_of_the_others() {
        let crowd = crowd(|limits| {
            (limits.per_second, limits.burst) = (1, 10);
            limits.per_task_and_minute = 5;
        });
        let task = TaskId::random();
        let let_in = (0..100).filter(|_| crowd.seat(task).is_ok()).count();
        assert_eq!(let_in, 5);
        assert!(crowd.seat(TaskId::random()).is_ok());
    }

    #[test]
    fn seats_and_places_come_back() {
        let crowd = crowd(|limits| (limits.connections, limits.per_task) = (2, 2));
        let task = TaskId::random();
        let seats = [crowd.seat(task), crowd.seat(task)];
        assert!(seats.iter().all(Result::is_ok));
        assert_eq!(crowd.seat(task).err().map(|e| e.why), Some(Why::Full));
        drop(seats);
        assert!(crowd.seat(task).is_ok());
        assert!(crowd.inner().seats.is_empty());

        let mut places: Vec<_> = (0..2 + TOLD).map(|_| crowd.place()).collect();
        let crowded = |place: &Option<Place>| place.as_ref().map(|place| place.crowded);
        assert_eq!(crowded(&places[1]), Some(false));
        assert_eq!(crowded(&places[2]), Some(true));
        assert_eq!(crowded(&crowd.place()), None);
        assert_eq!(crowd.connections(), 2 + TOLD);
        places.truncate(1);
        assert_eq!(crowd.connections(), 1);
        assert_eq!(crowded(&crowd.place()), Some(false));
    }
}
