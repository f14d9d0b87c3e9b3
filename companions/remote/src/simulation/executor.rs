use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::io::{DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::dice::Dice;
use super::disk::Disk;
use crate::remote::protocol::TaskId;
use crate::remote::{Executor, ExecutorEvent, Journal, Reconnect, RemoteError};
use crate::tool::DynamicSpec;
use crate::{Content, Hints, Registry, Tool};

/// What tools have done to the world, by number of the call.
pub(super) type Deeds = Arc<Mutex<BTreeMap<u64, u64>>>;

/// What the tools of one process have to do with the world.
#[derive(Clone, Debug)]
struct Reach {
    alive: Arc<AtomicBool>,
    deeds: Deeds,
    dice: Dice,
}

impl Reach {
    async fn act(&self, number: u64) -> u64 {
        sleep(self.dice.millis(15)).await;
        if !self.alive.load(Ordering::SeqCst) {
            return std::future::pending().await;
        }
        *self.deeds.lock().unwrap().entry(number).or_default() += 1;
        sleep(self.dice.millis(15)).await;
        number
    }
}

/// `mark` is done once and never taken back, `note` may be done twice.
fn acting(name: &str, idempotent: bool, reach: Reach) -> Tool {
    let hints = Hints {
        idempotent: Some(idempotent),
        ..Hints::default()
    };
    let spec = DynamicSpec::new(name, "Do something.")
        .hints(hints)
        .input_schema(json!({
            "type": "object",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
            "additionalProperties": false,
        }));
    Tool::dynamic(spec, move |arguments| {
        let reach = reach.clone();
        async move {
            let number = arguments["number"].as_u64().ok_or("a number")?;
            let done = reach.act(number).await;
            Ok::<_, &str>(Content::text(done.to_string()))
        }
    })
}

/// The tools of a process that does not live, for their descriptions.
pub(super) fn manifest() -> crate::registry::Manifest {
    let reach = Reach {
        alive: Arc::default(),
        deeds: Deeds::default(),
        dice: Dice::new(0),
    };
    tools(reach).manifest()
}

fn tools(reach: Reach) -> Registry {
    let tools = vec![
        acting("mark", false, reach.clone()),
        acting("note", true, reach),
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

/// One process of an executor.
#[derive(Debug)]
pub(super) struct Hand {
    pub(super) journal: Journal,
    disk: Disk,
    alive: Arc<AtomicBool>,
    over: CancellationToken,
    pub(super) work: JoinHandle<Result<(), RemoteError>>,
}

impl Hand {
    pub(super) fn new(
        (task, disk): (TaskId, Disk),
        (deeds, dice): (&Deeds, &Dice),
        line: impl Fn(DuplexStream) -> bool + Send + Sync + 'static,
        heard: impl Fn(ExecutorEvent) + Send + Sync + 'static,
    ) -> Self {
        let reach = Reach {
            alive: Arc::new(AtomicBool::new(true)),
            deeds: Arc::clone(deeds),
            dice: dice.clone(),
        };
        let alive = Arc::clone(&reach.alive);
        let journal = Journal::on(disk.clone()).unwrap();
        let reconnect = Reconnect {
            attempts: u32::MAX,
            first: Duration::from_millis(4),
            most: Duration::from_millis(50),
        };
        let executor = Executor::new(tools(reach))
            .journal(journal.clone())
            .on_event(heard)
            .reconnect(reconnect);
        let over = CancellationToken::new();
        let (ends, lives) = (over.clone(), Arc::clone(&alive));
        let work = tokio::spawn(async move {
            executor
                .simulated(task, ends, move || {
                    let (near, far) = duplex(1 << 16);
                    // The dead do not dial.
                    (lives.load(Ordering::SeqCst) && line(far)).then_some(near)
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

    /// Ends it without a word, and gives what it leaves.
    pub(super) fn kill(self) -> Disk {
        let left = self.disk.copied();
        self.alive.store(false, Ordering::SeqCst);
        self.work.abort();
        // What is still under way writes to the old disk, and reaches nothing else.
        self.over.cancel();
        left
    }
}
