//! Receives messages from a Redis stream, with leases.

use std::fmt;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{RedisError, cmd};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::{FINISH, GROUP, RECLAIM, Relay, milliseconds};
use crate::store::StoreError;
use crate::store::redis::client::{Request, check_runtime, describe, jitter, permanent_advice};

/// The messages for one backend, as one consumer gets them.
pub(crate) struct Inbox {
    relay: Relay,
    /// The keys of the inbox and of its dead letters.
    keys: [String; 2],
    consumer: String,
    /// A dedicated connection, because its reads block; `None` before the first one and after one that failed.
    connection: Option<MultiplexedConnection>,
    /// When to look for deliveries whose lease has expired.
    look: Instant,
}

/// A delivered message, held until its lease expires.
#[derive(Debug)]
#[must_use]
pub(crate) struct Delivery {
    relay: Relay,
    key: String,
    place: String,
    /// As it was published.
    pub(crate) id: String,
    /// As it was published.
    pub(crate) message: Value,
    /// How often it was delivered, this time included.
    pub(crate) count: u32,
}

/// What a stream answers: streams, entries, fields.
type Streams = Option<Vec<(String, Vec<(String, Vec<String>)>)>>;

impl Inbox {
    pub(super) fn new(relay: Relay, keys: [String; 2], consumer: &str) -> Self {
        Self {
            relay,
            keys,
            consumer: consumer.to_owned(),
            connection: None,
            look: Instant::now(),
        }
    }

    /// The next message: one that another consumer held too long, or a new one; waits for it.
    ///
    /// A future that is dropped may have taken a message, which comes again when its lease is over. After an error it may
    /// be called again immediately: it waits before it retries.
    pub(crate) async fn next(&mut self) -> Result<Delivery, StoreError> {
        check_runtime()?;
        let begun = Instant::now();
        let mut attempts = 0;
        loop {
            if self.look <= Instant::now() {
                if let Some(delivery) = self.reclaimed().await? {
                    return Ok(delivery);
                }
                self.look = Instant::now() + self.relay.limits.lease / 2;
            }
            let error = match self.new_message().await {
                Ok(Some(delivery)) => return Ok(delivery),
                Ok(None) => {
                    attempts = 0;
                    continue;
                }
                Err(error) => error,
            };
            attempts += 1;
            let client = &self.relay.client;
            if let Failed::Redis(error) = &error
                && let Some(advice) = permanent_advice(error)
            {
                return Err(StoreError::Refused {
                    address: client.address.clone(),
                    reason: describe(error),
                    advice,
                });
            }
            if let Failed::Damaged(error) = error {
                return Err(error);
            }
            sleep(jitter(attempts)).await;
            if begun.elapsed() >= client.options.patience {
                return Err(StoreError::Unavailable {
                    address: client.address.clone(),
                    reason: error.to_string(),
                    attempts,
                    after: begun.elapsed(),
                });
            }
        }
    }

    async fn reclaimed(&mut self) -> Result<Option<Delivery>, StoreError> {
        let limits = &self.relay.limits;
        let [inbox, dead] = &self.keys;
        let mut script = RECLAIM.key(inbox);
        script.key(dead);
        script.arg(GROUP).arg(&self.consumer);
        script.arg(milliseconds(limits.lease));
        script.arg(limits.deliveries).arg(limits.dead);
        script.arg(self.relay.client.options.limits.milliseconds());
        let request = Request::Script(script);
        let entry: Vec<String> = self.relay.client.execute(&request, 0).await?;
        match <[String; 4]>::try_from(entry) {
            Ok([place, id, message, count]) => {
                let count = count.parse().unwrap_or(u32::MAX);
                self.delivery(place, id, &message, count).map(Some)
            }
            Err(_) => Ok(None),
        }
    }

    async fn new_message(&mut self) -> Result<Option<Delivery>, Failed> {
        // Taken out while it waits: one that is given up must not be asked again, its answer would go astray.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self
                .relay
                .client
                .dedicated_connection()
                .await
                .map_err(Failed::Redis)?,
        };
        let wait = self.relay.limits.wait;
        let mut command = cmd("XREADGROUP");
        command.arg("GROUP").arg(GROUP).arg(&self.consumer);
        command
            .arg("COUNT")
            .arg(1)
            .arg("BLOCK")
            .arg(milliseconds(wait));
        command.arg("STREAMS").arg(&self.keys[0]).arg(">");
        let most = wait + self.relay.client.options.attempt;
        let asked = command.query_async(&mut connection);
        let came: Result<Streams, RedisError> = timeout(most, asked)
            .await
            .map_err(|_| Failed::Silent(most))?;
        let came = match came {
            Err(error) if error.code() == Some("NOGROUP") => {
                // Its stream was over, or dropped.
                self.look = Instant::now();
                self.connection = Some(connection);
                return Ok(None);
            }
            came => came.map_err(Failed::Redis)?,
        };
        self.connection = Some(connection);
        let entry = came
            .and_then(|streams| streams.into_iter().next())
            .and_then(|(_, entries)| entries.into_iter().next());
        let Some((place, fields)) = entry else {
            return Ok(None);
        };
        let fields = <[String; 4]>::try_from(fields).map_err(|_| {
            Failed::Damaged(StoreError::Damaged {
                what: self.keys[0].clone(),
                reason: "an entry is not a message".into(),
            })
        })?;
        let [_, id, _, message] = fields;
        self.delivery(place, id, &message, 1)
            .map(Some)
            .map_err(Failed::Damaged)
    }

    fn delivery(
        &self,
        place: String,
        id: String,
        message: &str,
        count: u32,
    ) -> Result<Delivery, StoreError> {
        let message = serde_json::from_str(message).map_err(|_| StoreError::Damaged {
            what: self.keys[0].clone(),
            reason: "a message is not JSON".into(),
        })?;
        Ok(Delivery {
            relay: self.relay.clone(),
            key: self.keys[0].clone(),
            place,
            id,
            message,
            count,
        })
    }
}

impl Delivery {
    /// Says that the message is dealt with; it does not come again.
    pub(crate) async fn done(self) -> Result<(), StoreError> {
        let mut script = FINISH.key(&self.key);
        script.arg(GROUP).arg(&self.place);
        self.relay.execute(script, 0).await.map(drop)
    }
}

/// Why no message came.
enum Failed {
    Redis(RedisError),
    Silent(Duration),
    Damaged(StoreError),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Redis(error) => f.write_str(&describe(error)),
            Self::Silent(most) => write!(f, "no answer within {most:?}"),
            Self::Damaged(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox")
            .field("key", &self.keys[0])
            .field("consumer", &self.consumer)
            .finish_non_exhaustive()
    }
}
