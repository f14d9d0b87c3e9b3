//! One backend connection on the executor's side: handshake and messages.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::call_table::CallTable;
use super::event::ExecutorEvent;
use crate::connection::{ConnectionEnd, close, end_of_close_frame, end_of_error, run_connection};
use crate::protocol::{Accepted, BackendMessage, ExecutorMessage, Fault, Handshake, read, write};

/// How long a backend may take to read a handshake, and then to answer it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

const MAX_FAULTS: usize = 3;

const MESSAGE_TYPES: [&str; 10] = [
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

/// Sends the handshake and waits for the answer.
pub(super) async fn send_handshake<S>(
    mut socket: WebSocketStream<S>,
    handshake: Handshake,
) -> Result<(WebSocketStream<S>, Accepted), ConnectionEnd>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let message = ExecutorMessage::Handshake(Box::new(handshake));
    let late = |what: &str| ConnectionEnd::Broken(format!("{what} within {ANSWER_TIMEOUT:?}"));
    match timeout(ANSWER_TIMEOUT, socket.send(Message::text(write(&message)))).await {
        Err(_) => return Err(late("the handshake could not be sent")),
        Ok(said) => said.map_err(|error| end_of_error(&error))?,
    }
    let answer = match timeout(ANSWER_TIMEOUT, receive_answer(&mut socket)).await {
        Err(_) => return Err(late("no answer came")),
        Ok(answer) => answer?,
    };
    if let Ok(BackendMessage::HandshakeOk(accepted)) = read(&answer, &MESSAGE_TYPES) {
        return Ok((socket, *accepted));
    }
    let reason = "the handshake was not answered";
    close(socket, CloseCode::Protocol, reason).await;
    Err(ConnectionEnd::closed_here(CloseCode::Protocol, reason))
}

/// Receives the first text message; anything else is not an answer.
async fn receive_answer<S>(socket: &mut WebSocketStream<S>) -> Result<Utf8Bytes, ConnectionEnd>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match socket.next().await {
            None => return Err(ConnectionEnd::Broken("the connection broke".to_owned())),
            Some(Err(error)) => return Err(end_of_error(&error)),
            Some(Ok(Message::Close(frame))) => return Err(end_of_close_frame(frame)),
            Some(Ok(Message::Text(text))) => return Ok(text),
            Some(Ok(_)) => {}
        }
    }
}

/// Handles messages until the connection ends.
pub(super) async fn run<S>(
    socket: WebSocketStream<S>,
    calls: &Arc<CallTable>,
    queue: &mut tokio::sync::mpsc::Receiver<ExecutorMessage>,
    keep_alive: Duration,
    on_event: &(dyn Fn(ExecutorEvent) + Send + Sync),
    until: impl Future<Output = ConnectionEnd>,
) -> ConnectionEnd
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut faults = 0;
    let on_text = |text: &str| {
        match read::<BackendMessage>(text, &MESSAGE_TYPES) {
            Ok(BackendMessage::RunTool(call)) => calls.handle_request(*call),
            Ok(BackendMessage::CancelTool(key)) => calls.cancel(key),
            Ok(BackendMessage::Ack(key)) => calls.handle_ack(key),
            Ok(BackendMessage::BootstrapFinished) => on_event(ExecutorEvent::BootstrapFinished),
            Ok(BackendMessage::AgentMessageDelta(delta)) => {
                on_event(ExecutorEvent::MessageDelta(delta));
            }
            Ok(BackendMessage::Finished(finished)) => {
                on_event(ExecutorEvent::Finished(finished));
                return ControlFlow::Break(ConnectionEnd::Done);
            }
            Ok(BackendMessage::Ping) => calls.try_send(ExecutorMessage::Pong),
            Ok(BackendMessage::Pong) => {}
            Ok(BackendMessage::Fault(fault)) => {
                tracing::warn!(
                    message = fault.message,
                    "the backend could not read a message"
                );
            }
            Ok(BackendMessage::HandshakeOk(_)) | Err(_) => {
                let fault = match read::<BackendMessage>(text, &MESSAGE_TYPES) {
                    Err(malformed) => Fault::from(malformed),
                    Ok(_) => Fault {
                        message: "the handshake was already answered".to_owned(),
                    },
                };
                calls.try_send(ExecutorMessage::Fault(fault));
                faults += 1;
                if faults == MAX_FAULTS {
                    return ControlFlow::Break(ConnectionEnd::closed_here(
                        CloseCode::Protocol,
                        "too many faults",
                    ));
                }
            }
        }
        ControlFlow::Continue(())
    };
    run_connection(socket, queue, keep_alive.saturating_mul(2), on_text, until).await
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};
    use tokio_tungstenite::tungstenite::protocol::Role;

    use super::*;
    use crate::protocol::{JournalId, PROTOCOL, Platform, TaskId};

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

    async fn entered(bytes: usize, pings: bool) -> (ConnectionEnd, Duration) {
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
        let ended = send_handshake(socket, handshake(bytes))
            .await
            .err()
            .unwrap();
        backend.abort();
        (ended, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_backend_that_only_pings_or_does_not_read_is_not_waited_for() {
        let (ended, waited) = entered(10, true).await;
        assert_eq!(
            ended,
            ConnectionEnd::Broken("no answer came within 10s".to_owned())
        );
        assert!(waited < ANSWER_TIMEOUT * 2, "{waited:?}");
        let (ended, waited) = entered(1 << 20, false).await;
        let why = "the handshake could not be sent within 10s".to_owned();
        assert_eq!(ended, ConnectionEnd::Broken(why));
        assert!(waited < ANSWER_TIMEOUT * 2, "{waited:?}");
    }
}
