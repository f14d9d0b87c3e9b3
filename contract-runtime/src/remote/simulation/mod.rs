//! Backend and executor in one process and in a time of their own, under every fault that a seed comes up with.
//!
//! Everything is real but the network, the disk of the journal, the store and the clock. The journal has a thread, which
//! the clock waits for without knowing all that it does: a seed repeats the plan of a run, and nearly always the run.
//!
//! `SEEDS=10000` runs so many seeds, `SEED=17` one.
//!
//! | file | holds |
//! |---|---|
//! | `dice` | chance |
//! | `disk` | what a journal is written to |
//! | `shelf` | a store that outlives backends |
//! | `wire` | a line that is cut, is slow and repeats itself |
//! | `hand` | the processes of executors |
//! | `house` | the processes of backends |
//! | `fate` | one run, from its plan to its end |
//! | `judge` | what must be so after every run |
//! | `told` | what happened, for a run that fails |

mod dice;
mod disk;
mod fate;
mod hand;
mod house;
mod judge;
mod shelf;
mod told;
mod wire;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use judge::Figures;

/// Seeds of a short run.
const SEEDS: u64 = 300;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn run(seed: u64) -> Result<Figures, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(fate::run(seed))
}

#[test]
fn every_seed_ends_every_call_once() {
    let only = number("SEED");
    let seeds = only.map_or(0..number("SEEDS").unwrap_or(SEEDS), |seed| seed..seed + 1);
    let next = AtomicU64::new(seeds.start);
    let (all, failed) = (Mutex::new(Figures::default()), Mutex::new(Vec::new()));
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
                        Ok(figures) => all.lock().unwrap().add(&figures),
                        Err(why) => failed.lock().unwrap().push(format!("SEED={seed}: {why}")),
                    }
                }
            });
        }
    });
    let (all, failed) = (all.into_inner().unwrap(), failed.into_inner().unwrap());
    println!("{all:?}");
    assert!(
        failed.is_empty(),
        "{}:\n{}",
        failed.len(),
        failed.join("\n")
    );
    if only.is_none() && seeds.end >= SEEDS {
        all.has_seen_everything();
    }
}
