use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::dice::Dice;
use super::disk::Disk;
use super::figures::{Figures as _, Shared, Usual};
use super::hand::{Deeds, manifest};
use super::hands::{Dial, Hands, locked, turn_the_clock};
use super::house::{Plan, begun, number, work};
use super::judge::{Allowed, judge};
use super::office::{PostOffice, Rates};
use super::shelf::Shelf;
use super::told::Told;
use super::wire::{Lines, Weather, line};
use crate::remote::backend::Task;
use crate::remote::backend::simulated::Neighbour;
use crate::remote::protocol::TaskId;
use crate::remote::store::ledger::{Home, Ledger};

/// So long that letters that are lost leave no call in doubt: what they would have said is found out before.
const GRACE: Duration = Duration::from_secs(300);
const KEEP_ALIVE: Duration = Duration::from_secs(2);

/// In the time of the run: nothing that goes on waits so long.
const LONGEST: Duration = Duration::from_secs(6_000);

/// One process of a backend.
#[derive(Debug)]
struct Process {
    neighbour: Neighbour,
    shelf: Shelf,
    office: PostOffice,
    /// Counts them.
    number: u64,
}

/// A backend, whether it runs or not.
#[derive(Debug)]
struct Backend {
    name: String,
    process: Option<Process>,
}

/// What executors find.
#[derive(Debug, Default)]
struct There {
    backends: Vec<Backend>,
    /// Where one came in last.
    host: Option<usize>,
    moves: u64,
}

/// Who makes or made which call: each is made by one process, or by the next when that was killed and had not begun it.
type Shares = Arc<Mutex<BTreeMap<u64, u64>>>;

/// One run.
struct World {
    hands: Hands,
    plan: Plan,
    there: Arc<Mutex<There>>,
    shelf: Shelf,
    office: PostOffice,
    processes: u64,
    shares: Shares,
    /// By which process.
    making: Vec<(u64, JoinHandle<Result<(), String>>)>,
    homes: Vec<(usize, Task)>,
    figures: Shared,
}

/// One run of one seed, which has a world and a time of its own.
pub(super) async fn run(seed: u64) -> Result<(Usual, Shared), String> {
    let dice = Dice::new(seed);
    let told = Told::default();
    let weather = Arc::new(Weather::of(&dice, &told));
    let plan = Plan::of(&dice, 40);
    let rates = Rates::of(&dice);
    let (there, lines) = (Arc::default(), Lines::default());
    let task = TaskId::random();
    let mut world = World {
        plan,
        shelf: Shelf::new(&dice.fork()),
        office: PostOffice::new(rates, &weather, &dice.fork()),
        processes: 0,
        shares: Arc::default(),
        making: Vec::new(),
        homes: Vec::new(),
        figures: Shared::default(),
        hands: Hands {
            task,
            weather: Arc::clone(&weather),
            dial: dial(task, &there, &lines, &weather, dice.fork()),
            lines,
            grace: GRACE,
            told: told.clone(),
            deeds: Deeds::default(),
            hand: None,
            watching: Vec::new(),
            journals: Arc::default(),
            allowed: Allowed {
                cancelled: plan.given_up != 0,
                ..Allowed::default()
            },
            figures: Usual::default(),
            dice,
        },
        there,
    };
    let journals = Arc::clone(&world.hands.journals);
    let life = async {
        let lived = world.live().await;
        let figures = (world.hands.figures.clone(), world.figures.clone());
        lived.map_err(|why| format!("{why}\n  {plan:?}, {rates:?}, {figures:?}\n  {told}"))?;
        Ok(figures)
    };
    tokio::select! {
        lived = life => lived,
        never = turn_the_clock(task, &journals, &weather, LONGEST) => {
            never.map_err(|why| format!("{why}\n  {plan:?}, {rates:?}\n  {told}"))
        }
    }
}

/// An executor comes in at whichever backend runs.
fn dial(
    task: TaskId,
    there: &Arc<Mutex<There>>,
    lines: &Lines,
    weather: &Arc<Weather>,
    dice: Dice,
) -> Dial {
    let (there, lines, weather) = (Arc::clone(there), lines.clone(), Arc::clone(weather));
    Arc::new(move |near: DuplexStream| {
        let mut there = locked(&there);
        let at = usize::try_from(dice.below(there.backends.len() as u64)).unwrap_or(0);
        let Some(process) = &there.backends[at].process else {
            return false;
        };
        let (neighbour, name) = (process.neighbour.clone(), &there.backends[at].name);
        weather.told.tell(format_args!("the executor dials {name}"));
        let serve = async move |socket| neighbour.serve(task, socket).await;
        tokio::spawn(line(near, serve, Arc::clone(&weather), lines.add(at)));
        there.moves += u64::from(there.host.replace(at).is_some_and(|host| host != at));
        true
    })
}

