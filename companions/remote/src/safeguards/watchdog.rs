//! Applies the safeguards to the calls of a run.

use std::future::Future;
use std::time::Duration;

use contract_runtime::ToolCall;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::loop_detection::LoopDetector;
use super::{Safeguards, Tripped};

/// Watches the runs of a session: every call is counted here before anything else happens to it.
///
/// A run lasts as long as its guard. Calls between two runs count towards the earlier one.
#[derive(Debug)]
pub(crate) struct Watchdog {
    safeguards: Safeguards,
    run: Mutex<Run>,
    tripped: watch::Sender<Option<Tripped>>,
}

#[derive(Debug)]
struct Run {
    started: Instant,
    last_activity: Instant,
    steps: u64,
    loops: LoopDetector,
    guards: usize,
}

impl Run {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            last_activity: now,
            steps: 0,
            loops: LoopDetector::default(),
            guards: 0,
        }
    }
}

impl Watchdog {
    pub(crate) fn new(safeguards: Safeguards) -> Self {
        Self {
            safeguards,
            run: Mutex::new(Run::new()),
            tripped: watch::Sender::new(None),
        }
    }

    /// Counts a call, whatever its outcome.
    ///
    /// # Errors
    ///
    /// The safeguard that has ended the run, which makes no more calls.
    pub(crate) fn before_call(&self, call: &ToolCall) -> Result<(), String> {
        let tripped = self.tripped_by().or_else(|| {
            let tripped = self.count(call)?;
            self.trip(&tripped);
            Some(tripped)
        });
        tripped.map_or(Ok(()), |tripped| Err(tripped.to_string()))
    }

    pub(super) fn tripped_by(&self) -> Option<Tripped> {
        self.tripped.borrow().clone()
    }

    fn count(&self, call: &ToolCall) -> Option<Tripped> {
        let mut run = self.run.lock();
        let now = Instant::now();
        run.last_activity = now;
        run.steps = run.steps.saturating_add(1);
        if let Some(after) = self.safeguards.total
            && now.duration_since(run.started) >= after
        {
            return Some(Tripped::Total { after });
        }
        if let Some(most) = self.safeguards.steps
            && run.steps > most
        {
            return Some(Tripped::Steps { most });
        }
        run.loops.record(call, &self.safeguards)
    }

    /// Trips a safeguard, unless another one has tripped already.
    fn trip(&self, by: &Tripped) {
        self.tripped.send_if_modified(|tripped| {
            let first = tripped.is_none();
            tripped.get_or_insert_with(|| by.clone());
            first
        });
    }

    /// Records activity: a result or a progress report of a call, or a piece of the model's answer. Keep-alive messages do
    /// not count.
    pub(crate) fn record_activity(&self) {
        self.run.lock().last_activity = Instant::now();
    }

    /// Records the answer of a call; a repeated call with a new answer is not a repetition.
    pub(crate) fn record_answer(&self, id: &str, tool: &str, answer: &str) {
        self.run.lock().loops.record_answer(id, tool, answer);
    }

    /// How long one call may take.
    pub(crate) fn call_deadline(&self) -> Option<Duration> {
        self.safeguards.call
    }

    /// Waits until a safeguard trips; may be dropped at any time.
    pub(crate) async fn tripped(&self) -> Tripped {
        let mut tripped = self.tripped.subscribe();
        loop {
            let at = self.next_deadline().map(|(at, _)| at);
            let time = async {
                match at {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                // The sender lives as long as this does.
                there = tripped.wait_for(Option::is_some) => {
                    if let Some(by) = there.ok().and_then(|by| by.clone()) {
                        return by;
                    }
                }
                () = time => {
                    // Activity in the meantime has moved the deadline.
                    if let Some((at, by)) = self.next_deadline() && at <= Instant::now() {
                        self.trip(&by);
                    }
                }
            }
        }
    }

    /// Returns the next deadline, and the safeguard that it belongs to.
    fn next_deadline(&self) -> Option<(Instant, Tripped)> {
        let run = self.run.lock();
        let silence = self.safeguards.silence.and_then(|after| {
            let at = run.last_activity.checked_add(after)?;
            Some((at, Tripped::Silence { after }))
        });
        let total = self.safeguards.total.and_then(|after| {
            let at = run.started.checked_add(after)?;
            Some((at, Tripped::Total { after }))
        });
        [silence, total]
            .into_iter()
            .flatten()
            .min_by_key(|(at, _)| *at)
    }

    /// Runs a future until it completes or a safeguard trips; then it is dropped.
    ///
    /// # Errors
    ///
    /// The safeguard that tripped, even if the run completed.
    pub(crate) async fn guard<T>(&self, run: impl Future<Output = T>) -> Result<T, Tripped> {
        let _guard = Guard::begin(self);
        let ended = tokio::select! {
            biased;
            by = self.tripped() => return Err(by),
            ended = run => ended,
        };
        self.tripped_by().map_or(Ok(ended), Err)
    }
}

/// Guards of one run nest; the first one starts it.
struct Guard<'w>(&'w Watchdog);

impl<'w> Guard<'w> {
    fn begin(watch: &'w Watchdog) -> Self {
        let mut run = watch.run.lock();
        if run.guards == 0 {
            *run = Run::new();
            watch.tripped.send_replace(None);
        }
        run.guards += 1;
        drop(run);
        Self(watch)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.run.lock().guards -= 1;
    }
}
