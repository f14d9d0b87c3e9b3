//! Several backends on one store: the executor of a task may be attached to a backend other than its owner.
//!
//! The owner of a task makes its calls and stores them. If the executor is connected to another backend, that
//! backend is its gateway: it forwards messages in both directions and decides nothing. A message between backends that is lost
//! or delivered twice does no harm, because the executor's journal says what ran.
//!
//! | file | holds |
//! |---|---|
//! | `message` | the messages between backends |
//! | `gateway` | an executor attached here whose task another backend owns |
//! | `owner` | a task owned here whose executor is connected to another backend |

mod gateway;
mod message;
mod owner;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use serde::Serialize;
use tokio::time::{interval, sleep};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use gateway::GatewayConnection;
pub(super) use gateway::serve;
use message::ClusterMessage;
pub(super) use message::{Reason, SequenceCheck};

use super::server::Shared;
use super::task::OpenTask;
use crate::protocol::TaskId;
use crate::store::StoreError;
use crate::store::relay::{BusMessage, MessageBus};
use crate::store::task_store::{Owner, TaskStore};

/// How long a backend is considered alive after it renewed its lease.
const LEASE: Duration = Duration::from_secs(30);

/// How often backends check for lost messages.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// How long a backend waits before it reads its messages again after an error.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The part of a backend that communicates with other backends.
#[derive(Debug)]
pub(super) struct Cluster {
    relay: Arc<dyn MessageBus>,
    /// The name of this backend.
    name: Arc<str>,
    /// Distinguishes this process from others of that name.
    run: String,
    shared: OnceLock<Weak<Shared>>,
    connections: Mutex<HashMap<TaskId, GatewayConnection>>,
}

/// Decides when to send the message count of a connection: after an idle time, and then ever less often.
#[derive(Debug, Default)]
struct IdleTimer {
    times: u32,
}

impl IdleTimer {
    async fn tick(&mut self) {
        sleep(CHECK_INTERVAL.saturating_mul(2_u32.saturating_pow(self.times))).await;
        self.times += 1;
    }
}