impl World {
    async fn live(&mut self) -> Result<(), String> {
        let ledger = Ledger::new(Arc::new(self.shelf.clone()), self.hands.task);
        let opened = ledger.open_task([0; 32]).await;
        opened.map_err(|error| error.to_string())?;
        for name in ["a", "b", "c"].iter().take(self.below(2) + 2) {
            locked(&self.there).backends.push(Backend {
                name: (*name).to_owned(),
                process: None,
            });
        }
        for at in 0..self.backends() {
            self.start(at).await?;
        }
        let first = self.below(self.backends());
        self.take_over(first).await?;
        self.hands.hire(Disk::default());
        for _ in 0..self.hands.dice.below(8) {
            sleep(self.hands.dice.millis(150)).await;
            self.strike().await?;
        }
        self.all_made().await?;
        if self.hands.figures.backends_killed > 0 {
            // One that was taken over from and killed may have begun a call that only the next home finds and ends.
            let (home, _) = self.home().ok_or("the task is at home nowhere")?;
            let next = self.another(home);
            self.take_over(next).await?;
            self.all_made().await?;
        }
        let home = self.home().ok_or("the task is at home nowhere")?.1;
        self.hands.come_to_rest(&home).await?;
        self.figures.add(&self.office.closes()?);
        self.figures.moves = locked(&self.there).moves;
        let deeds = locked(&self.hands.deeds).clone();
        let Hands {
            allowed, figures, ..
        } = &mut self.hands;
        judge(&self.shelf, &deeds, *allowed, figures)
    }

    async fn all_made(&mut self) -> Result<(), String> {
        for (_, making) in std::mem::take(&mut self.making) {
            making.await.map_err(|error| error.to_string())??;
        }
        Ok(())
    }

    fn below(&self, end: usize) -> usize {
        usize::try_from(self.hands.dice.below(end as u64)).unwrap_or(0)
    }

    fn backends(&self) -> usize {
        locked(&self.there).backends.len()
    }

    async fn strike(&mut self) -> Result<(), String> {
        match self.hands.dice.below(18) {
            kind @ 0..=8 => return self.hands.strike(kind).await,
            9 | 10 => {
                self.figures.homes_killed += 1;
                self.hands.allowed.not_run = true;
                let (home, _) = self.home().ok_or("the task is at home nowhere")?;
                self.kill(home);
                sleep(self.hands.dice.millis(100)).await;
                let next = self.another(home);
                if self.hands.dice.once_in(2) {
                    self.restart(home).await?;
                    self.take_over(home).await?;
                } else {
                    self.take_over(next).await?;
                    self.restart(home).await?;
                }
            }
            11 | 12 => {
                self.figures.others_killed += 1;
                let (home, _) = self.home().ok_or("the task is at home nowhere")?;
                let other = self.another(home);
                self.kill(other);
                sleep(self.hands.dice.millis(100)).await;
                self.restart(other).await?;
            }
            13..=15 => {
                self.figures.taken_over += 1;
                self.hands.allowed.not_run = true;
                let (home, _) = self.home().ok_or("the task is at home nowhere")?;
                let next = self.another(home);
                self.take_over(next).await?;
            }
            16 => {
                self.figures.races += 1;
                self.hands.allowed.not_run = true;
                let (one, other) = (0, 1);
                let (one_opens, other_opens) = (self.reopens(one), self.reopens(other));
                let (one_opened, other_opened) = tokio::join!(one_opens, other_opens);
                self.moved_in(one, one_opened?);
                self.moved_in(other, other_opened?);
            }
            _ => {
                self.figures.all_killed += 1;
                self.hands.allowed.not_run = true;
                for at in 0..self.backends() {
                    self.kill(at);
                }
                sleep(self.hands.dice.millis(2_000)).await;
                for at in 0..self.backends() {
                    self.restart(at).await?;
                }
                let next = self.below(self.backends());
                self.take_over(next).await?;
            }
        }
        Ok(())
    }

