//! Runs with several backends that share one store.

mod processes;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::backend::Plan;
use super::cluster::{Backend, Cluster, connect};
use super::disk::Disk;
use super::executor::SideEffects;
use super::executor_faults::{ExecutorFaults, advance_clock, lock};
use super::fake_leases::FakeLeases;
use super::fake_network::{Connections, NetworkFaults};
use super::fake_store::FakeStore;
use super::invariants::{Allowed, check_invariants};
use super::rng::Rng;
use super::statistics::{ClusterStatistics, DiskStatistics, RunStatistics};
use super::trace::Trace;
use crate::backend::Task;
use crate::protocol::TaskId;
use crate::store::task_store::{Owner, TaskStore};

/// So long that a home that is gone leaves no call in doubt: another backend takes its task over before.
const GRACE: Duration = Duration::from_secs(300);
const KEEP_ALIVE: Duration = Duration::from_secs(2);

/// In simulated time: a run that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(6_000);

/// Which process makes which call: each is made by one process, or by the next if that was killed before it began.
type Shares = Arc<Mutex<BTreeMap<u64, u64>>>;

/// One run.
struct Simulation {
    executor_faults: ExecutorFaults,
    plan: Plan,
    there: Arc<Mutex<Cluster>>,
    fake_store: FakeStore,
    fake_leases: FakeLeases,
    processes: u64,
    shares: Shares,
    /// The callers of each process.
    making: Vec<(u64, JoinHandle<Result<(), String>>)>,
    owners: Vec<(usize, Task)>,
    statistics: ClusterStatistics,
}

/// Runs one seed.
pub(super) async fn run(seed: u64) -> Result<(RunStatistics, ClusterStatistics), String> {
    let rng = Rng::new(seed);
    let trace = Trace::default();
    let faults = Arc::new(NetworkFaults::of(&rng, &trace));
    let plan = Plan::of(&rng, 40);
    let (there, connections) = (Arc::default(), Connections::default());
    let task = TaskId::random();
    let mut simulation = Simulation {
        plan,
        fake_store: FakeStore::new(&rng.fork()),
        fake_leases: FakeLeases::new(&rng.fork()),
        processes: 0,
        shares: Arc::default(),
        making: Vec::new(),
        owners: Vec::new(),
        statistics: ClusterStatistics::default(),
        executor_faults: ExecutorFaults {
            task,
            faults: Arc::clone(&faults),
            connect: connect(task, &there, &connections, &faults, rng.fork()),
            connections,
            grace: GRACE,
            trace: trace.clone(),
            side_effects: SideEffects::default(),
            executor: None,
            watching: Vec::new(),
            journals: Arc::default(),
            allowed: Allowed {
                cancelled: plan.given_up != 0,
                ..Allowed::default()
            },
            statistics: RunStatistics::default(),
            full: DiskStatistics::default(),
            rng,
        },
        there,
    };
    let journals = Arc::clone(&simulation.executor_faults.journals);
    let running = async {
        let lived = simulation.run().await;
        let statistics = (
            simulation.executor_faults.statistics.clone(),
            simulation.statistics.clone(),
        );
        lived.map_err(|why| format!("{why}\n  {plan:?}, {statistics:?}\n  {trace}"))?;
        Ok(statistics)
    };
    tokio::select! {
        lived = running => lived,
        never = advance_clock(task, &journals, &faults, LONGEST) => {
            never.map_err(|why| format!("{why}\n  {plan:?}\n  {trace}"))
        }
    }
}

impl Simulation {
    async fn run(&mut self) -> Result<(), String> {
        let task_store =
            TaskStore::new(Arc::new(self.fake_store.clone()), self.executor_faults.task);
        let opened = task_store.open_task([0; 32]).await;
        opened.map_err(|error| error.to_string())?;
        for name in ["a", "b", "c"].iter().take(self.below(2) + 2) {
            lock(&self.there).backends.push(Backend {
                name: (*name).to_owned(),
                process: None,
            });
        }
        for at in 0..self.backends() {
            self.start(at).await?;
        }
        let first = self.below(self.backends());
        self.take_over(first).await?;
        self.executor_faults.start_executor(Disk::default());
        for _ in 0..self.executor_faults.rng.below(8) {
            sleep(self.executor_faults.rng.millis(150)).await;
            self.inject_fault().await?;
        }
        self.wait_for_calls().await?;
        if self.executor_faults.statistics.backends_killed > 0 {
            // A superseded owner that was killed may have begun a call that only the next owner finds and ends.
            let (owner, _) = self.owner().await?;
            let next = self.another(owner);
            self.take_over(next).await?;
            self.wait_for_calls().await?;
        }
        let owner = self.owner().await?.1;
        self.executor_faults.finish(&owner).await?;
        {
            let there = lock(&self.there);
            self.statistics.moves = there.moves;
            self.statistics.forwarded = there.forwarded;
            self.statistics.late = there.late;
        }
        let side_effects = lock(&self.executor_faults.side_effects).clone();
        let ExecutorFaults {
            allowed,
            statistics,
            full,
            ..
        } = &mut self.executor_faults;
        check_invariants(
            &self.fake_store,
            &side_effects,
            *allowed,
            (statistics, full),
        )
    }