impl Cluster {
    pub(super) fn new(relay: Arc<dyn MessageBus>, name: Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            relay,
            name,
            run: Uuid::new_v4().simple().to_string(),
            shared: OnceLock::new(),
            connections: Mutex::default(),
        })
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<TaskId, GatewayConnection>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self) -> Option<Arc<Shared>> {
        self.shared.get()?.upgrade()
    }

    /// Starts the tasks that communicate with other backends, until `stop`.
    ///
    /// # Errors
    ///
    /// When the server cannot be asked, or another backend runs under the same name.
    pub(super) async fn open(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        let _ = self.shared.set(Arc::downgrade(shared));
        if !self.relay.announce(&self.name, &self.run, LEASE).await? {
            return Err(StoreError::Conflict {
                name: format!("the name `{}` of this backend", self.name),
            });
        }
        let mut inbox = self.relay.inbox(&self.name, &self.run)?;
        let replaced = CancellationToken::new();
        let (cluster, ends, over) = (Arc::clone(self), stop.clone(), replaced.clone());
        tokio::spawn(async move {
            let read = async {
                loop {
                    match inbox.next().await {
                        Ok(bus_message) => {
                            let BusMessage {
                                id,
                                message,
                                count,
                                done,
                            } = bus_message;
                            if count > 1 {
                                tracing::debug!(
                                    id,
                                    count,
                                    "a message of another backend was delivered again"
                                );
                            }
                            cluster.handle(&message).await;
                            if let Err(error) = done.await {
                                // It comes once more.
                                tracing::debug!(%error, "a message of another backend could not be acknowledged");
                            }
                        }
                        Err(error) => {
                            tracing::warn!(%error, "messages of other backends cannot be read");
                            sleep(RETRY_DELAY).await;
                        }
                    }
                }
            };
            tokio::select! {
                () = read => {}
                () = ends.cancelled() => {}
                () = over.cancelled() => {}
            }
        });
        let (cluster, ends) = (Arc::clone(self), stop.clone());
        tokio::spawn(async move {
            let mut ticks = interval(CHECK_INTERVAL);
            let mut unknown = HashMap::new();
            loop {
                tokio::select! {
                    _ = ticks.tick() => {}
                    () = ends.cancelled() => break,
                }
                match cluster
                    .relay
                    .announce(&cluster.name, &cluster.run, LEASE)
                    .await
                {
                    Ok(true) => {}
                    // The lease expired; messages go to the other process.
                    Ok(false) => {
                        tracing::warn!(
                            name = &*cluster.name,
                            "another process runs under this name"
                        );
                        replaced.cancel();
                    }
                    Err(error) => {
                        tracing::warn!(%error, "other backends cannot be told that this one is running");
                    }
                }
                unknown = cluster.check_tasks(&unknown).await;
            }
            let _ = cluster.relay.withdraw(&cluster.name, &cluster.run).await;
        });
        Ok(())
    }

    async fn handle(self: &Arc<Self>, message: &serde_json::Value) {
        let Ok(message) = serde_json::from_value::<ClusterMessage>(message.clone()) else {
            tracing::warn!(
                "a message of another backend cannot be read; does it run another version?"
            );
            return;
        };
        match message {
            ClusterMessage::Attached {
                epoch,
                gateway,
                handshake,
            } => self.attach_proxied(epoch, gateway, *handshake).await,
            ClusterMessage::Heard {
                task,
                epoch,
                number,
                message,
            } => self.handle_forwarded((task, epoch, number), message).await,
            ClusterMessage::HeardUpTo {
                task,
                epoch,
                number,
            } => self.check_forwarded((task, epoch, number)).await,
            ClusterMessage::Lost { task, epoch } => self.lost(task, epoch),
            ClusterMessage::Say {
                owner,
                task,
                epoch,
                number,
                message,
            } => {
                if !self.deliver((task, epoch, number), message) {
                    self.try_send(&owner, &ClusterMessage::Lost { task, epoch })
                        .await;
                }
            }
            ClusterMessage::SayUpTo {
                task,
                epoch,
                number,
            } => self.check_delivered((task, epoch, number)),
            ClusterMessage::Over {
                task,
                epoch,
                reason,
            } => {
                self.over(task, epoch, reason);
                self.check_ownership(task).await;
            }
        }
    }

    async fn publish(&self, to: &str, message: &impl Serialize) -> Result<(), StoreError> {
        let id = Uuid::new_v4().simple().to_string();
        let message = serde_json::to_value(message).unwrap_or_default();
        self.relay.publish(to, &id, &message).await
    }

    /// Finds a task that another backend owns, for one connection.
    pub(super) async fn find(
        self: &Arc<Self>,
        shared: &Shared,
        task: TaskId,
    ) -> Result<Option<Arc<OpenTask>>, StoreError> {
        let task_store = TaskStore::new(Arc::clone(&shared.store), task);
        let Some(hash) = task_store.token_hash().await? else {
            return Ok(None);
        };
        let open = OpenTask::new(
            task,
            hash,
            Arc::clone(&shared.settings),
            task_store,
            Arc::clone(&shared.backend_name),
            Arc::clone(&shared.listener),
            Some(Arc::clone(self)),
        );
        Ok(Some(open))
    }

    /// Claims a task for this backend; returns the previous owner.
    pub(super) async fn claim(
        &self,
        task_store: &mut TaskStore,
    ) -> Result<Option<Owner>, StoreError> {
        task_store.claim_ownership(&self.name, &self.run).await
    }

    /// Announces that this backend owns a task: an executor connected elsewhere reconnects, and an earlier owner is informed.
    pub(super) async fn announce_ownership(
        self: &Arc<Self>,
        task_store: &TaskStore,
        before: Option<Owner>,
    ) -> Result<(), StoreError> {
        let attachment = task_store.attachment().await?;
        let epoch = attachment.as_ref().map_or(0, |attachment| attachment.epoch);
        let message = ClusterMessage::Over {
            task: task_store.task(),
            epoch,
            reason: Reason::Moved,
        };
        // An executor that connected here just now may not have found the owner.
        self.over(task_store.task(), epoch, Reason::Moved);
        let mut informed: Vec<String> = before.map(|before| before.backend).into_iter().collect();
        informed.extend(attachment.map(|attachment| attachment.backend));
        informed.sort_unstable();
        informed.dedup();
        for name in informed.iter().filter(|name| ***name != *self.name) {
            self.publish(name, &message).await?;
        }
        Ok(())
    }
}
