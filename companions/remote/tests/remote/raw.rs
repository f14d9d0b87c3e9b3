//! A client that says what it is told to say, and nothing else.

use std::time::Duration;

use contract_remote::{Task, Token};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

pub(crate) struct Raw(WebSocketStream<MaybeTlsStream<TcpStream>>);

/// What the other side did next.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    Message(Value),
    Closed(u16, String),
    Gone,
}

impl Raw {
    pub(crate) async fn dial(
        address: &str,
        headers: &[(&'static str, String)],
    ) -> Result<Self, Error> {
        let mut request = address.into_client_request()?;
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse()?);
        }
        Ok(Self(connect_async(request).await?.0))
    }

    pub(crate) async fn enter(task: &Task, token: &Token) -> Result<Self, Error> {
        let bearer = format!("Bearer {}", token.reveal());
        Self::dial(task.address(), &[("authorization", bearer)]).await
    }

    pub(crate) async fn say(&mut self, text: impl Into<String>) -> Result<(), Error> {
        self.0.send(Message::text(text.into())).await
    }

    pub(crate) async fn send(&mut self, message: Message) -> Result<(), Error> {
        self.0.send(message).await
    }

    pub(crate) async fn next(&mut self) -> Next {
        loop {
            let frame = timeout(Duration::from_secs(40), self.0.next()).await;
            return match frame {
                Ok(Some(Ok(Message::Text(text)))) => {
                    Next::Message(serde_json::from_str(&text).unwrap_or_default())
                }
                Ok(Some(Ok(Message::Close(Some(frame))))) => {
                    Next::Closed(frame.code.into(), frame.reason.to_string())
                }
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => continue,
                _ => Next::Gone,
            };
        }
    }
}

/// A handshake for a task, with custom tools, of the journal that every test has.
pub(crate) fn handshake(task: &Task, known: &[&str], custom: &Value) -> Value {
    json!({"type": "handshake", "payload": {
        "protocol": 1,
        "task": task.id(),
        "epoch": 0,
        "journal": "00000000-0000-4000-8000-00000000000a",
        "known_tools": known,
        "custom_tools": custom,
        "platform": {"working_directory": "/", "system": "linux", "architecture": "x86_64", "parallel": 1},
        "unacknowledged": [],
    }})
}
