//! The backend processes of a run: started, killed, cut off, and made the owner of the task.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::{GRACE, KEEP_ALIVE, Simulation};
use crate::backend::Task;
use crate::backend::simulated::SimulatedPeer;
use crate::simulation::backend::{number, stored_calls, work};
use crate::simulation::cluster::{Backend, Process};
use crate::simulation::executor::manifest;
use crate::simulation::executor_faults::lock;

impl Simulation {
    /// Lets no other backend reach this one, and keeps it from renewing its lease; or ends that.
    pub(super) fn part(&self, at: usize, is_parted: bool) {
        let mut there = lock(&self.there);
        there.parted = is_parted.then_some(at);
        let Backend { name, process } = &there.backends[at];
        if let Some(process) = process {
            process.fake_leases.part(name, is_parted);
        }
    }

    pub(super) async fn start(&mut self, at: usize) -> Result<(), String> {
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
    pub(super) async fn restart(&mut self, at: usize) -> Result<(), String> {
        if self.executor_faults.rng.once_in(2) {
            self.statistics.restarted_by_name += 1;
        } else {
            let name = format!("{}.{}", ["a", "b", "c"][at], self.processes);
            lock(&self.there).backends[at].name = name;
        }
        self.start(at).await
    }

    pub(super) fn kill(&mut self, at: usize) {
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
    pub(super) async fn take_over(&mut self, at: usize) -> Result<(), String> {
        let opened = self.reopen(at).await?;
        self.start_calls(at, opened);
        Ok(())
    }

    pub(super) fn reopen(
        &self,
        at: usize,
    ) -> impl Future<Output = Result<(u64, Task), String>> + use<> {
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

    pub(super) fn start_calls(&mut self, at: usize, (process, task): (u64, Task)) {
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
