//! The executors of a run, the faults injected into them, and the simulated clock.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::disk::Disk;
use super::executor::{ExecutorProcess, SideEffects};
use super::fake_network::{Connections, NetworkFaults};
use super::invariants::Allowed;
use super::rng::Rng;
use super::statistics::{DiskStatistics, RunStatistics};
use super::trace::Trace;
use crate::backend::{SessionEvent, Task};
use crate::protocol::{CallKey, TaskId};
use crate::{Journal, RemoteError};

/// Connects to a backend, if one is running.
pub(super) type Connect = Arc<dyn Fn(DuplexStream) -> bool + Send + Sync>;

/// The journals that the clock waits for.
pub(super) type Journals = Arc<Mutex<Vec<Journal>>>;

/// The executors of a run, the faults injected into them, and the outcomes that these allow.
pub(super) struct ExecutorFaults {
    pub(super) rng: Rng,
    pub(super) task: TaskId,
    pub(super) faults: Arc<NetworkFaults>,
    pub(super) connections: Connections,
    pub(super) connect: Connect,
    /// How long a backend waits for a disconnected executor.
    pub(super) grace: Duration,
    pub(super) trace: Trace,
    pub(super) side_effects: SideEffects,
    pub(super) executor: Option<ExecutorProcess>,
    pub(super) watching: Vec<JoinHandle<Result<(), String>>>,
    pub(super) journals: Journals,
    pub(super) allowed: Allowed,
    pub(super) statistics: RunStatistics,
    pub(super) full: DiskStatistics,
}

pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Advances the clock when nothing else is running: in small steps while frames pass, in longer ones while all wait.
pub(super) async fn advance_clock<T>(
    task: TaskId,
    journals: &Mutex<Vec<Journal>>,
    faults: &NetworkFaults,
    longest: Duration,
) -> Result<T, String> {
    // A pending blocking task keeps tokio from advancing the clock by itself.
    let (still, stops) = std::sync::mpsc::channel::<()>();
    let _brake = tokio::task::spawn_blocking(move || stops.recv());
    let began = Instant::now();
    let (mut step, mut frames) = (1, 0);
    loop {
        for _ in 0..2 {
            let there = lock(journals).clone();
            for journal in there {
                // Answered after all earlier requests.
                let _ = journal.epoch(task).await;
            }
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
        }
        let passed = faults.frames.load(Ordering::Relaxed);
        step = if passed == frames {
            (step * 2).min(500)
        } else {
            1
        };
        frames = passed;
        tokio::time::advance(Duration::from_millis(step)).await;
        if began.elapsed() > longest {
            drop(still);
            return Err(format!("it does not end within {longest:?}"));
        }
    }
}

impl ExecutorFaults {
    /// Injects one of nine kinds of fault into an executor or its connection.
    pub(super) async fn inject_fault(&mut self, kind: u64) -> Result<(), String> {
        match kind {
            0..=2 => {
                self.statistics.cuts += 1;
                self.connections.cut();
            }
            3 | 4 => {
                self.statistics.executors_killed += 1;
                self.allowed.unknown = true;
                let left = self.kill_executor()?;
                sleep(self.rng.millis(100)).await;
                self.start_executor(left);
            }
            5 => {
                self.statistics.journals_lost += 1;
                self.allowed.unknown = true;
                self.allowed.not_run = true;
                self.kill_executor()?;
                sleep(self.rng.millis(100)).await;
                self.start_executor(Disk::default());
            }
            6 => {
                // Two at once: the later one supersedes the earlier one.
                self.statistics.executors_replaced += 1;
                self.allowed.unknown = true;
                self.allowed.not_run = true;
                // Of two new ones, whichever connects second supersedes the other.
                self.wait_until_attached().await?;
                let earlier = self.executor.take().ok_or("there is no executor")?;
                self.start_executor(Disk::default());
                self.expect_superseded(earlier);
            }
            7 => {
                // It is killed, another one supersedes it, and then it is restarted.
                self.statistics.executors_late += 1;
                self.allowed.unknown = true;
                self.allowed.not_run = true;
                self.wait_until_attached().await?;
                let left = self.kill_executor()?;
                self.start_executor(Disk::default());
                self.wait_until_attached().await?;
                let later = self.executor.take().ok_or("there is no executor")?;
                self.start_executor(left);
                let late = self.executor.replace(later).ok_or("there is no executor")?;
                self.expect_superseded(late);
            }
            _ => {
                self.statistics.absences += 1;
                self.allowed.unknown = true;
                self.allowed.not_run = true;
                let left = self.kill_executor()?;
                sleep(self.grace + self.rng.millis(5_000)).await;
                self.start_executor(left);
            }
        }
        Ok(())
    }

