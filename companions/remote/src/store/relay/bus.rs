//! The interface of a message relay, implemented over Redis and in the simulation.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::Relay;
use super::inbox::{Delivery, Inbox};
use crate::store::{StoreError, StoreFuture};

/// Carries messages between backends, with the guarantees of [`Relay`].
pub(crate) trait MessageBus: fmt::Debug + Send + Sync {
    /// Puts a message into the inbox of a backend, once for each id.
    fn publish<'o>(&'o self, to: &'o str, id: &'o str, message: &'o Value) -> StoreFuture<'o, ()>;

    /// The messages for a backend, as one consumer gets them.
    fn inbox(&self, backend: &str, consumer: &str) -> Result<Box<dyn BusConsumer>, StoreError>;

    /// Says for a while that a backend runs; whether it does under this owner, and not under another.
    fn announce<'o>(
        &'o self,
        backend: &'o str,
        owner: &'o str,
        time: Duration,
    ) -> StoreFuture<'o, bool>;

    /// Says that a backend does not run under this owner any more.
    fn withdraw<'o>(&'o self, backend: &'o str, owner: &'o str) -> StoreFuture<'o, ()>;

    /// Returns the process that runs as a backend, if any.
    fn announced<'o>(&'o self, backend: &'o str) -> StoreFuture<'o, Option<String>>;
}

/// The messages for one backend, as one consumer gets them.
pub(crate) trait BusConsumer: Send {
    /// The next message; waits for it.
    fn next(&mut self) -> StoreFuture<'_, BusMessage>;
}

/// A delivered message.
#[must_use]
pub(crate) struct BusMessage {
    pub(crate) id: String,
    pub(crate) message: Value,
    /// How often it was delivered, this time included.
    pub(crate) count: u32,
    /// Says that the message is dealt with, once it is awaited.
    pub(crate) done: StoreFuture<'static, ()>,
}

impl From<Delivery> for BusMessage {
    fn from(mut delivery: Delivery) -> Self {
        Self {
            id: std::mem::take(&mut delivery.id),
            message: delivery.message.take(),
            count: delivery.count,
            done: Box::pin(delivery.done()),
        }
    }
}

impl MessageBus for Relay {
    fn publish<'o>(&'o self, to: &'o str, id: &'o str, message: &'o Value) -> StoreFuture<'o, ()> {
        Box::pin(self.publish(to, id, message))
    }

    fn inbox(&self, backend: &str, consumer: &str) -> Result<Box<dyn BusConsumer>, StoreError> {
        Ok(Box::new(self.inbox(backend, consumer)?))
    }

    fn announce<'o>(
        &'o self,
        backend: &'o str,
        owner: &'o str,
        time: Duration,
    ) -> StoreFuture<'o, bool> {
        Box::pin(self.announce(backend, owner, time))
    }

    fn withdraw<'o>(&'o self, backend: &'o str, owner: &'o str) -> StoreFuture<'o, ()> {
        Box::pin(self.withdraw(backend, owner))
    }

    fn announced<'o>(&'o self, backend: &'o str) -> StoreFuture<'o, Option<String>> {
        Box::pin(self.announced(backend))
    }
}

impl BusConsumer for Inbox {
    fn next(&mut self) -> StoreFuture<'_, BusMessage> {
        Box::pin(async { self.next().await.map(BusMessage::from) })
    }
}
