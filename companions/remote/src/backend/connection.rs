//! One executor connection on the backend's side: handshake, messages, liveness.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_util::sync::CancellationToken;

use super::drain::SHUTTING_DOWN;
use super::pinned_tools::TOOLS_CHANGED;
use super::session::Session;
use super::task::{ClaimGuard, OpenTask};
use crate::connection::{ConnectionEnd, QUEUE, close, end_of_error, run_connection};
use crate::protocol::{
    Accepted, BackendMessage, CallKey, Entry, EntryState, ExecutorMessage, Fault, Handshake,
    JournalId, Malformed, PROTOCOL, TaskId, ToolReply, read, received_key, write,
};
use crate::store::StoreError;

/// The types of message that an executor may send.
const MESSAGE_TYPES: [&str; 7] = [
    "handshake",
    "tool_result",
    "tool_progress",
    "cancelled",
    "ping",
    "pong",
    "fault",
];

/// The number of malformed frames after which a connection is closed.
const MAX_FAULTS: usize = 3;

/// How long an executor may take to send its handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest handshake that is parsed on this thread, in bytes; 5 MiB of tools take 70 ms, which would block it.
const MAX_INLINE_PARSE: usize = 256 << 10;

/// The close reason for an executor that another one has superseded.
pub(super) const SUPERSEDED: &str = "another executor has taken over";

/// A connection whose handshake was accepted and answered.
struct AcceptedConnection<S> {
    socket: WebSocketStream<S>,
    handshake: Handshake,
    session: Session,
    epoch: u64,
    /// Cancelled when a later connection supersedes this one.
    over: CancellationToken,
}

/// Serves one executor until its connection ends.
pub(super) async fn serve<S>(
    socket: WebSocketStream<S>,
    open: &Arc<OpenTask>,
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
        session,
        epoch,
        over,
    } = entered;
    #[cfg(feature = "redis")]
    if open.calls.task_store.is_shared() && may_be_stale(&handshake, epoch) {
        open.detach(epoch);
        return close(socket, CloseCode::Again, super::task::REPLACED).await;
    }
    let (out, mut queue) = mpsc::channel(QUEUE);
    if !open.attach(epoch, &handshake, session, out.clone()) {
        let (code, reason) = open.close_reason(handshake.journal);
        return close(socket, code, reason).await;
    }
    let _present = DetachOnDrop { open, epoch };
    let ended = tokio::select! {
        ended = run(socket, open, handshake.journal, (&mut queue, &out), (over, shutdown)) => ended,
        never = send_pings(&out, open.settings.keep_alive) => match never {},
    };
    log_end(open.id, epoch, &ended);
}

/// Whether a handshake may be older than calls that the executor received over another connection, perhaps from another
/// home: its epoch is not the previous one. The next handshake is up to date.
#[cfg(feature = "redis")]
fn may_be_stale(handshake: &Handshake, epoch: u64) -> bool {
    handshake.epoch != 0 && handshake.epoch.saturating_add(1) != epoch
}

/// Logs how the connection of an executor ended; an executor that cannot work says why.
fn log_end(task: TaskId, epoch: u64, ended: &ConnectionEnd) {
    match ended {
        ConnectionEnd::ClosedByPeer { code, reason } if *code == u16::from(CloseCode::Again) => {
            tracing::warn!(%task, epoch, reason, "an executor left until it can work again");
        }
        ended => tracing::debug!(%task, epoch, ?ended, "the connection of an executor ended"),
    }
}

/// Detaches an executor when it is dropped, however its connection ends, even when the backend is dropped.
struct DetachOnDrop<'o> {
    open: &'o Arc<OpenTask>,
    epoch: u64,
}

impl Drop for DetachOnDrop<'_> {
    fn drop(&mut self) {
        self.open.detach(self.epoch);
    }
}

/// Receives a handshake, checks it and answers it.
async fn accept_handshake<S>(
    mut socket: WebSocketStream<S>,
    open: &Arc<OpenTask>,
) -> Option<AcceptedConnection<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let heard = match receive_first_text(&mut socket).await {
        Ok(text) => {
            // Handshakes are processed in the order of arrival, from here to the claim: a connection that an executor has
            // abandoned must not supersede its next one.
            let turn = open.lock_claim().await;
            parse_handshake(text)
                .await
                .map(|handshake| (turn, handshake))
        }
        Err(ended) => Err(ended),
    };
    let (turn, handshake) = match heard {
        Ok(heard) => heard,
        Err(ConnectionEnd::ClosedHere(code, reason)) => {
            close(socket, code, &reason).await;
            return None;
        }
        Err(_) => return None,
    };
    let (handshake, session, epoch, over) = match admit_executor(handshake, open, turn).await {
        Ok(taken) => taken,
        Err((code, reason)) => {
            close(socket, code, &reason).await;
            return None;
        }
    };
    let accepted = BackendMessage::HandshakeOk(Box::new(Accepted {
        epoch,
        toolbelt: session.toolbelt().names(),
        refused: session.toolbelt().refused().to_vec(),
        keep_alive_ms: u64::try_from(open.settings.keep_alive.as_millis()).unwrap_or(u64::MAX),
    }));
    let said = timeout(
        HANDSHAKE_TIMEOUT,
        socket.send(Message::text(write(&accepted))),
    )
    .await;
    if !matches!(said, Ok(Ok(()))) {
        // It has superseded the previous connection, whose end detaches nothing any more.
        open.detach(epoch);
        return None;
    }
    Some(AcceptedConnection {
        socket,
        handshake,
        session,
        epoch,
        over,
    })
}

