//! One connection: both directions at once, until something ends it.

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
use super::toolbelt::shown;

/// Messages that wait for a slow peer; then whoever says more waits.
pub(super) const QUEUE: usize = 64;

/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// A message, as the line sees it.
pub(super) trait Frame: Serialize {
    /// Nothing is said after it.
    fn is_last(&self) -> bool;
}

impl Frame for BackendMessage {
    fn is_last(&self) -> bool {
        matches!(self, Self::Finished(_))
    }
}

impl Frame for ExecutorMessage {
    fn is_last(&self) -> bool {
        false
    }
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The last message was said, or heard.
    Done,
    /// The other side said goodbye.
    Closed { code: u16, reason: String },
    /// This side ends it, and says why.
    Dismissed(CloseCode, String),
    /// The line broke.
    Broken(String),
}

impl Ended {
    pub(super) fn dismissed(code: CloseCode, reason: impl Into<String>) -> Self {
        Self::Dismissed(code, reason.into())
    }
}

/// Says what is in the queue and hears what comes, until one of them or `over` ends it.
///
/// A peer that says nothing for `silence`, or takes nothing for as long, is taken for lost.
pub(super) async fn talk<S, M>(
    socket: WebSocketStream<S>,
    queue: &mut mpsc::Receiver<M>,
    silence: Duration,
    mut hear: impl FnMut(&str) -> ControlFlow<Ended>,
    over: impl Future<Output = Ended>,
) -> Ended
where
    S: AsyncRead + AsyncWrite + Unpin,
    M: Frame,
{
    let (mut sink, mut stream) = socket.split();
    // Whoever pings waits for the answers to go out: they would pile up otherwise, and nobody need read them.
    let (pinged, mut pings) = mpsc::channel(1);
    let say = async {
        loop {
            let said = tokio::select! {
                message = queue.recv() => {
                    let Some(message) = message else {
                        return Ended::Done;
                    };
                    let said = timeout(silence, sink.send(Message::text(write(&message)))).await;
                    if matches!(said, Ok(Ok(()))) && message.is_last() {
                        return Ended::Done;
                    }
                    said
                }
                Some(()) = pings.recv() => timeout(silence, sink.flush()).await,
            };
            match said {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Ended::Broken(plainly(&error)),
                Err(_) => return Ended::Broken(format!("it took nothing for {silence:?}")),
            }
        }
    };
    let listen = async {
        loop {
            let Ok(frame) = timeout(silence, stream.next()).await else {
                return Ended::Broken(format!("it said nothing for {silence:?}"));
            };
            match frame {
                Some(Ok(Message::Text(text))) => {
                    if let ControlFlow::Break(ended) = hear(&text) {
                        return ended;
                    }
                }
                Some(Ok(Message::Ping(_))) => {
                    // The other end is there as long as this is.
                    let _ = pinged.send(()).await;
                }
                Some(Ok(Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Binary(_))) => {
                    return Ended::dismissed(CloseCode::Unsupported, "only text is spoken here");
                }
                Some(Ok(Message::Close(frame))) => return closed(frame),
                Some(Err(error)) => return failed(&error),
                None => return Ended::Broken("the connection broke".to_owned()),
            }
            // A read brings thousands of small frames: after some of them the others have their turn.
            tokio::task::coop::consume_budget().await;
        }
    };
    let ended = tokio::select! {
        ended = say => ended,
        ended = listen => ended,
        ended = over => ended,
    };
    part(&mut sink, &ended).await;
    ended
}

/// Ends a connection that has not come to talk.
pub(super) async fn dismiss<S>(mut socket: WebSocketStream<S>, code: CloseCode, reason: &str)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    part(&mut socket, &Ended::dismissed(code, reason)).await;
}

/// What a connection that failed is told, or that it needs not be told anything.
pub(super) fn failed(error: &Error) -> Ended {
    match error {
        Error::Capacity(_) => Ended::dismissed(CloseCode::Size, "the message is too large"),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            Ended::Broken("the connection broke".to_owned())
        }
        Error::Protocol(_) => Ended::dismissed(CloseCode::Protocol, "the frame breaks RFC 6455"),
        Error::Utf8(_) => Ended::dismissed(CloseCode::Invalid, "the text is not UTF-8"),
        error => Ended::Broken(plainly(error)),
    }
}

pub(super) fn closed(frame: Option<CloseFrame>) -> Ended {
    frame.map_or_else(
        || Ended::Broken("the connection was closed".to_owned()),
        |frame| Ended::Closed {
            code: frame.code.into(),
            reason: shown(&frame.reason, 123),
        },
    )
}

/// Without what the other side may have put into it.
fn plainly(error: &Error) -> String {
    match error {
        Error::Io(error) => format!("the connection broke: {}", error.kind()),
        _ => "the connection broke".to_owned(),
    }
}

async fn part<S>(sink: &mut S, ended: &Ended)
where
    S: Sink<Message, Error = Error> + Unpin,
{
    let message = match ended {
        Ended::Dismissed(code, reason) => Some(closing(*code, reason)),
        Ended::Done => Some(Message::Close(None)),
        // The answer to its goodbye is written already, and goes out with the rest.
        Ended::Closed { .. } => None,
        Ended::Broken(_) => return,
    };
    let goodbye = async {
        if let Some(message) = message {
            let _ = sink.send(message).await;
        }
        let _ = sink.close().await;
    };
    let _ = timeout(GOODBYE, goodbye).await;
}

fn closing(code: CloseCode, reason: &str) -> Message {
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

    /// The other parts of a connection, and other connections, have their turn while one is flooded.
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
        let over = std::future::poll_fn(|_| {
            let now = heard.load(Ordering::Relaxed);
            most = most.max(now - before);
            before = now;
            Poll::Pending
        });
        let hear = |_: &str| match heard.fetch_add(1, Ordering::Relaxed) + 1 {
            FRAMES => ControlFlow::Break(Ended::Done),
            _ => ControlFlow::Continue(()),
        };
        let silence = Duration::from_secs(30);
        let ended = talk(socket, &mut queue, silence, hear, over).await;
        assert_eq!(ended, Ended::Done);
        let most = most.max(FRAMES - before);
        assert!(most <= 256, "{most} frames in one turn");
    }

    /// Answers to pings are not kept for a peer that reads none: it is not read either, and is taken for lost.
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
        let (silence, hear) = (Duration::from_secs(30), |_: &str| ControlFlow::Continue(()));
        let ended = talk(socket, &mut queue, silence, hear, std::future::pending()).await;
        assert_eq!(ended, Ended::Broken("it took nothing for 30s".to_owned()));
        let sent = sent.load(Ordering::Relaxed);
        assert!(sent < 5_000, "{sent} pings were read");
        flood.abort();
    }
}
