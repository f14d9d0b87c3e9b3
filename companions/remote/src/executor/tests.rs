//! Repeated calls, large handshakes, and reconnection attempts.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_runtime::CancellationToken;
use contract_runtime::approval::{Approval, Decision};
use contract_runtime::prelude::*;
use contract_runtime::{LogLevel, Status};
use futures_util::StreamExt as _;
use serde_json::json;
use tokio::io::{DuplexStream, duplex};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::call_table::CallTable;
use super::{Executor, ExecutorEvent, Reconnect};
use crate::journal::ArgumentsHash;
use crate::protocol::{
    CallId, CallKey, EntryState, ExecutorMessage, RunTool, TaskId, ToolLog, ToolReply, WireArtifact,
};
use crate::{Journal, RemoteError};

const SOON: Duration = Duration::from_secs(30);

fn key() -> CallKey {
    CallKey {
        tool_id: CallId::next(),
        attempt: 1,
    }
}

fn run(key: CallKey, number: u32) -> RunTool {
    RunTool {
        key,
        tool_name: "nothing".to_owned(),
        generation_id: 0,
        parameters: json!({ "number": number }),
        deadline_ms: None,
        idempotency_key: None,
        log: false,
    }
}

async fn told(queue: &mut mpsc::Receiver<ExecutorMessage>) -> ToolReply {
    match timeout(SOON, queue.recv()).await.unwrap() {
        Some(ExecutorMessage::ToolResult(reply)) => *reply,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_call_that_comes_again_otherwise_is_answered_and_not_run() {
    let (journal, task) = (Journal::in_memory(), TaskId::random());
    let registry = Registry::builder().build().unwrap();
    let calls = CallTable::new(
        registry,
        journal,
        task,
        CancellationToken::new(),
        Arc::default(),
        Arc::new(|_| {}),
    );
    let (mut queue, key) = (calls.attach(), key());
    calls.handle_request(run(key, 1));
    let first = told(&mut queue).await;
    assert_eq!(first.outcome, Status::UnknownTool, "{first:?}");
    calls.handle_request(run(key, 2));
    let other = told(&mut queue).await;
    assert_eq!(other.key, key);
    let error = other.error.unwrap_or_default();
    assert!(error.starts_with("unknown outcome: "), "{error}");
    calls.handle_request(run(key, 1));
    assert_eq!(told(&mut queue).await, first, "the first end stands");
}

#[tokio::test]
async fn a_call_that_asks_has_not_run_and_its_end_stands() {
    static RAN: AtomicU32 = AtomicU32::new(0);

    /// Do nothing, a number of times.
    #[tool(confirm = "Do nothing {number} times?", idempotent)]
    fn nothing(number: u32) {
        RAN.fetch_add(number, Ordering::Relaxed);
    }
    let (journal, task) = (Journal::in_memory(), TaskId::random());
    let registry = Registry::builder().tool(nothing).build().unwrap();
    let table = |registry: &Registry| {
        CallTable::new(
            registry.clone(),
            journal.clone(),
            task,
            CancellationToken::new(),
            Arc::default(),
            Arc::new(|_| {}),
        )
    };
    let (calls, key) = (table(&registry), key());
    let mut queue = calls.attach();
    calls.handle_request(run(key, 1));
    let first = told(&mut queue).await;
    assert_eq!(first.outcome, Status::Denied, "{first:?}");
    // Asked for again, it is neither run nor asked about again, whoever may answer by now.
    let approving = Registry::builder()
        .tool(nothing)
        .approver(async |_| Decision::Approved(Approval::Once));
    let calls = table(&approving.build().unwrap());
    let mut queue = calls.attach();
    calls.handle_request(run(key, 1));
    assert_eq!(told(&mut queue).await, first);
    assert_eq!(RAN.load(Ordering::Relaxed), 0);
    calls.handle_request(run(self::key(), 1));
    assert_eq!(told(&mut queue).await.outcome, Status::Ok);
    assert_eq!(RAN.load(Ordering::Relaxed), 1);
}

/// A backend that knows no log messages would take them for faults.
#[tokio::test]
async fn log_messages_are_sent_only_to_a_backend_that_listens() {
    /// Do nothing, and say so.
    #[tool]
    fn nothing(number: u32, #[context] log: &Log) {
        log.warning(format_args!("nothing, {number} times"));
    }
    let calls = CallTable::new(
        Registry::builder().tool(nothing).build().unwrap(),
        Journal::in_memory(),
        TaskId::random(),
        CancellationToken::new(),
        Arc::default(),
        Arc::new(|_| {}),
    );
    let (mut queue, key) = (calls.attach(), key());
    calls.handle_request(run(self::key(), 1));
    assert_eq!(told(&mut queue).await.outcome, Status::Ok);
    calls.handle_request(RunTool {
        log: true,
        ..run(key, 2)
    });
    let first = timeout(SOON, queue.recv()).await.unwrap();
    let expected = ToolLog {
        key,
        level: LogLevel::Warning,
        message: "nothing, 2 times".to_owned(),
    };
    assert_eq!(first, Some(ExecutorMessage::ToolLog(expected)));
    assert_eq!(told(&mut queue).await.outcome, Status::Ok);
}

/// Results that are large by what goes along with them: a handshake that held them all would end its connection.
#[tokio::test]
async fn a_handshake_brings_as_many_results_as_it_has_room_for() {
    let (journal, task) = (Journal::in_memory(), TaskId::random());
    let mut keys = Vec::new();
    for number in 0..12 {
        let key = key();
        let hash = ArgumentsHash::of("nothing", &json!({ "number": number }));
        journal.accept(task, key, hash).await.unwrap();
        journal.start(task, key).await.unwrap();
        let mut reply = ToolReply::failed(key, "small");
        if number % 3 == 0 {
            reply.artifacts.push(WireArtifact::Value {
                name: "large".to_owned(),
                value: "x".repeat(600 << 10).into(),
            });
        }
        journal.finish(task, key, reply).await.unwrap();
        keys.push(key);
    }
    let registry = Registry::builder().build().unwrap();
    let calls = CallTable::new(
        registry,
        journal,
        task,
        CancellationToken::new(),
        Arc::default(),
        Arc::new(|_| {}),
    );
    let entries = calls.journal_entries().await.unwrap();
    let bytes = serde_json::to_vec(&entries).unwrap().len();
    assert!(bytes < (1 << 20) + (16 << 10), "{bytes}");
    let brought: Vec<_> = entries.iter().map(|entry| entry.key).collect();
    assert_eq!(brought, keys);
    assert!(entries.iter().all(|one| one.state == EntryState::Finished));
    let without: Vec<_> = (0..12).filter(|at| entries[*at].reply.is_none()).collect();
    assert_eq!(without, [3, 6, 9], "the first fits, and all small ones do");
}

/// What an executor told of its attempts.
#[derive(Clone, Default)]
struct Attempts(Arc<Mutex<Vec<Attempt>>>);

/// Its number, after how many it gives up, and how long it waits.
type Attempt = (u32, Option<u32>, Duration);

impl Attempts {
    fn made(&self) -> Vec<Attempt> {
        self.0.lock().unwrap().clone()
    }
}

/// An executor without tools, over streams of this test.
fn dials(
    reconnect: Reconnect,
    line: impl Fn() -> Option<DuplexStream> + Send + Sync + 'static,
) -> (JoinHandle<Result<(), RemoteError>>, Attempts) {
    let attempts = Attempts::default();
    let told = attempts.clone();
    let executor = Executor::new(Registry::builder().build().unwrap())
        .reconnect(reconnect)
        .on_event(move |event| {
            if let ExecutorEvent::Reconnecting { attempt, of, after } = event {
                told.0.lock().unwrap().push((attempt, of, after));
            }
        });
    let work = async move {
        let stop = CancellationToken::new();
        executor.simulated(TaskId::random(), stop, line).await
    };
    (tokio::spawn(work), attempts)
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_is_away_for_a_day_is_dialled_until_it_is_back() {
    let day = Duration::from_secs(24 * 3600);
    let began = Instant::now();
    let (lines, mut connected) = mpsc::unbounded_channel();
    let (work, attempts) = dials(Reconnect::default(), move || {
        (began.elapsed() >= day).then(|| {
            let (near, far) = duplex(1 << 16);
            let _ = lines.send(far);
            near
        })
    });
    let far = connected.recv().await.expect("it still reconnects");
    assert!(began.elapsed() < day + Duration::from_secs(31));
    let mut backend = WebSocketStream::from_raw_socket(far, Role::Server, None).await;
    let shake = backend.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(shake.contains(r#""type":"handshake""#), "{shake}");
    work.abort();
    let made = attempts.made();
    assert!(made.iter().zip(1..).all(|(made, number)| made.0 == number));
    assert!(made.iter().all(|(_, of, _)| of.is_none()));
    assert!(
        made.iter()
            .all(|(.., after)| *after <= Duration::from_secs(30))
    );
}

#[tokio::test(start_paused = true)]
async fn with_a_limit_each_attempt_waits_twice_as_long_as_the_last_and_then_it_gives_up() {
    let reconnect = Reconnect::default().attempts(5).jitter(false);
    let (work, attempts) = dials(reconnect, || None);
    let ended = work.await.unwrap();
    assert!(
        matches!(&ended, Err(RemoteError::Lost { attempts: 5, .. })),
        "{ended:?}"
    );
    let waits = [1, 2, 4, 8, 16].map(Duration::from_secs);
    let expected: Vec<_> = (1..)
        .zip(waits)
        .map(|(at, wait)| (at, Some(5), wait))
        .collect();
    assert_eq!(attempts.made(), expected);
}
