//! How backends reach each other: a stream for each, on the server of their store.
//!
//! A message is delivered at least once, and each delivery says how often; what it asks for must be harmless when it
//! comes twice. Who takes a message holds it for a lease. What a dead consumer held goes to the next one, and what
//! was held too often goes to a stream of the dead, where people can look at it.
//!
//! | key | what |
//! |---|---|
//! | `PREFIX:{backend.NAME}:inbox` | messages for a backend |
//! | `PREFIX:{backend.NAME}:seen:ID` | a message that was published |
//! | `PREFIX:{backend.NAME}:dead` | messages that nobody could deal with |
//! | `PREFIX:{backend.NAME}:lease` | who runs as this backend |

mod inbox;
mod office;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use redis::{Script, ScriptInvocation, cmd};
use serde_json::Value;

use self::inbox::Inbox;
#[cfg(test)]
pub(crate) use self::office::Mailbox;
pub(crate) use self::office::{Carried, Office};
use super::redis::line::{Line, Question};
use super::{RedisStore, StoreError, limits};

/// Messages from backend to backend.
#[derive(Clone)]
pub(crate) struct Relay {
    line: Arc<Line>,
    limits: RelayLimits,
}

/// What a relay holds, and for how long.
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
        let line = store.line().clone();
        Self { line, limits }
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
        self.line.options.limits.value(&text)?;
        let bytes = text.len();
        let mut script = PUBLISH.key(self.key(to_backend, "inbox")?);
        script.key(self.key(to_backend, "seen:")? + id);
        script.arg(id).arg(text);
        script.arg(milliseconds(self.limits.window));
        script.arg(self.line.options.limits.milliseconds());
        script.arg(self.limits.waiting);
        if self.ask(script, bytes).await? == "full" {
            return Err(StoreError::Full {
                what: "messages for this backend",
                most: self.limits.waiting,
            });
        }
        Ok(())
    }

    /// The inbox of a backend, for one consumer of it; a name that nobody else uses at the same time.
    pub(crate) fn inbox(&self, backend: &str, consumer: &str) -> Result<Inbox, StoreError> {
        limits::name(consumer)?;
        let keys = [self.key(backend, "inbox")?, self.key(backend, "dead")?];
        Ok(Inbox::new(self.clone(), keys, consumer))
    }

    /// Says for a while that a backend runs; whether it does under this owner, and not under another.
    ///
    /// To be said again in less than `time`.
    pub(crate) async fn announce(
        &self,
        backend: &str,
        owner: &str,
        time: Duration,
    ) -> Result<bool, StoreError> {
        limits::name(owner)?;
        let mut script = ANNOUNCE.key(self.key(backend, "lease")?);
        script.arg(owner).arg(milliseconds(time));
        Ok(self.ask(script, 0).await? == "held")
    }

    /// Says that a backend does not run under this owner any more.
    pub(crate) async fn withdraw(&self, backend: &str, owner: &str) -> Result<(), StoreError> {
        limits::name(owner)?;
        let mut script = WITHDRAW.key(self.key(backend, "lease")?);
        script.arg(owner);
        self.ask(script, 0).await.map(drop)
    }

    /// Under which owner a backend runs; none when it does not.
    pub(crate) async fn announced(&self, backend: &str) -> Result<Option<String>, StoreError> {
        let mut command = cmd("GET");
        command.arg(self.key(backend, "lease")?);
        self.line.ask(&Question::Command(command), 0).await
    }

    fn key(&self, backend: &str, part: &str) -> Result<String, StoreError> {
        limits::name(backend)?;
        let prefix = &self.line.options.prefix;
        Ok(format!("{prefix}:{{backend.{backend}}}:{part}"))
    }

    async fn ask(&self, script: ScriptInvocation<'_>, bytes: usize) -> Result<String, StoreError> {
        self.line.ask(&Question::Script(script), bytes).await
    }
}

/// At least one: the server takes no time that is none.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).map_or(u64::from(u32::MAX), |time| {
        time.clamp(1, u64::from(u32::MAX))
    })
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay")
            .field("address", &self.line.address)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
