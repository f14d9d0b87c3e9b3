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

use super::doors::LEAVING;
use super::session::Session;
use super::settled::OTHERS;
use super::task::{Open, Turn};
use crate::remote::line::{Ended, QUEUE, dismiss, failed, talk};
use crate::remote::protocol::{
    Accepted, BackendMessage, CallKey, Entry, EntryState, ExecutorMessage, Fault, Handshake,
    JournalId, Malformed, PROTOCOL, ToolReply, read, write,
};
use crate::remote::store::StoreError;

/// The types of message that an executor may send.
const KINDS: [&str; 7] = [
    "handshake",
    "tool_result",
    "tool_progress",
    "cancelled",
    "ping",
    "pong",
    "fault",
];

/// Frames that are no messages before a connection is closed.
const FAULTS: usize = 3;

/// How long an executor may take to say who it is.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Bytes of a handshake that are read at once; 5 MiB of tools take 70 ms, in which this thread would do nothing else.
const LARGE: usize = 256 << 10;

/// Why an earlier executor is sent away.
pub(super) const OVER: &str = "another executor has taken over";

/// A connection whose handshake was taken and answered.
pub(super) struct Entered<S> {
    pub(super) socket: WebSocketStream<S>,
    pub(super) handshake: Handshake,
    pub(super) session: Session,
    pub(super) epoch: u64,
    /// A later one takes over.
    pub(super) over: CancellationToken,
}

/// Serves one executor until it goes.
pub(super) async fn serve<S>(
    socket: WebSocketStream<S>,
    open: &Arc<Open>,
    leaving: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    #[cfg(feature = "redis")]
    if let Some(post) = &open.post {
        return super::post::serve(socket, open, post, leaving).await;
    }
    let Some(entered) = enter(socket, open).await else {
        return;
    };
    let Entered {
        socket,
        handshake,
        session,
        epoch,
        over,
    } = entered;
    #[cfg(feature = "redis")]
    if open.calls.ledger.is_shared() && super::task::may_be_outdated(&handshake, epoch) {
        open.detached(epoch);
        return dismiss(socket, CloseCode::Again, super::task::ELSEWHERE).await;
    }
    let (out, mut queue) = mpsc::channel(QUEUE);
    if !open.attached(epoch, &handshake, session, out.clone()) {
        let (code, reason) = open.farewell(handshake.journal);
        return dismiss(socket, code, reason).await;
    }
    let _present = Present { open, epoch };
    let ended = tokio::select! {
        ended = work(socket, open, handshake.journal, (&mut queue, &out), (over, leaving)) => ended,
        never = ask(&out, open.settings.keep_alive) => match never {},
    };
    tracing::debug!(task = %open.id, epoch, ?ended, "the connection of an executor ended");
}

/// An executor that is attached; it is lost however its connection ends, also when the backend is dropped.
struct Present<'o> {
    open: &'o Arc<Open>,
    epoch: u64,
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.open.detached(self.epoch);
    }
}

/// Hears a handshake, and answers it.
pub(super) async fn enter<S>(mut socket: WebSocketStream<S>, open: &Arc<Open>) -> Option<Entered<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let heard = match heard(&mut socket).await {
        Ok(text) => {
            // In the order in which they came, from here to the claim: one that an executor has left behind must not take
            // over from its next.
            let turn = open.turn().await;
            read_handshake(text)
                .await
                .map(|handshake| (turn, handshake))
        }
        Err(ended) => Err(ended),
    };
    let (turn, handshake) = match heard {
        Ok(heard) => heard,
        Err(Ended::Dismissed(code, reason)) => {
            dismiss(socket, code, &reason).await;
            return None;
        }
        Err(_) => return None,
    };
    let (handshake, session, epoch, over) = match taken(handshake, open, turn).await {
        Ok(taken) => taken,
        Err((code, reason)) => {
            dismiss(socket, code, &reason).await;
            return None;
        }
    };
    let accepted = BackendMessage::HandshakeOk(Box::new(Accepted {
        epoch,
        toolbelt: session.toolbelt().names(),
        refused: session.toolbelt().refused().to_vec(),
        keep_alive_ms: u64::try_from(open.settings.keep_alive.as_millis()).unwrap_or(u64::MAX),
    }));
    let said = timeout(HANDSHAKE, socket.send(Message::text(write(&accepted)))).await;
    if !matches!(said, Ok(Ok(()))) {
        // It has taken over from the connection before, whose end says nothing any more.
        open.detached(epoch);
        return None;
    }
    Some(Entered {
        socket,
        handshake,
        session,
        epoch,
        over,
    })
}

async fn heard<S>(socket: &mut WebSocketStream<S>) -> Result<Utf8Bytes, Ended>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let first = async {
        loop {
            match socket.next().await {
                // Of these the line takes care.
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => return other,
            }
        }
    };
    match timeout(HANDSHAKE, first).await {
        Ok(Some(Ok(Message::Text(text)))) => Ok(text),
        Ok(Some(Err(error))) => Err(failed(&error)),
        // Of a machine that was asleep, perhaps: another time it may come.
        Err(_) => Err(Ended::dismissed(CloseCode::Again, "no handshake came")),
        Ok(_) => Err(Ended::dismissed(CloseCode::Policy, "no handshake came")),
    }
}

async fn read_handshake(text: Utf8Bytes) -> Result<Handshake, Ended> {
    if text.len() <= LARGE {
        return handshake_of(&text);
    }
    let read = tokio::task::spawn_blocking(move || handshake_of(&text)).await;
    read.unwrap_or_else(|_| Err(Ended::dismissed(CloseCode::Away, LEAVING)))
}

