//! An executor whose journal cannot be written for a while.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_runtime::CancellationToken;
use contract_runtime::DynamicSpec;
use contract_runtime::{Content, Outcome, Registry, Status, Tool, ToolCall};
use tokio::io::duplex;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::backend::Session;
use crate::backend::simulated::SimulatedBackend;
use crate::protocol::TaskId;
use crate::simulation::disk::Disk;
use crate::store::EmbeddedStore;
use crate::{Executor, ExecutorEvent, Journal, JournalError, Reconnect, RemoteError};

const SOON: Duration = Duration::from_secs(30);

/// Called by the tools: `mark` is done at once, `hold` when it is let go.
#[derive(Clone, Default)]
struct Work {
    marks: Arc<Mutex<u32>>,
    held: Arc<Notify>,
    let_go: Arc<Notify>,
}

fn tools(work: &Work) -> Registry {
    let (mark, hold) = (work.clone(), work.clone());
    let mark = Tool::dynamic(DynamicSpec::new("mark", "Make a mark."), move |_| {
        let mark = mark.clone();
        async move {
            *mark.marks.lock().unwrap() += 1;
            Ok::<_, &str>(Content::text("marked"))
        }
    });
    let hold = Tool::dynamic(DynamicSpec::new("hold", "Hold on."), move |_| {
        let hold = hold.clone();
        async move {
            hold.held.notify_one();
            hold.let_go.notified().await;
            Ok::<_, &str>(Content::text("held"))
        }
    });
    Registry::builder().with(vec![mark, hold]).build().unwrap()
}

/// A backend, and an executor whose journal is on a disk of the test.
struct Halves {
    work: Work,
    disk: Disk,
    journal: Journal,
    session: Session,
    task: TaskId,
    events: mpsc::UnboundedReceiver<ExecutorEvent>,
    executor: tokio::task::JoinHandle<Result<(), RemoteError>>,
}

async fn halves(reconnect: Reconnect) -> Halves {
    let (work, disk, task) = (Work::default(), Disk::default(), TaskId::random());
    let store = Arc::new(EmbeddedStore::in_memory().unwrap());
    let times = (Duration::from_secs(3600), Duration::from_secs(15));
    let backend = SimulatedBackend::open(tools(&work).manifest(), store, task, times).await;
    let backend = backend.unwrap();
    let attached = backend.task.clone();
    let (on_event, events) = mpsc::unbounded_channel();
    let journal = Journal::on(disk.clone()).unwrap();
    let executor = Executor::new(tools(&work))
        .journal(journal.clone())
        .reconnect(reconnect)
        .on_event(move |event| {
            let _ = on_event.send(event);
        });
    let executor = tokio::spawn(async move {
        let connect = move || {
            let (near, far) = duplex(1 << 16);
            let backend = backend.clone();
            tokio::spawn(async move {
                let socket = WebSocketStream::from_raw_socket(far, Role::Server, None).await;
                backend.serve(socket).await;
            });
            Some(near)
        };
        executor
            .simulated(task, CancellationToken::new(), connect)
            .await
    });
    Halves {
        session: timeout(SOON, attached.attached()).await.unwrap().unwrap(),
        work,
        disk,
        journal,
        task,
        events,
        executor,
    }
}

impl Halves {
    fn begin(&self, tool: &'static str) -> tokio::task::JoinHandle<Outcome> {
        let tools = self.session.registry().clone();
        tokio::spawn(async move { tools.call(ToolCall::new("1", tool, "{}")).await })
    }

    async fn call(&self, tool: &'static str) -> Outcome {
        timeout(SOON, self.begin(tool)).await.unwrap().unwrap()
    }

    /// Waits until the executor tells of this.
    async fn told<T>(&mut self, of: impl Fn(ExecutorEvent) -> Option<T>) -> T {
        let told = async {
            loop {
                let event = self.events.recv().await.expect("it lives");
                if let Some(told) = of(event) {
                    return told;
                }
            }
        };
        timeout(SOON, told).await.expect("it tells")
    }
}

fn soon() -> Reconnect {
    Reconnect::default()
        .first(Duration::from_millis(1))
        .most(Duration::from_millis(20))
}

#[tokio::test]
async fn an_executor_whose_disk_is_full_says_so_leaves_and_comes_back_when_there_is_room() {
    let mut halves = halves(soon()).await;
    assert_eq!(halves.call("mark").await.output(), Some("marked"));
    let held = halves.begin("hold");
    timeout(SOON, halves.work.held.notified()).await.unwrap();
    halves.disk.fill(true);

    // It is not run, and its caller reads why.
    let refused = halves.call("mark").await;
    assert_eq!(refused.status(), Status::Failed);
    let told = refused.error().unwrap_or_default();
    assert!(told.starts_with("not run: the journal "), "{told}");
    assert!(told.contains("full") || told.contains("space"), "{told}");
    let failed = |event| match event {
        ExecutorEvent::JournalFailed { error } => Some(error),
        _ => None,
    };
    let error = halves.told(failed).await;
    assert!(matches!(error, JournalError::Stopped { .. }), "{error:?}");

    // A call that was at work ends as it does, though the journal cannot take its end.
    assert!(!held.is_finished());
    halves.work.let_go.notify_one();
    let held = timeout(SOON, held).await.unwrap().unwrap();
    assert_eq!(held.output(), Some("held"), "{held:?}");

    // Then the executor leaves, and what is called meanwhile waits for it.
    let left = |event| match event {
        ExecutorEvent::Lost { reason } => Some(reason),
        _ => None,
    };
    let reason = halves.told(left).await;
    assert!(reason.contains("journal cannot be written"), "{reason}");
    let waits = halves.begin("mark");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waits.is_finished());
    assert_eq!(*halves.work.marks.lock().unwrap(), 1);

    halves.disk.fill(false);
    let back = |event| matches!(event, ExecutorEvent::JournalReopened).then_some(());
    halves.told(back).await;
    let came = timeout(SOON, waits).await.unwrap().unwrap();
    assert_eq!(came.output(), Some("marked"), "{came:?}");
    assert_eq!(*halves.work.marks.lock().unwrap(), 2);
    // Nothing is left that a handshake would bring, not even what ended in between.
    let empty = async {
        while !halves
            .journal
            .unacknowledged(halves.task)
            .await
            .unwrap()
            .is_empty()
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(SOON, empty).await.unwrap();
    assert!(!halves.executor.is_finished());
}

#[tokio::test]
async fn with_a_limit_an_executor_whose_journal_stays_away_ends_with_the_reason() {
    let mut halves = halves(soon().attempts(3)).await;
    assert!(halves.call("mark").await.is_ok());
    halves.disk.fill(true);
    assert_eq!(halves.call("mark").await.status(), Status::Failed);
    let ended = timeout(SOON, &mut halves.executor).await.unwrap().unwrap();
    assert!(matches!(ended, Err(RemoteError::Journal(_))), "{ended:?}");
    assert_eq!(*halves.work.marks.lock().unwrap(), 1);
}
