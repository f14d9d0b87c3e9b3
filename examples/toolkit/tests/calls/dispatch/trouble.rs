//! Tools that panic or hang, beside those of the package.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use contract_runtime::prelude::*;
use contract_runtime::{Builder, Status};
use serde_json::json;
use tokio::task::JoinSet;

use super::{runtime, tool_call};
use crate::common::{Ground, beside, ended, given, samples};

/// Panics, or hangs until it is let go.
#[derive(Default)]
pub(crate) struct Trouble {
    gone: AtomicBool,
    waiting: AtomicUsize,
}

impl Trouble {
    pub(crate) fn open(&self) {
        self.gone.store(true, Ordering::Release);
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }

    fn wait(&self) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        while !self.gone.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

#[tool]
impl Trouble {
    /// Panic.
    #[tool]
    fn panics(&self, how: &str) {
        explode(how);
    }

    /// Panic on a thread of its own.
    #[tool(blocking, read_only)]
    fn panics_there(&self, how: &str) {
        explode(how);
    }

    /// Panic later.
    #[tool(read_only)]
    async fn panics_later(&self, how: &str) {
        tokio::task::yield_now().await;
        explode(how);
    }

    /// Hang.
    #[tool(timeout = "300ms")]
    async fn hangs(&self) {
        std::future::pending::<()>().await;
    }

    /// Hang on a thread of its own.
    #[tool(blocking, timeout = "300ms")]
    fn hangs_there(&self) {
        self.wait();
    }

    /// Hold a place.
    #[tool(blocking, timeout = "60s")]
    fn holds(&self) {
        self.wait();
    }
}

struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        panic!("payload");
    }
}

fn explode(how: &str) {
    match how {
        "drop" => drop(Explosive),
        "number" => panic::panic_any(5),
        _ => panic!("payload"),
    }
}

pub(crate) fn with(ground: &Ground, trouble: &Arc<Trouble>) -> Builder {
    ground.builder().with(Arc::clone(trouble))
}

/// Every good call of every tool, but for those that run commands, which cost more.
fn good_calls(registry: &Registry) -> Vec<ToolCall> {
    let quick = registry.tools().filter(|tool| tool.name() != "run_shell");
    quick
        .flat_map(|tool| {
            let calls = samples(tool.name()).into_iter();
            calls.map(move |arguments| tool_call(tool.name(), &arguments))
        })
        .collect()
}

/// D9
#[test]
fn tools_that_panic_harm_no_other_call() {
    let _beside = beside();
    let ground = Ground::new();
    let registry = with(&ground, &Arc::default())
        .max_blocking(512)
        .build()
        .unwrap();
    let good = good_calls(&ground.registry());
    let before = registry.statistics();
    runtime().block_on(async {
        let mut running = JoinSet::new();
        for number in 0..10_000_usize {
            while running.len() >= 64 {
                judge(running.join_next().await.unwrap().unwrap());
            }
            let registry = registry.clone();
            let bad = number % 4 == 0;
            let call = if bad {
                let name = ["panics", "panics_there", "panics_later"][number / 4 % 3];
                let how = ["text", "drop", "number"][number / 12 % 3];
                tool_call(name, &json!({"how": how}))
            } else {
                good[number % good.len()].clone()
            };
            running.spawn(async move { (bad, registry.call(call).await) });
        }
        while let Some(done) = running.join_next().await {
            judge(done.unwrap());
        }
    });
    let after = registry.statistics();
    assert_eq!(after.calls() - before.calls(), 10_000);
    assert!(given(&registry, "read_file", &json!({"path": "src/main.rs"}))["text"].is_string());
}

fn judge((bad, outcome): (bool, Outcome)) {
    if bad {
        assert_eq!(outcome.status(), Status::Panicked, "{}", outcome.tool());
        assert!(!ended(&outcome).contains("payload"), "{}", ended(&outcome));
    } else {
        // Calls that edit race with each other: the text may be gone.
        let gone = outcome.tool() == "edit_file" && outcome.status() == Status::Failed;
        assert!(
            outcome.is_ok() || gone,
            "{}: {}",
            outcome.tool(),
            ended(&outcome)
        );
    }
}
