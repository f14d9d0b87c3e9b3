//! What a step of an agent costs beside its model: time, allocations and memory.
//!
//! `cargo bench -p contract-runtime --features agent --bench agent` prints one table. The baseline is the same number of calls of
//! the same tool by name, without an agent.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use allocation_counter::{AllocationInfo, measure};
use contract_agent::{
    Budget, ContractAgent, Delta, LoopDetection, Model, Reply, Request, ToolCallingAgent,
    stream_with,
};
use contract_runtime::prelude::*;

/// Add two numbers.
#[tool(read_only)]
#[pre(a < 1_000_000)]
#[post(|sum| *sum >= a)]
fn add(a: u64, b: u64) -> u64 {
    a + b
}

/// Calls `add` so often, and then answers; it takes no time of its own.
struct Talker {
    steps: u64,
    said: AtomicU64,
}

impl Model for Talker {
    fn name(&self) -> &'static str {
        "talker"
    }

    fn reply<'a>(&'a self, _: Request<'a>) -> Reply<'a> {
        let number = self.said.fetch_add(1, Ordering::Relaxed);
        Box::pin(stream_with(move |emitter| async move {
            let piece = if number < self.steps {
                Delta::Call(call(number))
            } else {
                Delta::Text("done".to_owned())
            };
            emitter.emit(Ok(piece)).await;
        }))
    }
}

fn call(number: u64) -> ToolCall {
    ToolCall::new(
        number.to_string(),
        "add",
        format!(r#"{{"a":{number},"b":1}}"#),
    )
}

fn registry() -> Registry {
    Registry::builder().tool(add).build().expect("a sound tool")
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
}

/// The same calls without an agent.
fn bare(steps: u64) -> u64 {
    let registry = registry();
    runtime().block_on(async {
        for number in 0..steps {
            assert!(registry.call(call(number)).await.is_ok());
        }
    });
    0
}

/// A run of the given number of steps; returns how many events it emitted.
fn run(steps: u64, conditions: bool) -> u64 {
    let model = Talker {
        steps,
        said: AtomicU64::new(0),
    };
    let mut agent = ContractAgent::builder(ToolCallingAgent::new(model, registry()))
        .max_steps(u64::MAX)
        .loop_detection(LoopDetection::default());
    if conditions {
        agent = agent
            .budget(Budget::ToolCalls(u64::MAX))
            .budget(Budget::Time(Duration::MAX))
            .answer_post("done", |answer| answer == "done");
    }
    let agent = agent.build();
    runtime().block_on(async {
        let mut events = agent.run("go").stream();
        let mut told = 0;
        while events.next().await.is_some() {
            told += 1;
        }
        told
    })
}

fn median(mut work: impl FnMut() -> u64) -> (Duration, u64) {
    let mut told = 0;
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let began = Instant::now();
            told = work();
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    (times[times.len() / 2], told)
}

fn memory(work: impl FnOnce() -> u64) -> AllocationInfo {
    measure(|| {
        let _ = work();
    })
}

#[allow(clippy::cast_precision_loss, reason = "figures for people")]
fn main() {
    const STEPS: u64 = 1_000;
    let (base, _) = median(|| bare(STEPS));
    println!(
        "{:<44}{:>10}{:>8}{:>14}{:>12}",
        "", "us/step", "ratio", "allocations", "events/s"
    );
    let row = |name: &str, time: Duration, told: u64, info: AllocationInfo| {
        println!(
            "{name:<44}{:>10.2}{:>8.2}{:>14.1}{:>12.0}",
            time.as_secs_f64() * 1e6 / STEPS as f64,
            time.as_secs_f64() / base.as_secs_f64(),
            info.count_total as f64 / STEPS as f64,
            told as f64 / time.as_secs_f64(),
        );
    };
    row("calls by name, no agent", base, 0, memory(|| bare(STEPS)));
    for (name, conditions) in [
        ("a run without conditions of its own", false),
        ("a run with three", true),
    ] {
        let (time, told) = median(|| run(STEPS, conditions));
        row(name, time, told, memory(|| run(STEPS, conditions)));
    }
    println!();
    for steps in [100, 1_000, 10_000] {
        let most = memory(|| run(steps, true)).bytes_max;
        println!(
            "a run of {steps:>6} steps holds at most {:>8.1} KiB, {:>6.0} bytes a step",
            most as f64 / 1024.0,
            most as f64 / steps as f64,
        );
    }
}