    async fn wait_for_calls(&mut self) -> Result<(), String> {
        for (_, making) in std::mem::take(&mut self.making) {
            making.await.map_err(|error| error.to_string())??;
        }
        Ok(())
    }

    fn below(&self, end: usize) -> usize {
        usize::try_from(self.executor_faults.rng.below(end as u64)).unwrap_or(0)
    }

    fn backends(&self) -> usize {
        lock(&self.there).backends.len()
    }

    async fn inject_fault(&mut self) -> Result<(), String> {
        match self.executor_faults.rng.below(22) {
            kind @ 0..=8 => return self.executor_faults.inject_fault(kind).await,
            9 | 10 => {
                self.statistics.owners_killed += 1;
                self.executor_faults.allowed.not_run = true;
                let (owner, _) = self.owner().await?;
                self.kill(owner);
                sleep(self.executor_faults.rng.millis(100)).await;
                let next = self.another(owner);
                if self.executor_faults.rng.once_in(2) {
                    self.restart(owner).await?;
                    self.take_over(owner).await?;
                } else {
                    self.take_over(next).await?;
                    self.restart(owner).await?;
                }
            }
            11 | 12 => {
                self.statistics.others_killed += 1;
                let (owner, _) = self.owner().await?;
                let other = self.another(owner);
                self.kill(other);
                sleep(self.executor_faults.rng.millis(100)).await;
                self.restart(other).await?;
            }
            13..=15 => {
                self.statistics.taken_over += 1;
                self.executor_faults.allowed.not_run = true;
                let (owner, _) = self.owner().await?;
                let next = self.another(owner);
                self.take_over(next).await?;
            }
            16 => {
                self.statistics.races += 1;
                self.executor_faults.allowed.not_run = true;
                let (one, other) = (0, 1);
                let (one_opens, other_opens) = (self.reopen(one), self.reopen(other));
                let (one_opened, other_opened) = tokio::join!(one_opens, other_opens);
                self.start_calls(one, one_opened?);
                self.start_calls(other, other_opened?);
            }
            17 | 18 => {
                self.statistics.left += 1;
                self.executor_faults.allowed.not_run = true;
                let (owner, _) = self.owner().await?;
                self.kill(owner);
                if self.executor_faults.rng.once_in(2) {
                    self.restart(owner).await?;
                    self.wait_for_takeover(None).await?;
                } else {
                    self.wait_for_takeover(None).await?;
                    self.restart(owner).await?;
                }
            }
            19 | 20 => {
                self.statistics.parted += 1;
                self.executor_faults.allowed.not_run = true;
                let (owner, _) = self.owner().await?;
                self.part(owner, true);
                self.executor_faults.connections.cut();
                // Unless its executor has dialled the home itself.
                if self
                    .wait_for_takeover(Some(Duration::from_secs(20)))
                    .await?
                {
                    self.statistics.taken_over_alive += 1;
                }
                self.part(owner, false);
            }
            _ => {
                self.statistics.all_killed += 1;
                self.executor_faults.allowed.not_run = true;
                for at in 0..self.backends() {
                    self.kill(at);
                }
                sleep(self.executor_faults.rng.millis(2_000)).await;
                for at in 0..self.backends() {
                    self.restart(at).await?;
                }
                let next = self.below(self.backends());
                self.take_over(next).await?;
            }
        }
        Ok(())
    }

    /// Returns the owner according to the store; one that has taken the task over by itself goes on with it first.
    async fn owner(&mut self) -> Result<(usize, Task), String> {
        loop {
            let kept = self.fake_store.snapshot("home");
            let (_, kept) = kept.first().ok_or("no backend owns the task")?;
            let owner: Owner =
                serde_json::from_str(&kept.value).map_err(|error| error.to_string())?;
            let at = {
                let there = lock(&self.there);
                let mut backends = there.backends.iter();
                backends.position(|one| one.name == owner.process.backend)
            };
            let at = at.ok_or("the owner has another name now")?;
            let latest = self
                .owners
                .iter()
                .rev()
                .find(|(one, _)| *one == at)
                .cloned();
            if let Some((at, task)) = latest
                && task.is_owner().await
            {
                return Ok((at, task));
            }
            self.wait_for_takeover(None).await?;
        }
    }

    /// Waits until a backend has taken the task over because the executor has dialled it, and goes on there; returns whether
    /// one has.
    async fn wait_for_takeover(&mut self, longest: Option<Duration>) -> Result<bool, String> {
        let began = Instant::now();
        while longest.is_none_or(|longest| began.elapsed() < longest) {
            let task = self.executor_faults.task;
            let at = lock(&self.there).backends.iter().position(|backend| {
                let process = backend.process.as_ref();
                process.is_some_and(|process| process.peer.has_taken_over(task))
            });
            if let Some(at) = at {
                self.take_over(at).await?;
                return Ok(true);
            }
            sleep(Duration::from_millis(100)).await;
        }
        Ok(false)
    }

    fn another(&self, than: usize) -> usize {
        (than + 1 + self.below(self.backends() - 1)) % self.backends()
    }
}
