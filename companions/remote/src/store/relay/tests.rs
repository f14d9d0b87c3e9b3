//! Tests against a real server: the lib tests need one when the feature `redis` is on.

use std::collections::{BTreeMap, BTreeSet};

use redis::AsyncCommands;
use serde_json::json;
use tokio::time::timeout;

use super::inbox::Delivery;
use super::*;
use crate::store::RedisOptions;

#[path = "../../../tests/store/server.rs"]
#[allow(dead_code)] // The suite of stores uses the rest of it.
mod server;

use self::server::{PATIENCE, Server};

/// Short enough to wait for, and so wide that a busy machine does not turn the order around.
fn short() -> RelayLimits {
    RelayLimits {
        lease: Duration::from_millis(400),
        deliveries: 3,
        waiting: 50,
        dead: 2,
        wait: Duration::from_millis(50),
        ..RelayLimits::default()
    }
}

/// No lease is over while a test runs.
fn long() -> RelayLimits {
    RelayLimits {
        lease: Duration::from_secs(600),
        wait: Duration::from_millis(50),
        ..RelayLimits::default()
    }
}

fn relay(server: &Server, limits: RelayLimits) -> Relay {
    let mut options = RedisOptions::new(server.address());
    options.attempt = Duration::from_secs(10);
    options.patience = Duration::from_secs(30);
    Relay::with(&RedisStore::new(options).unwrap(), limits)
}

async fn next(inbox: &mut Inbox) -> Delivery {
    timeout(PATIENCE, inbox.next())
        .await
        .expect("a message")
        .unwrap()
}

/// Whether nothing comes for a while; what was published before would have come first.
async fn empty(relay: &Relay, inbox: &mut Inbox) {
    relay.publish("b", "last", &json!("last")).await.unwrap();
    let last = next(inbox).await;
    assert_eq!(last.id, "last");
    last.done().await.unwrap();
}

async fn judge(server: &Server) -> redis::aio::MultiplexedConnection {
    let client = redis::Client::open(server.address()).unwrap();
    client.get_multiplexed_async_connection().await.unwrap()
}

#[tokio::test]
async fn a_message_that_is_published_twice_comes_once() {
    let server = Server::start();
    let relay = relay(&server, long());
    let message = json!({"call": "ü\u{1F600}", "n": [1, 2.5, null]});
    // Before anybody is there to read it.
    for _ in 0..3 {
        relay.publish("b", "one", &message).await.unwrap();
    }
    let mut inbox = relay.inbox("b", "c").unwrap();
    let delivery = next(&mut inbox).await;
    assert_eq!((&*delivery.id, delivery.count), ("one", 1));
    assert_eq!(delivery.message, message);
    relay.publish("b", "one", &message).await.unwrap();
    delivery.done().await.unwrap();
    relay.publish("b", "one", &message).await.unwrap();
    empty(&relay, &mut inbox).await;
}

#[tokio::test]
async fn each_backend_gets_its_own() {
    let server = Server::start();
    let relay = relay(&server, long());
    for backend in ["b", "a"] {
        relay
            .publish(backend, "one", &json!(backend))
            .await
            .unwrap();
    }
    for backend in ["a", "b"] {
        let mut inbox = relay.inbox(backend, "c").unwrap();
        assert_eq!(next(&mut inbox).await.message, json!(backend));
    }
}

