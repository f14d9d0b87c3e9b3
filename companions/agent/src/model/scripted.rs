//! A model with scripted replies, for tests.

use std::sync::Arc;

use contract_runtime::ToolCall;
use parking_lot::Mutex;

use super::{Delta, Model, ModelError, Reply, Request, Usage};
use crate::generator::stream_with;
use crate::message::Message;

/// A model for tests, which gives the replies of a script in order and keeps the requests.
///
/// Clones share the script, so that a test keeps one to look at.
///
/// ```
/// use contract_agent::{ContractAgent, Message, Scripted, ToolCallingAgent};
/// use contract_runtime::prelude::*;
///
/// /// Tell the time.
/// #[tool(read_only)]
/// fn time() -> &'static str {
///     "noon"
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(time).build()?;
/// let model = Scripted::new().calls("I look.", [("time", "{}")]).text("It is noon.");
/// let agent = ContractAgent::builder(ToolCallingAgent::new(model.clone(), registry)).build();
/// assert!(agent.run("What time is it?").await.success);
///
/// let requests = model.requests();
/// assert_eq!(requests.len(), 2);
/// assert!(matches!(requests[1].last(), Some(Message::Tool { text, .. }) if text == "noon"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Scripted {
    script: Vec<Vec<Delta>>,
    requests: Arc<Mutex<Vec<Vec<Message>>>>,
}

impl Scripted {
    /// Creates a script without replies.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a reply with this text.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.reply([Delta::Text(text.into())])
    }

    /// Adds a reply with this text and tool calls, each given by its name and its arguments: JSON text, or a `Value`.
    pub fn calls<N, A>(
        self,
        text: impl Into<String>,
        calls: impl IntoIterator<Item = (N, A)>,
    ) -> Self
    where
        N: Into<String>,
        A: std::fmt::Display,
    {
        let number = self.script.len();
        let calls = calls
            .into_iter()
            .enumerate()
            .map(|(index, (name, arguments))| {
                Delta::Call(ToolCall::new(format!("{number}-{index}"), name, arguments))
            });
        let text = text.into();
        let text = (!text.is_empty()).then_some(Delta::Text(text));
        let reply: Vec<Delta> = text.into_iter().chain(calls).collect();
        self.reply(reply)
    }

    /// Adds a reply with these pieces.
    pub fn reply(mut self, pieces: impl IntoIterator<Item = Delta>) -> Self {
        self.script.push(pieces.into_iter().collect());
        self
    }

    /// Returns the requests so far, one conversation for each request.
    #[must_use]
    pub fn requests(&self) -> Vec<Vec<Message>> {
        self.requests.lock().clone()
    }
}

impl Model for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        let number = {
            let mut requests = self.requests.lock();
            requests.push(request.messages.to_vec());
            requests.len() - 1
        };
        Box::pin(stream_with(move |emitter| async move {
            let Some(pieces) = self.script.get(number) else {
                let replies = self.script.len();
                emitter.emit(Err(ModelError::ScriptEnded { replies })).await;
                return;
            };
            for piece in pieces {
                emitter.emit(Ok(piece.clone())).await;
            }
            if !pieces.iter().any(|piece| matches!(piece, Delta::Usage(_))) {
                emitter.emit(Ok(Delta::Usage(Usage::new(0, 0)))).await;
            }
        }))
    }
}
