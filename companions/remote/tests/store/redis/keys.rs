//! What stands on the server: only keys of the task, each with its time; and what the server refuses.

use std::time::{Duration, Instant};

use contract_remote::protocol::TaskId;
use contract_remote::store::{Expect, RedisState, RedisStore, Store, StoreError};
use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;

use super::patient;
use crate::bodies::TEXTS;
use crate::server::{PATIENCE, Server};

/// A judge that knows nothing of the store.
async fn judge(server: &Server) -> MultiplexedConnection {
    let client = redis::Client::open(server.address()).unwrap();
    let config = redis::AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
    let connected = client.get_multiplexed_async_connection_with_config(&config);
    connected.await.unwrap()
}

async fn keys(judge: &mut MultiplexedConnection) -> Vec<String> {
    judge.keys("*").await.unwrap()
}

#[tokio::test]
async fn every_key_is_of_its_task_and_has_its_time() {
    let server = Server::start();
    let mut options = patient(server.address());
    options.prefix = "ours".into();
    options.limits.entries = 5;
    let store = RedisStore::new(options).unwrap();
    let mut judge = judge(&server).await;
    let tasks: Vec<TaskId> = (0..10).map(|_| TaskId::random()).collect();
    for task in &tasks {
        for (index, text) in TEXTS.into_iter().enumerate() {
            let name = format!("n{index}");
            let _ = store.write(*task, &name, text, Expect::Any).await.unwrap();
            let _ = store.write(*task, "a", text, Expect::Absent).await.unwrap();
            store.append(*task, "log", &name, text).await.unwrap();
            store.append(*task, "a", &name, text).await.unwrap();
        }
    }
    let all = keys(&mut judge).await;
    let week = 7 * 24 * 3600 * 1000;
    for key in &all {
        let of = |task: &TaskId| key.starts_with(&format!("ours:{{{task}}}:"));
        assert!(tasks.iter().any(of), "{key}");
        let left: i64 = judge.pttl(key).await.unwrap();
        let most = if key.contains(":done:") { 60_000 } else { week };
        assert!((1..=most).contains(&left), "{key}: {left}");
    }
    // Ids of entries that were cut are not kept either.
    let ids: u64 = judge
        .hlen(format!("ours:{{{}}}:ids:log", tasks[0]))
        .await
        .unwrap();
    assert_eq!(ids, 5);

    for task in &tasks {
        store.forget(*task).await.unwrap();
    }
    let left = keys(&mut judge).await;
    assert!(left.iter().all(|key| key.contains(":done:")), "{left:?}");
}

#[tokio::test]
async fn nothing_is_left_when_its_time_is_over() {
    let server = Server::start();
    let mut options = patient(server.address());
    options.limits.time_to_live = Duration::from_millis(300);
    let store = RedisStore::new(options).unwrap();
    let mut judge = judge(&server).await;
    for _ in 0..20 {
        let task = TaskId::random();
        let _ = store.write(task, "a", "1", Expect::Any).await.unwrap();
        store.append(task, "log", "id", "1").await.unwrap();
    }
    let begun = Instant::now();
    loop {
        let left = keys(&mut judge).await;
        if left.iter().all(|key| key.contains(":done:")) {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{left:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_key_of_somebody_else_is_refused_and_said() {
    let server = Server::start();
    let store = RedisStore::new(patient(server.address())).unwrap();
    let mut judge = judge(&server).await;
    let task = TaskId::random();
    let key = format!("contract:{{{task}}}:values");
    let () = judge.set(&key, "not a hash").await.unwrap();
    for error in [
        store.read(task, "a").await.unwrap_err(),
        store.write(task, "a", "1", Expect::Any).await.unwrap_err(),
    ] {
        let shown = error.to_string();
        assert!(matches!(error, StoreError::Refused { .. }), "{shown}");
        assert!(shown.contains("choose another `prefix`"), "{shown}");
    }
    assert_eq!(store.state(), RedisState::Working);

    let () = judge.del(&key).await.unwrap();
    let () = judge.hset(&key, "a", "no version").await.unwrap();
    let error = store.read(task, "a").await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[tokio::test]
async fn a_server_without_memory_is_said() {
    let server = Server::with(&["--maxmemory", "24mb", "--maxmemory-policy", "noeviction"]);
    let store = RedisStore::new(patient(server.address())).unwrap();
    let task = TaskId::random();
    let large = "x".repeat(1 << 20);
    let mut refused = None;
    for index in 0..40 {
        let name = format!("n{index}");
        if let Err(error) = store.write(task, &name, &large, Expect::Any).await {
            refused = Some(error);
            break;
        }
    }
    let refused = refused.expect("it is full");
    let shown = refused.to_string();
    assert!(matches!(refused, StoreError::Refused { .. }), "{shown}");
    assert!(shown.contains("more memory"), "{shown}");
    // What is there can be read.
    assert!(store.read(task, "n0").await.unwrap().is_some());
}
