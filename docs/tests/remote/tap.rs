//! Stands between a backend and its executor, and hears what they say.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::{accept_hdr_async, connect_async};

/// What was heard, in its order.
#[derive(Clone, Debug)]
pub(crate) enum Heard {
    Executor(Value),
    Backend(Value),
    /// The connection was cut, and what was said last did not arrive.
    Cut,
}

/// A way to a backend that can be cut.
pub(crate) struct Tap {
    /// Where an executor reaches it.
    pub(crate) address: String,
    heard: Arc<Mutex<Vec<Heard>>>,
    cuts: Arc<AtomicBool>,
}

impl Tap {
    /// A way to an address of a backend.
    pub(crate) async fn to(address: &str) -> Result<Self, Box<dyn Error>> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (_, path) = address.rsplit_once("/executor/").ok_or("no task")?;
        let tap = Self {
            address: format!("ws://{}/executor/{path}", listener.local_addr()?),
            heard: Arc::default(),
            cuts: Arc::default(),
        };
        let (to, heard, cuts) = (
            address.to_owned(),
            Arc::clone(&tap.heard),
            Arc::clone(&tap.cuts),
        );
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let way = Way {
                    heard: &heard,
                    cuts: &cuts,
                };
                // One after the other: an executor has one connection at a time.
                let _ = way.lead(stream, &to).await;
            }
        });
        Ok(tap)
    }

    /// Cuts the connection when the next result is said; it does not arrive.
    pub(crate) fn cut_the_next_result(&self) {
        self.cuts.store(true, Ordering::SeqCst);
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

struct Way<'t> {
    heard: &'t Mutex<Vec<Heard>>,
    cuts: &'t AtomicBool,
}

impl Way<'_> {
    async fn lead(&self, stream: TcpStream, to: &str) -> Result<(), Box<dyn Error>> {
        let mut request = to.into_client_request()?;
        #[allow(
            clippy::result_large_err,
            reason = "the signature is that of the library"
        )]
        let copy = |asked: &Request, answer: Response| -> Result<Response, ErrorResponse> {
            if let Some(token) = asked.headers().get("authorization") {
                request.headers_mut().insert("authorization", token.clone());
            }
            Ok(answer)
        };
        let mut executor = accept_hdr_async(stream, copy).await?;
        let (mut backend, _) = connect_async(request).await?;
        loop {
            tokio::select! {
                said = executor.next() => {
                    let Some(said) = said else { return Ok(()) };
                    let said = said?;
                    if self.is_cut(&said) {
                        return Ok(());
                    }
                    backend.send(said).await?;
                }
                said = backend.next() => {
                    let Some(said) = said else { return Ok(()) };
                    let said = said?;
                    self.note(&said, Heard::Backend);
                    executor.send(said).await?;
                }
            }
        }
    }

    /// Notes what an executor says; whether this is where the connection is cut.
    fn is_cut(&self, said: &Message) -> bool {
        let kind = self.note(said, Heard::Executor);
        let is_result = kind.as_deref() == Some("tool_result");
        let cut = is_result && self.cuts.swap(false, Ordering::SeqCst);
        if cut {
            self.push(Heard::Cut);
        }
        cut
    }

    /// Gives the type of the message; whether the other side is there is asked by the clock, and left out.
    fn note(&self, said: &Message, by: fn(Value) -> Heard) -> Option<String> {
        let Message::Text(text) = said else {
            return None;
        };
        let message: Value = serde_json::from_str(text).ok()?;
        let kind = message["type"].as_str()?.to_owned();
        if !["ping", "pong"].contains(&kind.as_str()) {
            self.push(by(message));
        }
        Some(kind)
    }

    fn push(&self, heard: Heard) {
        self.heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(heard);
    }
}
