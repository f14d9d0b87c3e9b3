//! Sends commands to the Redis server, with retries and limits.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{
    Client, Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, ScriptInvocation,
    ServerErrorKind, Value, from_redis_value,
};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout_at};
use uuid::Uuid;

use super::RedisOptions;
use super::breaker::Breaker;
use crate::store::StoreError;

/// An idempotent request: scripts detect a repetition, and commands only read.
pub(super) enum Request<'q> {
    Script(ScriptInvocation<'q>),
    Command(Cmd),
}

/// Sends requests to the server, with limits on time and number.
pub(super) struct RedisClient {
    client: Client,
    /// Host and port.
    pub(super) address: String,
    pub(super) options: RedisOptions,
    /// The shared connection with its generation; `None` before the first request.
    manager: Mutex<(u64, Option<ConnectionManager>)>,
    pub(super) breaker: Breaker,
    operations: Semaphore,
    /// KiB of values that may wait for the server.
    pending_kib: Semaphore,
}

/// The most KiB of values that wait for the server; more are refused.
const MAX_PENDING_KIB: u32 = 64 << 10;

/// The first delay between two attempts; it doubles up to `MAX_BACKOFF`, and each delay is a random part of it.
const MIN_BACKOFF: Duration = Duration::from_millis(20);
const MAX_BACKOFF: Duration = Duration::from_millis(500);

impl RedisClient {
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
            pending_kib: Semaphore::new(MAX_PENDING_KIB as usize),
            options,
        })
    }

    /// Retries until there is an answer, time runs out, or an error is permanent.
    pub(super) async fn execute<T: FromRedisValue>(
        &self,
        request: &Request<'_>,
        bytes: usize,
    ) -> Result<T, StoreError> {
        let overloaded = |_| StoreError::Overloaded {
            most: self.options.waiting,
        };
        let _operation = self.operations.try_acquire().map_err(overloaded)?;
        let size = u32::try_from(bytes >> 10)
            .unwrap_or(MAX_PENDING_KIB)
            .min(MAX_PENDING_KIB);
        let _room = self
            .pending_kib
            .try_acquire_many(size)
            .map_err(overloaded)?;
        check_runtime()?;
        let started = Instant::now();
        let end = started + self.options.patience;
        let mut attempts = 0;
        let mut reason = "it failed too often just before".to_owned();
        while let Some(attempt) = self.breaker.try_begin() {
            attempts += 1;
            let (generation, mut manager) = self.manager()?;
            let until = end.min(Instant::now() + self.options.attempt);
            match timeout_at(until, request.send(&mut manager)).await {
                Ok(Ok(answer)) => {
                    attempt.record_success();
                    return from_redis_value(answer).map_err(|error| StoreError::Damaged {
                        what: "answer of the server".into(),
                        reason: error.to_string(),
                    });
                }
                Ok(Err(error)) => {
                    if let Some(advice) = permanent_advice(&error) {
                        attempt.record_success();
                        if matches!(
                            error.kind(),
                            ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig
                        ) {
                            self.discard_connection(generation);
                        }
                        return Err(StoreError::Refused {
                            address: self.address.clone(),
                            reason: describe(&error),
                            advice,
                        });
                    }
                    attempt.record_failure();
                    reason = describe(&error);
                }
                Err(_) => {
                    attempt.record_failure();
                    reason = format!("no answer within {:?}", self.options.attempt);
                }
            }
            // The peer may have vanished, or be another server after a failover; and the manager keeps a connection that
            // failed for any reason but the network.
            self.discard_connection(generation);
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
            after: started.elapsed(),
        })
    }

    fn manager(&self) -> Result<(u64, ConnectionManager), StoreError> {
        let mut shared = self.manager.lock().unwrap_or_else(PoisonError::into_inner);
        if let (generation, Some(manager)) = &*shared {
            return Ok((*generation, manager.clone()));
        }
        let config = ConnectionManagerConfig::new()
            // `execute` retries, with its own time limit.
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

    /// Makes the next request open a new connection; requests on the old one may still be answered.
    fn discard_connection(&self, generation: u64) {
        let mut shared = self.manager.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.0 == generation {
            *shared = (generation + 1, None);
        }
    }
}

/// Checks that there is a tokio runtime, without which the client panics.
pub(super) fn check_runtime() -> Result<(), StoreError> {
    if Handle::try_current().is_ok() {
        return Ok(());
    }
    Err(StoreError::Options {
        option: "runtime",
        reason: "Redis can be used only inside a tokio runtime".into(),
    })
}

impl Request<'_> {
    async fn send(&self, to: &mut ConnectionManager) -> RedisResult<Value> {
        match self {
            Self::Script(script) => script.invoke_async(to).await,
            Self::Command(command) => command.query_async(to).await,
        }
    }
}

/// Returns what to change if an error is permanent.
pub(super) fn permanent_advice(error: &RedisError) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::AuthenticationFailed => return Some("check `user` and `password`"),
        ErrorKind::Server(ServerErrorKind::NoPerm) => {
            return Some(
                "let the user run on the keys of the store what is sent and what its scripts call: \
             `+evalsha +script|load +scan +get +set +del +exists +pexpire +unlink +hdel +hget +hincrby +hlen \
             +hmget +hset +sadd +scard +sismember +smembers +xadd +xdel +xlen +xrange +zadd +zrangebylex +zrem`",
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
        // Transient.
        "ERR" if error.to_string().contains("max number of clients") => None,
        "ERR" => Some("see that the server is Redis 7 or later"),
        _ => None,
    }
}

/// Describes an error of the server or the system, without commands and their arguments.
pub(super) fn describe(error: &RedisError) -> String {
    error.to_string().chars().take(200).collect()
}

/// Full jitter ("Exponential Backoff And Jitter", AWS Architecture Blog, 2015): a random part of a wait that doubles.
pub(super) fn jitter(attempts: u32) -> Duration {
    let doubled = MIN_BACKOFF.saturating_mul(1 << attempts.saturating_sub(1).min(16));
    let most = u64::try_from(doubled.min(MAX_BACKOFF).as_micros()).unwrap_or(u64::MAX);
    let (random, _) = Uuid::new_v4().as_u64_pair();
    Duration::from_micros(random % most.max(1))
}
