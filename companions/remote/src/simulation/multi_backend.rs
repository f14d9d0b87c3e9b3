//! Runs with several backends that share one store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::backend::{Plan, number, stored_calls, work};
use super::cluster::{Backend, Cluster, Process, connect};
use super::disk::Disk;
use super::executor::{SideEffects, manifest};
use super::executor_faults::{ExecutorFaults, advance_clock, lock};
use super::fake_leases::FakeLeases;
use super::fake_network::{Connections, NetworkFaults};
use super::fake_store::FakeStore;
use super::invariants::{Allowed, check_invariants};
use super::rng::Rng;
use super::statistics::{ClusterStatistics, DiskStatistics, RunStatistics};
use super::trace::Trace;
use crate::backend::Task;
use crate::backend::simulated::SimulatedPeer;
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

    /// Lets no other backend reach this one, and keeps it from renewing its lease; or ends that.
    fn part(&self, at: usize, is_parted: bool) {
        let mut there = lock(&self.there);
        there.parted = is_parted.then_some(at);
        let Backend { name, process } = &there.backends[at];
        if let Some(process) = process {
            process.fake_leases.part(name, is_parted);
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

    async fn start(&mut self, at: usize) -> Result<(), String> {
        let (values, fake_leases) = (self.fake_store.new_handle(), self.fake_leases.new_handle());
        let name = lock(&self.there).backends[at].name.clone();
        let peer = loop {
            let (store, leases) = (Arc::new(values.clone()), Arc::new(fake_leases.clone()));
            let (place, times) = ((&*name, at.to_string()), (GRACE, KEEP_ALIVE));
            // The name belongs to the killed process until its lease expires.
            match SimulatedPeer::open(manifest(), place, store, leases, times).await {
                Ok(peer) => break peer,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        };
        self.processes += 1;
        self.executor_faults
            .trace
            .record(format_args!("{name} runs"));
        lock(&self.there).backends[at].process = Some(Process {
            peer,
            fake_store: values,
            fake_leases,
            number: self.processes,
        });
        Ok(())
    }

    /// Restarts a backend under its name, once the lease has expired, or under another one.
    async fn restart(&mut self, at: usize) -> Result<(), String> {
        if self.executor_faults.rng.once_in(2) {
            self.statistics.restarted_by_name += 1;
        } else {
            let name = format!("{}.{}", ["a", "b", "c"][at], self.processes);
            lock(&self.there).backends[at].name = name;
        }
        self.start(at).await
    }

    fn kill(&mut self, at: usize) {
        self.executor_faults.statistics.backends_killed += 1;
        let process = {
            let mut there = lock(&self.there);
            let name = &there.backends[at].name;
            self.executor_faults
                .trace
                .record(format_args!("{name} is killed"));
            there.backends[at].process.take()
        };
        let Some(process) = process else {
            return;
        };
        process.fake_store.kill();
        process.fake_leases.kill();
        self.executor_faults.connections.cut_at(at);
        self.owners.retain(|(one, _)| *one != at);
        for (_, making) in self.making.extract_if(.., |(by, _)| *by == process.number) {
            making.abort();
        }
        let begun: Vec<u64> = stored_calls(&self.fake_store).iter().map(number).collect();
        lock(&self.shares).retain(|call, by| *by != process.number || begun.contains(call));
    }

    /// Makes a backend the owner of the task.
    async fn take_over(&mut self, at: usize) -> Result<(), String> {
        let opened = self.reopen(at).await?;
        self.start_calls(at, opened);
        Ok(())
    }

    fn reopen(&self, at: usize) -> impl Future<Output = Result<(u64, Task), String>> + use<> {
        let there = lock(&self.there);
        let process = there.backends[at].process.as_ref();
        let process = process.map(|process| (process.number, process.peer.clone()));
        let (id, trace, name) = (
            self.executor_faults.task,
            self.executor_faults.trace.clone(),
            there.backends[at].name.clone(),
        );
        async move {
            let (number, peer) = process.ok_or("a backend that does not run")?;
            trace.record(format_args!("{name} takes the task over"));
            loop {
                match peer.reopen(id).await {
                    Ok(Some(task)) => return Ok((number, task)),
                    Ok(None) => return Err("the task is not known".to_owned()),
                    Err(error) => trace.record(format_args!("{name}: {error}")),
                }
                sleep(Duration::from_millis(100)).await;
            }
        }
    }

    fn start_calls(&mut self, at: usize, (process, task): (u64, Task)) {
        let name = lock(&self.there).backends[at].name.clone();
        self.executor_faults.watch(name, task.events());
        let (shares, calls) = (Arc::clone(&self.shares), self.plan.calls);
        let due = move || {
            let mut shares = lock(&shares);
            let next = (0..calls).find(|call| !shares.contains_key(call))?;
            shares.insert(next, process);
            Some(next)
        };
        let making = work(
            task.clone(),
            self.plan,
            self.executor_faults.rng.fork(),
            due,
        );
        self.making.push((process, tokio::spawn(making)));
        self.owners.push((at, task));
    }
}
