//! A store in Redis, shared by several backends.
//!
//! | file | holds |
//! |---|---|
//! | `options` | address, credentials and time limits |
//! | `client` | commands with time limits, retries and bounds |
//! | `breaker` | a circuit breaker |
//! | `leases` | leases of backends |
//! | `scripts/` | operations, as scripts that the server runs |

mod breaker;
mod client;
mod leases;
mod options;

use std::fmt;
use std::sync::{Arc, LazyLock};

use redis::{Script, cmd};
use uuid::Uuid;

pub use self::breaker::RedisState;
use self::client::{RedisClient, Request};
pub use self::options::RedisOptions;
use super::limits::{self, PAGE_BYTES};
use super::{Expect, Logged, Store, StoreError, StoreFuture, Stored, Tail, Written};
use crate::protocol::TaskId;

/// A store on a Redis server (version 7 or later), which several backends share.
///
/// A write is as durable as the server makes it: with `appendonly yes` and `appendfsync always` it is on the disk when
/// its future ends, with other settings a crash of the server may lose what it had confirmed. An operation is tried
/// again while there is time, and known by the server when it comes twice: an answer that is lost on its way changes
/// nothing. When the server is away for longer, operations end at once as [`StoreError::Unavailable`], and one in a
/// second looks whether it is back; [`state`](Self::state) shows it.
///
/// ```no_run
/// use contract_remote::protocol::TaskId;
/// use contract_remote::store::{Expect, RedisOptions, RedisStore, Store};
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = RedisStore::new(RedisOptions::new("redis://127.0.0.1:6379"))?;
/// let _ = store.write(TaskId::random(), "state", "queued", Expect::Absent).await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct RedisStore {
    client: Arc<RedisClient>,
}

macro_rules! script {
    ($name:ident, $file:literal) => {
        static $name: LazyLock<Script> = LazyLock::new(|| {
            Script::new(concat!(
                include_str!("scripts/common.lua"),
                include_str!($file)
            ))
        });
    };
}

script!(WRITE, "scripts/write.lua");
script!(REMOVE, "scripts/remove.lua");
script!(APPEND, "scripts/append.lua");
script!(LIST, "scripts/list.lua");
script!(TAIL, "scripts/tail.lua");
script!(FORGET, "scripts/forget.lua");

impl RedisStore {
    /// Creates a store on a server without connecting: the server may become available later.
    ///
    /// # Errors
    ///
    /// [`Options`](StoreError::Options) when the options cannot work.
    pub fn new(options: RedisOptions) -> Result<Self, StoreError> {
        let client = Arc::new(RedisClient::new(options)?);
        Ok(Self { client })
    }

    /// Returns the state of the connection to the server.
    #[must_use]
    pub fn state(&self) -> RedisState {
        self.client.breaker.snapshot()
    }

    fn base(&self, task: TaskId) -> String {
        format!("{}:{{{task}}}:", self.client.options.prefix)
    }

    fn time_to_live(&self) -> u64 {
        self.client.options.limits.milliseconds()
    }

    fn damaged(what: &str, reason: &str) -> StoreError {
        StoreError::Damaged {
            what: what.to_owned(),
            reason: reason.to_owned(),
        }
    }
}

/// `version:value`, as the scripts keep it.
fn stored(name: &str, text: &str) -> Result<Stored, StoreError> {
    let parts = text
        .split_once(':')
        .and_then(|(version, value)| Some(Stored::new(version.parse().ok()?, value)));
    parts.ok_or_else(|| RedisStore::damaged(name, "it has no version"))
}

fn number(what: &str, text: Option<&String>) -> Result<u64, StoreError> {
    let number = text.and_then(|text| text.parse().ok());
    number.ok_or_else(|| RedisStore::damaged(what, "a number is missing"))
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("address", &self.client.address)
            .field("state", &self.state())
            .field("options", &self.client.options)
            .finish()
    }
}

impl Store for RedisStore {
    fn read<'s>(&'s self, task: TaskId, name: &'s str) -> StoreFuture<'s, Option<Stored>> {
        Box::pin(async move {
            limits::name(name)?;
            let mut command = cmd("HGET");
            command.arg(self.base(task) + "values").arg(name);
            let request = Request::Command(command);
            let there: Option<String> = self.client.execute(&request, 0).await?;
            there.map(|there| stored(name, &there)).transpose()
        })
    }

