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
//! | `hands` | what happens to them |
//! | `house` | what the processes of backends do |
//! | `fate` | one run with one backend, from its plan to its end |
//! | `several` | one run with several backends that share their work |
//! | `office` | what carries letters between those: some are lost, late, or come twice |
//! | `judge` | what must be so after every run |
//! | `figures` | what so many runs came to |
//! | `told` | what happened, for a run that fails |

mod dice;
mod disk;
mod fate;
mod figures;
mod hand;
mod hands;
mod house;
mod judge;
#[cfg(feature = "redis")]
mod office;
#[cfg(feature = "redis")]
mod several;
mod shelf;
mod told;
mod wire;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use figures::Figures;

/// Seeds of a short run.
const SEEDS: u64 = 300;

/// With several backends, of which each run takes longer.
#[cfg(feature = "redis")]
const SEEDS_OF_SEVERAL: u64 = 200;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Every seed has a runtime of its own.
fn all<F: Figures>(short: u64, run: impl AsyncFn(u64) -> Result<F, String> + Sync) {
    let run = |seed| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .map_err(|error| error.to_string())?;
        runtime.block_on(run(seed))
    };
    let only = number("SEED");
    let seeds = only.map_or(0..number("SEEDS").unwrap_or(short), |seed| seed..seed + 1);
    let next = AtomicU64::new(seeds.start);
    let (sum, failed) = (Mutex::new(F::default()), Mutex::new(Vec::new()));
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
                        Ok(figures) => sum.lock().unwrap().add(&figures),
                        Err(why) => failed.lock().unwrap().push(format!("SEED={seed}: {why}")),
                    }
                }
            });
        }
    });
    let (sum, failed) = (sum.into_inner().unwrap(), failed.into_inner().unwrap());
    println!("{sum:?}");
    assert!(
        failed.is_empty(),
        "{}:\n{}",
        failed.len(),
        failed.join("\n")
    );
    if only.is_none() && seeds.end >= short {
        sum.has_seen_everything();
    }
}

#[test]
fn every_seed_ends_every_call_once() {
    all(SEEDS, fate::run);
}

#[cfg(feature = "redis")]
#[test]
fn every_seed_of_several_backends_ends_every_call_once() {
    all(SEEDS_OF_SEVERAL, several::run);
}
