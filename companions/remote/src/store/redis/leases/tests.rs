//! Tests against a real server: the lib tests need one when the feature `redis` is on.

use tokio::time::{Instant, sleep};

use super::*;
use crate::store::RedisOptions;

#[path = "../../../../tests/store/server.rs"]
#[allow(dead_code, reason = "the suite of stores uses the rest of it")]
mod server;

use self::server::{PATIENCE, Server};

fn store(server: &Server) -> RedisStore {
    let mut options = RedisOptions::new(server.address());
    options.attempt = Duration::from_secs(10);
    options.patience = Duration::from_secs(30);
    RedisStore::new(options).unwrap()
}

#[tokio::test]
async fn a_backend_runs_under_one_owner_at_a_time() {
    let server = Server::start();
    let leases = store(&server);
    let long = Duration::from_secs(600);
    assert_eq!(leases.announced("b").await.unwrap(), None);
    assert!(leases.announce("b", "one", long).await.unwrap());
    assert!(leases.announce("b", "one", long).await.unwrap());
    assert!(!leases.announce("b", "two", long).await.unwrap());
    assert_eq!(leases.announced("b").await.unwrap(), Some("one".into()));
    leases.withdraw("b", "two").await.unwrap();
    assert_eq!(leases.announced("b").await.unwrap(), Some("one".into()));
    leases.withdraw("b", "one").await.unwrap();
    let soon = Duration::from_millis(100);
    assert!(leases.announce("b", "two", soon).await.unwrap());
    // It dies without a word.
    let begun = Instant::now();
    while !leases.announce("b", "one", long).await.unwrap() {
        assert!(begun.elapsed() < PATIENCE);
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn names_that_mean_something_in_a_key_are_refused() {
    let leases = store(&Server::absent());
    for name in ["", "a:b", "{a}", "a b", "*", "é"] {
        for error in [
            leases.announce(name, "one", PATIENCE).await.unwrap_err(),
            leases.announce("b", name, PATIENCE).await.unwrap_err(),
            leases.withdraw(name, "one").await.unwrap_err(),
            leases.withdraw("b", name).await.unwrap_err(),
            leases.announced(name).await.unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::Name { .. }), "{error}");
        }
    }
}
