//! Serves an executor whose task is owned by another backend.

use std::ops::ControlFlow;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_util::sync::CancellationToken;

use super::message::{ClusterMessage, Reason, SequenceCheck};
use super::{Cluster, IdleTimer};
use crate::backend::connection::{
    AcceptedConnection, MessageReader, SUPERSEDED, accept_handshake, log_end, send_pings,
};
use crate::backend::drain::SHUTTING_DOWN;
use crate::backend::task::{OWNED_ELSEWHERE, OpenTask, REPLACED, may_be_stale};
use crate::connection::{ConnectionEnd, QUEUE, close, run_connection};
use crate::protocol::{BackendMessage, ExecutorMessage, JournalId, TaskId};

/// How many messages of an executor may wait to be forwarded; beyond that, its connection is closed and it reconnects.
const QUEUE_CAPACITY: usize = 256;

/// A connection to this backend, for a task that another backend owns.
#[derive(Debug)]
pub(super) struct GatewayConnection {
    epoch: u64,
    /// The journal of the executor.
    journal: JournalId,
    out: mpsc::Sender<BackendMessage>,
    over: watch::Sender<Option<Reason>>,
    /// How many messages of the owner have been delivered.
    said: u64,
}

impl GatewayConnection {
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(super) fn journal(&self) -> JournalId {
        self.journal
    }
}

/// Serves one executor of a task that another backend owns, until its connection ends.
pub(in crate::backend) async fn serve<S>(
    socket: WebSocketStream<S>,
    open: &Arc<OpenTask>,
    cluster: &Arc<Cluster>,
    shutdown: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Some(entered) = accept_handshake(socket, open).await else {
        return;
    };
    let AcceptedConnection {
        socket,
        handshake,
        epoch,
        ..
    } = entered;
    let task = open.id;
    if may_be_stale(&handshake, epoch) {
        return close(socket, CloseCode::Again, REPLACED).await;
    }
    let Ok(Some(owner)) = open.calls.task_store.owner().await else {
        let reason = "no backend owns the task; reconnect";
        return close(socket, CloseCode::Again, reason).await;
    };
    let (out, mut queue) = mpsc::channel(QUEUE);
    let Some(mut over) = cluster.register(task, (epoch, handshake.journal), out.clone()) else {
        return close(socket, CloseCode::Again, REPLACED).await;
    };
    let message = ClusterMessage::Attached {
        epoch,
        gateway: cluster.name.to_string(),
        handshake: Box::new(handshake),
    };
    let owner = owner.backend;
    if cluster.publish(&owner, &message).await.is_err() {
        cluster.leave(task, epoch);
        let reason = "the backend that owns the task cannot be reached; reconnect";
        return close(socket, CloseCode::Again, reason).await;
    }
    let (forward, mut heard) = mpsc::channel::<ExecutorMessage>(QUEUE_CAPACITY);
    let mut reader = MessageReader::default();
    let hear = |text: &str| {
        let message = match reader.read(text, &out) {
            ControlFlow::Continue(Some(message)) => message,
            ControlFlow::Continue(None) => return ControlFlow::Continue(()),
            ControlFlow::Break(ended) => return ControlFlow::Break(ended),
        };
        if forward.try_send(message).is_err() {
            let reason = "the backend that owns the task takes too long; reconnect";
            return ControlFlow::Break(ConnectionEnd::closed_here(CloseCode::Again, reason));
        }
        ControlFlow::Continue(())
    };
    let hand_on = async {
        let mut number = 0;
        let mut idle = IdleTimer::default();
        loop {
            let message = tokio::select! {
                message = heard.recv() => message,
                () = idle.tick() => {
                    let message = ClusterMessage::HeardUpTo { task, epoch, number };
                    cluster.try_send(&owner, &message).await;
                    continue;
                }
            };
            let Some(message) = message else {
                break;
            };
            idle = IdleTimer::default();
            number += 1;
            let message = ClusterMessage::Heard {
                task,
                epoch,
                number,
                message,
            };
            if let Err(error) = cluster.publish(&owner, &message).await {
                tracing::warn!(%task, %error, "a message of an executor could not be forwarded");
                break;
            }
        }
        ConnectionEnd::closed_here(
            CloseCode::Again,
            "the backend that owns the task cannot be reached; reconnect",
        )
    };
    let ends = async {
        tokio::select! {
            reason = over.wait_for(Option::is_some) => close_reason_of(reason.ok().and_then(|reason| reason.clone())),
            () = shutdown.cancelled() => ConnectionEnd::closed_here(CloseCode::Away, SHUTTING_DOWN),
            ended = hand_on => ended,
        }
    };
    let silence = open.settings.keep_alive.saturating_mul(2);
    let ended = tokio::select! {
        ended = run_connection(socket, &mut queue, silence, hear, ends) => ended,
        never = send_pings(&out, open.settings.keep_alive) => match never {},
    };
    log_end(task, epoch, &ended);
    cluster.leave(task, epoch);
    let lost = ClusterMessage::Lost { task, epoch };
    if let Err(error) = cluster.publish(&owner, &lost).await {
        tracing::debug!(%task, %error, "the owner of a task could not be told that its executor is gone");
    }
}

