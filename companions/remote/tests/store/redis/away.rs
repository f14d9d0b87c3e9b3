//! A server that is absent, stopped, killed or comes back with what it had on its disk.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use contract_remote::protocol::TaskId;
use contract_remote::store::{
    Expect, RedisOptions, RedisState, RedisStore, Store, StoreError, Written,
};

use super::patient;
use crate::server::{PATIENCE, Server};

/// Options that give up soon.
fn hasty(address: String) -> RedisOptions {
    let mut options = RedisOptions::new(address);
    options.attempt = Duration::from_millis(300);
    options.patience = Duration::from_millis(900);
    options.breaker_span = Duration::from_millis(500);
    options.breaker_rest = Duration::from_millis(200);
    options
}

async fn working_again(store: &RedisStore, task: TaskId) {
    let begun = Instant::now();
    while let Err(error) = store.write(task, "back", "1", Expect::Any).await {
        assert!(begun.elapsed() < PATIENCE, "{error}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(store.state(), RedisState::Working);
}

/// Asks until the store has stopped asking; each time it ends as it should.
async fn opened(store: &RedisStore, task: TaskId) {
    let begun = Instant::now();
    while !matches!(store.state(), RedisState::Open { .. }) {
        assert!(begun.elapsed() < PATIENCE, "{:?}", store.state());
        let error = store.read(task, "a").await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_server_may_come_later() {
    let mut server = Server::absent();
    let store = RedisStore::new(hasty(server.address())).unwrap();
    let task = TaskId::random();
    assert_eq!(store.state(), RedisState::Working);
    let error = store.read(task, "a").await.unwrap_err();
    let shown = error.to_string();
    assert!(shown.contains("see that the server runs"), "{shown}");
    let StoreError::Unavailable { attempts, .. } = error else {
        panic!("{error:?}")
    };
    assert!(attempts > 1, "{attempts}");
    opened(&store, task).await;
    server.run();
    working_again(&store, task).await;
}

#[tokio::test]
async fn a_server_that_is_stopped_is_not_waited_for_and_taken_again() {
    let server = Server::start();
    let store = RedisStore::new(hasty(server.address())).unwrap();
    let task = TaskId::random();
    let _ = store.write(task, "a", "1", Expect::Any).await.unwrap();
    server.stop();
    opened(&store, task).await;
    // Open: nobody waits.
    let mut at_once = 0;
    let begun = Instant::now();
    while at_once < 100 {
        match store.read(task, "a").await.unwrap_err() {
            StoreError::Unavailable { attempts: 0, .. } => at_once += 1,
            StoreError::Unavailable { .. } => {}
            error => panic!("{error}"),
        }
        assert!(begun.elapsed() < PATIENCE);
    }
    server.go_on();
    working_again(&store, task).await;
    let there = store.read(task, "a").await.unwrap().unwrap();
    assert_eq!(there.value, "1");
}

#[tokio::test]
async fn a_thousand_operations_end_while_the_server_is_stopped() {
    let server = Server::start();
    let mut options = hasty(server.address());
    options.waiting = 200;
    let store = RedisStore::new(options).unwrap();
    let task = TaskId::random();
    working_again(&store, task).await;
    server.stop();
    let operations: Vec<_> = (0..1000)
        .map(|index| {
            let store = store.clone();
            tokio::spawn(async move { store.append(task, "log", &format!("id{index}"), "").await })
        })
        .collect();
    let (mut refused, mut given_up) = (0, 0);
    for operation in operations {
        let ended = tokio::time::timeout(PATIENCE, operation).await;
        match ended.expect("it ends").unwrap() {
            Err(StoreError::Overloaded { most: 200 }) => refused += 1,
            Err(StoreError::Unavailable { .. }) => given_up += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(refused >= 100 && given_up >= 200, "{refused} {given_up}");
    server.go_on();
    working_again(&store, task).await;
    // What was given up may have been done since; the log has no gap all the same.
    let mut last = 0;
    for entry in store.tail(task, "log", 0, 2000).await.unwrap().entries {
        last += 1;
        assert_eq!(entry.sequence, last);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_loses_nothing_it_confirmed() {
    let mut server = Server::start();
    let store = RedisStore::new(patient(server.address())).unwrap();
    let task = TaskId::random();
    let over = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..32)
        .map(|writer| {
            let (store, over) = (store.clone(), over.clone());
            tokio::spawn(async move {
                let name = format!("n{writer}");
                let (mut version, mut logged) = (0, BTreeMap::new());
                while !over.load(Ordering::SeqCst) || version == 0 {
                    let expect = match version {
                        0 => Expect::Absent,
                        version => Expect::Version(version),
                    };
                    // One writer for each name: a conflict could only be one with itself.
                    let text = format!("{}", version + 1);
                    let written = store.write(task, &name, &text, expect).await.unwrap();
                    version += 1;
                    assert_eq!(written, Written::Done { version });
                    let id = format!("{writer}.{version}");
                    let sequence = store.append(task, "log", &id, &id).await.unwrap();
                    logged.insert(sequence, id);
                }
                (name, version, logged)
            })
        })
        .collect();
    for round in 0..4 {
        let done = store.tail(task, "log", 0, 0).await.unwrap().last;
        let begun = Instant::now();
        // In the middle of work.
        while store.tail(task, "log", 0, 0).await.unwrap().last < done + 50 {
            assert!(
                begun.elapsed() < PATIENCE,
                "no work is done in round {round}"
            );
            tokio::task::yield_now().await;
        }
        server.kill();
        server.run();
    }
    over.store(true, Ordering::SeqCst);
    let mut confirmed = BTreeMap::new();
    for writer in writers {
        let (name, version, logged) = writer.await.unwrap();
        let there = store.read(task, &name).await.unwrap().unwrap();
        assert_eq!(there.version, version);
        assert_eq!(there.value, version.to_string());
        confirmed.extend(logged);
    }
    let (mut found, mut after) = (BTreeMap::new(), 0);
    loop {
        let tail = store.tail(task, "log", after, 1000).await.unwrap();
        let Some(newest) = tail.entries.last() else {
            break;
        };
        after = newest.sequence;
        let entries = tail.entries.into_iter();
        found.extend(entries.map(|entry| (entry.sequence, entry.id)));
    }
    assert_eq!(found, confirmed);
    let all: Vec<u64> = found.into_keys().collect();
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<u64>>());
}

/// As after a failover to a server that had not heard of the last writes.
#[tokio::test]
async fn a_server_that_comes_back_without_what_it_confirmed_is_believed() {
    let mut server = Server::start();
    let store = RedisStore::new(patient(server.address())).unwrap();
    let task = TaskId::random();
    let _ = store.write(task, "a", "1", Expect::Any).await.unwrap();
    let _ = store.write(task, "a", "2", Expect::Any).await.unwrap();
    assert_eq!(store.append(task, "log", "one", "").await.unwrap(), 1);
    server.kill();
    std::fs::remove_dir_all(server.folder().join("appendonlydir")).unwrap();
    server.run();
    assert_eq!(store.read(task, "a").await.unwrap(), None);
    let step = store.write(task, "a", "3", Expect::Version(2)).await;
    assert_eq!(step.unwrap(), Written::Conflict { current: None });
    let step = store.write(task, "a", "3", Expect::Absent).await;
    assert_eq!(step.unwrap(), Written::Done { version: 1 });
    assert_eq!(store.append(task, "log", "two", "").await.unwrap(), 1);
}

#[test]
fn outside_of_a_runtime_it_says_so() {
    let store = RedisStore::new(RedisOptions::new("redis://127.0.0.1:1")).unwrap();
    let mut read = store.read(TaskId::random(), "a");
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match read.as_mut().poll(&mut context) {
        std::task::Poll::Ready(Err(StoreError::Options { option, .. })) => {
            assert_eq!(option, "runtime");
        }
        other => panic!("{other:?}"),
    }
}
