use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::desk::Desk;
use super::event::ExecutorEvent;
use crate::remote::line::{Ended, closed, dismiss, failed, talk};
use crate::remote::protocol::{
    Accepted, BackendMessage, ExecutorMessage, Fault, Handshake, read, write,
};

/// How long a backend may take to answer a handshake.
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
    let said = socket.send(Message::text(write(&message))).await;
    said.map_err(|error| failed(&error))?;
    let answer = loop {
        match timeout(ANSWER, socket.next()).await {
            Err(_) => return Err(Ended::Broken(format!("no answer came within {ANSWER:?}"))),
            Ok(None) => return Err(Ended::Broken("the connection broke".to_owned())),
            Ok(Some(Err(error))) => return Err(failed(&error)),
            Ok(Some(Ok(Message::Close(frame)))) => return Err(closed(frame)),
            Ok(Some(Ok(Message::Text(text)))) => break text,
            Ok(Some(Ok(_))) => {}
        }
    };
    if let Ok(BackendMessage::HandshakeOk(accepted)) = read(&answer, &KINDS) {
        return Ok((socket, *accepted));
    }
    let reason = "the handshake was not answered";
    dismiss(socket, CloseCode::Protocol, reason).await;
    Err(Ended::dismissed(CloseCode::Protocol, reason))
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
