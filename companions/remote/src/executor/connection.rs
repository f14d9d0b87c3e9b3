use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::desk::Desk;
use super::event::ExecutorEvent;
use crate::remote::line::{Ended, closed, dismiss, failed, talk};
use crate::remote::protocol::{
    Accepted, BackendMessage, ExecutorMessage, Fault, Handshake, read, write,
};

/// How long a backend may take to read a handshake, and then to answer it.
const ANSWER: Duration = Duration::from_secs(10);

const FAULTS: usize = 3;

const KINDS: [&str; 10] = [
    "handshake_ok",
    "run_tool",
    "cancel_tool",
    "ack",
    "bootstrap_finished",
    "agent_message_delta",
    "finished",
    "ping",
    "pong",
    "fault",
];

/// Says the handshake, and hears how it was taken.
pub(super) async fn enter<S>(
    mut socket: WebSocketStream<S>,
    handshake: Handshake,
) -> Result<(WebSocketStream<S>, Accepted), Ended>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let message = ExecutorMessage::Handshake(Box::new(handshake));
    let late = |what: &str| Ended::Broken(format!("{what} within {ANSWER:?}"));
    match timeout(ANSWER, socket.send(Message::text(write(&message)))).await {
        Err(_) => return Err(late("the handshake was not taken")),
        Ok(said) => said.map_err(|error| failed(&error))?,
    }
    let answer = match timeout(ANSWER, answer(&mut socket)).await {
        Err(_) => return Err(late("no answer came")),
        Ok(answer) => answer?,
    };
    if let Ok(BackendMessage::HandshakeOk(accepted)) = read(&answer, &KINDS) {
        return Ok((socket, *accepted));
    }
    let reason = "the handshake was not answered";
    dismiss(socket, CloseCode::Protocol, reason).await;
    Err(Ended::dismissed(CloseCode::Protocol, reason))
}

/// The first text; whatever else comes is no answer.
async fn answer<S>(socket: &mut WebSocketStream<S>) -> Result<Utf8Bytes, Ended>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match socket.next().await {
            None => return Err(Ended::Broken("the connection broke".to_owned())),
            Some(Err(error)) => return Err(failed(&error)),
            Some(Ok(Message::Close(frame))) => return Err(closed(frame)),
            Some(Ok(Message::Text(text))) => return Ok(text),
            Some(Ok(_)) => {}
        }
    }
}

/// Works until the connection ends.
pub(super) async fn work<S>(
    socket: WebSocketStream<S>,
    desk: &Arc<Desk>,
    queue: &mut tokio::sync::mpsc::Receiver<ExecutorMessage>,
    keep_alive: Duration,
    tell: &(dyn Fn(ExecutorEvent) + Send + Sync),
    over: impl Future<Output = Ended>,
) -> Ended
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut faults = 0;
    let hear = |text: &str| {
        match read::<BackendMessage>(text, &KINDS) {
            Ok(BackendMessage::RunTool(call)) => desk.asked(*call),
            Ok(BackendMessage::CancelTool(key)) => desk.cancel(key),
            Ok(BackendMessage::Ack(key)) => desk.acknowledged(key),
            Ok(BackendMessage::BootstrapFinished) => tell(ExecutorEvent::BootstrapFinished),
            Ok(BackendMessage::AgentMessageDelta(delta)) => tell(ExecutorEvent::Said(delta)),
            Ok(BackendMessage::Finished(finished)) => {
                tell(ExecutorEvent::Finished(finished));
                return ControlFlow::Break(Ended::Done);
            }
            Ok(BackendMessage::Ping) => desk.mention(ExecutorMessage::Pong),
            Ok(BackendMessage::Pong) => {}
            Ok(BackendMessage::Fault(fault)) => {
                tracing::warn!(
                    message = fault.message,
                    "the backend took a message for none"
                );
            }
            Ok(BackendMessage::HandshakeOk(_)) | Err(_) => {
                let fault = match read::<BackendMessage>(text, &KINDS) {
                    Err(malformed) => Fault::from(malformed),
                    Ok(_) => Fault {
                        message: "the handshake was answered before".to_owned(),
                    },
                };
                desk.mention(ExecutorMessage::Fault(fault));
                faults += 1;
                if faults == FAULTS {
                    return ControlFlow::Break(Ended::dismissed(
                        CloseCode::Protocol,
                        "too many faults",
                    ));
                }
            }
        }
        ControlFlow::Continue(())
    };
    talk(socket, queue, keep_alive.saturating_mul(2), hear, over).await
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};
    use tokio_tungstenite::tungstenite::protocol::Role;

    use super::*;
    use crate::remote::protocol::{JournalId, PROTOCOL, Platform, TaskId};

    fn handshake(bytes: usize) -> Handshake {
        Handshake {
            protocol: PROTOCOL,
            task: TaskId::random(),
            epoch: 0,
            journal: JournalId::random(),
            known_tools: vec!["x".repeat(bytes)],
            custom_tools: Vec::new(),
            platform: Platform::default(),
            unacknowledged: Vec::new(),
        }
    }

    async fn entered(bytes: usize, pings: bool) -> (Ended, Duration) {
        let (here, there) = tokio::io::duplex(64 << 10);
        let backend = tokio::spawn(async move {
            let mut socket = WebSocketStream::from_raw_socket(there, Role::Server, None).await;
            if pings {
                loop {
                    let ping = Message::Ping(b"still here".as_slice().into());
                    let _ = socket.send(ping).await;
                    let _ = socket.next().await;
                    sleep(Duration::from_secs(1)).await;
                }
            }
            // Its end stays open.
            sleep(Duration::MAX).await;
            drop(socket);
        });
        let began = Instant::now();
        let socket = WebSocketStream::from_raw_socket(here, Role::Client, None).await;
        let ended = enter(socket, handshake(bytes)).await.err().unwrap();
        backend.abort();
        (ended, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_backend_that_only_pings_or_does_not_read_is_not_waited_for() {
        let (ended, waited) = entered(10, true).await;
        assert_eq!(ended, Ended::Broken("no answer came within 10s".to_owned()));
        assert!(waited < ANSWER * 2, "{waited:?}");
        let (ended, waited) = entered(1 << 20, false).await;
        let why = "the handshake was not taken within 10s".to_owned();
        assert_eq!(ended, Ended::Broken(why));
        assert!(waited < ANSWER * 2, "{waited:?}");
    }
}
