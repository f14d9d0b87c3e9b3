use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::dice::Dice;
use super::disk::Disk;
use super::figures::Usual;
use super::hand::{Deeds, manifest};
use super::hands::{Dial, Hands, locked, turn_the_clock};
use super::house::{Plan, begun, number, work};
use super::judge::{Allowed, judge};
use super::shelf::Shelf;
use super::told::Told;
use super::wire::{Lines, Weather, line};
use crate::remote::backend::simulated::House;
use crate::remote::protocol::TaskId;

const GRACE: Duration = Duration::from_secs(20);
const KEEP_ALIVE: Duration = Duration::from_secs(2);

/// In the time of the run: nothing that goes on waits so long.
const LONGEST: Duration = Duration::from_secs(600);

/// One run.
struct World {
    hands: Hands,
    plan: Plan,
    there: Arc<Mutex<Option<House>>>,
    shelf: Shelf,
    making: Option<JoinHandle<Result<(), String>>>,
}

/// One run of one seed, which has a world and a time of its own.
pub(super) async fn run(seed: u64) -> Result<Usual, String> {
    let dice = Dice::new(seed);
    let told = Told::default();
    let weather = Arc::new(Weather::of(&dice, &told));
    let plan = Plan::of(&dice, 8);
    let (there, lines) = (Arc::default(), Lines::default());
    let mut world = World {
        plan,
        shelf: Shelf::new(&dice.fork()),
        making: None,
        hands: Hands {
            task: TaskId::random(),
            weather: Arc::clone(&weather),
            dial: dial(&there, &lines, &weather),
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
    let (task, journals) = (world.hands.task, Arc::clone(&world.hands.journals));
    let life = async {
        let lived = world.live().await;
        let figures = &world.hands.figures;
        lived.map_err(|why| format!("{why}\n  {plan:?}, {figures:?}\n  {told}"))?;
        Ok(figures.clone())
    };
    tokio::select! {
        lived = life => lived,
        never = turn_the_clock(task, &journals, &weather, LONGEST) => never,
    }
}

fn dial(there: &Arc<Mutex<Option<House>>>, lines: &Lines, weather: &Arc<Weather>) -> Dial {
    let (there, lines, weather) = (Arc::clone(there), lines.clone(), Arc::clone(weather));
    Arc::new(move |near: DuplexStream| {
        let Some(house) = locked(&there).clone() else {
            return false;
        };
        let serve = async move |socket| house.serve(socket).await;
        tokio::spawn(line(near, serve, Arc::clone(&weather), lines.add(0)));
        true
    })
}

impl World {
    async fn live(&mut self) -> Result<(), String> {
        self.open_house().await?;
        self.hands.hire(Disk::default());
        for _ in 0..self.hands.dice.below(6) {
            sleep(self.hands.dice.millis(100)).await;
            match self.hands.dice.below(10) {
                8 => self.strike_the_house().await?,
                kind => self.hands.strike(kind).await?,
            }
        }
        let making = self.making.take().ok_or("nobody makes calls")?;
        making.await.map_err(|error| error.to_string())??;
        let house = locked(&self.there).clone().ok_or("there is no backend")?;
        self.hands.come_to_rest(&house.task).await?;
        let deeds = locked(&self.hands.deeds).clone();
        let Hands {
            allowed, figures, ..
        } = &mut self.hands;
        judge(&self.shelf, &deeds, *allowed, figures)
    }

    async fn strike_the_house(&mut self) -> Result<(), String> {
        self.hands.figures.backends_killed += 1;
        self.hands.allowed.not_run = true;
        self.shelf.kill();
        *locked(&self.there) = None;
        self.hands.lines.cut();
        if let Some(making) = self.making.take() {
            making.abort();
        }
        sleep(self.hands.dice.millis(100)).await;
        self.open_house().await
    }

    /// A process of a backend, which goes on where another was.
    async fn open_house(&mut self) -> Result<(), String> {
        self.shelf = self.shelf.again();
        let (store, task) = (Arc::new(self.shelf.clone()), self.hands.task);
        let house = House::open(manifest(), store, task, (GRACE, KEEP_ALIVE)).await;
        let house = house.map_err(|error| error.to_string())?;
        self.hands
            .watch("the backend".to_owned(), house.task.events());
        let (dice, kept, calls) = (self.hands.dice.fork(), self.shelf.clone(), self.plan.calls);
        // Those that none has made before.
        let mut left = None;
        let due = move || {
            let left = left.get_or_insert_with(|| {
                let known: BTreeSet<u64> = begun(&kept).iter().map(number).collect();
                (0..calls).filter(move |number| !known.contains(number))
            });
            left.next()
        };
        let task = house.task.clone();
        self.making = Some(tokio::spawn(work(task, self.plan, dice, due)));
        *locked(&self.there) = Some(house);
        Ok(())
    }
}
