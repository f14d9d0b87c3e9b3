//! A session: the executor of a task, its tools and its events.

use std::future::ready;
use std::sync::{Arc, Weak};

use contract_runtime::{BuildError, Outcome, Registry, ToolCall};
use tokio::sync::broadcast;

use super::event::SessionEvent;
use super::task::OpenTask;
use super::tool::tool;
use crate::protocol::{AgentDelta, BackendMessage, Finished, Platform};
use crate::safeguards::Tripped;
use crate::toolbelt::{Toolbelt, sanitize};

/// A connected executor with its accepted tools; a session survives broken connections.
#[derive(Clone, Debug)]
pub struct Session {
    registry: Registry,
    pub(super) toolbelt: Arc<Toolbelt>,
    platform: Platform,
    /// Weak, because the task holds its session.
    open: Weak<OpenTask>,
}

impl Session {
    pub(super) fn new(
        open: &Arc<OpenTask>,
        toolbelt: Arc<Toolbelt>,
        platform: &Platform,
    ) -> Result<Self, BuildError> {
        let tools: Vec<_> = toolbelt
            .tools()
            .map(|manifest| {
                tool(
                    manifest,
                    Arc::clone(&open.calls),
                    Arc::clone(&open.watchdog),
                )
            })
            .collect();
        let watch = Arc::clone(&open.watchdog);
        let mut builder = Registry::builder()
            .with(tools)
            .before_call(move |call, _| ready(watch.before_call(&call)));
        if let Some(deadline) = open.watchdog.call_deadline() {
            builder = builder.timeout(deadline);
        }
        for tool in &open.settings.confirms {
            if toolbelt.tools().any(|offered| offered.name == *tool) {
                builder = builder.confirm(tool);
            }
        }
        Ok(Self {
            registry: builder.build()?,
            toolbelt,
            platform: sanitize_platform(platform),
            open: Arc::downgrade(open),
        })
    }

    /// Returns the accepted tools as a registry, for an agent or a caller: a call runs on the executor.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the tools that were accepted and those that were refused.
    #[must_use]
    pub fn toolbelt(&self) -> &Toolbelt {
        &self.toolbelt
    }

    /// Returns where the tools work, as the executor reports it.
    #[must_use]
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// Subscribes to the events of the session; a receiver that falls more than 256 events behind gets an error.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<SessionEvent> {
        match self.open.upgrade() {
            Some(open) => open.calls.events.subscribe(),
            None => broadcast::Sender::new(1).subscribe(),
        }
    }

    /// Makes the calls by which a backend inspects its executor's environment, then tells the executor that it is ready
    /// to begin.
    ///
    /// They are ordinary calls, under the contracts of their tools: what the executor did not declare cannot be seen.
    pub async fn bootstrap(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for call in calls {
            outcomes.push(self.registry.call(call).await);
        }
        self.send(BackendMessage::BootstrapFinished).await;
        outcomes
    }

    /// Runs an agent, or anything else that makes calls here, until it ends or a safeguard trips; then the run is
    /// dropped.
    ///
    /// # Errors
    ///
    /// [`Tripped`], which says which safeguard, and why.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time.
    pub async fn guard<T>(&self, run: impl Future<Output = T>) -> Result<T, Tripped> {
        let Some(open) = self.open.upgrade() else {
            return Ok(run.await);
        };
        let ended = open.watchdog.guard(run).await;
        if let Err(tripped) = &ended {
            let tripped = SessionEvent::Tripped(tripped.clone());
            open.calls.events.emit(tripped);
        }
        ended
    }

    /// Begins an answer of the model, to which later calls and [text](Self::send_delta) belong.
    pub fn begin_answer(&self) {
        if let Some(open) = self.open.upgrade() {
            open.calls.next_generation();
        }
    }

    /// Sends the executor a piece of the model's text.
    pub async fn send_delta(&self, text: impl Into<String>) {
        if let Some(open) = self.open.upgrade() {
            open.watchdog.record_activity();
            let delta = AgentDelta {
                generation_id: open.calls.generation(),
                text: text.into(),
            };
            open.calls
                .send(BackendMessage::AgentMessageDelta(delta))
                .await;
        }
    }

    /// Tells the executor that the task is over: now, or when it reconnects.
    pub async fn finish(&self, success: bool, message: impl Into<String>) {
        if let Some(open) = self.open.upgrade() {
            let message = message.into();
            open.finish(Finished { success, message }).await;
        }
    }

    async fn send(&self, message: BackendMessage) {
        if let Some(open) = self.open.upgrade() {
            open.calls.send(message).await;
        }
    }
}

/// Sanitises a platform for prompts and terminals: an executor may report anything.
pub(super) fn sanitize_platform(platform: &Platform) -> Platform {
    let cut = |text: &str, most: usize| sanitize(&text.replace('\n', " "), most);
    Platform {
        working_directory: cut(&platform.working_directory, 4096),
        system: cut(&platform.system, 40),
        architecture: cut(&platform.architecture, 40),
        ..platform.clone()
    }
}
