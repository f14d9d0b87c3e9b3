//! A simulated executor process and its tools.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_runtime::CancellationToken;
use contract_runtime::DynamicSpec;
use contract_runtime::{Content, Hints, Registry, Tool};
use serde_json::json;
use tokio::io::{DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::disk::Disk;
use super::rng::Rng;
use crate::protocol::TaskId;
use crate::{Executor, ExecutorEvent, Journal, Reconnect, RemoteError};

/// How often each call has taken effect, by its number.
pub(super) type SideEffects = Arc<Mutex<BTreeMap<u64, u64>>>;

/// What the tools of one process use.
#[derive(Clone, Debug)]
struct ToolContext {
    alive: Arc<AtomicBool>,
    side_effects: SideEffects,
    rng: Rng,
}

impl ToolContext {
    async fn act(&self, number: u64) -> u64 {
        sleep(self.rng.millis(15)).await;
        if !self.alive.load(Ordering::SeqCst) {
            return std::future::pending().await;
        }
        *self.side_effects.lock().unwrap().entry(number).or_default() += 1;
        sleep(self.rng.millis(15)).await;
        number
    }
}

/// `mark` is done once and never taken back, `note` may be done twice.
fn acting(name: &str, idempotent: bool, context: ToolContext) -> Tool {
    let hints = Hints::new(None, None, Some(idempotent), None);
    let spec = DynamicSpec::new(name, "Do something.")
        .hints(hints)
        .input_schema(json!({
            "type": "object",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
            "additionalProperties": false,
        }));
    Tool::dynamic(spec, move |arguments| {
        let context = context.clone();
        async move {
            let number = arguments["number"].as_u64().ok_or("a number")?;
            let done = context.act(number).await;
            Ok::<_, &str>(Content::text(done.to_string()))
        }
    })
}

/// Returns the manifest of the tools.
pub(super) fn manifest() -> contract_manifest::Manifest {
    let context = ToolContext {
        alive: Arc::default(),
        side_effects: SideEffects::default(),
        rng: Rng::new(0),
    };
    tools(context).manifest()
}

fn tools(context: ToolContext) -> Registry {
    let tools = vec![
        acting("mark", false, context.clone()),
        acting("note", true, context),
    ];
    Registry::builder().with(tools).build().unwrap()
}

/// The tool of the n-th call.
pub(super) fn tool(number: u64) -> &'static str {
    if number.is_multiple_of(2) {
        "mark"
    } else {
        "note"
    }
}

/// One executor process.
#[derive(Debug)]
pub(super) struct ExecutorProcess {
    pub(super) journal: Journal,
    pub(super) disk: Disk,
    alive: Arc<AtomicBool>,
    over: CancellationToken,
    pub(super) work: JoinHandle<Result<(), RemoteError>>,
}

impl ExecutorProcess {
    pub(super) fn new(
        (task, disk): (TaskId, Disk),
        (side_effects, rng): (&SideEffects, &Rng),
        connect: impl Fn(DuplexStream) -> bool + Send + Sync + 'static,
        on_event: impl Fn(ExecutorEvent) + Send + Sync + 'static,
    ) -> Self {
        let context = ToolContext {
            alive: Arc::new(AtomicBool::new(true)),
            side_effects: Arc::clone(side_effects),
            rng: rng.clone(),
        };
        let alive = Arc::clone(&context.alive);
        let journal = Journal::on(disk.clone()).unwrap();
        let reconnect = Reconnect::default()
            .first(Duration::from_millis(4))
            .most(Duration::from_millis(50));
        let executor = Executor::new(tools(context))
            .journal(journal.clone())
            .on_event(on_event)
            .reconnect(reconnect);
        let over = CancellationToken::new();
        let (ends, lives) = (over.clone(), Arc::clone(&alive));
        let work = tokio::spawn(async move {
            executor
                .simulated(task, ends, move || {
                    let (near, far) = duplex(1 << 16);
                    // A killed process does not connect.
                    (lives.load(Ordering::SeqCst) && connect(far)).then_some(near)
                })
                .await
        });
        Self {
            journal,
            disk,
            alive,
            over,
            work,
        }
    }

    /// Kills the process; returns the disk that it leaves.
    pub(super) fn kill(self) -> Disk {
        let left = self.disk.snapshot();
        self.alive.store(false, Ordering::SeqCst);
        self.work.abort();
        // What is still running writes to the old disk only.
        self.over.cancel();
        left
    }
}