async fn receive_first_text<S>(socket: &mut WebSocketStream<S>) -> Result<Utf8Bytes, ConnectionEnd>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let first = async {
        loop {
            match socket.next().await {
                // The WebSocket layer answers these.
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => return other,
            }
        }
    };
    match timeout(HANDSHAKE_TIMEOUT, first).await {
        Ok(Some(Ok(Message::Text(text)))) => Ok(text),
        Ok(Some(Err(error))) => Err(end_of_error(&error)),
        // The machine may have been asleep: a retry may work.
        Err(_) => Err(ConnectionEnd::closed_here(
            CloseCode::Again,
            "no handshake arrived",
        )),
        Ok(_) => Err(ConnectionEnd::closed_here(
            CloseCode::Policy,
            "no handshake arrived",
        )),
    }
}

async fn parse_handshake(text: Utf8Bytes) -> Result<Handshake, ConnectionEnd> {
    if text.len() <= MAX_INLINE_PARSE {
        return parse_handshake_text(&text);
    }
    let read = tokio::task::spawn_blocking(move || parse_handshake_text(&text)).await;
    read.unwrap_or_else(|_| Err(ConnectionEnd::closed_here(CloseCode::Away, SHUTTING_DOWN)))
}

fn parse_handshake_text(text: &str) -> Result<Handshake, ConnectionEnd> {
    match read::<ExecutorMessage>(text, &MESSAGE_TYPES) {
        Ok(ExecutorMessage::Handshake(mut handshake)) => {
            for entry in &mut handshake.unacknowledged {
                let Some(reply) = &mut entry.reply else {
                    continue;
                };
                if reply.key.has_no_attempt() && reply.key.tool_id == entry.key.tool_id {
                    reply.key = entry.key;
                }
                if let Some(why) = reply.contradiction() {
                    **reply = ToolReply::contradictory(reply.key, &why);
                }
            }
            Ok(*handshake)
        }
        Ok(_) => Err(ConnectionEnd::closed_here(
            CloseCode::Protocol,
            "the first message must be a handshake",
        )),
        Err(malformed) => Err(ConnectionEnd::closed_here(
            CloseCode::Protocol,
            malformed.to_string(),
        )),
    }
}

async fn admit_executor(
    handshake: Handshake,
    open: &Arc<OpenTask>,
    turn: ClaimGuard<'_>,
) -> Result<(Handshake, Session, u64, CancellationToken), (CloseCode, String)> {
    let policy = |why: String| (CloseCode::Policy, why);
    // A retry may work.
    let again = |error: StoreError| (CloseCode::Again, error.to_string());
    check_handshake(&handshake, open).map_err(policy)?;
    if !open.calls.is_owner().await.map_err(again)? {
        let (code, reason) = open.close_reason(handshake.journal);
        return Err((code, reason.to_owned()));
    }
    let (handshake, session) = open.evaluate(handshake).await.map_err(policy)?;
    if !open.pin(&handshake, &session).await.map_err(again)? {
        return Err(policy(TOOLS_CHANGED.to_owned()));
    }
    match open.claim(&handshake, turn).await.map_err(again)? {
        Ok((epoch, over)) => Ok((handshake, session, epoch, over)),
        Err((code, reason)) => Err((code, reason.to_owned())),
    }
}

fn check_handshake(handshake: &Handshake, open: &OpenTask) -> Result<(), String> {
    if handshake.protocol != PROTOCOL {
        let theirs = handshake.protocol;
        return Err(format!(
            "protocol {theirs} is not supported, only {PROTOCOL} is"
        ));
    }
    if handshake.task != open.id {
        return Err("the handshake is for another task".to_owned());
    }
    let finished = |entry: &Entry| entry.state == EntryState::Finished;
    let wrong = |entry: &Entry| match &entry.reply {
        Some(reply) => reply.key != entry.key || !finished(entry),
        None => false,
    };
    if handshake.unacknowledged.iter().any(wrong) {
        return Err("an entry of the journal contradicts itself".to_owned());
    }
    Ok(())
}

