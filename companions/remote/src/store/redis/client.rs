use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult,
    ScriptInvocation, ServerErrorKind, Value, from_redis_value,
};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout_at};
use uuid::Uuid;

use super::RedisOptions;
use super::breaker::Breaker;
use crate::remote::store::StoreError;

/// What can be asked more than once: each script knows its own repetition, and a command only reads.
pub(in crate::remote::store) enum Question<'q> {
    Script(ScriptInvocation<'q>),
    Command(Cmd),
}

/// Asks the server, within limits of time and number.
pub(in crate::remote::store) struct Line {
    client: Client,
    /// Host and port.
    pub(in crate::remote::store) address: String,
    pub(in crate::remote::store) options: RedisOptions,
    /// The connection that all share, and which one it is; none before the first question.
    manager: Mutex<(u64, Option<ConnectionManager>)>,
    pub(super) breaker: Breaker,
    operations: Semaphore,
    /// In KiB.
    room: Semaphore,
}

/// KiB of values that wait for the server at most; more are refused.
const WAITING: u32 = 64 << 10;

/// The first wait between two attempts, doubled each time up to `LONGEST`; each wait is a random part of it.
const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(500);

impl Line {
    pub(super) fn new(options: RedisOptions) -> Result<Self, StoreError> {
        let (client, address) = options.client()?;
        Ok(Self {
            client,
            address,
            manager: Mutex::new((0, None)),
            breaker: Breaker::new(
                options.breaker_failures,
                options.breaker_span,
                options.breaker_rest,
            ),
            operations: Semaphore::new(options.waiting.min(Semaphore::MAX_PERMITS)),
            room: Semaphore::new(WAITING as usize),
            options,
        })
    }

    /// Asks until there is an answer, time runs out, or the server says that asking again is of no use.
    pub(in crate::remote::store) async fn ask<T: FromRedisValue>(
        &self,
        question: &Question<'_>,
        bytes: usize,
    ) -> Result<T, StoreError> {
        let overloaded = |_| StoreError::Overloaded {
            most: self.options.waiting,
        };
        let _operation = self.operations.try_acquire().map_err(overloaded)?;
        let size = u32::try_from(bytes >> 10).unwrap_or(WAITING).min(WAITING);
        let _room = self.room.try_acquire_many(size).map_err(overloaded)?;
        in_runtime()?;
        let begun = Instant::now();
        let end = begun + self.options.patience;
        let mut attempts = 0;
        let mut reason = "it failed too often just before".to_owned();
        while let Some(pass) = self.breaker.enter() {
            attempts += 1;
            let (turn, mut manager) = self.manager()?;
            let until = end.min(Instant::now() + self.options.attempt);
            match timeout_at(until, question.put(&mut manager)).await {
                Ok(Ok(answer)) => {
                    pass.good();
                    return from_redis_value(answer).map_err(|error| StoreError::Damaged {
                        what: "answer of the server".into(),
                        reason: error.to_string(),
                    });
                }
                Ok(Err(error)) => {
                    if let Some(advice) = for_good(&error) {
                        pass.good();
                        if matches!(
                            error.kind(),
                            ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig
                        ) {
                            self.leave(turn);
                        }
                        return Err(StoreError::Refused {
                            address: self.address.clone(),
                            reason: said(&error),
                            advice,
                        });
                    }
                    pass.bad();
                    reason = said(&error);
                }
                Err(_) => {
                    pass.bad();
                    reason = format!("no answer within {:?}", self.options.attempt);
                }
            }
            // The other end may be gone without a word, or be another server after a failover; and the manager keeps a
            // connection that failed in any other way than by the network.
            self.leave(turn);
            let rest = jitter(attempts);
            if Instant::now() + rest >= end {
                break;
            }
            sleep(rest).await;
        }
        Err(StoreError::Unavailable {
            address: self.address.clone(),
            reason,
            attempts,
            after: begun.elapsed(),
        })
    }

