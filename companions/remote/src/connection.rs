//! One WebSocket connection: sends and receives concurrently until something ends it.

use std::future::Future;
use std::ops::ControlFlow;
use std::time::Duration;

use futures_util::{Sink, SinkExt as _, StreamExt as _};
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::protocol::{BackendMessage, ExecutorMessage, write};
use super::toolbelt::sanitize;

/// How many outgoing messages may wait for a slow peer; beyond that, the sender waits.
pub(super) const QUEUE: usize = 64;

/// How long the closing handshake may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A message that is sent over a connection.
pub(super) trait OutgoingMessage: Serialize {
    /// Whether the connection ends after this message.
    fn is_last(&self) -> bool;
}

impl OutgoingMessage for BackendMessage {
    fn is_last(&self) -> bool {
        matches!(self, Self::Finished(_))
    }
}

impl OutgoingMessage for ExecutorMessage {
    fn is_last(&self) -> bool {
        false
    }
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
    /// The last message was sent or received.
    Done,
    /// The peer closed the connection.
    ClosedByPeer { code: u16, reason: String },
    /// This side closed the connection, with a code and a reason.
    ClosedHere(CloseCode, String),
    /// The connection broke.
    Broken(String),
}

impl ConnectionEnd {
    pub(super) fn closed_here(code: CloseCode, reason: impl Into<String>) -> Self {
        Self::ClosedHere(code, reason.into())
    }
}

/// Sends the messages of the queue and handles those received, until either of them or `until` ends the connection.
///
/// A peer that sends nothing, or accepts nothing, for `silence` is considered disconnected.
pub(super) async fn run_connection<S, M>(
    socket: WebSocketStream<S>,
    queue: &mut mpsc::Receiver<M>,
    silence: Duration,
    mut on_text: impl FnMut(&str) -> ControlFlow<ConnectionEnd>,
    until: impl Future<Output = ConnectionEnd>,
) -> ConnectionEnd
where
    S: AsyncRead + AsyncWrite + Unpin,
    M: OutgoingMessage,
{
    let (mut sink, mut stream) = socket.split();
    // A peer that pings is not read until the pongs are flushed: otherwise they would pile up for a peer that reads nothing.
    let (pinged, mut pings) = mpsc::channel(1);
    let send = async {
        loop {
            let sent = tokio::select! {
                message = queue.recv() => {
                    let Some(message) = message else {
                        return ConnectionEnd::Done;
                    };
                    let sent = timeout(silence, sink.send(Message::text(write(&message)))).await;
                    if matches!(sent, Ok(Ok(()))) && message.is_last() {
                        return ConnectionEnd::Done;
                    }
                    sent
                }
                Some(()) = pings.recv() => timeout(silence, sink.flush()).await,
            };
            match sent {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return ConnectionEnd::Broken(describe(&error)),
                Err(_) => {
                    return ConnectionEnd::Broken(format!("it accepted nothing for {silence:?}"));
                }
            }
        }
    };
    let receive = async {
        loop {
            let Ok(frame) = timeout(silence, stream.next()).await else {
                return ConnectionEnd::Broken(format!("it sent nothing for {silence:?}"));
            };
            match frame {
                Some(Ok(Message::Text(text))) => {
                    if let ControlFlow::Break(ended) = on_text(&text) {
                        return ended;
                    }
                }
                Some(Ok(Message::Ping(_))) => {
                    // The receiver lives as long as this future.
                    let _ = pinged.send(()).await;
                }
                Some(Ok(Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Binary(_))) => {
                    return ConnectionEnd::closed_here(
                        CloseCode::Unsupported,
                        "only text messages are supported",
                    );
                }
                Some(Ok(Message::Close(frame))) => return end_of_close_frame(frame),
                Some(Err(error)) => return end_of_error(&error),
                None => return ConnectionEnd::Broken("the connection broke".to_owned()),
            }
            // One read can bring thousands of small frames: yield to other tasks now and then.
            tokio::task::coop::consume_budget().await;
        }
    };
    let ended = tokio::select! {
        ended = send => ended,
        ended = receive => ended,
        ended = until => ended,
    };
    send_close_frame(&mut sink, &ended).await;
    ended
}

/// Closes a connection with a code and a reason.
pub(super) async fn close<S>(mut socket: WebSocketStream<S>, code: CloseCode, reason: &str)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    send_close_frame(&mut socket, &ConnectionEnd::closed_here(code, reason)).await;
}

/// Maps a WebSocket error to the end of the connection.
pub(super) fn end_of_error(error: &Error) -> ConnectionEnd {
    match error {
        Error::Capacity(_) => {
            ConnectionEnd::closed_here(CloseCode::Size, "the message is too large")
        }
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            ConnectionEnd::Broken("the connection broke".to_owned())
        }
        Error::Protocol(_) => {
            ConnectionEnd::closed_here(CloseCode::Protocol, "the frame breaks RFC 6455")
        }
        Error::Utf8(_) => ConnectionEnd::closed_here(CloseCode::Invalid, "the text is not UTF-8"),
        error => ConnectionEnd::Broken(describe(error)),
    }
}