/// Pings the executor at the keep-alive interval, forever.
async fn send_pings(
    out: &mpsc::Sender<BackendMessage>,
    keep_alive: Duration,
) -> std::convert::Infallible {
    let mut ticks = interval_at(Instant::now() + keep_alive, keep_alive);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // A full queue keeps the connection busy anyway.
        let _ = out.try_send(BackendMessage::Ping);
    }
}

async fn run<S>(
    socket: WebSocketStream<S>,
    open: &Arc<OpenTask>,
    journal: JournalId,
    (queue, out): (
        &mut mpsc::Receiver<BackendMessage>,
        &mpsc::Sender<BackendMessage>,
    ),
    (over, shutdown): (CancellationToken, CancellationToken),
) -> ConnectionEnd
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut reader = MessageReader::default();
    let hear = |text: &str| {
        match reader.read(text, out) {
            ControlFlow::Continue(Some(message)) => open.handle_message(message),
            ControlFlow::Continue(None) => {}
            ControlFlow::Break(ended) => return ControlFlow::Break(ended),
        }
        ControlFlow::Continue(())
    };
    let ends = async {
        tokio::select! {
            () = over.cancelled() => end_of_superseded(open, journal),
            () = open.calls.moved() => end_of_superseded(open, journal),
            () = shutdown.cancelled() => ConnectionEnd::closed_here(CloseCode::Away, SHUTTING_DOWN),
        }
    };
    let silence = open.settings.keep_alive.saturating_mul(2);
    run_connection(socket, queue, silence, hear, ends).await
}

fn end_of_superseded(open: &OpenTask, journal: JournalId) -> ConnectionEnd {
    let (code, reason) = open.close_reason(journal);
    ConnectionEnd::closed_here(code, reason)
}

/// Reads frames: answers those about the connection itself, and counts malformed ones.
#[derive(Debug, Default)]
struct MessageReader {
    faults: usize,
}

impl MessageReader {
    /// Reads one frame; returns the message if it is for the task.
    fn read(
        &mut self,
        text: &str,
        out: &mpsc::Sender<BackendMessage>,
    ) -> ControlFlow<ConnectionEnd, Option<ExecutorMessage>> {
        if self.faults >= MAX_FAULTS {
            return end_of_faults();
        }
        let (fault, reply): (Fault, _) = match read::<ExecutorMessage>(text, &MESSAGE_TYPES) {
            Ok(ExecutorMessage::Ping) => {
                let _ = out.try_send(BackendMessage::Pong);
                return ControlFlow::Continue(None);
            }
            Ok(ExecutorMessage::Pong) => return ControlFlow::Continue(None),
            Ok(ExecutorMessage::Handshake(_)) => {
                let message = "there was already a handshake".to_owned();
                (Fault { message }, None)
            }
            Ok(ExecutorMessage::ToolResult(reply)) => match reply.contradiction() {
                None => return ControlFlow::Continue(Some(ExecutorMessage::ToolResult(reply))),
                Some(why) => {
                    let message = format!("the end of {} contradicts itself: {why}", reply.key);
                    let reply = ToolReply::contradictory(reply.key, &why);
                    (Fault { message }, Some(reply))
                }
            },
            Ok(message) => return ControlFlow::Continue(Some(message)),
            Err(malformed) => {
                let reply = reply_to_unreadable(text, &malformed);
                (malformed.into(), reply)
            }
        };
        let _ = out.try_send(BackendMessage::Fault(fault));
        self.faults += 1;
        match reply {
            // Its call has ended all the same; after the last fault nothing else is read.
            Some(reply) => {
                ControlFlow::Continue(Some(ExecutorMessage::ToolResult(Box::new(reply))))
            }
            None if self.faults >= MAX_FAULTS => end_of_faults(),
            None => ControlFlow::Continue(None),
        }
    }
}

fn end_of_faults<T>() -> ControlFlow<ConnectionEnd, T> {
    let reason = "too many faults";
    ControlFlow::Break(ConnectionEnd::closed_here(CloseCode::Protocol, reason))
}

/// Returns the reply for a call whose result cannot be read: the call has ended all the same.
fn reply_to_unreadable(text: &str, malformed: &Malformed) -> Option<ToolReply> {
    #[derive(Deserialize)]
    struct OutgoingMessage {
        #[serde(deserialize_with = "received_key")]
        payload: CallKey,
    }
    if !matches!(malformed, Malformed::Payload { kind } if kind == "tool_result") {
        return None;
    }
    let OutgoingMessage { payload: key } = serde_json::from_str(text).ok()?;
    let why =
        "unknown outcome: the executor says how it ended in a way that is not understood here";
    Some(ToolReply::failed(key, why))
}
