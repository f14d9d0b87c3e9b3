//! Runs with one backend: faults are injected and the result is checked.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::backend::{Plan, number, stored_calls, work};
use super::disk::Disk;
use super::executor::{SideEffects, manifest};
use super::executor_faults::{Connect, ExecutorFaults, advance_clock, lock};
use super::fake_network::{Connections, NetworkFaults, run_connection, socket};
use super::fake_store::FakeStore;
use super::invariants::{Allowed, check_invariants};
use super::rng::Rng;
use super::statistics::{DiskStatistics, RunStatistics};
use super::trace::Trace;
use crate::backend::simulated::SimulatedBackend;
use crate::protocol::TaskId;

const GRACE: Duration = Duration::from_secs(20);
const KEEP_ALIVE: Duration = Duration::from_secs(2);

/// In simulated time: a run that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(600);

/// How a run differs from others.
#[derive(Clone, Copy, Debug)]
struct Kind {
    grace: Duration,
    longest: Duration,
    /// Disks are full for a while.
    fills: bool,
}

/// One run.
struct Simulation {
    executor_faults: ExecutorFaults,
    plan: Plan,
    kind: Kind,
    there: Arc<Mutex<Option<SimulatedBackend>>>,
    fake_store: FakeStore,
    making: Option<JoinHandle<Result<(), String>>>,
}

/// Runs one seed.
pub(super) async fn run(seed: u64) -> Result<RunStatistics, String> {
    let kind = Kind {
        grace: GRACE,
        longest: LONGEST,
        fills: false,
    };
    Ok(simulate(seed, kind).await?.0)
}

/// Runs one seed in which disks are full for a while.
///
/// A journal is reopened on a thread that the clock does not wait for, so no grace period expires here.
pub(super) async fn run_with_full_disks(seed: u64) -> Result<DiskStatistics, String> {
    let day = Duration::from_secs(24 * 3600);
    let kind = Kind {
        grace: 2 * day,
        longest: day,
        fills: true,
    };
    let (usual, full) = simulate(seed, kind).await?;
    Ok(DiskStatistics {
        runs: usual.runs,
        executors_killed: usual.executors_killed,
        backends_killed: usual.backends_killed,
        replied: usual.replied,
        ..full
    })
}

async fn simulate(seed: u64, kind: Kind) -> Result<(RunStatistics, DiskStatistics), String> {
    let rng = Rng::new(seed);
    let trace = Trace::default();
    let faults = Arc::new(NetworkFaults::of(&rng, &trace));
    let plan = Plan::of(&rng, 8);
    let (there, connections) = (Arc::default(), Connections::default());
    let mut simulation = Simulation {
        plan,
        kind,
        fake_store: FakeStore::new(&rng.fork()),
        making: None,
        executor_faults: ExecutorFaults {
            task: TaskId::random(),
            faults: Arc::clone(&faults),
            connect: connect(&there, &connections, &faults),
            connections,
            grace: kind.grace,
            trace: trace.clone(),
            side_effects: SideEffects::default(),
            executor: None,
            watching: Vec::new(),
            journals: Arc::default(),
            allowed: Allowed {
                cancelled: plan.given_up != 0,
                refused: kind.fills,
                ..Allowed::default()
            },
            statistics: RunStatistics::default(),
            full: DiskStatistics::default(),
            rng,
        },
        there,
    };
    let (task, journals) = (
        simulation.executor_faults.task,
        Arc::clone(&simulation.executor_faults.journals),
    );
    let running = async {
        let lived = simulation.run().await;
        let ExecutorFaults {
            statistics, full, ..
        } = &simulation.executor_faults;
        lived.map_err(|why| format!("{why}\n  {plan:?}, {statistics:?}\n  {trace}"))?;
        Ok((statistics.clone(), full.clone()))
    };
    tokio::select! {
        lived = running => lived,
        never = advance_clock(task, &journals, &faults, kind.longest) => never,
    }
}

fn connect(
    there: &Arc<Mutex<Option<SimulatedBackend>>>,
    connections: &Connections,
    faults: &Arc<NetworkFaults>,
) -> Connect {
    let (there, connections, faults) = (Arc::clone(there), connections.clone(), Arc::clone(faults));
    Arc::new(move |near: DuplexStream| {
        let Some(backend) = lock(&there).clone() else {
            return false;
        };
        let serve = |end| async move { backend.serve(socket(end).await).await };
        tokio::spawn(run_connection(
            near,
            serve,
            Arc::clone(&faults),
            connections.add(0),
        ));
        true
    })
}

impl Simulation {
    async fn run(&mut self) -> Result<(), String> {
        self.start_backend().await?;
        self.executor_faults.start_executor(Disk::default());
        for _ in 0..self.executor_faults.rng.below(6) {
            sleep(self.executor_faults.rng.millis(100)).await;
            if self.kind.fills {
                self.executor_faults.fill_disk();
            }
            match self
                .executor_faults
                .rng
                .below(if self.kind.fills { 9 } else { 10 })
            {
                8 => self.restart_backend().await?,
                kind => self.executor_faults.inject_fault(kind).await?,
            }
        }
        let making = self.making.take().ok_or("no calls are made")?;
        making.await.map_err(|error| error.to_string())??;
        let backend = lock(&self.there).clone().ok_or("there is no backend")?;
        self.executor_faults.finish(&backend.task).await?;
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

    async fn restart_backend(&mut self) -> Result<(), String> {
        self.executor_faults.statistics.backends_killed += 1;
        self.executor_faults.allowed.not_run = true;
        self.fake_store.kill();
        *lock(&self.there) = None;
        self.executor_faults.connections.cut();
        if let Some(making) = self.making.take() {
            making.abort();
        }
        sleep(self.executor_faults.rng.millis(100)).await;
        self.start_backend().await
    }

    /// Starts a backend process, which continues an earlier one.
    async fn start_backend(&mut self) -> Result<(), String> {
        self.fake_store = self.fake_store.new_handle();
        let (store, task) = (Arc::new(self.fake_store.clone()), self.executor_faults.task);
        let backend =
            SimulatedBackend::open(manifest(), store, task, (self.kind.grace, KEEP_ALIVE)).await;
        let backend = backend.map_err(|error| error.to_string())?;
        self.executor_faults
            .watch("the backend".to_owned(), backend.task.events());
        let (rng, kept, calls) = (
            self.executor_faults.rng.fork(),
            self.fake_store.clone(),
            self.plan.calls,
        );
        // Calls that no process has made before.
        let mut left = None;
        let due = move || {
            let left = left.get_or_insert_with(|| {
                let known: BTreeSet<u64> = stored_calls(&kept).iter().map(number).collect();
                (0..calls).filter(move |number| !known.contains(number))
            });
            left.next()
        };
        let task = backend.task.clone();
        self.making = Some(tokio::spawn(work(task, self.plan, rng, due)));
        *lock(&self.there) = Some(backend);
        Ok(())
    }
}
