//! Concurrent calls, pruning, and results that arrive late.

use std::collections::{BTreeSet, HashSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use contract_runtime::{Effect, Progress, Status};
use serde_json::Map;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::history::{MAX_CALLS, PRUNE_BATCH};
use super::*;
use crate::backend::listener::ListenerConfig;
use crate::protocol::{Cancelled, Entry, EntryState, TaskId};
use crate::store::{EmbeddedStore, Store};

const SOON: Duration = Duration::from_secs(30);

/// Calls at once.
const WIDE: usize = 64;

fn calls(store: &EmbeddedStore, task: TaskId) -> Arc<Calls> {
    let task_store = TaskStore::new(Arc::new(store.clone()), task);
    let listener = ListenerConfig::default().open((Ipv4Addr::LOCALHOST, 0).into());
    Calls::new(task_store, Duration::from_secs(3600), Arc::new(listener))
}

fn request(tool: &str, text: &str) -> CallRequest {
    CallRequest {
        call_id: String::new(),
        tool_name: tool.to_owned(),
        parameters: Map::from_iter([("text".to_owned(), text.into())]),
        idempotent: false,
        idempotency_key: None,
        until: None,
        progress: Progress::default(),
        log: contract_runtime::Log::default(),
    }
}

fn handle_reply(key: CallKey) -> ToolReply {
    ToolReply {
        outcome: Status::Ok,
        ..ToolReply::failed(key, "")
    }
}

/// An executor that answers `echo`, twice now and then, and lets `wait` wait.
async fn answer(calls: Arc<Calls>, mut heard: mpsc::Receiver<BackendMessage>) {
    while let Some(message) = heard.recv().await {
        match message {
            BackendMessage::RunTool(run) if run.tool_name == "echo" => {
                calls.handle_reply(handle_reply(run.key));
                if run.key.tool_id.to_bytes()[15] < 32 {
                    calls.handle_reply(handle_reply(run.key));
                }
            }
            BackendMessage::CancelTool(key) => {
                let cancelled = Cancelled {
                    key,
                    effect: Effect::Unknown,
                    may_still_run: false,
                };
                calls.handle_reply(cancelled.into());
            }
            _ => {}
        }
    }
}

async fn names(store: &EmbeddedStore, task: TaskId, prefix: &str) -> Vec<String> {
    let there = store.list(task, prefix).await.unwrap();
    there.into_iter().map(|(name, _)| name).collect()
}

/// Waits until the store holds no more than it may between two prunings.
async fn bounded(store: &EmbeddedStore, task: TaskId, open: usize) -> usize {
    let most = 2 * (MAX_CALLS + PRUNE_BATCH) + open;
    let few = async {
        loop {
            let count = names(store, task, "").await.len();
            if count <= most {
                return count;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, few).await.expect("it goes down again")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_of_twenty_thousand_calls_keeps_the_latest() {
    let (store, task) = (EmbeddedStore::in_memory().unwrap(), TaskId::random());
    let (made, journal) = (calls(&store, task), JournalId::random());
    let (out, heard) = mpsc::channel(WIDE);
    made.attach(out, journal, Vec::new());
    let executor = tokio::spawn(answer(Arc::clone(&made), heard));

    // These are open all the time.
    let waiting: Vec<_> = (0..5)
        .map(|_| {
            let made = Arc::clone(&made);
            tokio::spawn(async move { made.call(request("wait", "")).await })
        })
        .collect();
    let five = async {
        while made.state().open.len() < 5 {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, five).await.unwrap();
    let open: BTreeSet<String> = names(&store, task, "call.").await.into_iter().collect();
    assert_eq!(open.len(), 5);

    let mut first = None;
    let mut under_way = JoinSet::new();
    for number in 0..20_000_u32 {
        if under_way.len() == WIDE {
            under_way.join_next().await.unwrap().unwrap();
        }
        let caller = Arc::clone(&made);
        under_way.spawn(async move {
            // One in ten is given up.
            let tool = if number % 10 == 3 { "wait" } else { "echo" };
            let call = caller.call(request(tool, &number.to_string()));
            let patience = if tool == "wait" {
                Duration::from_millis(1)
            } else {
                SOON
            };
            let outcome = timeout(patience, call).await;
            assert_eq!(outcome.is_ok(), tool == "echo", "{outcome:?}");
        });
        if number == 100 {
            let there = names(&store, task, "ending.").await;
            first = there.into_iter().next();
        }
        if number % 2_500 == 2_499 {
            bounded(&store, task, 2 * WIDE + 10).await;
            let state = made.state();
            assert!(state.open.len() <= WIDE + 5, "{}", state.open.len());
        }
    }
    while let Some(call) = under_way.join_next().await {
        call.unwrap();
    }
    let count = bounded(&store, task, 5).await;
    assert!(count > 2 * MAX_CALLS, "the latest are kept: {count}");
    let left: BTreeSet<String> = names(&store, task, "call.").await.into_iter().collect();
    assert!(open.is_subset(&left), "one that is open was dropped");
    let first = first.expect("one had ended");
    assert!(!names(&store, task, "ending.").await.contains(&first));
    drop((made, waiting));
    executor.abort();

    // Another process finds what is open, and nothing else.
    let again = calls(&store, task);
    let found = again.task_store.calls().await.unwrap();
    assert!(found.ended.len() >= MAX_CALLS, "{}", found.ended.len());
    let keys: Vec<CallKey> = found.open.iter().map(|call| call.key).collect();
    assert_eq!(keys.len(), 5);
    again.orphaned(found);
    let (out, mut heard) = mpsc::channel(WIDE);
    // What it hears of a call that was dropped, it acknowledges.
    let (id, attempt) = first["ending.".len()..].split_once('.').unwrap();
    let dropped = CallKey {
        tool_id: id.parse().unwrap(),
        attempt: attempt.parse().unwrap(),
    };
    let told = keys.iter().chain([&dropped]).map(|key| Entry {
        key: *key,
        state: EntryState::Finished,
        reply: Some(Box::new(handle_reply(*key))),
    });
    again.attach(out, journal, told.collect());
    timeout(SOON, again.settled()).await.unwrap();
    let mut acknowledged = HashSet::new();
    while acknowledged.len() < 6 {
        match timeout(SOON, heard.recv()).await.unwrap() {
            Some(BackendMessage::Ack(key)) => assert!(acknowledged.insert(key), "{key}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(acknowledged.contains(&dropped));
    assert_eq!(again.task_store.stored_size(dropped).await.unwrap(), None);
    for key in keys {
        let ending = again.task_store.ending(key).await.unwrap();
        assert!(matches!(ending, Some(Ending::Reply(_))), "{ending:?}");
    }
    assert_eq!(again.task_store.ending(dropped).await.unwrap(), None);
}

#[tokio::test]
async fn a_result_that_no_handshake_holds_is_fetched() {
    let (store, task) = (EmbeddedStore::in_memory().unwrap(), TaskId::random());
    let (made, journal) = (calls(&store, task), JournalId::random());
    let key = |attempt| CallKey {
        tool_id: CallId::next(),
        attempt,
    };
    // Nobody waits for these any more: the end of one could not be written, and that of the other was.
    let [without, with, stranger] = [key(1), key(1), key(1)];
    for key in [without, with] {
        let record = request("echo", "text").record(key, 7, Some(journal));
        made.task_store.begin_call(&record).await.unwrap();
    }
    let reason = "the caller no longer waits for it".to_owned();
    let ending = Ending::NotRun { reason };
    made.task_store.end_call(with, &ending).await.unwrap();

    let (out, mut heard) = mpsc::channel(WIDE);
    let told = [without, with, stranger].map(|key| Entry {
        key,
        state: EntryState::Finished,
        reply: None,
    });
    assert!(made.attach(out, journal, told.into()));
    let mut acknowledged = BTreeSet::new();
    while acknowledged.len() < 3 {
        match timeout(SOON, heard.recv()).await.unwrap() {
            Some(BackendMessage::Ack(key)) => assert!(acknowledged.insert(key), "{key}"),
            Some(BackendMessage::RunTool(run)) => {
                assert_eq!((run.key, run.generation_id), (without, 7));
                assert_eq!(run.parameters, serde_json::json!({"text": "text"}));
                made.handle_reply(handle_reply(without));
            }
            other => panic!("{other:?}"),
        }
    }
    let written = made.task_store.ending(without).await.unwrap();
    assert!(matches!(written, Some(Ending::Reply(_))), "{written:?}");
    assert_eq!(made.task_store.ending(with).await.unwrap(), Some(ending));
}

/// A result without an attempt is that of the attempt under way, whichever it is.
#[tokio::test]
async fn a_result_that_names_no_attempt_ends_the_one_under_way() {
    let (store, task) = (EmbeddedStore::in_memory().unwrap(), TaskId::random());
    let made = calls(&store, task);
    let (out, mut heard) = mpsc::channel(WIDE);
    assert!(made.attach(out, JournalId::random(), Vec::new()));
    let call = tokio::spawn({
        let (made, mut request) = (Arc::clone(&made), request("echo", ""));
        request.idempotent = true;
        async move { made.call(request).await }
    });
    let Some(BackendMessage::RunTool(first)) = timeout(SOON, heard.recv()).await.unwrap() else {
        panic!("no call");
    };
    // Another executor, whose journal does not know the call: it is in doubt, and tried again.
    let (out, mut heard) = mpsc::channel(WIDE);
    assert!(made.attach(out, JournalId::random(), Vec::new()));
    let again = loop {
        match timeout(SOON, heard.recv()).await.unwrap() {
            Some(BackendMessage::RunTool(again)) => break again,
            Some(_) => {}
            None => panic!("no call"),
        }
    };
    assert_eq!((first.key.attempt, again.key.attempt), (1, 2));
    let literal = serde_json::json!({
        "tool_id": again.key.tool_id, "status": "success", "result": "done",
    });
    made.handle_reply(serde_json::from_value(literal).unwrap());
    let outcome = timeout(SOON, call).await.unwrap().unwrap();
    let AttemptOutcome::Reply(reply) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!((reply.key, reply.outcome), (again.key, Status::Ok));
    assert_eq!(reply.result.as_deref(), Some("done"));
}

const KEY: &str = "0199c000-0000-7000-8000-000000000001";

fn keyed(tool: &str, text: &str) -> CallRequest {
    CallRequest {
        idempotency_key: Some(KEY.to_owned()),
        ..request(tool, text)
    }
}

/// Takes the next call that is sent.
async fn sent(heard: &mut mpsc::Receiver<BackendMessage>) -> RunTool {
    loop {
        match timeout(SOON, heard.recv()).await.unwrap() {
            Some(BackendMessage::RunTool(run)) => return *run,
            Some(_) => {}
            None => panic!("no call"),
        }
    }
}

#[tokio::test]
async fn a_call_that_is_repeated_under_its_key_meets_its_record() {
    let (store, task) = (EmbeddedStore::in_memory().unwrap(), TaskId::random());
    let (made, journal) = (calls(&store, task), JournalId::random());
    let (out, mut heard) = mpsc::channel(WIDE);
    assert!(made.attach(out, journal, Vec::new()));
    let call = |made: &Arc<Calls>, request| {
        let made = Arc::clone(made);
        tokio::spawn(async move { made.call(request).await })
    };
    // Two callers at the same time: one call is sent, and both are told its end.
    let both = [(); 2].map(|()| call(&made, keyed("echo", "a")));
    let first = sent(&mut heard).await.key;
    assert_eq!(Some(first.tool_id), CallId::of_key(task, KEY));
    made.handle_reply(handle_reply(first));
    for one in both {
        let outcome = timeout(SOON, one).await.unwrap().unwrap();
        assert!(matches!(outcome, AttemptOutcome::Reply(_)), "{outcome:?}");
    }
    // Another call under the key is not made, even if its tool is idempotent.
    for mut other in [keyed("echo", "b"), keyed("other", "a")] {
        other.idempotent = true;
        let outcome = timeout(SOON, made.call(other)).await.unwrap();
        assert!(matches!(outcome, AttemptOutcome::InDoubt(_)), "{outcome:?}");
    }
    while let Ok(message) = heard.try_recv() {
        assert!(matches!(message, BackendMessage::Ack(_)), "{message:?}");
    }
}

#[tokio::test]
async fn a_call_that_an_earlier_process_left_open_is_waited_for_and_made_only_if_it_did_not_run() {
    let journal = JournalId::random();
    for state in [
        EntryState::Finished,
        EntryState::Accepted,
        EntryState::InDoubt,
    ] {
        let (store, task) = (EmbeddedStore::in_memory().unwrap(), TaskId::random());
        let earlier = calls(&store, task);
        let (tool_id, attempt) = (CallId::of_key(task, KEY).unwrap(), 1);
        let key = CallKey { tool_id, attempt };
        let record = keyed("echo", "a").record(key, 0, Some(journal));
        earlier.task_store.begin_call(&record).await.unwrap();

        let made = calls(&store, task);
        made.orphaned(made.task_store.calls().await.unwrap());
        let repeated = {
            let made = Arc::clone(&made);
            tokio::spawn(async move { made.call(keyed("echo", "a")).await })
        };
        tokio::time::sleep(2 * POLL).await;
        assert!(!repeated.is_finished(), "its end is not known yet");
        let (out, mut heard) = mpsc::channel(WIDE);
        let reply = (state == EntryState::Finished).then(|| Box::new(handle_reply(key)));
        assert!(made.attach(out, journal, vec![Entry { key, state, reply }]));
        if state == EntryState::Accepted {
            let again = sent(&mut heard).await.key;
            assert_eq!((again.tool_id, again.attempt), (tool_id, 2));
            made.handle_reply(handle_reply(again));
        }
        let outcome = timeout(SOON, repeated).await.unwrap().unwrap();
        match state {
            EntryState::InDoubt => assert!(matches!(outcome, AttemptOutcome::InDoubt(_))),
            _ => assert!(matches!(outcome, AttemptOutcome::Reply(_)), "{outcome:?}"),
        }
    }
}

#[test]
fn the_id_of_a_key_is_that_of_its_task_and_begins_with_its_time() {
    let (task, other) = (TaskId::random(), TaskId::random());
    let id = CallId::of_key(task, KEY).unwrap();
    assert_eq!(id.to_bytes()[..6], [0x01, 0x99, 0xc0, 0, 0, 0]);
    assert!(id < CallId::next());
    assert_eq!(Some(id), CallId::of_key(task, KEY));
    assert_ne!(Some(id), CallId::of_key(other, KEY));
    // Without a time, a journal could not refuse it when it is old.
    for key in ["order-7", "919108f7-52d1-4320-9bac-f847db4148a8"] {
        assert_eq!(CallId::of_key(task, key), None);
    }
}