    /// A connection of one's own, for a read that waits.
    pub(in crate::remote::store) async fn own(&self) -> Result<MultiplexedConnection, RedisError> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.options.attempt))
            // Who waits sets the limit.
            .set_response_timeout(None);
        self.client
            .get_multiplexed_async_connection_with_config(&config)
            .await
    }

    fn manager(&self) -> Result<(u64, ConnectionManager), StoreError> {
        let mut shared = self.manager.lock().unwrap_or_else(PoisonError::into_inner);
        if let (turn, Some(manager)) = &*shared {
            return Ok((*turn, manager.clone()));
        }
        let config = ConnectionManagerConfig::new()
            // Who asks tries again, and knows for how long.
            .set_number_of_retries(0)
            .set_connection_timeout(Some(self.options.attempt))
            .set_response_timeout(Some(self.options.attempt));
        let manager = ConnectionManager::new_lazy_with_config(self.client.clone(), config)
            .map_err(|error| StoreError::Options {
                option: "address",
                reason: error.category().to_owned(),
            })?;
        shared.1 = Some(manager.clone());
        Ok((shared.0, manager))
    }

    /// Lets the next question make a new connection; those that are asked on the old one may still be answered.
    fn leave(&self, turn: u64) {
        let mut shared = self.manager.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.0 == turn {
            *shared = (turn + 1, None);
        }
    }
}

/// The client panics outside of a runtime.
pub(in crate::remote::store) fn in_runtime() -> Result<(), StoreError> {
    if Handle::try_current().is_ok() {
        return Ok(());
    }
    Err(StoreError::Options {
        option: "runtime",
        reason: "Redis is asked from within a tokio runtime only".into(),
    })
}

impl Question<'_> {
    async fn put(&self, to: &mut ConnectionManager) -> RedisResult<Value> {
        match self {
            Self::Script(script) => script.invoke_async(to).await,
            Self::Command(command) => command.query_async(to).await,
        }
    }
}

/// What to do where asking again does not help; the server works as it is set up.
pub(in crate::remote::store) fn for_good(error: &RedisError) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::AuthenticationFailed => return Some("check `user` and `password`"),
        ErrorKind::Server(ServerErrorKind::NoPerm) => {
            return Some(
                "let the user run on the keys of the store what is sent and what its scripts call: \
             `+evalsha +script|load +scan +get +set +del +exists +pexpire +unlink +hdel +hget +hincrby +hlen \
             +hmget +hset +sadd +scard +sismember +smembers +xack +xadd +xautoclaim +xdel +xgroup|create \
             +xlen +xpending +xrange +xreadgroup +zadd +zrangebylex +zrem`",
            );
        }
        ErrorKind::InvalidClientConfig => return Some("check the options of the store"),
        _ => {}
    }
    match error.code()? {
        "NOAUTH" | "WRONGPASS" => Some("check `user` and `password`"),
        "OOM" => Some("give the server more memory, or raise `maxmemory`"),
        "MISCONF" => Some("the server cannot write to its disk; give it room"),
        "WRONGTYPE" => Some("something else writes under this prefix; choose another `prefix`"),
        // That passes.
        "ERR" if error.to_string().contains("max number of clients") => None,
        "ERR" => Some("see that the server is Redis 7 or later"),
        _ => None,
    }
}

/// What the server or the system said; commands and their arguments are not in it.
pub(in crate::remote::store) fn said(error: &RedisError) -> String {
    error.to_string().chars().take(200).collect()
}

/// Full jitter ("Exponential Backoff And Jitter", AWS Architecture Blog, 2015): a random part of a wait that doubles.
pub(in crate::remote::store) fn jitter(attempts: u32) -> Duration {
    let doubled = SHORTEST.saturating_mul(1 << attempts.saturating_sub(1).min(16));
    let most = u64::try_from(doubled.min(LONGEST).as_micros()).unwrap_or(u64::MAX);
    let (random, _) = Uuid::new_v4().as_u64_pair();
    Duration::from_micros(random % most.max(1))
}
