use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::dice::Dice;
use super::disk::Disk;
use super::figures::Usual;
use super::hand::{Deeds, Hand};
use super::judge::Allowed;
use super::told::Told;
use super::wire::{Lines, Weather};
use crate::remote::backend::{SessionEvent, Task};
use crate::remote::protocol::{CallKey, TaskId};
use crate::remote::{Journal, RemoteError};

/// Makes a line to a backend, if one is there.
pub(super) type Dial = Arc<dyn Fn(DuplexStream) -> bool + Send + Sync>;

/// Whose work is waited for before the clock goes on.
pub(super) type Journals = Arc<Mutex<Vec<Journal>>>;

/// The executors of a run, what happens to them, and what that allows.
pub(super) struct Hands {
    pub(super) dice: Dice,
    pub(super) task: TaskId,
    pub(super) weather: Arc<Weather>,
    pub(super) lines: Lines,
    pub(super) dial: Dial,
    /// How long a backend waits for one that is gone.
    pub(super) grace: Duration,
    pub(super) told: Told,
    pub(super) deeds: Deeds,
    pub(super) hand: Option<Hand>,
    pub(super) watching: Vec<JoinHandle<Result<(), String>>>,
    pub(super) journals: Journals,
    pub(super) allowed: Allowed,
    pub(super) figures: Usual,
}

pub(super) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The clock goes on when nothing else does: in small steps while frames pass, in longer ones while everybody waits.
pub(super) async fn turn_the_clock<T>(
    task: TaskId,
    journals: &Mutex<Vec<Journal>>,
    weather: &Weather,
    longest: Duration,
) -> Result<T, String> {
    // While it waits, time does not go on by itself.
    let (still, stops) = std::sync::mpsc::channel::<()>();
    let _brake = tokio::task::spawn_blocking(move || stops.recv());
    let began = Instant::now();
    let (mut step, mut frames) = (1, 0);
    loop {
        for _ in 0..2 {
            let there = locked(journals).clone();
            for journal in there {
                // It is told when all that was asked for before is done.
                let _ = journal.epoch(task).await;
            }
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
        }
        let passed = weather.frames.load(Ordering::Relaxed);
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

impl Hands {
    /// What happens to an executor or to its line, of nine kinds.
    pub(super) async fn strike(&mut self, kind: u64) -> Result<(), String> {
        match kind {
            0..=2 => {
                self.figures.cuts += 1;
                self.lines.cut();
            }
            3 | 4 => {
                self.figures.executors_killed += 1;
                self.allowed.unknown = true;
                let left = self.dismiss()?;
                sleep(self.dice.millis(100)).await;
                self.hire(left);
            }
            5 => {
                self.figures.journals_lost += 1;
                self.allowed.unknown = true;
                self.allowed.not_run = true;
                self.dismiss()?;
                sleep(self.dice.millis(100)).await;
                self.hire(Disk::default());
            }
            6 => {
                // Two at once: the later one takes over, and the earlier is sent away.
                self.figures.executors_replaced += 1;
                self.allowed.unknown = true;
                self.allowed.not_run = true;
                // Of two that are new, the one that comes second takes over, whichever that is.
                self.at_work().await?;
                let earlier = self.hand.take().ok_or("there is no executor")?;
                self.hire(Disk::default());
                self.is_sent_away(earlier);
            }
            7 => {
                // It is killed, another one takes its place, and then it is started again.
                self.figures.executors_late += 1;
                self.allowed.unknown = true;
                self.allowed.not_run = true;
                self.at_work().await?;
                let left = self.dismiss()?;
                self.hire(Disk::default());
                self.at_work().await?;
                let later = self.hand.take().ok_or("there is no executor")?;
                self.hire(left);
                let late = self.hand.replace(later).ok_or("there is no executor")?;
                self.is_sent_away(late);
            }
            _ => {
                self.figures.absences += 1;
                self.allowed.unknown = true;
                self.allowed.not_run = true;
                let left = self.dismiss()?;
                sleep(self.grace + self.dice.millis(5_000)).await;
                self.hire(left);
            }
        }
        Ok(())
    }

    /// When all calls are over, the executor is told of every end, and of that of the task.
    pub(super) async fn come_to_rest(&mut self, home: &Task) -> Result<(), String> {
        self.weather.calm.store(true, Ordering::Relaxed);
        // What an end could not be said to before is said with the next handshake.
        self.lines.cut();
        let hand = self.hand.as_mut().ok_or("there is no executor")?;
        let mut kept = Vec::new();
        let mut is_attached = false;
        for _ in 0..1_200 {
            sleep(Duration::from_millis(100)).await;
            let asked = hand.journal.unacknowledged(self.task).await;
            kept = asked.map_err(|error| error.to_string())?;
            is_attached = home.is_attached();
            if kept.is_empty() && is_attached {
                break;
            }
        }
        if !kept.is_empty() {
            return Err(format!("the journal keeps {kept:?}"));
        }
        if hand.work.is_finished() {
            return Err(format!("the executor ended: {:?}", (&mut hand.work).await));
        }
        if !is_attached {
            return Err("the executor is not attached".to_owned());
        }
        home.finish(true, "done").await;
        match (&mut hand.work).await {
            Ok(Ok(())) => {}
            ended => return Err(format!("the executor ended as {ended:?}")),
        }
        for watching in std::mem::take(&mut self.watching) {
            if watching.is_finished() {
                watching.await.map_err(|error| error.to_string())??;
            }
        }
        self.figures.runs = 1;
        self.figures.frames = self.weather.frames.load(Ordering::Relaxed);
        self.figures.cuts += self.weather.faults.load(Ordering::Relaxed);
        self.figures.repeated = self.weather.repeated.load(Ordering::Relaxed);
        Ok(())
    }

    /// A process of an executor, with the disk that another left, or a new one.
    pub(super) fn hire(&mut self, disk: Disk) {
        let dial = Arc::clone(&self.dial);
        let told = self.told.clone();
        let heard = move |event| told.tell(format_args!("the executor: {event:?}"));
        let chance = self.dice.fork();
        let place = (self.task, disk);
        let hand = Hand::new(place, (&self.deeds, &chance), move |near| dial(near), heard);
        locked(&self.journals).push(hand.journal.clone());
        self.hand = Some(hand);
    }

    /// Waits until the executor was told that it has the task.
    async fn at_work(&self) -> Result<(), String> {
        let hand = self.hand.as_ref().ok_or("there is no executor")?;
        while hand.journal.epoch(self.task).await == Ok(0) {
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    fn is_sent_away(&mut self, earlier: Hand) {
        self.watching.push(tokio::spawn(async move {
            // Unless the task was over before the other one was there.
            match earlier.work.await {
                Ok(Err(RemoteError::Refused { .. }) | Ok(())) => Ok(()),
                ended => Err(format!("an executor that was replaced ended as {ended:?}")),
            }
        }));
    }

    fn dismiss(&mut self) -> Result<Disk, String> {
        let hand = self.hand.take().ok_or("there is no executor")?;
        // Of others, every one that lives is waited for.
        locked(&self.journals).retain(|journal| journal.id() != hand.journal.id());
        let left = hand.kill();
        self.lines.cut();
        Ok(left)
    }

    /// In one process, each call begins once and ends once, and so it is told.
    pub(super) fn watch(&mut self, name: String, mut events: broadcast::Receiver<SessionEvent>) {
        let told = self.told.clone();
        self.watching.push(tokio::spawn(async move {
            let mut ended: HashMap<CallKey, u32> = HashMap::new();
            while let Ok(event) = events.recv().await {
                told.tell(format_args!("{name}: {event:?}"));
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