    fn write<'s>(
        &'s self,
        task: TaskId,
        name: &'s str,
        value: &'s str,
        expect: Expect,
    ) -> StoreFuture<'s, Written> {
        Box::pin(async move {
            let limits = &self.client.options.limits;
            limits::name(name)?;
            limits.value(value)?;
            let expected = match expect {
                Expect::Any => "any".to_owned(),
                Expect::Absent => "0".to_owned(),
                // No version is written so.
                Expect::Version(0) => "never".to_owned(),
                Expect::Version(version) => version.to_string(),
            };
            let mut script = WRITE.key(self.base(task));
            // Identifies this write, so that the server recognises a repetition.
            let write = Uuid::new_v4().simple().to_string();
            script.arg(name).arg(value).arg(expected).arg(write);
            script.arg(self.time_to_live()).arg(limits.names);
            let request = Request::Script(script);
            let answer: Vec<Option<String>> = self.client.execute(&request, value.len()).await?;
            let second = answer.get(1).cloned().flatten();
            match answer.first().and_then(Option::as_deref) {
                Some("done") => Ok(Written::Done {
                    version: number(name, second.as_ref())?,
                }),
                Some("conflict") => {
                    let there = second.map(|there| stored(name, &there)).transpose()?;
                    Ok(Written::Conflict { current: there })
                }
                Some("full") => Err(StoreError::Full {
                    what: "names in this task",
                    most: limits.names,
                }),
                _ => Err(Self::damaged(name, "the script answered something else")),
            }
        })
    }

    fn remove<'s>(&'s self, task: TaskId, names: &'s [&'s str]) -> StoreFuture<'s, ()> {
        Box::pin(async move {
            names.iter().try_for_each(|name| limits::name(name))?;
            let mut script = REMOVE.key(self.base(task));
            script.arg(Uuid::new_v4().simple().to_string());
            script.arg(self.time_to_live()).arg(names);
            let _: String = self.client.execute(&Request::Script(script), 0).await?;
            Ok(())
        })
    }

    fn list<'s>(&'s self, task: TaskId, prefix: &'s str) -> StoreFuture<'s, Vec<(String, Stored)>> {
        Box::pin(async move {
            limits::prefix(prefix)?;
            let mut listed: Vec<(String, Stored)> = Vec::new();
            loop {
                let from = match listed.last() {
                    Some((name, _)) => format!("({name}"),
                    None => format!("[{prefix}"),
                };
                let mut script = LIST.key(self.base(task));
                // Comes after every name, whose characters are all below it.
                script.arg(from).arg(format!("({prefix}\u{7f}"));
                script.arg(PAGE_BYTES);
                let request = Request::Script(script);
                let page: Vec<String> = self.client.execute(&request, 0).await?;
                if page.is_empty() {
                    return Ok(listed);
                }
                for pair in page.chunks_exact(2) {
                    listed.push((pair[0].clone(), stored(&pair[0], &pair[1])?));
                }
            }
        })
    }

    fn append<'s>(
        &'s self,
        task: TaskId,
        log: &'s str,
        id: &'s str,
        value: &'s str,
    ) -> StoreFuture<'s, u64> {
        Box::pin(async move {
            let limits = &self.client.options.limits;
            limits::name(log)?;
            limits::name(id)?;
            limits.entry(value)?;
            let mut script = APPEND.key(self.base(task));
            script.arg(log).arg(id).arg(value).arg(self.time_to_live());
            script.arg(limits.logs).arg(limits.entries);
            script.arg(limits.log_bytes);
            let request = Request::Script(script);
            let answer: Vec<String> = self.client.execute(&request, value.len()).await?;
            if answer.first().is_some_and(|first| first == "full") {
                return Err(StoreError::Full {
                    what: "logs in this task",
                    most: limits.logs,
                });
            }
            number(log, answer.get(1))
        })
    }

    fn tail<'s>(
        &'s self,
        task: TaskId,
        log: &'s str,
        after: u64,
        most: usize,
    ) -> StoreFuture<'s, Tail> {
        Box::pin(async move {
            limits::name(log)?;
            let mut script = TAIL.key(self.base(task));
            script.arg(log).arg(after).arg(most).arg(PAGE_BYTES);
            let request = Request::Script(script);
            let answer: Vec<String> = self.client.execute(&request, 0).await?;
            let mut tail = Tail {
                entries: Vec::new(),
                cut: number(log, answer.get(1))?,
                last: number(log, answer.first())?,
            };
            for entry in answer.get(2..).unwrap_or_default().chunks_exact(3) {
                let sequence = number(log, entry.first())?;
                tail.entries
                    .push(Logged::new(sequence, entry[1].clone(), entry[2].clone()));
            }
            Ok(tail)
        })
    }

    fn forget(&self, task: TaskId) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let mut script = FORGET.key(self.base(task));
            script.arg(Uuid::new_v4().simple().to_string());
            let _: String = self.client.execute(&Request::Script(script), 0).await?;
            Ok(())
        })
    }

    fn tasks(&self) -> StoreFuture<'_, Vec<TaskId>> {
        Box::pin(async move {
            let before = format!("{}:{{", self.client.options.prefix);
            let mut there = Vec::new();
            let mut cursor = 0_u64;
            loop {
                let mut command = cmd("SCAN");
                command.arg(cursor).arg("MATCH");
                command.arg(format!("{before}*}}:task"));
                command.arg("COUNT").arg(1000);
                let request = Request::Command(command);
                let (next, page): (u64, Vec<String>) = self.client.execute(&request, 0).await?;
                let ids = page.iter().filter_map(|key| {
                    let id = key.strip_prefix(&before)?.strip_suffix("}:task")?;
                    id.parse::<TaskId>().ok()
                });
                there.extend(ids);
                cursor = next;
                if cursor == 0 {
                    break;
                }
            }
            // A scan may name a key twice.
            there.sort_unstable();
            there.dedup();
            Ok(there)
        })
    }
}
