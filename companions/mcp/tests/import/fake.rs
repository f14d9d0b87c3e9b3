//! A server that says what a test tells it to say.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract_mcp::{ImportError, Imported, Importer};
use contract_runtime::prelude::*;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::mpsc;

/// What the server has heard, in order; the end of the stream is `null`.
pub(crate) struct Heard(mpsc::UnboundedReceiver<Value>);

impl Heard {
    /// The next message of this method.
    pub(crate) async fn next(&mut self, method: &str) -> Value {
        let search = async {
            while let Some(message) = self.0.recv().await {
                if message["method"] == method {
                    return message;
                }
            }
            panic!("the client never sent `{method}`");
        };
        within(search).await
    }

    /// Waits until the client has gone.
    pub(crate) async fn end(&mut self) {
        let search = async {
            while let Some(message) = self.0.recv().await {
                if message.is_null() {
                    return;
                }
            }
        };
        within(search).await;
    }

    /// Whether a message of this method has been heard and not been taken yet.
    pub(crate) fn has(&mut self, method: &str) -> bool {
        std::iter::from_fn(|| self.0.try_recv().ok()).any(|message| message["method"] == method)
    }
}

/// Long enough for any machine.
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("it did not happen within a minute")
}

type Answer = Box<dyn FnMut(&Value) -> Vec<Value> + Send>;

pub(crate) struct Fake {
    answers: Vec<(&'static str, Answer)>,
}

impl Fake {
    /// A server of revision 2025-11-25 with these tools, which says `done` to every call.
    pub(crate) fn new(tools: Value) -> Self {
        Self {
            answers: Vec::new(),
        }
        .on("initialize", |request| {
            vec![result(
                request,
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "fake", "version": "1"},
                }),
            )]
        })
        .on("tools/list", move |request| {
            vec![result(request, json!({"tools": tools}))]
        })
        .on("tools/call", |request| vec![text(request, "done")])
    }

    /// What it says to a method; the last one told holds.
    pub(crate) fn on(
        mut self,
        method: &'static str,
        answer: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
    ) -> Self {
        self.answers.insert(0, (method, Box::new(answer)));
        self
    }

    pub(crate) fn start(self) -> (Client, Heard) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (sender, heard) = mpsc::unbounded_channel();
        tokio::spawn(self.run(theirs, sender));
        (tokio::io::split(ours), Heard(heard))
    }

    async fn run(mut self, stream: DuplexStream, heard: mpsc::UnboundedSender<Value>) {
        let (reader, mut writer) = tokio::io::split(stream);
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let request: Value = serde_json::from_str(&line).expect("the client writes JSON");
            let _ = heard.send(request.clone());
            let method = request["method"].as_str().unwrap_or_default();
            let told = self.answers.iter_mut().find(|(of, _)| *of == method);
            let answers = match told {
                Some((_, answer)) => answer(&request),
                None if request.get("id").is_some() => vec![refusal(&request, -32601, "unknown")],
                None => Vec::new(),
            };
            for answer in answers {
                // The end of the script.
                if answer.is_null() {
                    return;
                }
                let line = match answer {
                    Value::String(garbage) => garbage,
                    other => other.to_string(),
                };
                if writer
                    .write_all(format!("{line}\n").as_bytes())
                    .await
                    .is_err()
                {
                    break;
                }
            }
        }
        let _ = heard.send(Value::Null);
    }

    pub(crate) async fn import(self) -> Result<(Imported, Heard), ImportError> {
        let (client, heard) = self.start();
        Ok((within(Importer::new().import(client)).await?, heard))
    }

    /// A registry of all its tools.
    pub(crate) async fn registry(self) -> (Registry, Heard) {
        let (imported, heard) = self.import().await.unwrap();
        (Registry::builder().with(imported).build().unwrap(), heard)
    }
}

pub(crate) type Client = (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>);

#[allow(
    clippy::needless_pass_by_value,
    reason = "every caller makes one for it"
)]
pub(crate) fn result(request: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

pub(crate) fn text(request: &Value, text: &str) -> Value {
    result(
        request,
        json!({"content": [{"type": "text", "text": text}]}),
    )
}

pub(crate) fn refusal(request: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})
}

/// A tool without arguments.
pub(crate) fn bare(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

pub(crate) async fn call(registry: &Registry, name: &str, arguments: &str) -> Outcome {
    within(registry.call(ToolCall::new("1", name, arguments))).await
}

/// What was said, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, line: String) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }

    pub(crate) fn read(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
