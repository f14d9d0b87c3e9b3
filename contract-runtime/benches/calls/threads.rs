//! What several threads do to each other that call tools of one registry.

use std::pin::pin;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use contract_runtime::prelude::*;

use crate::by_hand::once;
use crate::registries::built;

/// Scale a number that is not negative.
#[tool(name = "scale_3")]
#[pre(value >= 0, "value must not be negative")]
#[pre(by > 0, "by must be positive")]
#[post(|scaled| *scaled >= 0, "the product must not be negative")]
fn scale_three(value: i64, by: i64) -> i64 {
    value.wrapping_mul(by)
}

const TEXT: &str = r#"{"value": 41, "by": 3}"#;
/// How long each round lasts, and how many there are; the best counts.
const ROUND: Duration = Duration::from_millis(200);
const ROUNDS: usize = 12;

fn registry() -> Registry {
    built(Registry::builder().tool(scale_three))
}

/// How long this thread has run on a processor, where the system says so (Linux, `proc_pid_schedstat(5)`): other work on the
/// machine does not count.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ')
        .next()?
        .parse()
        .ok()
        .map(Duration::from_nanos)
}

/// Calls a second of all threads together, one registry for each of them.
fn calls(registries: &[Registry]) -> f64 {
    let start = Barrier::new(registries.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = registries
            .iter()
            .map(|registry| {
                scope.spawn(|| {
                    start.wait();
                    let (began, processor) = (Instant::now(), on_processor());
                    let mut count = 0_u32;
                    while began.elapsed() < ROUND {
                        for _ in 0..100 {
                            let call = ToolCall::new("1", "scale_3", TEXT);
                            drop(once(pin!(registry.call(call))));
                        }
                        count += 100;
                    }
                    let used = on_processor().zip(processor);
                    let used = used
                        .map_or_else(|| began.elapsed(), |(end, start)| end.saturating_sub(start));
                    f64::from(count) / used.as_secs_f64()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(0.0))
            .sum()
    })
}

/// Rounds of all kinds alternate, so that other work on the machine meets them alike.
pub(crate) fn throughput() -> String {
    let (one, other) = (registry(), registry());
    let kinds = [
        vec![one.clone()],
        vec![one.clone(), one.clone()],
        vec![one, other],
    ];
    let mut best = [0.0_f64; 3];
    for _ in 0..ROUNDS {
        for (best, registries) in best.iter_mut().zip(&kinds) {
            *best = best.max(calls(registries));
        }
    }
    let [alone, shared, own] = best;
    format!(
        "2 pre, 1 post, calls in a second of processor time: one thread {alone:.0}, two threads on one registry {:.2} times as \
         many, two threads with a registry each {:.2} times",
        shared / alone,
        own / alone
    )
}