fn close_reason_of(reason: Option<Reason>) -> ConnectionEnd {
    match reason {
        Some(Reason::Moved) => ConnectionEnd::closed_here(CloseCode::Away, OWNED_ELSEWHERE),
        Some(Reason::Refused(why)) => ConnectionEnd::closed_here(CloseCode::Policy, why),
        Some(Reason::TakenOver) | None => ConnectionEnd::closed_here(CloseCode::Policy, SUPERSEDED),
    }
}

impl Cluster {
    /// Registers a connection; `None` if there is a later one.
    fn register(
        &self,
        task: TaskId,
        (epoch, journal): (u64, JournalId),
        out: mpsc::Sender<BackendMessage>,
    ) -> Option<watch::Receiver<Option<Reason>>> {
        let mut connections = self.connections();
        if let Some(earlier) = connections.get(&task) {
            if earlier.epoch >= epoch {
                return None;
            }
            let reason = Reason::taken_over(earlier.journal == journal);
            earlier.over.send_replace(Some(reason));
        }
        let (over, informed) = watch::channel(None);
        let said = 0;
        let one = GatewayConnection {
            epoch,
            journal,
            out,
            over,
            said,
        };
        connections.insert(task, one);
        Some(informed)
    }

    fn leave(&self, task: TaskId, epoch: u64) {
        let mut connections = self.connections();
        if connections
            .get(&task)
            .is_some_and(|connections| connections.epoch == epoch)
        {
            connections.remove(&task);
        }
    }

    /// Delivers a message of the owner to the executor; `false` if that is not attached here.
    pub(super) fn deliver(
        &self,
        (task, epoch, number): (TaskId, u64, u64),
        message: BackendMessage,
    ) -> bool {
        let mut connections = self.connections();
        let Some(connections) = connections
            .get_mut(&task)
            .filter(|connections| connections.epoch == epoch)
        else {
            return false;
        };
        let is_said = match SequenceCheck::of(&mut connections.said, number) {
            SequenceCheck::Next => connections.out.try_send(message).is_ok(),
            SequenceCheck::Duplicate => true,
            SequenceCheck::Gap => false,
        };
        if !is_said {
            // It has missed a message, or its queue is full: the next handshake resolves that.
            connections.over.send_replace(Some(Reason::Moved));
        }
        true
    }

    /// Checks that all messages of the owner have arrived.
    pub(super) fn check_delivered(&self, (task, epoch, number): (TaskId, u64, u64)) {
        let mut connections = self.connections();
        if let Some(connections) = connections
            .get_mut(&task)
            .filter(|connections| connections.epoch == epoch)
            && SequenceCheck::is_behind(&mut connections.said, number)
        {
            connections.over.send_replace(Some(Reason::Moved));
        }
    }

    /// Closes the connection for the owner.
    pub(super) fn over(&self, task: TaskId, epoch: u64, reason: Reason) {
        let connections = self.connections();
        if let Some(connections) = connections
            .get(&task)
            .filter(|connections| connections.epoch <= epoch)
        {
            connections.over.send_replace(Some(reason));
        }
    }
}
