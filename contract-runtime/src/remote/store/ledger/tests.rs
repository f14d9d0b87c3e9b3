use serde_json::json;

use super::*;
use crate::remote::protocol::{CallId, CallKey, JournalId};
use crate::remote::store::EmbeddedStore;

fn ledger() -> Ledger {
    let store = EmbeddedStore::in_memory().expect("a thread");
    Ledger::new(Arc::new(store), TaskId::random())
}

fn call(attempt: u32) -> CallRecord {
    CallRecord {
        key: CallKey {
            tool_id: CallId::next(),
            attempt,
        },
        call_id: "toolu_1".into(),
        tool_name: "write_file".into(),
        parameters: json!({"path": "a.txt", "text": "ü\u{1F600}"}),
        generation_id: 3,
        idempotent: false,
        journal: None,
        ending: None,
    }
}

fn not_run(reason: &str) -> Ending {
    Ending::NotRun {
        reason: reason.into(),
    }
}

#[tokio::test]
async fn a_task_is_opened_once() {
    let ledger = ledger();
    assert_eq!(ledger.token_hash().await.unwrap(), None);
    ledger.open_task([7; 32]).await.unwrap();
    ledger.open_task([7; 32]).await.unwrap();
    let other = ledger.open_task([8; 32]).await.unwrap_err();
    assert_eq!(
        other,
        StoreError::Conflict {
            name: "token".into()
        }
    );
    assert_eq!(ledger.token_hash().await.unwrap(), Some([7; 32]));
}

