use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::dice::Dice;
use super::disk::Disk;
use super::hand::{Deeds, Hand, manifest};
use super::house::{Plan, work};
use super::judge::{Allowed, Figures, judge};
use super::shelf::Shelf;
use super::told::Told;
use super::wire::{Weather, line};
use crate::remote::backend::SessionEvent;
use crate::remote::backend::simulated::House;
use crate::remote::protocol::{CallKey, TaskId};
use crate::remote::{Journal, RemoteError};

const GRACE: Duration = Duration::from_secs(20);
const KEEP_ALIVE: Duration = Duration::from_secs(2);

/// In the time of the run: nothing that goes on waits so long.
const LONGEST: Duration = Duration::from_secs(600);

/// What lines lead to now.
#[derive(Debug, Default)]
struct There {
    house: Option<House>,
    lines: Vec<CancellationToken>,
}

/// One run.
struct World {
    dice: Dice,
    task: TaskId,
    plan: Plan,
    weather: Arc<Weather>,
    deeds: Deeds,
    there: Arc<Mutex<There>>,
    shelf: Shelf,
    hand: Option<Hand>,
    making: Option<JoinHandle<Result<(), String>>>,
    watching: Vec<JoinHandle<Result<(), String>>>,
    /// Whose work is waited for before the clock goes on.
    journals: Arc<Mutex<Vec<Journal>>>,
    told: Told,
    allowed: Allowed,
    figures: Figures,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One run of one seed, which has a world and a time of its own.
pub(super) async fn run(seed: u64) -> Result<Figures, String> {
    let dice = Dice::new(seed);
    let told = Told::default();
    let weather = Weather {
        dice: dice.fork(),
        cuts: [0, 8, 20, 60][usize::try_from(dice.below(4)).unwrap_or(0)],
        repeats: [0, 2, 4, 10][usize::try_from(dice.below(4)).unwrap_or(0)],
        calm: AtomicBool::new(false),
        frames: AtomicU64::new(0),
        faults: AtomicU64::new(0),
        repeated: AtomicU64::new(0),
        told: told.clone(),
    };
    let plan = Plan {
        calls: 2 + dice.below(8),
        wide: usize::try_from(1 + dice.below(6)).unwrap_or(1),
        given_up: [0, 0, 2, 5][usize::try_from(dice.below(4)).unwrap_or(0)],
    };
    let mut world = World {
        task: TaskId::random(),
        plan,
        weather: Arc::new(weather),
        deeds: Deeds::default(),
        there: Arc::default(),
        shelf: Shelf::new(&dice.fork()),
        hand: None,
        making: None,
        watching: Vec::new(),
        journals: Arc::default(),
        told: told.clone(),
        allowed: Allowed {
            cancelled: plan.given_up != 0,
            ..Allowed::default()
        },
        figures: Figures::default(),
        dice,
    };
    let journals = Arc::clone(&world.journals);
    let weather = Arc::clone(&world.weather);
    let task = world.task;
    let life = async {
        world
            .live()
            .await
            .map_err(|why| format!("{why}\n  {plan:?}, {:?}\n  {}", world.figures, world.told))?;
        Ok(world.figures.clone())
    };
    tokio::select! {
        lived = life => lived,
        never = turn_the_clock(task, &journals, &weather) => never,
    }
}

/// The clock goes on when nothing else does: in small steps while frames pass, in longer ones while everybody waits.
async fn turn_the_clock<T>(
    task: TaskId,
    journals: &Mutex<Vec<Journal>>,
    weather: &Weather,
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
        if began.elapsed() > LONGEST {
            drop(still);
            return Err(format!("it does not end within {LONGEST:?}"));
        }
    }
}

impl World {
    async fn live(&mut self) -> Result<(), String> {
        self.open_house().await?;
        self.hire(Disk::default());
        for _ in 0..self.dice.below(6) {
            sleep(self.dice.millis(100)).await;
            self.strike().await?;
        }
        let making = self.making.take().ok_or("nobody makes calls")?;
        making.await.map_err(|error| error.to_string())??;
        self.come_to_rest().await?;
        self.figures.runs = 1;
        self.figures.frames = self.weather.frames.load(Ordering::Relaxed);
        self.figures.cuts += self.weather.faults.load(Ordering::Relaxed);
        self.figures.repeated = self.weather.repeated.load(Ordering::Relaxed);
        let deeds = locked(&self.deeds).clone();
        judge(&self.shelf, &deeds, self.allowed, &mut self.figures)
    }

