//! What a store on a server must bear beyond what every store must. It needs a Redis server, version 7 or later.

mod allowed;
mod away;
mod configured;
mod keys;
mod lost;

use std::sync::Arc;

use contract_remote::store::{RedisOptions, RedisStore, StoreLimits};

use crate::server::Server;
use crate::{Place, conformance};

/// Options with time enough for a busy machine.
fn patient(address: String) -> RedisOptions {
    let mut options = RedisOptions::new(address);
    options.attempt = std::time::Duration::from_secs(10);
    options.patience = std::time::Duration::from_secs(30);
    options
}

fn place(limits: StoreLimits) -> Place<Server> {
    let server = Server::start();
    let mut options = patient(server.address());
    options.limits = limits;
    let store = RedisStore::new(options).unwrap();
    Place {
        store: Arc::new(store),
        _guard: server,
    }
}

conformance!(place);
