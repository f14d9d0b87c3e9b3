//! The side that acts.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use tokio_util::sync::CancellationToken;

use super::RemoteError;
use super::protocol::{
    BackendMessage, CallKey, ExecutorMessage, Handshake, PROTOCOL, Platform, RunTool, TaskId,
    ToolProgress, ToolReply, Verdict, read, write,
};
use crate::{Context, Outcome, Progress, Registry, ToolCall};

const KINDS: [&str; 9] = [
    "handshake_ok",
    "run_tool",
    "cancel_tool",
    "ack",
    "bootstrap_finished",
    "agent_message_delta",
    "finished",
    "ping",
    "pong",
];

/// A registry that runs its tools for a backend.
#[derive(Clone, Debug)]
#[must_use = "an executor does nothing until it connects"]
pub struct Executor {
    registry: Registry,
    custom: bool,
}

/// An executor that works, until its task is over or it is dropped.
#[derive(Debug)]
#[must_use = "dropping it ends its connection"]
pub struct Connected {
    work: JoinHandle<Result<(), RemoteError>>,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Connected {
    /// Waits until the task is over.
    ///
    /// # Errors
    ///
    /// [`RemoteError`].
    pub async fn ended(mut self) -> Result<(), RemoteError> {
        (&mut self.work).await.unwrap_or(Err(RemoteError::Gone))
    }
}

impl Executor {
    /// Offers the tools of a registry by name: the backend knows them.
    pub fn new(registry: Registry) -> Self {
        Self {
            registry,
            custom: false,
        }
    }

    /// Offers them with all that describes them: the backend need not know them.
    pub fn custom(mut self) -> Self {
        self.custom = true;
        self
    }

    /// Dials in to a task, in the background.
    pub fn connect(self, address: impl Into<String>, token: impl Into<String>) -> Connected {
        let (address, token) = (address.into(), token.into());
        Connected {
            work: tokio::spawn(async move {
                let socket = dial(&address, &token).await?;
                self.serve(socket, &address).await
            }),
        }
    }

    fn handshake(&self, task: TaskId) -> Handshake {
        let manifest = self.registry.manifest();
        let (mut known, mut custom) = (Vec::new(), Vec::new());
        for tool in manifest.tools {
            if self.custom {
                custom.push(serde_json::to_value(&tool).unwrap_or_default());
            } else {
                known.push(tool.name);
            }
        }
        Handshake {
            protocol: PROTOCOL,
            task,
            epoch: 0,
            known_tools: known,
            custom_tools: custom,
            platform: Platform {
                working_directory: ".".to_owned(),
                system: std::env::consts::OS.to_owned(),
                architecture: std::env::consts::ARCH.to_owned(),
                parallel: 4,
            },
            unacknowledged: Vec::new(),
        }
    }

    async fn serve(&self, socket: Socket, address: &str) -> Result<(), RemoteError> {
        let task = address.rsplit('/').next().unwrap_or_default();
        let task = task.parse().map_err(|_| RemoteError::Connect {
            address: address.to_owned(),
            reason: "the address does not end with the id of a task".to_owned(),
        })?;
        let (mut sink, mut stream) = socket.split();
        let shake = ExecutorMessage::Handshake(Box::new(self.handshake(task)));
        sink.send(Message::text(write(&shake)))
            .await
            .map_err(|_| RemoteError::Gone)?;
        let (out, mut queue) = mpsc::channel::<ExecutorMessage>(64);
        let mut running: HashMap<CallKey, CancellationToken> = HashMap::new();
        loop {
            let frame = tokio::select! {
                frame = stream.next() => frame,
                Some(message) = queue.recv() => {
                    if let ExecutorMessage::ToolResult(reply) = &message {
                        running.remove(&reply.key);
                    }
                    sink.send(Message::text(write(&message))).await.map_err(|_| RemoteError::Gone)?;
                    continue;
                }
            };
            let text = match frame {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Close(Some(frame)))) => {
                    return Err(RemoteError::Protocol(frame.reason.to_string()));
                }
                _ => return Err(RemoteError::Gone),
            };
            let message = read::<BackendMessage>(&text, &KINDS);
            match message.map_err(|malformed| RemoteError::Protocol(malformed.to_string()))? {
                BackendMessage::RunTool(call) => {
                    let token = CancellationToken::new();
                    running.insert(call.key, token.clone());
                    tokio::spawn(run(self.registry.clone(), *call, token, out.clone()));
                }
                BackendMessage::CancelTool(key) => {
                    if let Some(token) = running.get(&key) {
                        token.cancel();
                    }
                }
                BackendMessage::Finished(_) => return Ok(()),
                BackendMessage::Ping => {
                    let pong = Message::text(write(&ExecutorMessage::Pong));
                    sink.send(pong).await.map_err(|_| RemoteError::Gone)?;
                }
                _ => {}
            }
        }
    }
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn dial(address: &str, token: &str) -> Result<Socket, RemoteError> {
    let failed = |reason: String| RemoteError::Connect {
        address: address.to_owned(),
        reason,
    };
    let mut request = address
        .into_client_request()
        .map_err(|error| failed(error.to_string()))?;
    let mut bearer = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| failed("the token is no header value".to_owned()))?;
    bearer.set_sensitive(true);
    request.headers_mut().insert("authorization", bearer);
    let (socket, _) = tokio_tungstenite::connect_async(request)
        .await
        .map_err(|error| failed(error.to_string()))?;
    Ok(socket)
}

async fn run(
    registry: Registry,
    call: RunTool,
    token: CancellationToken,
    out: mpsc::Sender<ExecutorMessage>,
) {
    let key = call.key;
    let reports = out.clone();
    let mut context = Context::new()
        .cancellation(token)
        .progress(Progress::new(move |report| {
            let told = ToolProgress {
                key,
                done: report.done,
                total: report.total,
                message: report.message,
            };
            // A report that finds the queue full is left out: the next one says more.
            let _ = reports.try_send(ExecutorMessage::ToolProgress(told));
        }));
    if let Some(limit) = call.deadline_ms {
        context = context.timeout(Duration::from_millis(limit));
    }
    let made = ToolCall::new(
        key.tool_id.to_string(),
        call.tool_name,
        call.parameters.to_string(),
    );
    let outcome = registry.call_with(made, context).await;
    let reply = ExecutorMessage::ToolResult(Box::new(reply(key, &outcome)));
    let _ = out.send(reply).await;
}

fn reply(key: CallKey, outcome: &Outcome) -> ToolReply {
    let violation = outcome
        .violation()
        .and_then(|violation| serde_json::to_value(violation).ok());
    let is_json = outcome.is_ok()
        && outcome.output() != outcome.value().as_ref().and_then(|value| value.as_str());
    ToolReply {
        key,
        status: if outcome.is_ok() {
            Verdict::Success
        } else {
            Verdict::Error
        },
        outcome: outcome.status(),
        result: outcome.output().map(str::to_owned),
        is_json,
        error: outcome.error(),
        violation,
    }
}
