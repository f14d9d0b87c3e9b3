//! The owner of a task whose executor is attached to another backend.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::message::{ClusterMessage, Reason, SequenceCheck};
use super::{Cluster, IdleTimer};
use crate::backend::connection::SUPERSEDED;
use crate::backend::server::Shared;
use crate::backend::task::{Gateway, OpenTask};
use crate::connection::QUEUE;
use crate::protocol::{BackendMessage, ExecutorMessage, Handshake, JournalId, TaskId};
use crate::store::task_store::TaskStore;

impl Cluster {
    fn owned_task(&self, task: TaskId) -> Option<Arc<OpenTask>> {
        let open = self.shared()?.tasks().get(&task).cloned();
        open.filter(|open| !open.calls.is_taken_over())
    }

    /// Checks the ownership of a task, after another backend claimed it.
    pub(super) async fn check_ownership(&self, task: TaskId) {
        if let Some(open) = self.owned_task(task)
            && let Err(error) = open.calls.is_owner().await
        {
            tracing::debug!(%task, %error, "the owner of a task cannot be read");
        }
    }

    /// Attaches an executor that has connected to another backend.
    pub(super) async fn attach_proxied(
        self: &Arc<Self>,
        epoch: u64,
        gateway: String,
        handshake: Handshake,
    ) {
        let (task, journal) = (handshake.task, handshake.journal);
        let Some(open) = self.owned_task(task) else {
            return self.redirect(task, epoch, &gateway).await;
        };
        let (handshake, session) = match open.evaluate(handshake).await {
            Ok(judged) => judged,
            Err(why) => return self.end(&gateway, task, epoch, Reason::Refused(why)).await,
        };
        let (over, earlier) = match open.supersede_proxied((epoch, journal), &gateway) {
            Ok(taken) => taken,
            Err(Some(reason)) => return self.end(&gateway, task, epoch, reason).await,
            Err(None) => return,
        };
        if let Some(earlier) = earlier.filter(|earlier| earlier.name != gateway) {
            let reason = Reason::taken_over(earlier.journal == journal);
            self.end(&earlier.name, task, earlier.epoch, reason).await;
        }
        let (out, queue) = mpsc::channel(QUEUE);
        if !open.attach(epoch, &handshake, session, out) {
            let reason = close_reason_of(&open, journal);
            return self.end(&gateway, task, epoch, reason).await;
        }
        let cluster = Arc::clone(self);
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = over.cancelled() => cluster.end(&gateway, task, epoch, close_reason_of(&open, journal)).await,
                () = open.calls.moved() => cluster.end(&gateway, task, epoch, Reason::Moved).await,
                () = cluster.forward_to_gateway(&gateway, (task, epoch), queue) => open.detach(epoch),
            }
        });
    }

    /// Forwards messages to an executor that is connected to another backend.
    async fn forward_to_gateway(
        &self,
        gateway: &str,
        (task, epoch): (TaskId, u64),
        mut queue: mpsc::Receiver<BackendMessage>,
    ) {
        let mut number = 0;
        let mut idle = IdleTimer::default();
        loop {
            let message = tokio::select! {
                message = queue.recv() => message,
                () = idle.tick() => {
                    let message = ClusterMessage::SayUpTo { task, epoch, number };
                    self.try_send(gateway, &message).await;
                    continue;
                }
            };
            let Some(message) = message else {
                break;
            };
            idle = IdleTimer::default();
            number += 1;
            let message = ClusterMessage::Say {
                owner: self.name.to_string(),
                task,
                epoch,
                number,
                message,
            };
            if let Err(error) = self.publish(gateway, &message).await {
                tracing::warn!(%task, %error, "a message could not be forwarded to another backend");
                break;
            }
        }
    }

    /// Answers a gateway that has read the owner before it changed.
    async fn redirect(&self, task: TaskId, epoch: u64, gateway: &str) {
        let Some(shared) = self.shared() else {
            return;
        };
        let owner = TaskStore::new(Arc::clone(&shared.store), task)
            .owner()
            .await;
        if let Ok(Some(owner)) = owner
            && (&*owner.backend, &owner.run) != (&*self.name, &self.run)
        {
            self.end(gateway, task, epoch, Reason::Moved).await;
        }
    }

    /// Closes a connection to another backend.
    async fn end(&self, gateway: &str, task: TaskId, epoch: u64, reason: Reason) {
        let message = ClusterMessage::Over {
            task,
            epoch,
            reason,
        };
        self.try_send(gateway, &message).await;
    }

    pub(super) async fn try_send(&self, to: &str, message: &ClusterMessage) {
        if let Err(error) = self.publish(to, message).await {
            tracing::warn!(to, %error, "a message to another backend could not be written");
        }
    }

    pub(super) async fn handle_forwarded(
        &self,
        (task, epoch, number): (TaskId, u64, u64),
        message: ExecutorMessage,
    ) {
        let Some(open) = self.owned_task(task) else {
            return;
        };
        match open.check_sequence(epoch, number) {
            Some(SequenceCheck::Next) => open.handle_message(message),
            Some(SequenceCheck::Gap) => self.request_reconnect(&open, epoch).await,
            Some(SequenceCheck::Duplicate) | None => {}
        }
    }

    pub(super) async fn check_forwarded(&self, (task, epoch, number): (TaskId, u64, u64)) {
        if let Some(open) = self.owned_task(task)
            && open.has_missed_messages(epoch, number)
        {
            self.request_reconnect(&open, epoch).await;
        }
    }

    /// Asks an executor to reconnect after a lost message: its handshake resolves that.
    async fn request_reconnect(&self, open: &OpenTask, epoch: u64) {
        if let Some(gateway) = open.gateway() {
            // If this message is lost, a later check sends it again.
            open.detach(epoch);
            self.end(&gateway.name, open.id, epoch, Reason::Moved).await;
        }
    }

    pub(super) fn lost(&self, task: TaskId, epoch: u64) {
        if let Some(open) = self.owned_task(task) {
            open.detach_proxied(epoch);
        }
    }

    /// Checks the ownership of each task, whether the gateways are alive, and whether the attachment of an executor was
    /// lost with a message; takes and returns the epochs of such executors.
    pub(super) async fn check_tasks(
        self: &Arc<Self>,
        before: &HashMap<TaskId, (u64, u32)>,
    ) -> HashMap<TaskId, (u64, u32)> {
        let mut unheard = HashMap::new();
        let Some(shared) = self.shared() else {
            return unheard;
        };
        self.check_connections(&shared).await;
        let tasks: Vec<_> = shared.tasks().values().cloned().collect();
        for open in tasks {
            if let Ok(false) = open.calls.is_owner().await {
                shared.drop_taken_over(open.id);
                continue;
            }
            if let Some(Gateway { name, epoch, .. }) = open.gateway()
                && let Ok(None) = self.relay.announced(&name).await
            {
                open.detach(epoch);
            }
            let Ok(Some(attachment)) = open.calls.task_store.attachment().await else {
                continue;
            };
            if open.is_known(attachment.epoch) {
                continue;
            }
            let times = match before.get(&open.id) {
                Some((epoch, times)) if *epoch == attachment.epoch => *times + 1,
                _ => 1,
            };
            // Not the first time: the message may be in flight. And ever less often: the executor may be gone for good.
            if times > 1 && times.is_power_of_two() {
                self.over(open.id, attachment.epoch, Reason::Moved);
                if *attachment.backend != *self.name {
                    self.end(
                        &attachment.backend,
                        open.id,
                        attachment.epoch,
                        Reason::Moved,
                    )
                    .await;
                }
            }
            unheard.insert(open.id, (attachment.epoch, times));
        }
        unheard
    }
}

impl Cluster {
    /// Closes connections here that later ones to other backends have superseded.
    async fn check_connections(&self, shared: &Shared) {
        let connections: Vec<_> = self
            .connections()
            .iter()
            .map(|(task, one)| (*task, one.epoch(), one.journal()))
            .collect();
        for (task, epoch, journal) in connections {
            let attachment = TaskStore::new(Arc::clone(&shared.store), task)
                .attachment()
                .await;
            if let Ok(Some(attachment)) = attachment
                && attachment.epoch > epoch
            {
                self.over(
                    task,
                    epoch,
                    Reason::taken_over(attachment.journal == journal),
                );
            }
        }
    }
}

/// Returns why a connection to another backend is closed.
fn close_reason_of(open: &OpenTask, journal: JournalId) -> Reason {
    match open.close_reason(journal) {
        (CloseCode::Away | CloseCode::Again, _) => Reason::Moved,
        (_, why) if why == SUPERSEDED => Reason::taken_over(open.is_latest_executor(journal)),
        (_, why) => Reason::Refused(why.to_owned()),
    }
}
