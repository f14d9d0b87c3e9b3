use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use crate::Registry;
use crate::remote::Journal;
use crate::remote::journal::ArgumentsHash;
use crate::remote::protocol::{
    CallId, CallKey, EntryState, ExecutorMessage, RunTool, TaskId, ToolReply, WireArtifact,
};

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
    let desk = Desk::new(
        registry,
        journal,
        task,
        CancellationToken::new(),
        Arc::default(),
    );
    let (mut queue, key) = (desk.attach(), key());
    desk.asked(run(key, 1));
    let first = told(&mut queue).await;
    assert_eq!(first.outcome, crate::Status::UnknownTool, "{first:?}");
    desk.asked(run(key, 2));
    let other = told(&mut queue).await;
    assert_eq!(other.key, key);
    let error = other.error.unwrap_or_default();
    assert!(error.starts_with("unknown outcome: "), "{error}");
    desk.asked(run(key, 1));
    assert_eq!(told(&mut queue).await, first, "the first end stands");
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
    let desk = Desk::new(
        registry,
        journal,
        task,
        CancellationToken::new(),
        Arc::default(),
    );
    let entries = desk.entries().await.unwrap();
    let bytes = serde_json::to_vec(&entries).unwrap().len();
    assert!(bytes < (1 << 20) + (16 << 10), "{bytes}");
    let brought: Vec<_> = entries.iter().map(|entry| entry.key).collect();
    assert_eq!(brought, keys);
    assert!(entries.iter().all(|one| one.state == EntryState::Finished));
    let without: Vec<_> = (0..12).filter(|at| entries[*at].reply.is_none()).collect();
    assert_eq!(without, [3, 6, 9], "the first fits, and all small ones do");
}
