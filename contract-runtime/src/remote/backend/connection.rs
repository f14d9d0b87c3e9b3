use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use hyper_tungstenite::HyperWebsocketStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_util::sync::CancellationToken;

use super::pending::Pending;
use super::server::{Open, Shared};
use super::task::Session;
use super::tool::tool;
use crate::Registry;
use crate::remote::protocol::{
    Accepted, BackendMessage, ExecutorMessage, Handshake, PROTOCOL, read, write,
};
use crate::remote::toolbelt::Toolbelt;

/// The types of message that an executor may send.
const KINDS: [&str; 6] = [
    "handshake",
    "tool_result",
    "tool_progress",
    "cancelled",
    "ping",
    "pong",
];

/// Frames that are no messages before a connection is closed.
const FAULTS: usize = 3;

/// Why an earlier executor is sent away.
const OVER: &str = "another executor has taken over";

/// Messages that wait for a slow executor; then calls wait.
const QUEUE: usize = 64;

/// Serves one executor until it goes.
pub(super) async fn serve(mut socket: HyperWebsocketStream, shared: &Shared, open: &Open) {
    let handshake = match timeout(Duration::from_secs(10), socket.next()).await {
        Ok(Some(Ok(Message::Text(text)))) => read::<ExecutorMessage>(&text, &KINDS),
        Ok(Some(Err(Error::Capacity(_)))) => {
            return close(socket, CloseCode::Size, "too large").await;
        }
        _ => return close(socket, CloseCode::Policy, "no handshake came").await,
    };
    let handshake = match handshake {
        Ok(ExecutorMessage::Handshake(handshake)) => handshake,
        Ok(_) => {
            return close(
                socket,
                CloseCode::Protocol,
                "the first message is a handshake",
            )
            .await;
        }
        Err(malformed) => return close(socket, CloseCode::Protocol, &malformed.to_string()).await,
    };
    if let Err(why) = judge(&handshake, open) {
        return close(socket, CloseCode::Policy, &why).await;
    }
    let Some((epoch, over)) = open.take_over(handshake.epoch) else {
        return close(socket, CloseCode::Policy, OVER).await;
    };
    let toolbelt = Toolbelt::of(&handshake, &shared.known, &shared.limits);
    let (out, queue) = mpsc::channel(QUEUE);
    let pending = Pending::new(out.clone());
    let tools: Vec<_> = toolbelt
        .tools()
        .map(|manifest| tool(manifest, Arc::clone(&pending)))
        .collect();
    let registry = match Registry::builder().with(tools).build() {
        Ok(registry) => registry,
        Err(error) => return close(socket, CloseCode::Policy, &error.to_string()).await,
    };
    let accepted = BackendMessage::HandshakeOk(Box::new(Accepted {
        epoch,
        toolbelt: toolbelt.tools().map(|tool| tool.name.clone()).collect(),
        refused: toolbelt.refused().to_vec(),
    }));
    if socket.send(Message::text(write(&accepted))).await.is_err() {
        return;
    }
    let session = Session {
        registry,
        toolbelt: Arc::new(toolbelt),
        out,
    };
    open.show(epoch, Some(session));
    talk(socket, &pending, queue, &over).await;
    pending.lost();
    open.show(epoch, None);
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
    Ok(())
}

async fn talk(
    socket: HyperWebsocketStream,
    pending: &Pending,
    mut queue: mpsc::Receiver<BackendMessage>,
    over: &CancellationToken,
) {
    let (mut sink, mut stream) = socket.split();
    let mut faults = 0;
    loop {
        let frame = tokio::select! {
            frame = stream.next() => frame,
            () = over.cancelled() => {
                let _ = sink.send(closing(CloseCode::Policy, OVER)).await;
                return;
            }
            message = queue.recv() => {
                let Some(message) = message else { return };
                let last = matches!(message, BackendMessage::Finished(_));
                if sink.send(Message::text(write(&message))).await.is_err() || last {
                    let _ = sink.close().await;
                    return;
                }
                continue;
            }
        };
        let text = match frame {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
            Some(Err(Error::Capacity(_))) => {
                let _ = sink.send(closing(CloseCode::Size, "too large")).await;
                return;
            }
            Some(Ok(Message::Binary(_))) => {
                let _ = sink
                    .send(closing(CloseCode::Unsupported, "only text"))
                    .await;
                return;
            }
            _ => return,
        };
        match read::<ExecutorMessage>(&text, &KINDS) {
            Ok(ExecutorMessage::ToolResult(reply)) => {
                if !pending.replied(*reply) {
                    tracing::debug!("a result came that nobody waits for");
                }
            }
            Ok(ExecutorMessage::ToolProgress(told)) => pending.reported(told),
            Ok(ExecutorMessage::Ping) => {
                let pong = Message::text(write(&BackendMessage::Pong));
                if sink.send(pong).await.is_err() {
                    return;
                }
            }
            Ok(ExecutorMessage::Pong | ExecutorMessage::Cancelled(_)) => {}
            Ok(ExecutorMessage::Handshake(_)) | Err(_) => {
                faults += 1;
                if faults == FAULTS {
                    let _ = sink
                        .send(closing(CloseCode::Protocol, "too many faults"))
                        .await;
                    return;
                }
            }
        }
    }
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

async fn close(mut socket: HyperWebsocketStream, code: CloseCode, reason: &str) {
    let _ = socket.send(closing(code, reason)).await;
    let _ = socket.close(None).await;
}