    /// The store says who it is.
    fn home(&self) -> Option<(usize, Task)> {
        let kept = self.shelf.look("home");
        let home: Home = serde_json::from_str(&kept.first()?.1.value).ok()?;
        let there = locked(&self.there);
        let at = there
            .backends
            .iter()
            .position(|one| one.name == home.backend)?;
        let mut homes = self.homes.iter().rev();
        homes.find(|(one, _)| *one == at).cloned()
    }

    fn another(&self, than: usize) -> usize {
        (than + 1 + self.below(self.backends() - 1)) % self.backends()
    }

    async fn start(&mut self, at: usize) -> Result<(), String> {
        let (values, office) = (self.shelf.again(), self.office.again());
        let name = locked(&self.there).backends[at].name.clone();
        let neighbour = loop {
            let (store, post) = (Arc::new(values.clone()), Arc::new(office.clone()));
            let times = (GRACE, KEEP_ALIVE);
            // The name is that of the one that was killed until its lease is over.
            match Neighbour::open(manifest(), &name, store, post, times).await {
                Ok(neighbour) => break neighbour,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        };
        self.processes += 1;
        self.hands.told.tell(format_args!("{name} runs"));
        locked(&self.there).backends[at].process = Some(Process {
            neighbour,
            shelf: values,
            office,
            number: self.processes,
        });
        Ok(())
    }

    /// Under its name, once its lease is over, or under another.
    async fn restart(&mut self, at: usize) -> Result<(), String> {
        if self.hands.dice.once_in(2) {
            self.figures.restarted_by_name += 1;
        } else {
            let name = format!("{}.{}", ["a", "b", "c"][at], self.processes);
            locked(&self.there).backends[at].name = name;
        }
        self.start(at).await
    }

    fn kill(&mut self, at: usize) {
        self.hands.figures.backends_killed += 1;
        let process = {
            let mut there = locked(&self.there);
            let name = &there.backends[at].name;
            self.hands.told.tell(format_args!("{name} is killed"));
            there.backends[at].process.take()
        };
        let Some(process) = process else {
            return;
        };
        process.shelf.kill();
        process.office.kill();
        self.hands.lines.cut_at(at);
        self.homes.retain(|(one, _)| *one != at);
        for (_, making) in self.making.extract_if(.., |(by, _)| *by == process.number) {
            making.abort();
        }
        let begun: Vec<u64> = begun(&self.shelf).iter().map(number).collect();
        locked(&self.shares).retain(|call, by| *by != process.number || begun.contains(call));
    }

    /// A backend makes the calls from here on.
    async fn take_over(&mut self, at: usize) -> Result<(), String> {
        let opened = self.reopens(at).await?;
        self.moved_in(at, opened);
        Ok(())
    }

    fn reopens(&self, at: usize) -> impl Future<Output = Result<(u64, Task), String>> + use<> {
        let there = locked(&self.there);
        let process = there.backends[at].process.as_ref();
        let process = process.map(|process| (process.number, process.neighbour.clone()));
        let (id, told, name) = (
            self.hands.task,
            self.hands.told.clone(),
            there.backends[at].name.clone(),
        );
        async move {
            let (number, neighbour) = process.ok_or("a backend that does not run")?;
            told.tell(format_args!("{name} takes the task over"));
            loop {
                match neighbour.reopen(id).await {
                    Ok(Some(task)) => return Ok((number, task)),
                    Ok(None) => return Err("the task is not known".to_owned()),
                    // Its letters were refused; it is tried again.
                    Err(error) => told.tell(format_args!("{name}: {error}")),
                }
                sleep(Duration::from_millis(100)).await;
            }
        }
    }

    fn moved_in(&mut self, at: usize, (process, task): (u64, Task)) {
        let name = locked(&self.there).backends[at].name.clone();
        self.hands.watch(name, task.events());
        let (shares, calls) = (Arc::clone(&self.shares), self.plan.calls);
        let due = move || {
            let mut shares = locked(&shares);
            let next = (0..calls).find(|call| !shares.contains_key(call))?;
            shares.insert(next, process);
            Some(next)
        };
        let making = work(task.clone(), self.plan, self.hands.dice.fork(), due);
        self.making.push((process, tokio::spawn(making)));
        self.homes.push((at, task));
    }
}