    async fn strike(&mut self) -> Result<(), String> {
        match self.dice.below(10) {
            0..=2 => {
                self.figures.cuts += 1;
                self.cut();
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
            8 => {
                self.figures.backends_killed += 1;
                self.allowed.not_run = true;
                self.close_house();
                sleep(self.dice.millis(100)).await;
                self.open_house().await?;
            }
            _ => {
                self.figures.absences += 1;
                self.allowed.unknown = true;
                self.allowed.not_run = true;
                let left = self.dismiss()?;
                sleep(GRACE + self.dice.millis(5_000)).await;
                self.hire(left);
            }
        }
        Ok(())
    }

    /// When all calls are over, the executor is told of every end, and of that of the task.
    async fn come_to_rest(&mut self) -> Result<(), String> {
        self.weather.calm.store(true, Ordering::Relaxed);
        // What an end could not be said to before is said with the next handshake.
        self.cut();
        let house = locked(&self.there)
            .house
            .clone()
            .ok_or("there is no backend")?;
        let hand = self.hand.as_mut().ok_or("there is no executor")?;
        let mut kept = Vec::new();
        for _ in 0..300 {
            sleep(Duration::from_millis(100)).await;
            let asked = hand.journal.unacknowledged(self.task).await;
            kept = asked.map_err(|error| error.to_string())?;
            if kept.is_empty() && house.is_attached() {
                break;
            }
        }
        if !kept.is_empty() {
            return Err(format!("the journal keeps {kept:?}"));
        }
        if hand.work.is_finished() {
            return Err(format!("the executor ended: {:?}", (&mut hand.work).await));
        }
        house.task.finish(true, "done").await;
        match (&mut hand.work).await {
            Ok(Ok(())) => {}
            ended => return Err(format!("the executor ended as {ended:?}")),
        }
        for watching in std::mem::take(&mut self.watching) {
            if watching.is_finished() {
                watching.await.map_err(|error| error.to_string())??;
            }
        }
        Ok(())
    }

    fn cut(&self) {
        for line in std::mem::take(&mut locked(&self.there).lines) {
            line.cancel();
        }
    }

    /// A process of an executor, with the disk that another left, or a new one.
    fn hire(&mut self, disk: Disk) {
        let (there, weather) = (Arc::clone(&self.there), Arc::clone(&self.weather));
        let dial = move |near: DuplexStream| {
            let mut there = locked(&there);
            let Some(house) = there.house.clone() else {
                return false;
            };
            let cut = CancellationToken::new();
            there.lines.push(cut.clone());
            tokio::spawn(line(near, house, Arc::clone(&weather), cut));
            true
        };
        let told = self.told.clone();
        let heard = move |event| told.tell(format_args!("the executor: {event:?}"));
        let chance = self.dice.fork();
        let hand = Hand::new((self.task, disk), (&self.deeds, &chance), dial, heard);
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
        self.cut();
        Ok(left)
    }

    /// A process of a backend, which goes on where another was.
    async fn open_house(&mut self) -> Result<(), String> {
        self.shelf = self.shelf.again();
        let store = Arc::new(self.shelf.clone());
        let house = House::open(manifest(), store, self.task, (GRACE, KEEP_ALIVE)).await;
        let house = house.map_err(|error| error.to_string())?;
        let mut events = house.events();
        let told = self.told.clone();
        self.watching.push(tokio::spawn(async move {
            // Each call begins once and ends once, and so it is told.
            let mut ended: HashMap<CallKey, u32> = HashMap::new();
            while let Ok(event) = events.recv().await {
                told.tell(format_args!("the backend: {event:?}"));
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
        let (dice, kept) = (self.dice.fork(), self.shelf.clone());
        self.making = Some(tokio::spawn(work(house.clone(), kept, self.plan, dice)));
        locked(&self.there).house = Some(house);
        Ok(())
    }

    fn close_house(&mut self) {
        self.shelf.kill();
        locked(&self.there).house = None;
        self.cut();
        if let Some(making) = self.making.take() {
            making.abort();
        }
    }
}