fn handshake_of(text: &str) -> Result<Handshake, Ended> {
    match read::<ExecutorMessage>(text, &KINDS) {
        Ok(ExecutorMessage::Handshake(mut handshake)) => {
            let entries = handshake.unacknowledged.iter_mut();
            for reply in entries.filter_map(|entry| entry.reply.as_mut()) {
                if let Some(why) = reply.contradiction() {
                    **reply = ToolReply::contradictory(reply.key, &why);
                }
            }
            Ok(*handshake)
        }
        Ok(_) => Err(Ended::dismissed(
            CloseCode::Protocol,
            "the first message is a handshake",
        )),
        Err(malformed) => Err(Ended::dismissed(CloseCode::Protocol, malformed.to_string())),
    }
}

async fn taken(
    handshake: Handshake,
    open: &Arc<Open>,
    turn: Turn<'_>,
) -> Result<(Handshake, Session, u64, CancellationToken), (CloseCode, String)> {
    let policy = |why: String| (CloseCode::Policy, why);
    // Another time it may work.
    let again = |error: StoreError| (CloseCode::Again, error.to_string());
    judge(&handshake, open).map_err(policy)?;
    if !open.calls.is_home().await.map_err(again)? {
        let (code, reason) = open.farewell(handshake.journal);
        return Err((code, reason.to_owned()));
    }
    let (handshake, session) = open.judge(handshake).await.map_err(policy)?;
    if !open.settle(&handshake, &session).await.map_err(again)? {
        return Err(policy(OTHERS.to_owned()));
    }
    match open.claim(&handshake, turn).await.map_err(again)? {
        Ok((epoch, over)) => Ok((handshake, session, epoch, over)),
        Err((code, reason)) => Err((code, reason.to_owned())),
    }
}

fn judge(handshake: &Handshake, open: &Open) -> Result<(), String> {
    if handshake.protocol != PROTOCOL {
        let theirs = handshake.protocol;
        return Err(format!(
            "protocol {theirs} is not spoken here, {PROTOCOL} is"
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

/// Asks whether the executor is there, for as long as it is asked itself.
pub(super) async fn ask(
    out: &mpsc::Sender<BackendMessage>,
    keep_alive: Duration,
) -> std::convert::Infallible {
    let mut ticks = interval_at(Instant::now() + keep_alive, keep_alive);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // A full queue says it as well.
        let _ = out.try_send(BackendMessage::Ping);
    }
}

async fn work<S>(
    socket: WebSocketStream<S>,
    open: &Arc<Open>,
    journal: JournalId,
    (queue, out): (
        &mut mpsc::Receiver<BackendMessage>,
        &mpsc::Sender<BackendMessage>,
    ),
    (over, leaving): (CancellationToken, CancellationToken),
) -> Ended
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut hearing = Hearing::default();
    let hear = |text: &str| {
        open.watch.heard();
        match hearing.hear(text, out) {
            ControlFlow::Continue(Some(message)) => open.hear(message),
            ControlFlow::Continue(None) => {}
            ControlFlow::Break(ended) => return ControlFlow::Break(ended),
        }
        ControlFlow::Continue(())
    };
    let ends = async {
        tokio::select! {
            () = over.cancelled() => left(open, journal),
            () = open.calls.moved() => left(open, journal),
            () = leaving.cancelled() => Ended::dismissed(CloseCode::Away, LEAVING),
        }
    };
    let silence = open.settings.keep_alive.saturating_mul(2);
    talk(socket, queue, silence, hear, ends).await
}

fn left(open: &Open, journal: JournalId) -> Ended {
    let (code, reason) = open.farewell(journal);
    Ended::dismissed(code, reason)
}

/// Reads frames, answers those that are about the line itself, and counts those that are none.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    faults: usize,
}

impl Hearing {
    /// A message for the task, if it is one.
    pub(super) fn hear(
        &mut self,
        text: &str,
        out: &mpsc::Sender<BackendMessage>,
    ) -> ControlFlow<Ended, Option<ExecutorMessage>> {
        if self.faults >= FAULTS {
            return too_many();
        }
        let (fault, reply): (Fault, _) = match read::<ExecutorMessage>(text, &KINDS) {
            Ok(ExecutorMessage::Ping) => {
                let _ = out.try_send(BackendMessage::Pong);
                return ControlFlow::Continue(None);
            }
            Ok(ExecutorMessage::Pong) => return ControlFlow::Continue(None),
            Ok(ExecutorMessage::Handshake(_)) => {
                let message = "there was a handshake before".to_owned();
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
                let reply = unreadable(text, &malformed);
                (malformed.into(), reply)
            }
        };
        let _ = out.try_send(BackendMessage::Fault(fault));
        self.faults += 1;
        match reply {
            // Its call has ended all the same; after the last fault nothing else is heard.
            Some(reply) => {
                ControlFlow::Continue(Some(ExecutorMessage::ToolResult(Box::new(reply))))
            }
            None if self.faults >= FAULTS => too_many(),
            None => ControlFlow::Continue(None),
        }
    }
}

fn too_many<T>() -> ControlFlow<Ended, T> {
    let reason = "too many faults";
    ControlFlow::Break(Ended::dismissed(CloseCode::Protocol, reason))
}

/// The end of a call that is told in a way that is not understood: it has ended all the same.
fn unreadable(text: &str, malformed: &Malformed) -> Option<ToolReply> {
    #[derive(Deserialize)]
    struct Frame {
        payload: CallKey,
    }
    if !matches!(malformed, Malformed::Payload { kind } if kind == "tool_result") {
        return None;
    }
    let Frame { payload: key } = serde_json::from_str(text).ok()?;
    let why =
        "unknown outcome: the executor says how it ended in a way that is not understood here";
    Some(ToolReply::failed(key, why))
}