#[tokio::test]
async fn a_new_executor_takes_over_and_the_older_one_is_fenced_off() {
    let ledger = ledger();
    let (first, second) = (JournalId::random(), JournalId::random());
    // It was told of an epoch that nobody knows here.
    assert_eq!(ledger.claim("one", first, 5).await.unwrap(), None);
    assert_eq!(ledger.owner().await.unwrap(), None);
    assert_eq!(ledger.claim("one", first, 0).await.unwrap(), Some(1));
    assert_eq!(ledger.claim("one", first, 1).await.unwrap(), Some(2));
    // The answer that told it of the second was lost.
    assert_eq!(ledger.claim("one", first, 1).await.unwrap(), Some(3));
    assert_eq!(ledger.claim("two", second, 3).await.unwrap(), None);
    assert_eq!(ledger.claim("two", second, 0).await.unwrap(), Some(4));
    for told in [1, 3, 4] {
        assert_eq!(ledger.claim("one", first, told).await.unwrap(), None);
    }
    let owner = ledger.owner().await.unwrap().unwrap();
    assert_eq!((&*owner.owner, owner.epoch), ("two", 4));
    assert_eq!(owner.journal, second);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_hundred_claims_one_gets_each_epoch() {
    let ledger = ledger();
    let claims = async |last_epoch: u64| {
        let claims: Vec<_> = (0..100)
            .map(|one| {
                let ledger = ledger.clone();
                let journal = JournalId::random();
                tokio::spawn(async move {
                    let backend = format!("b{one}");
                    let epoch = ledger.claim(&backend, journal, last_epoch).await.unwrap();
                    epoch.map(|epoch| Holder {
                        owner: backend,
                        epoch,
                        journal,
                    })
                })
            })
            .collect();
        let mut won = Vec::new();
        for claim in claims {
            won.extend(claim.await.unwrap());
        }
        won.sort_by_key(|won| won.epoch);
        won
    };
    let won = claims(0).await;
    let epochs: Vec<u64> = won.iter().map(|won| won.epoch).collect();
    assert_eq!(epochs, (1..=100).collect::<Vec<u64>>());
    assert_eq!(won.last(), ledger.owner().await.unwrap().as_ref());
    // Those that are not there any more get none.
    assert_eq!(claims(100).await, []);
}

#[tokio::test]
async fn the_first_ending_of_a_call_stands() {
    let ledger = ledger();
    let mut sent = call(1);
    ledger.begin_call(&sent).await.unwrap();
    ledger.begin_call(&sent).await.unwrap();
    sent.journal = Some(JournalId::random());
    ledger.begin_call(&sent).await.unwrap();
    let open = call(2);
    assert!(!ledger.has_begun(open.key).await.unwrap());
    ledger.begin_call(&open).await.unwrap();
    assert!(ledger.has_begun(open.key).await.unwrap());

    assert!(ledger.end_call(sent.key, &not_run("first")).await.unwrap());
    assert!(!ledger.end_call(sent.key, &not_run("second")).await.unwrap());
    assert_eq!(
        ledger.ending(sent.key).await.unwrap(),
        Some(not_run("first"))
    );

    let first = CallRecord {
        ending: Some(not_run("first")),
        ..sent
    };
    assert_eq!(ledger.calls().await.unwrap(), [first, open]);
}

#[tokio::test]
async fn endings_find_their_calls_among_many() {
    let ledger = ledger();
    let mut calls = Vec::new();
    for index in 0..50 {
        let mut call = call(1);
        ledger.begin_call(&call).await.unwrap();
        if index % 3 == 0 {
            let ending = Ending::Unknown {
                reason: format!("call {index}"),
            };
            assert!(ledger.end_call(call.key, &ending).await.unwrap());
            call.ending = Some(ending);
        }
        calls.push(call);
    }
    // One that ended here before it was begun here; it belongs to nobody.
    let stray = call(1).key;
    assert!(ledger.end_call(stray, &not_run("stray")).await.unwrap());
    calls.sort_by_key(|call| call.key);
    assert_eq!(ledger.calls().await.unwrap(), calls);
}

#[tokio::test]
async fn attempts_stand_in_order() {
    let ledger = ledger();
    let first = call(1);
    let attempts = [2, 10, 1, 9].map(|attempt| {
        let mut call = first.clone();
        call.key.attempt = attempt;
        call
    });
    for attempt in &attempts {
        ledger.begin_call(attempt).await.unwrap();
    }
    let calls = ledger.calls().await.unwrap();
    let order: Vec<u32> = calls.iter().map(|call| call.key.attempt).collect();
    assert_eq!(order, [1, 2, 9, 10]);
}

#[tokio::test]
async fn history_is_written_once_and_read_in_order() {
    let ledger = ledger();
    for index in [10, 2, 0] {
        ledger.history_push(index, &json!(index)).await.unwrap();
    }
    ledger.history_push(2, &json!(2)).await.unwrap();
    let other = ledger.history_push(2, &json!("other")).await.unwrap_err();
    assert!(matches!(other, StoreError::Conflict { .. }), "{other}");
    assert_eq!(
        ledger.history().await.unwrap(),
        [0, 2, 10].map(|n| json!(n))
    );
}

#[tokio::test]
async fn a_run_takes_one_step_at_a_time() {
    let ledger = ledger();
    assert_eq!(ledger.run_state::<String>().await.unwrap(), None);
    let first = ledger.set_run_state(Expect::Absent, &"queued").await;
    assert_eq!(first.unwrap(), Some(1));
    let late = ledger.set_run_state(Expect::Absent, &"running").await;
    assert_eq!(late.unwrap(), None);
    let next = ledger.set_run_state(Expect::Version(1), &"running").await;
    assert_eq!(next.unwrap(), Some(2));
    let state = ledger.run_state::<String>().await.unwrap();
    assert_eq!(state, Some((2, "running".into())));
}

#[tokio::test]
async fn events_are_logged_once() {
    let ledger = ledger();
    assert_eq!(ledger.log("a", &json!({"n": 1})).await.unwrap(), 1);
    assert_eq!(ledger.log("b", &json!({"n": 2})).await.unwrap(), 2);
    assert_eq!(ledger.log("a", &json!({"n": 1})).await.unwrap(), 1);
    let tail = ledger.log_after(1, 10).await.unwrap();
    assert_eq!(tail.entries.len(), 1);
    assert_eq!(tail.entries[0].value, r#"{"n":2}"#);

    ledger.forget().await.unwrap();
    assert_eq!(ledger.log("c", &json!(3)).await.unwrap(), 1);
}

#[tokio::test]
async fn what_does_not_read_is_named_and_not_shown() {
    let ledger = ledger();
    let written = ledger
        .write("run", "{\"secret\":hunter2}", Expect::Any)
        .await;
    assert!(matches!(written, Ok(Written::Done { .. })));
    let error = ledger.run_state::<Value>().await.unwrap_err().to_string();
    assert!(error.starts_with("`run` is damaged"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}
