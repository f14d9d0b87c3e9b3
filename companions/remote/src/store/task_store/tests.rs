//! Epochs, ownership, endings and names.

use serde_json::json;

use super::*;
use crate::protocol::{CallId, CallKey, JournalId, Platform};
use crate::store::EmbeddedStore;

fn task_store() -> TaskStore {
    let store = EmbeddedStore::in_memory().expect("a thread");
    TaskStore::new(Arc::new(store), TaskId::random())
}

fn call(attempt: u32) -> StoredCall {
    StoredCall {
        key: CallKey {
            tool_id: CallId::next(),
            attempt,
        },
        call_id: "toolu_1".into(),
        tool_name: "write_file".into(),
        parameters: json!({"path": "a.txt", "text": "ü\u{1F600}"}),
        generation_id: 3,
        idempotency_key: None,
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
    let task_store = task_store();
    assert_eq!(task_store.token_hash().await.unwrap(), None);
    task_store.open_task([7; 32]).await.unwrap();
    task_store.open_task([7; 32]).await.unwrap();
    let other = task_store.open_task([8; 32]).await.unwrap_err();
    assert_eq!(
        other,
        StoreError::Conflict {
            name: "token".into()
        }
    );
    assert_eq!(task_store.token_hash().await.unwrap(), Some([7; 32]));
}

#[tokio::test]
async fn a_new_executor_takes_over_and_the_older_one_is_fenced_off() {
    let task_store = task_store();
    let (first, second) = (JournalId::random(), JournalId::random());
    // It was told of an epoch that nobody knows here.
    assert_eq!(task_store.claim(first, 5).await.unwrap(), None);
    assert_eq!(task_store.attachment().await.unwrap(), None);
    assert_eq!(task_store.claim(first, 0).await.unwrap(), Some(1));
    assert_eq!(task_store.claim(first, 1).await.unwrap(), Some(2));
    // The answer that told it of the second was lost.
    assert_eq!(task_store.claim(first, 1).await.unwrap(), Some(3));
    assert_eq!(task_store.claim(second, 3).await.unwrap(), None);
    assert_eq!(task_store.claim(second, 0).await.unwrap(), Some(4));
    for told in [1, 3, 4] {
        assert_eq!(task_store.claim(first, told).await.unwrap(), None);
    }
    let attachment = task_store.attachment().await.unwrap().unwrap();
    assert_eq!((attachment.epoch, attachment.journal), (4, second));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_hundred_claims_one_gets_each_epoch() {
    let task_store = task_store();
    let claims = async |last_epoch: u64| {
        let claims: Vec<_> = (0..100)
            .map(|_| {
                let task_store = task_store.clone();
                let journal = JournalId::random();
                tokio::spawn(async move {
                    let epoch = task_store.claim(journal, last_epoch).await.unwrap();
                    epoch.map(|epoch| Attachment { epoch, journal })
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
    assert_eq!(won.last(), task_store.attachment().await.unwrap().as_ref());
    // Those that are not there any more get none.
    assert_eq!(claims(100).await, []);
}

#[tokio::test]
async fn the_first_ending_of_a_call_stands() {
    let task_store = task_store();
    let mut sent = call(1);
    task_store.begin_call(&sent).await.unwrap();
    task_store.begin_call(&sent).await.unwrap();
    sent.journal = Some(JournalId::random());
    task_store.begin_call(&sent).await.unwrap();
    let open = call(2);
    assert_eq!(task_store.stored_size(open.key).await.unwrap(), None);
    let bytes = task_store.begin_call(&open).await.unwrap();
    assert_eq!(task_store.stored_size(open.key).await.unwrap(), Some(bytes));

    let first = task_store
        .end_call(sent.key, &not_run("first"))
        .await
        .unwrap();
    let second = task_store.end_call(sent.key, &not_run("second")).await;
    assert_eq!(second.unwrap(), None);
    assert_eq!(
        task_store.ending(sent.key).await.unwrap(),
        Some(not_run("first"))
    );

    let bytes = task_store.stored_size(sent.key).await.unwrap().unwrap() + first.unwrap();
    let ended = EndedCall {
        key: sent.key,
        bytes,
    };
    let found = StoredCalls {
        open: vec![open],
        ended: vec![ended],
    };
    assert_eq!(task_store.calls().await.unwrap(), found);
}

#[tokio::test]
async fn endings_find_their_calls_among_many() {
    let task_store = task_store();
    let mut found = StoredCalls::default();
    let mut ended = Vec::new();
    for index in 0..50 {
        let call = call(1);
        let begun = task_store.begin_call(&call).await.unwrap();
        if index % 3 == 0 {
            let reason = format!("call {index}");
            let kept = task_store
                .end_call(call.key, &not_run(&reason))
                .await
                .unwrap();
            let bytes = begun + kept.unwrap();
            ended.push(call.key);
            let key = call.key;
            found.ended.push(EndedCall { key, bytes });
        } else {
            found.open.push(call);
        }
    }
    // An ending without a call: nobody reads it, and it is dropped with the others.
    let stray = call(1).key;
    let bytes = task_store.end_call(stray, &not_run("stray")).await.unwrap();
    ended.push(stray);
    found.ended.push(EndedCall {
        key: stray,
        bytes: bytes.unwrap(),
    });
    found.open.sort_by_key(|call| call.key);
    found.ended.sort_by_key(|call| call.key);
    assert_eq!(task_store.calls().await.unwrap(), found);

    task_store.drop_calls(&ended).await.unwrap();
    found.ended.clear();
    assert_eq!(task_store.calls().await.unwrap(), found);
    assert_eq!(task_store.ending(stray).await.unwrap(), None);
}

#[tokio::test]
async fn attempts_stand_in_order() {
    let task_store = task_store();
    let first = call(1);
    let attempts = [2, 10, 1, 9].map(|attempt| {
        let mut call = first.clone();
        call.key.attempt = attempt;
        call
    });
    for attempt in &attempts {
        task_store.begin_call(attempt).await.unwrap();
    }
    let calls = task_store.calls().await.unwrap();
    let order: Vec<u32> = calls.open.iter().map(|call| call.key.attempt).collect();
    assert_eq!(order, [1, 2, 9, 10]);
}

#[tokio::test]
async fn what_does_not_read_is_named_and_not_shown() {
    let task_store = task_store();
    let written = task_store
        .write("finished", "{\"secret\":hunter2}", Expect::Any)
        .await;
    assert!(matches!(written, Ok(Written::Done { .. })));
    let error = task_store.finished().await.unwrap_err().to_string();
    assert!(error.starts_with("`finished` is damaged"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn tools_are_settled_once() {
    let task_store = task_store();
    assert_eq!(task_store.handshake().await.unwrap(), None);
    let brought = |tool: &str| Handshake {
        protocol: 1,
        task: task_store.task,
        epoch: 0,
        journal: JournalId::random(),
        known_tools: vec![tool.to_owned()],
        custom_tools: Vec::new(),
        platform: Platform::default(),
        unacknowledged: Vec::new(),
    };
    let first = brought("first");
    assert_eq!(task_store.pin_handshake(&first).await.unwrap(), first);
    assert_eq!(
        task_store.pin_handshake(&brought("second")).await.unwrap(),
        first
    );
    assert_eq!(task_store.handshake().await.unwrap(), Some(first));
}

/// What a program must not take: as the documentation of [`Store`] says.
#[tokio::test]
async fn it_keeps_to_its_names() {
    let task_store = task_store();
    task_store.open_task([7; 32]).await.unwrap();
    task_store.claim(JournalId::random(), 0).await.unwrap();
    let finished = Finished {
        success: true,
        message: String::new(),
    };
    task_store.finish(&finished).await.unwrap();
    let call = call(1);
    task_store.begin_call(&call).await.unwrap();
    task_store.end_call(call.key, &not_run("")).await.unwrap();
    let names = task_store.store.list(task_store.task, "").await.unwrap();
    assert!(names.len() >= 5, "{names:?}");
    for (name, _) in names {
        let single = ["token", "owner", "home", "finished", "handshake"];
        let begins = ["call.", "ending.", "backend."];
        let reserved = single.contains(&&*name) || begins.iter().any(|with| name.starts_with(with));
        assert!(reserved, "{name}");
    }
}
