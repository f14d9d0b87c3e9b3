use serde_json::json;

use super::*;
use crate::remote::protocol::{CallId, CallKey, JournalId, Platform};
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
    assert_eq!(ledger.begun(open.key).await.unwrap(), None);
    let bytes = ledger.begin_call(&open).await.unwrap();
    assert_eq!(ledger.begun(open.key).await.unwrap(), Some(bytes));

    let first = ledger.end_call(sent.key, &not_run("first")).await.unwrap();
    let second = ledger.end_call(sent.key, &not_run("second")).await;
    assert_eq!(second.unwrap(), None);
    assert_eq!(
        ledger.ending(sent.key).await.unwrap(),
        Some(not_run("first"))
    );

    let bytes = ledger.begun(sent.key).await.unwrap().unwrap() + first.unwrap();
    let ended = Ended {
        key: sent.key,
        bytes,
    };
    let found = Found {
        open: vec![open],
        ended: vec![ended],
    };
    assert_eq!(ledger.calls().await.unwrap(), found);
}

#[tokio::test]
async fn endings_find_their_calls_among_many() {
    let ledger = ledger();
    let mut found = Found::default();
    let mut ended = Vec::new();
    for index in 0..50 {
        let call = call(1);
        let begun = ledger.begin_call(&call).await.unwrap();
        if index % 3 == 0 {
            let reason = format!("call {index}");
            let kept = ledger.end_call(call.key, &not_run(&reason)).await.unwrap();
            let bytes = begun + kept.unwrap();
            ended.push(call.key);
            let key = call.key;
            found.ended.push(Ended { key, bytes });
        } else {
            found.open.push(call);
        }
    }
    // One that ended here before it was begun here; it belongs to nobody, and is dropped with the others.
    let stray = call(1).key;
    let bytes = ledger.end_call(stray, &not_run("stray")).await.unwrap();
    ended.push(stray);
    found.ended.push(Ended {
        key: stray,
        bytes: bytes.unwrap(),
    });
    found.open.sort_by_key(|call| call.key);
    found.ended.sort_by_key(|call| call.key);
    assert_eq!(ledger.calls().await.unwrap(), found);

    ledger.drop_calls(&ended).await.unwrap();
    found.ended.clear();
    assert_eq!(ledger.calls().await.unwrap(), found);
    assert_eq!(ledger.ending(stray).await.unwrap(), None);
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
    let order: Vec<u32> = calls.open.iter().map(|call| call.key.attempt).collect();
    assert_eq!(order, [1, 2, 9, 10]);
}

#[tokio::test]
async fn what_does_not_read_is_named_and_not_shown() {
    let ledger = ledger();
    let written = ledger
        .write("finished", "{\"secret\":hunter2}", Expect::Any)
        .await;
    assert!(matches!(written, Ok(Written::Done { .. })));
    let error = ledger.finished().await.unwrap_err().to_string();
    assert!(error.starts_with("`finished` is damaged"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn tools_are_settled_once() {
    let ledger = ledger();
    assert_eq!(ledger.handshake().await.unwrap(), None);
    let brought = |tool: &str| Handshake {
        protocol: 1,
        task: ledger.task,
        epoch: 0,
        journal: JournalId::random(),
        known_tools: vec![tool.to_owned()],
        custom_tools: Vec::new(),
        platform: Platform::default(),
        unacknowledged: Vec::new(),
    };
    let first = brought("first");
    assert_eq!(ledger.settle(&first).await.unwrap(), first);
    assert_eq!(ledger.settle(&brought("second")).await.unwrap(), first);
    assert_eq!(ledger.handshake().await.unwrap(), Some(first));
}

/// What a program must not take: as the documentation of [`Store`] says.
#[tokio::test]
async fn it_keeps_to_its_names() {
    let ledger = ledger();
    ledger.open_task([7; 32]).await.unwrap();
    ledger.claim("one", JournalId::random(), 0).await.unwrap();
    let finished = Finished {
        success: true,
        message: String::new(),
    };
    ledger.finish(&finished).await.unwrap();
    let call = call(1);
    ledger.begin_call(&call).await.unwrap();
    ledger.end_call(call.key, &not_run("")).await.unwrap();
    let names = ledger.store.list(ledger.task, "").await.unwrap();
    assert!(names.len() >= 5, "{names:?}");
    for (name, _) in names {
        let single = ["token", "owner", "home", "finished", "handshake"];
        let begins = ["call.", "ending.", "backend."];
        let reserved = single.contains(&&*name) || begins.iter().any(|with| name.starts_with(with));
        assert!(reserved, "{name}");
    }
}