#[tokio::test]
async fn what_a_dead_consumer_held_goes_to_the_next_and_then_to_the_dead() {
    let server = Server::start();
    let relay = relay(&server, short());
    for id in ["one", "two", "three"] {
        relay.publish("b", id, &json!(id)).await.unwrap();
    }
    let mut held = BTreeMap::new();
    // Each consumer dies with what it holds.
    for consumer in 0..9 {
        let mut inbox = relay.inbox("b", &format!("c{consumer}")).unwrap();
        let delivery = next(&mut inbox).await;
        let count: &mut u32 = held.entry(delivery.id.clone()).or_default();
        *count += 1;
        assert_eq!(delivery.count, *count);
    }
    assert_eq!(held.into_values().collect::<Vec<_>>(), [3, 3, 3]);
    let mut inbox = relay.inbox("b", "last").unwrap();
    let mut judge = judge(&server).await;
    let begun = std::time::Instant::now();
    // The dead are moved when somebody looks; of three, the newest two are kept.
    loop {
        let _ = timeout(Duration::from_millis(500), inbox.next()).await;
        let waiting: u64 = judge.xlen("contract:{backend.b}:inbox").await.unwrap();
        if waiting == 0 {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{waiting} wait");
    }
    let dead: u64 = judge.xlen("contract:{backend.b}:dead").await.unwrap();
    assert_eq!(dead, 2);
    let keys: Vec<String> = judge.keys("*").await.unwrap();
    for key in keys {
        let left: i64 = judge.pttl(&key).await.unwrap();
        assert!(left > 0, "{key} has no time");
    }
}

#[tokio::test]
async fn what_is_done_does_not_come_again() {
    let server = Server::start();
    let relay = relay(&server, short());
    relay.publish("b", "done", &json!(1)).await.unwrap();
    relay.publish("b", "held", &json!(2)).await.unwrap();
    let mut one = relay.inbox("b", "one").unwrap();
    next(&mut one).await.done().await.unwrap();
    let held = next(&mut one).await;
    // After more than a lease for both.
    let mut other = relay.inbox("b", "other").unwrap();
    let taken = next(&mut other).await;
    assert_eq!((&*taken.id, taken.count), ("held", 2));
    // By whoever held it last, and by whoever holds it now.
    held.done().await.unwrap();
    taken.done().await.unwrap();
    empty(&relay, &mut other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_consumers_share_the_work() {
    const EACH: usize = 40;
    let server = Server::start();
    let relay = relay(&server, long());
    let mut tasks = Vec::new();
    for publisher in 0..8 {
        let relay = relay.clone();
        tasks.push(tokio::spawn(async move {
            for message in 0..EACH {
                let id = format!("{publisher}.{message}");
                // Twice, as a sender does that is not sure.
                relay.publish("b", &id, &json!(id)).await.unwrap();
                relay.publish("b", &id, &json!(id)).await.unwrap();
            }
            Vec::new()
        }));
    }
    for consumer in 0..4 {
        let mut inbox = relay.inbox("b", &format!("c{consumer}")).unwrap();
        tasks.push(tokio::spawn(async move {
            let mut got = Vec::new();
            for _ in 0..8 * EACH / 4 {
                let delivery = next(&mut inbox).await;
                got.push(delivery.id.clone());
                delivery.done().await.unwrap();
            }
            got
        }));
    }
    let mut got = Vec::new();
    for task in tasks {
        got.extend(task.await.unwrap());
    }
    assert_eq!(got.len(), 8 * EACH);
    assert_eq!(got.into_iter().collect::<BTreeSet<_>>().len(), 8 * EACH);
}

#[tokio::test]
async fn an_inbox_that_is_full_says_so_and_drops_nothing() {
    let server = Server::start();
    let relay = relay(&server, short());
    for id in 0..50 {
        relay
            .publish("b", &format!("id{id}"), &json!(id))
            .await
            .unwrap();
    }
    let full = relay.publish("b", "more", &json!(0)).await.unwrap_err();
    assert!(matches!(full, StoreError::Full { most: 50, .. }), "{full}");
    let mut inbox = relay.inbox("b", "c").unwrap();
    next(&mut inbox).await.done().await.unwrap();
    relay.publish("b", "more", &json!(0)).await.unwrap();
}

#[tokio::test]
async fn an_inbox_outlives_its_server() {
    let mut server = Server::start();
    let relay = relay(&server, long());
    relay.publish("b", "one", &json!(1)).await.unwrap();
    let mut inbox = relay.inbox("b", "c").unwrap();
    let held = next(&mut inbox).await;
    relay.publish("b", "two", &json!(2)).await.unwrap();
    let waiting = tokio::spawn(async move {
        let second = next(&mut inbox).await;
        second.done().await.unwrap();
        let third = next(&mut inbox).await;
        (third.id.clone(), inbox)
    });
    server.kill();
    server.run();
    relay.publish("b", "three", &json!(3)).await.unwrap();
    held.done().await.unwrap();
    let (third, _) = timeout(PATIENCE, waiting).await.unwrap().unwrap();
    assert_eq!(third, "three");
}

#[tokio::test]
async fn an_inbox_says_that_its_server_is_away() {
    let server = Server::absent();
    let mut options = RedisOptions::new(server.address());
    options.patience = Duration::from_secs(1);
    let relay = Relay::new(&RedisStore::new(options).unwrap());
    let mut inbox = relay.inbox("b", "c").unwrap();
    let error = timeout(PATIENCE, inbox.next()).await.unwrap().unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
}

#[tokio::test]
async fn a_backend_runs_under_one_owner_at_a_time() {
    let server = Server::start();
    let relay = relay(&server, short());
    let long = Duration::from_secs(600);
    assert_eq!(relay.announced("b").await.unwrap(), None);
    assert!(relay.announce("b", "one", long).await.unwrap());
    assert!(relay.announce("b", "one", long).await.unwrap());
    assert!(!relay.announce("b", "two", long).await.unwrap());
    assert_eq!(relay.announced("b").await.unwrap(), Some("one".into()));
    relay.withdraw("b", "two").await.unwrap();
    assert_eq!(relay.announced("b").await.unwrap(), Some("one".into()));
    relay.withdraw("b", "one").await.unwrap();
    let soon = Duration::from_millis(100);
    assert!(relay.announce("b", "two", soon).await.unwrap());
    // It dies without a word.
    let begun = std::time::Instant::now();
    while !relay.announce("b", "one", long).await.unwrap() {
        assert!(begun.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn names_that_mean_something_in_a_key_are_refused() {
    let relay = relay(&Server::absent(), short());
    for name in ["", "a:b", "{a}", "a b", "*", "é"] {
        for error in [
            relay.publish(name, "id", &json!(1)).await.unwrap_err(),
            relay.publish("b", name, &json!(1)).await.unwrap_err(),
            relay.inbox(name, "c").unwrap_err(),
            relay.inbox("b", name).unwrap_err(),
            relay.announce(name, "one", PATIENCE).await.unwrap_err(),
            relay.announce("b", name, PATIENCE).await.unwrap_err(),
            relay.withdraw(name, "one").await.unwrap_err(),
            relay.announced(name).await.unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::Name { .. }), "{error}");
        }
    }
}
