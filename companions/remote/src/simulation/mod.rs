//! Deterministic simulation of backends and executors in one process, with faults chosen by a seed.
//!
//! Only the network, the disk of the journal, the store and the clock are simulated. The journal has a thread of its own, which
//! the clock waits for but does not control: a seed repeats the plan of a run, and nearly always the run.
//!
//! `SEEDS=10000` runs that many seeds, `SEED=17` runs one.
//!
//! | file | holds |
//! |---|---|
//! | `rng` | seeded random numbers |
//! | `disk` | the disk of a journal |
//! | `fake_store` | a store that outlives backends |
//! | `fake_network` | connections that break, are slow and repeat frames |
//! | `executor` | executor processes |
//! | `executor_faults` | the faults injected into them |
//! | `backend` | backend processes |
//! | `single_backend` | one run with one backend, from its plan to its end |
//! | `multi_backend` | one run with several backends on one store |
//! | `cluster` | several backends, and the connections to and between them |
//! | `fake_leases` | the leases of several backends |
//! | `invariants` | the invariants checked after every run |
//! | `statistics` | statistics over runs |
//! | `trace` | the event log, for a run that fails |

mod backend;
#[cfg(feature = "redis")]
mod cluster;
pub(super) mod disk;
mod executor;
mod executor_faults;
#[cfg(feature = "redis")]
pub(super) mod fake_leases;
mod fake_network;
mod fake_store;
mod invariants;
#[cfg(feature = "redis")]
mod multi_backend;
mod rng;
mod single_backend;
mod statistics;
mod trace;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use statistics::Statistics;

/// Seeds of a short run.
const SEEDS: u64 = 60;

/// With several backends, of which each run takes longer.
#[cfg(feature = "redis")]
const SEEDS_OF_SEVERAL: u64 = 40;

/// How many times the seeds of a short run are tried for an event that has not occurred.
const AT_MOST: u64 = 20;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs `short` seeds, and then more as long as some kind of event has not occurred, at most [`AT_MOST`] times as many: how often
/// a rare kind occurs depends on when the threads of the journals run.
fn all<S: Statistics>(short: u64, run: impl AsyncFn(u64) -> Result<S, String> + Sync) {
    if let Some(seed) = number("SEED") {
        println!("{:?}", batch(seed..seed + 1, &run));
        return;
    }
    let first = number("SEEDS").unwrap_or(short);
    let mut sum = batch(0..first, &run);
    let mut next = first;
    while first >= short && next < AT_MOST * short && !sum.unseen().is_empty() {
        sum.add(&batch(next..next + short, &run));
        next += short;
    }
    println!("{sum:?}");
    assert!(
        first < short || sum.unseen().is_empty(),
        "{:?} did not occur in {next} runs: {sum:?}",
        sum.unseen()
    );
}

/// Every seed has a runtime of its own.
fn batch<S: Statistics>(
    seeds: Range<u64>,
    run: &(impl AsyncFn(u64) -> Result<S, String> + Sync),
) -> S {
    let run = |seed| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .map_err(|error| error.to_string())?;
        runtime.block_on(run(seed))
    };
    let next = AtomicU64::new(seeds.start);
    let (sum, failed) = (Mutex::new(S::default()), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    match run(seed) {
                        Ok(statistics) => sum.lock().unwrap().add(&statistics),
                        Err(why) => failed.lock().unwrap().push(format!("SEED={seed}: {why}")),
                    }
                }
            });
        }
    });
    let (sum, failed) = (sum.into_inner().unwrap(), failed.into_inner().unwrap());
    assert!(
        failed.is_empty(),
        "{}:\n{}\n{sum:?}",
        failed.len(),
        failed.join("\n")
    );
    sum
}

#[test]
fn every_seed_ends_every_call_once() {
    all(SEEDS, single_backend::run);
}

#[test]
fn every_seed_with_disks_that_are_full_for_a_while_ends_every_call_once() {
    all(SEEDS, single_backend::run_with_full_disks);
}

#[cfg(feature = "redis")]
#[test]
fn every_seed_of_several_backends_ends_every_call_once() {
    all(SEEDS_OF_SEVERAL, multi_backend::run);
}
