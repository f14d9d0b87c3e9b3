//! Messages between backends, over Redis streams: one for each backend.
//!
//! Delivery is at least once, and each delivery carries its count, so messages must be idempotent. A consumer holds a
//! message for a lease. The messages of a dead consumer go to the next one; a message delivered too often goes to a
//! dead-letter stream, where people can look at it.
//!
//! | key | what |
//! |---|---|
//! | `PREFIX:{backend.NAME}:inbox` | messages for a backend |
//! | `PREFIX:{backend.NAME}:seen:ID` | a message that was published |
//! | `PREFIX:{backend.NAME}:dead` | dead letters |
//! | `PREFIX:{backend.NAME}:lease` | the process that runs as this backend |

mod bus;
mod inbox;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use redis::{Script, ScriptInvocation, cmd};
use serde_json::Value;

#[cfg(test)]
pub(crate) use self::bus::BusConsumer;
pub(crate) use self::bus::{BusMessage, MessageBus};
use self::inbox::Inbox;
use super::redis::client::{RedisClient, Request};
use super::{RedisStore, StoreError, limits};

/// Messages from backend to backend.
#[derive(Clone)]
pub(crate) struct Relay {
    client: Arc<RedisClient>,
    limits: RelayLimits,
}

/// The limits of a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RelayLimits {
    /// How long a delivery is held before another consumer may have it; by the clock of the server.
    pub(crate) lease: Duration,
    /// How often a message is delivered before it goes to the dead.
    pub(crate) deliveries: u32,
    /// Messages that may wait for one backend.
    pub(crate) waiting: u64,
    /// Dead messages that are kept for one backend; more drop the oldest.
    pub(crate) dead: u64,
    /// How long a message is known, so that it is not published twice.
    pub(crate) window: Duration,
    /// How long a consumer waits for a message at a time.
    pub(crate) wait: Duration,
}

impl Default for RelayLimits {
    /// A lease of 30 s, 5 deliveries, 10,000 waiting, 1,000 dead, known for 10 minutes, 2 s of waiting at a time.
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(30),
            deliveries: 5,
            waiting: 10_000,
            dead: 1_000,
            window: Duration::from_secs(600),
            wait: Duration::from_secs(2),
        }
    }
}

/// The one group of each inbox.
const GROUP: &str = "backend";

macro_rules! script {
    ($name:ident, $file:literal) => {
        static $name: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!($file)));
    };
}

script!(PUBLISH, "scripts/publish.lua");
script!(RECLAIM, "scripts/reclaim.lua");
script!(FINISH, "scripts/finish.lua");
script!(ANNOUNCE, "scripts/announce.lua");
script!(WITHDRAW, "scripts/withdraw.lua");

impl Relay {
    /// A relay on the server of a store.
    pub(crate) fn new(store: &RedisStore) -> Self {
        Self::with(store, RelayLimits::default())
    }

    /// As [`Relay::new`], with other limits.
    pub(crate) fn with(store: &RedisStore, limits: RelayLimits) -> Self {
        let client = store.client().clone();
        Self { client, limits }
    }

    /// Puts a message into the inbox of a backend, once for each id.
    pub(crate) async fn publish(
        &self,
        to_backend: &str,
        id: &str,
        message: &Value,
    ) -> Result<(), StoreError> {
        limits::name(id)?;
        let text = message.to_string();
        self.client.options.limits.value(&text)?;
        let bytes = text.len();
        let mut script = PUBLISH.key(self.key(to_backend, "inbox")?);
        script.key(self.key(to_backend, "seen:")? + id);
        script.arg(id).arg(text);
        script.arg(milliseconds(self.limits.window));
        script.arg(self.client.options.limits.milliseconds());
        script.arg(self.limits.waiting);
        if self.execute(script, bytes).await? == "full" {
            return Err(StoreError::Full {
                what: "messages for this backend",
                most: self.limits.waiting,
            });
        }
        Ok(())
    }

    /// Opens the inbox of a backend for one consumer, whose name must be unique.
    pub(crate) fn inbox(&self, backend: &str, consumer: &str) -> Result<Inbox, StoreError> {
        limits::name(consumer)?;
        let keys = [self.key(backend, "inbox")?, self.key(backend, "dead")?];
        Ok(Inbox::new(self.clone(), keys, consumer))
    }

    /// Says for a while that a backend runs; whether it does under this owner, and not under another.
    ///
    /// To be renewed in less than `time`.
    pub(crate) async fn announce(
        &self,
        backend: &str,
        owner: &str,
        time: Duration,
    ) -> Result<bool, StoreError> {
        limits::name(owner)?;
        let mut script = ANNOUNCE.key(self.key(backend, "lease")?);
        script.arg(owner).arg(milliseconds(time));
        Ok(self.execute(script, 0).await? == "held")
    }

    /// Says that a backend does not run under this owner any more.
    pub(crate) async fn withdraw(&self, backend: &str, owner: &str) -> Result<(), StoreError> {
        limits::name(owner)?;
        let mut script = WITHDRAW.key(self.key(backend, "lease")?);
        script.arg(owner);
        self.execute(script, 0).await.map(drop)
    }

    /// Returns the process that runs as a backend, if any.
    pub(crate) async fn announced(&self, backend: &str) -> Result<Option<String>, StoreError> {
        let mut command = cmd("GET");
        command.arg(self.key(backend, "lease")?);
        self.client.execute(&Request::Command(command), 0).await
    }

    fn key(&self, backend: &str, part: &str) -> Result<String, StoreError> {
        limits::name(backend)?;
        let prefix = &self.client.options.prefix;
        Ok(format!("{prefix}:{{backend.{backend}}}:{part}"))
    }

    async fn execute(
        &self,
        script: ScriptInvocation<'_>,
        bytes: usize,
    ) -> Result<String, StoreError> {
        self.client.execute(&Request::Script(script), bytes).await
    }
}

/// At least one: the server refuses a time of zero.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).map_or(u64::from(u32::MAX), |time| {
        time.clamp(1, u64::from(u32::MAX))
    })
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay")
            .field("address", &self.client.address)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
