//! Several simulated backends: an executor dials any of them, which forwards the connection where it must.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{DuplexStream, copy_bidirectional, duplex};
use tokio::time::sleep;

use super::executor_faults::{Connect, lock};
use super::fake_leases::FakeLeases;
use super::fake_network::{Connections, NetworkFaults, run_connection, socket};
use super::fake_store::FakeStore;
use super::rng::Rng;
use crate::backend::simulated::{ServedTask, SimulatedPeer};
use crate::protocol::TaskId;

/// How late what is forwarded may be, in milliseconds: an executor has abandoned the connection by then.
const LATE: u64 = 15_000;

/// One backend process.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) peer: SimulatedPeer,
    pub(super) fake_store: FakeStore,
    pub(super) fake_leases: FakeLeases,
    /// The number of the process.
    pub(super) number: u64,
}

/// A backend, running or not.
#[derive(Debug)]
pub(super) struct Backend {
    pub(super) name: String,
    pub(super) process: Option<Process>,
}

/// The backends that executors may connect to.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    pub(super) backends: Vec<Backend>,
    /// A backend that no other one reaches.
    pub(super) parted: Option<usize>,
    /// The backend of the latest connection.
    pub(super) host: Option<usize>,
    pub(super) moves: u64,
    pub(super) forwarded: u64,
    pub(super) late: u64,
}

/// What a connection to a random backend needs.
#[derive(Clone)]
struct Dialled {
    task: TaskId,
    there: Arc<Mutex<Cluster>>,
    connections: Connections,
    faults: Arc<NetworkFaults>,
    rng: Rng,
}

/// Connects an executor to a random backend.
pub(super) fn connect(
    task: TaskId,
    there: &Arc<Mutex<Cluster>>,
    connections: &Connections,
    faults: &Arc<NetworkFaults>,
    rng: Rng,
) -> Connect {
    let dialled = Dialled {
        task,
        there: Arc::clone(there),
        connections: connections.clone(),
        faults: Arc::clone(faults),
        rng,
    };
    Arc::new(move |near: DuplexStream| {
        let mut there = lock(&dialled.there);
        let at = usize::try_from(dialled.rng.below(there.backends.len() as u64)).unwrap_or(0);
        let Some(process) = &there.backends[at].process else {
            return false;
        };
        let (peer, name) = (process.peer.clone(), &there.backends[at].name);
        let trace = &dialled.faults.trace;
        trace.record(format_args!("the executor dials {name}"));
        tokio::spawn(dialled.clone().run(near, at, peer));
        there.moves += u64::from(there.host.replace(at).is_some_and(|host| host != at));
        true
    })
}

impl Dialled {
    /// Runs a connection to a backend, which forwards it where it must.
    async fn run(self, near: DuplexStream, at: usize, peer: SimulatedPeer) {
        let cut = self.connections.add(at);
        let routed = tokio::select! {
            routed = peer.route(self.task, false, |url| self.dial(at, url)) => routed,
            () = cut.cancelled() => return,
        };
        let faults = Arc::clone(&self.faults);
        match routed {
            Some(Ok(open)) => {
                let serve = |end| async move { open.serve(socket(end).await).await };
                run_connection(near, serve, faults, cut).await;
            }
            Some(Err((home, open))) => {
                let serve = move |end| self.forward(end, home, open);
                run_connection(near, serve, faults, cut).await;
            }
            None => self.faults.trace.record(format_args!("it is refused")),
        }
    }

    /// Reaches the home of the task; `url` is its number.
    async fn dial(&self, from: usize, url: String) -> Option<(usize, ServedTask)> {
        let home: usize = url.parse().ok()?;
        let peer = {
            let there = lock(&self.there);
            let is_parted = from != home && [Some(from), Some(home)].contains(&there.parted);
            let process = there.backends[home].process.as_ref();
            process
                .filter(|_| !is_parted)
                .map(|process| process.peer.clone())
        };
        let Some(peer) = peer else {
            // It does not answer, or its machine says that nobody listens.
            if self.rng.once_in(2) {
                sleep(Duration::from_secs(5)).await;
            }
            return None;
        };
        let refuse = |_| async { None::<()> };
        let open = peer.route(self.task, true, refuse).await?.ok()?;
        Some((home, open))
    }

    /// Forwards a connection to the home of the task.
    async fn forward(self, mut end: DuplexStream, home: usize, open: ServedTask) {
        let cut = self.connections.add(home);
        let (mut near, far) = duplex(1 << 16);
        tokio::spawn(async move { open.serve(socket(far).await).await });
        let is_late = !self.faults.calm.load(Ordering::Relaxed) && self.rng.once_in(16);
        {
            let mut there = lock(&self.there);
            there.forwarded += 1;
            there.late += u64::from(is_late);
        }
        let passes = async {
            if is_late {
                sleep(self.rng.millis(LATE)).await;
            }
            let _ = copy_bidirectional(&mut end, &mut near).await;
        };
        tokio::select! {
            () = passes => {}
            () = cut.cancelled() => {}
        }
    }
}
