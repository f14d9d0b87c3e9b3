//! What fits in, and for how long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract_remote::protocol::TaskId;
use contract_remote::store::{Expect, Store, StoreError, StoreLimits, Tail, Written};

type Any = Arc<dyn Store>;

/// Long enough to write in between on a busy machine, short enough to wait for.
const SHORT: Duration = Duration::from_secs(2);

/// For what a busy machine may take its time with.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn limits(test: &str) -> StoreLimits {
    let mut limits = StoreLimits::default();
    match test {
        "names_are_counted" => limits.names = 5,
        "logs_are_counted" => limits.logs = 2,
        "a_log_is_cut_by_entries" => limits.entries = 10,
        "a_log_is_cut_by_bytes" => limits.log_bytes = 1000,
        "a_task_is_over_as_a_whole" | "a_write_renews_the_whole_task" => {
            limits.time_to_live = SHORT;
        }
        _ => {}
    }
    limits
}

pub(crate) async fn a_value_has_a_largest_size(store: Any) {
    let task = TaskId::random();
    let text = "x".repeat((16 << 20) + 1);
    let error = store
        .write(task, "a", &text, Expect::Any)
        .await
        .unwrap_err();
    let (bytes, most) = (text.len(), 16 << 20);
    let what = "value";
    assert_eq!(error, StoreError::TooLarge { what, bytes, most });
    let fits = &text[1..];
    let _ = store.write(task, "a", fits, Expect::Any).await.unwrap();
    let there = store.read(task, "a").await.unwrap().unwrap();
    assert!(there.value == fits);

    let text = "x".repeat((1 << 20) + 1);
    let error = store.append(task, "log", "a", &text).await.unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
    assert_eq!(store.append(task, "log", "a", &text[1..]).await.unwrap(), 1);
}

pub(crate) async fn names_are_counted(store: Any) {
    let task = TaskId::random();
    for name in ["a", "b", "c", "d", "e"] {
        let _ = store.write(task, name, "1", Expect::Any).await.unwrap();
    }
    let error = store.write(task, "f", "1", Expect::Any).await.unwrap_err();
    assert!(matches!(error, StoreError::Full { most: 5, .. }), "{error}");
    assert_eq!(store.read(task, "f").await.unwrap(), None);
    let again = store.write(task, "a", "2", Expect::Any).await.unwrap();
    assert_eq!(again, Written::Done { version: 2 });
    store
        .remove(task, &["a", "a", "nothing", "b"])
        .await
        .unwrap();
    for name in ["f", "g"] {
        let _ = store.write(task, name, "1", Expect::Any).await.unwrap();
    }
    let error = store.write(task, "a", "1", Expect::Any).await.unwrap_err();
    assert!(matches!(error, StoreError::Full { most: 5, .. }), "{error}");
    let other = TaskId::random();
    let _ = store.write(other, "f", "1", Expect::Any).await.unwrap();
    store.forget(task).await.unwrap();
    let _ = store.write(task, "f", "1", Expect::Any).await.unwrap();
}

pub(crate) async fn logs_are_counted(store: Any) {
    let task = TaskId::random();
    for log in ["a", "b", "a", "b"] {
        store.append(task, log, "id", "1").await.unwrap();
    }
    let error = store.append(task, "c", "id", "1").await.unwrap_err();
    assert!(matches!(error, StoreError::Full { most: 2, .. }), "{error}");
    assert_eq!(store.tail(task, "c", 0, 9).await.unwrap(), Tail::default());
    assert_eq!(store.append(task, "a", "next", "1").await.unwrap(), 2);
}

pub(crate) async fn a_log_is_cut_by_entries(store: Any) {
    let task = TaskId::random();
    for id in 1..=25 {
        let id = format!("id{id}");
        store.append(task, "log", &id, "x").await.unwrap();
    }
    let tail = store.tail(task, "log", 0, 100).await.unwrap();
    let found: Vec<u64> = tail.entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(found, (16..=25).collect::<Vec<u64>>());
    assert_eq!((tail.cut, tail.last), (15, 25));
    // Known as long as it is kept, and no longer.
    assert_eq!(store.append(task, "log", "id16", "x").await.unwrap(), 16);
    assert_eq!(store.append(task, "log", "id15", "x").await.unwrap(), 26);
}

pub(crate) async fn a_log_is_cut_by_bytes(store: Any) {
    let task = TaskId::random();
    for id in 1..=20 {
        // 98 bytes and its id.
        let id = format!("{id:02}");
        store
            .append(task, "log", &id, &"x".repeat(98))
            .await
            .unwrap();
    }
    let tail = store.tail(task, "log", 0, 100).await.unwrap();
    assert_eq!((tail.entries.len(), tail.cut, tail.last), (10, 10, 20));
    // One that is larger than the whole log is kept all the same, alone.
    store
        .append(task, "log", "big", &"x".repeat(5000))
        .await
        .unwrap();
    let tail = store.tail(task, "log", 0, 100).await.unwrap();
    assert_eq!((tail.entries.len(), tail.cut, tail.last), (1, 20, 21));
    store.append(task, "log", "small", "x").await.unwrap();
    let tail = store.tail(task, "log", 0, 100).await.unwrap();
    assert_eq!((tail.entries.len(), tail.cut, tail.last), (1, 21, 22));
}

pub(crate) async fn a_task_is_over_as_a_whole(store: Any) {
    let task = TaskId::random();
    let _ = store.write(task, "a", "1", Expect::Any).await.unwrap();
    store.append(task, "log", "id", "1").await.unwrap();
    let begun = Instant::now();
    while store.read(task, "a").await.unwrap().is_some() {
        assert!(begun.elapsed() < PATIENCE, "it is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The log was written a moment later.
    while store.tail(task, "log", 0, 9).await.unwrap() != Tail::default() {
        assert!(begun.elapsed() < PATIENCE, "it is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(store.list(task, "").await.unwrap(), []);
    assert_eq!(store.tasks().await.unwrap(), []);
    let written = store.write(task, "a", "2", Expect::Absent).await.unwrap();
    assert_eq!(written, Written::Done { version: 1 });
    assert_eq!(store.append(task, "log", "id", "2").await.unwrap(), 1);
}

pub(crate) async fn a_write_renews_the_whole_task(store: Any) {
    let begun = Instant::now();
    for logged in [false, true] {
        // Where the machine stood still for so long that the time was over, it proves nothing, and is tried again.
        while !renewed(&*store, logged).await {
            assert!(begun.elapsed() < 2 * PATIENCE, "the machine stands still");
        }
    }
}

/// Whether a task outlived its time twice over, by writes to another name, or to another log.
async fn renewed(store: &dyn Store, logged: bool) -> bool {
    let task = TaskId::random();
    let first = Instant::now();
    let _ = store.write(task, "a", "1", Expect::Any).await.unwrap();
    store.append(task, "log", "id", "1").await.unwrap();
    let mut last = first;
    for round in 0_u32.. {
        tokio::time::sleep(SHORT / 4).await;
        let there = store.read(task, "a").await.unwrap();
        let tail = store.tail(task, "log", 0, 9).await.unwrap();
        if last.elapsed() >= SHORT {
            return false;
        }
        assert!(there.is_some() && tail.last == 1, "it was not renewed");
        if first.elapsed() > SHORT * 2 {
            return true;
        }
        last = Instant::now();
        if logged {
            let id = format!("id{round}");
            store.append(task, "other", &id, "1").await.unwrap();
        } else {
            let _ = store.write(task, "b", "1", Expect::Any).await.unwrap();
        }
    }
    false
}