    /// Fills the disk of the executor for a while, during which the executor may be killed.
    pub(super) fn fill_disk(&mut self) {
        let Some(executor) = &self.executor else {
            return;
        };
        self.full.disks_filled += 1;
        self.trace.record(format_args!("the disk is full"));
        let (disk, trace) = (executor.disk.clone(), self.trace.clone());
        disk.fill(true);
        let time = self.rng.millis(150);
        tokio::spawn(async move {
            sleep(time).await;
            disk.fill(false);
            trace.record(format_args!("the disk has room"));
        });
    }

    /// Waits until every call has ended and is acknowledged, then ends the task.
    pub(super) async fn finish(&mut self, owner: &Task) -> Result<(), String> {
        self.faults.calm.store(true, Ordering::Relaxed);
        // Ends that could not be acknowledged are resolved by the next handshake.
        self.connections.cut();
        let executor = self.executor.as_mut().ok_or("there is no executor")?;
        let mut kept = Vec::new();
        let mut is_attached = false;
        for _ in 0..1_200 {
            sleep(Duration::from_millis(100)).await;
            let Ok(asked) = executor.journal.unacknowledged(self.task).await else {
                // It is being reopened.
                continue;
            };
            kept = asked;
            is_attached = owner.is_attached();
            if kept.is_empty() && is_attached {
                break;
            }
        }
        if !kept.is_empty() {
            return Err(format!("the journal keeps {kept:?}"));
        }
        if executor.work.is_finished() {
            return Err(format!(
                "the executor ended: {:?}",
                (&mut executor.work).await
            ));
        }
        if !is_attached {
            return Err("the executor is not attached".to_owned());
        }
        owner.finish(true, "done").await;
        match (&mut executor.work).await {
            Ok(Ok(())) => {}
            ended => return Err(format!("the executor ended as {ended:?}")),
        }
        for watching in std::mem::take(&mut self.watching) {
            if watching.is_finished() {
                watching.await.map_err(|error| error.to_string())??;
            }
        }
        self.statistics.runs = 1;
        self.statistics.frames = self.faults.frames.load(Ordering::Relaxed);
        self.statistics.cuts += self.faults.cuts_made.load(Ordering::Relaxed);
        self.statistics.repeated = self.faults.repeated.load(Ordering::Relaxed);
        Ok(())
    }

    /// Starts an executor process, with the disk of an earlier one or a new one.
    pub(super) fn start_executor(&mut self, disk: Disk) {
        let connect = Arc::clone(&self.connect);
        let trace = self.trace.clone();
        let heard = move |event| trace.record(format_args!("the executor: {event:?}"));
        let chance = self.rng.fork();
        let place = (self.task, disk);
        let executor = ExecutorProcess::new(
            place,
            (&self.side_effects, &chance),
            move |near| connect(near),
            heard,
        );
        lock(&self.journals).push(executor.journal.clone());
        self.executor = Some(executor);
    }

    /// Waits until the executor is attached.
    async fn wait_until_attached(&self) -> Result<(), String> {
        let executor = self.executor.as_ref().ok_or("there is no executor")?;
        while !matches!(executor.journal.epoch(self.task).await, Ok(epoch) if epoch > 0) {
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    fn expect_superseded(&mut self, earlier: ExecutorProcess) {
        self.watching.push(tokio::spawn(async move {
            // Unless the task was over before the other one connected.
            match earlier.work.await {
                Ok(Err(RemoteError::Refused { .. }) | Ok(())) => Ok(()),
                ended => Err(format!("an executor that was replaced ended as {ended:?}")),
            }
        }));
    }

    fn kill_executor(&mut self) -> Result<Disk, String> {
        let executor = self.executor.take().ok_or("there is no executor")?;
        // The clock waits only for journals of running processes.
        lock(&self.journals).retain(|journal| journal.id() != executor.journal.id());
        let left = executor.kill();
        self.connections.cut();
        Ok(left)
    }

    /// Checks that one process reports the end of each call once.
    pub(super) fn watch(&mut self, name: String, mut events: broadcast::Receiver<SessionEvent>) {
        let trace = self.trace.clone();
        self.watching.push(tokio::spawn(async move {
            let mut ended: HashMap<CallKey, u32> = HashMap::new();
            while let Ok(event) = events.recv().await {
                trace.record(format_args!("{name}: {event:?}"));
                if let SessionEvent::CallEnded { key, .. } = event {
                    let times = ended.entry(key).or_default();
                    *times += 1;
                    if *times > 1 {
                        return Err(format!("the end of {key} was told {times} times"));
                    }
                }
            }
            Ok(())
        }));
    }
}
