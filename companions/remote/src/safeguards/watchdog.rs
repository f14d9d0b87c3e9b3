use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::repeats::Repeats;
use super::{Safeguards, Tripped};
use crate::tool::ToolCall;

/// The run of a session under its safeguards: every call is counted here before anything else happens to it.
///
/// A run is what is guarded. Calls that are made between two runs count to the earlier one.
#[derive(Debug)]
pub(crate) struct Watch {
    safeguards: Safeguards,
    run: Mutex<Run>,
    tripped: watch::Sender<Option<Tripped>>,
}

#[derive(Debug)]
struct Run {
    began: Instant,
    heard: Instant,
    steps: u64,
    repeats: Repeats,
    guards: usize,
}

impl Run {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            began: now,
            heard: now,
            steps: 0,
            repeats: Repeats::default(),
            guards: 0,
        }
    }
}

impl Watch {
    pub(crate) fn new(safeguards: Safeguards) -> Self {
        Self {
            safeguards,
            run: Mutex::new(Run::new()),
            tripped: watch::Sender::new(None),
        }
    }

    fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call, whatever will become of it.
    ///
    /// # Errors
    ///
    /// What has ended the run: it makes no calls any more.
    pub(crate) fn before_call(&self, call: &ToolCall) -> Result<(), String> {
        let tripped = self.already().or_else(|| {
            let tripped = self.counted(call)?;
            self.trip(&tripped);
            Some(tripped)
        });
        tripped.map_or(Ok(()), |tripped| Err(tripped.to_string()))
    }

    pub(super) fn already(&self) -> Option<Tripped> {
        self.tripped.borrow().clone()
    }

    fn counted(&self, call: &ToolCall) -> Option<Tripped> {
        let mut run = self.run();
        let now = Instant::now();
        run.heard = now;
        run.steps = run.steps.saturating_add(1);
        if let Some(after) = self.safeguards.total
            && now.duration_since(run.began) >= after
        {
            return Some(Tripped::Total { after });
        }
        if let Some(most) = self.safeguards.steps
            && run.steps > most
        {
            return Some(Tripped::Steps { most });
        }
        run.repeats.note(call, &self.safeguards)
    }

    /// The first that trips stands.
    fn trip(&self, by: &Tripped) {
        self.tripped.send_if_modified(|tripped| {
            let first = tripped.is_none();
            tripped.get_or_insert_with(|| by.clone());
            first
        });
    }

    /// Somebody said something: the executor or the model.
    pub(crate) fn heard(&self) {
        self.run().heard = Instant::now();
    }

    /// What came of a call; a repeated call that gives something new is no repetition.
    pub(crate) fn answered(&self, id: &str, tool: &str, answer: &str) {
        self.run().repeats.answered(id, tool, answer);
    }

    /// How long one call may take.
    pub(crate) fn call_deadline(&self) -> Option<Duration> {
        self.safeguards.call
    }

    /// Waits until a safeguard trips; may be dropped at any time.
    pub(crate) async fn tripped(&self) -> Tripped {
        let mut tripped = self.tripped.subscribe();
        loop {
            let at = self.next().map(|(at, _)| at);
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
                    // Whoever said something in the meantime has moved the time.
                    if let Some((at, by)) = self.next() && at <= Instant::now() {
                        self.trip(&by);
                    }
                }
            }
        }
    }

    /// Which clock runs out next, and when.
    fn next(&self) -> Option<(Instant, Tripped)> {
        let run = self.run();
        let silence = self.safeguards.silence.and_then(|after| {
            let at = run.heard.checked_add(after)?;
            Some((at, Tripped::Silence { after }))
        });
        let total = self.safeguards.total.and_then(|after| {
            let at = run.began.checked_add(after)?;
            Some((at, Tripped::Total { after }))
        });
        [silence, total]
            .into_iter()
            .flatten()
            .min_by_key(|(at, _)| *at)
    }

    /// Runs something until it ends or a safeguard trips; then it is dropped.
    ///
    /// # Errors
    ///
    /// The safeguard. It stands even if the run has come to an end without a call that it was refused.
    pub(crate) async fn guard<T>(&self, run: impl Future<Output = T>) -> Result<T, Tripped> {
        let _guard = Guard::begin(self);
        let ended = tokio::select! {
            biased;
            by = self.tripped() => return Err(by),
            ended = run => ended,
        };
        self.already().map_or(Ok(ended), Err)
    }
}

/// One of those that guard the same run; the first begins it.
struct Guard<'w>(&'w Watch);

impl<'w> Guard<'w> {
    fn begin(watch: &'w Watch) -> Self {
        let mut run = watch.run();
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
        self.0.run().guards -= 1;
    }
}