pub(super) fn end_of_close_frame(frame: Option<CloseFrame>) -> ConnectionEnd {
    frame.map_or_else(
        || ConnectionEnd::Broken("the connection was closed".to_owned()),
        |frame| ConnectionEnd::ClosedByPeer {
            code: frame.code.into(),
            reason: sanitize(&frame.reason, 123),
        },
    )
}

/// Describes an error without any text of the peer.
fn describe(error: &Error) -> String {
    match error {
        Error::Io(error) => format!("the connection broke: {}", error.kind()),
        _ => "the connection broke".to_owned(),
    }
}

async fn send_close_frame<S>(sink: &mut S, ended: &ConnectionEnd)
where
    S: Sink<Message, Error = Error> + Unpin,
{
    let message = match ended {
        ConnectionEnd::ClosedHere(code, reason) => Some(close_frame(*code, reason)),
        ConnectionEnd::Done => Some(Message::Close(None)),
        // The reply to its close frame is queued already; closing the sink flushes it.
        ConnectionEnd::ClosedByPeer { .. } => None,
        ConnectionEnd::Broken(_) => return,
    };
    let goodbye = async {
        if let Some(message) = message {
            let _ = sink.send(message).await;
        }
        let _ = sink.close().await;
    };
    let _ = timeout(CLOSE_TIMEOUT, goodbye).await;
}

fn close_frame(code: CloseCode, reason: &str) -> Message {
    // A close frame holds 125 bytes, two of them the code (RFC 6455, 5.5, 2011).
    let mut ends = (0..=reason.len().min(123)).rev();
    let end = ends.find(|end| reason.is_char_boundary(*end)).unwrap_or(0);
    Message::Close(Some(CloseFrame {
        code,
        reason: reason[..end].into(),
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Poll;

    use tokio::io::AsyncWriteExt as _;
    use tokio_tungstenite::tungstenite::protocol::Role;

    use super::*;

    /// A flooded connection does not starve its other half, nor other connections.
    #[tokio::test]
    async fn a_flood_of_small_frames_lets_others_have_their_turn() {
        const FRAMES: usize = 20_000;
        let (here, there) = tokio::io::duplex(1 << 20);
        let mut from = WebSocketStream::from_raw_socket(there, Role::Client, None).await;
        for _ in 0..FRAMES {
            let fed = from.feed(Message::text(r#"{"type":"pong"}"#)).await;
            assert!(fed.is_ok());
        }
        assert!(from.flush().await.is_ok());
        let socket = WebSocketStream::from_raw_socket(here, Role::Server, None).await;
        let (_out, mut queue) = mpsc::channel::<BackendMessage>(1);
        let heard = AtomicUsize::new(0);
        let (mut before, mut most) = (0, 0);
        let until = std::future::poll_fn(|_| {
            let now = heard.load(Ordering::Relaxed);
            most = most.max(now - before);
            before = now;
            Poll::Pending
        });
        let on_text = |_: &str| match heard.fetch_add(1, Ordering::Relaxed) + 1 {
            FRAMES => ControlFlow::Break(ConnectionEnd::Done),
            _ => ControlFlow::Continue(()),
        };
        let silence = Duration::from_secs(30);
        let ended = run_connection(socket, &mut queue, silence, on_text, until).await;
        assert_eq!(ended, ConnectionEnd::Done);
        let most = most.max(FRAMES - before);
        assert!(most <= 256, "{most} frames in one turn");
    }

    /// Pongs do not pile up for a peer that reads none: it is not read any further, and is considered disconnected.
    #[tokio::test(start_paused = true)]
    async fn a_peer_that_pings_and_does_not_read_is_read_no_further() {
        // As many as would fill every buffer many times over.
        const FRAMES: usize = 100_000;
        let (here, mut there) = tokio::io::duplex(4 << 10);
        let ping = [&[0x89, 0x80 | 0x64, 0, 0, 0, 0][..], &[b'x'; 100]].concat();
        let sent = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&sent);
        let flood = tokio::spawn(async move {
            while count.load(Ordering::Relaxed) < FRAMES && there.write_all(&ping).await.is_ok() {
                count.fetch_add(1, Ordering::Relaxed);
            }
            std::future::pending::<()>().await;
        });
        let socket = WebSocketStream::from_raw_socket(here, Role::Server, None).await;
        let (_out, mut queue) = mpsc::channel::<BackendMessage>(1);
        let (silence, on_text) = (Duration::from_secs(30), |_: &str| ControlFlow::Continue(()));
        let ended =
            run_connection(socket, &mut queue, silence, on_text, std::future::pending()).await;
        assert_eq!(
            ended,
            ConnectionEnd::Broken("it accepted nothing for 30s".to_owned())
        );
        let sent = sent.load(Ordering::Relaxed);
        assert!(sent < 5_000, "{sent} pings were read");
        flood.abort();
    }
}
