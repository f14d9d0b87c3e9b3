use std::sync::{Arc, Weak};

use tokio::sync::broadcast;

use super::event::SessionEvent;
use super::task::Open;
use super::tool::tool;
use crate::remote::protocol::{AgentDelta, BackendMessage, Finished, Platform};
use crate::remote::safeguards::Tripped;
use crate::remote::toolbelt::{Toolbelt, shown};
use crate::{BuildError, Outcome, Registry, ToolCall};

/// An executor that has dialled in, with the tools that were taken; it survives connections that break.
#[derive(Clone, Debug)]
pub struct Session {
    registry: Registry,
    pub(super) toolbelt: Arc<Toolbelt>,
    platform: Platform,
    /// The task holds its session.
    open: Weak<Open>,
}

impl Session {
    pub(super) fn new(
        open: &Arc<Open>,
        toolbelt: Arc<Toolbelt>,
        platform: &Platform,
    ) -> Result<Self, BuildError> {
        let tools: Vec<_> = toolbelt
            .tools()
            .map(|manifest| tool(manifest, Arc::clone(&open.calls), Arc::clone(&open.watch)))
            .collect();
        let watch = Arc::clone(&open.watch);
        let mut builder = Registry::builder()
            .with(tools)
            .before_call(move |call| watch.before_call(call));
        if let Some(deadline) = open.watch.call_deadline() {
            builder = builder.timeout(deadline);
        }
        Ok(Self {
            registry: builder.build()?,
            toolbelt,
            platform: fit_to_show(platform),
            open: Arc::downgrade(open),
        })
    }

    /// The tools of the toolbelt, for an agent or a caller: a call here runs there.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What was taken, and what was refused.
    #[must_use]
    pub fn toolbelt(&self) -> &Toolbelt {
        &self.toolbelt
    }

    /// Where the tools work, as the executor says.
    #[must_use]
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// What happens from here on; who falls more than 256 behind is told so.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<SessionEvent> {
        match self.open.upgrade() {
            Some(open) => open.calls.events.subscribe(),
            None => broadcast::Sender::new(1).subscribe(),
        }
    }

    /// Makes the calls with which a backend looks around, then tells the executor that it has seen what it needs.
    ///
    /// They are ordinary calls, under the contracts of their tools: what the executor did not declare cannot be seen.
    pub async fn bootstrap(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for call in calls {
            outcomes.push(self.registry.call(call).await);
        }
        self.say(BackendMessage::BootstrapFinished).await;
        outcomes
    }

    /// Runs an agent, or anything else that makes calls here, until it ends or a safeguard trips; then it is dropped.
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
        let ended = open.watch.guard(run).await;
        if let Err(tripped) = &ended {
            let tripped = SessionEvent::Tripped(tripped.clone());
            open.calls.events.tell(tripped);
        }
        ended
    }

    /// Begins an answer of the model: calls from here on, and what is [said](Self::say_delta), belong to it.
    pub fn begin_answer(&self) {
        if let Some(open) = self.open.upgrade() {
            open.calls.next_generation();
        }
    }

    /// Tells the executor a piece of what the model says.
    pub async fn say_delta(&self, text: impl Into<String>) {
        if let Some(open) = self.open.upgrade() {
            open.watch.heard();
            let delta = AgentDelta {
                generation_id: open.calls.generation(),
                text: text.into(),
            };
            open.calls
                .say(BackendMessage::AgentMessageDelta(delta))
                .await;
        }
    }

    /// Tells the executor that the task is over: now, or when it comes back.
    pub async fn finish(&self, success: bool, message: impl Into<String>) {
        if let Some(open) = self.open.upgrade() {
            let message = message.into();
            open.finish(Finished { success, message }).await;
        }
    }

    async fn say(&self, message: BackendMessage) {
        if let Some(open) = self.open.upgrade() {
            open.calls.say(message).await;
        }
    }
}

/// Of a platform what a prompt or a terminal may hold: an executor says of itself what it likes.
pub(super) fn fit_to_show(platform: &Platform) -> Platform {
    let cut = |text: &str, most: usize| shown(&text.replace('\n', " "), most);
    Platform {
        working_directory: cut(&platform.working_directory, 4096),
        system: cut(&platform.system, 40),
        architecture: cut(&platform.architecture, 40),
        ..platform.clone()
    }
}
