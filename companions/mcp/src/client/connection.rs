//! A connection to an MCP server, shared by the tools imported over it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use contract_runtime::{DynamicContext, Log, Progress};
use parking_lot::Mutex;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientConfig, ElicitRequestParams, ElicitResult, ErrorData, NumberOrString,
    ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleClient, RunningService};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::elicitation::{Elicitation, declined};

/// A connection to an MCP server, shared by the tools that were imported over it.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner {
    peer: Peer<RoleClient>,
    /// `None` when it has been closed.
    running: Mutex<Option<RunningService<RoleClient, Listener>>>,
    listener: Listener,
    /// Runs the connection's own tasks, whatever thread drops a call.
    runtime: Handle,
}

impl Connection {
    pub(super) fn new(running: RunningService<RoleClient, Listener>, runtime: Handle) -> Self {
        Self {
            inner: Arc::new(Inner {
                peer: running.peer().clone(),
                listener: running.service().clone(),
                running: Mutex::new(Some(running)),
                runtime,
            }),
        }
    }

    /// Closes the connection: running and later calls fail, and a child process is terminated.
    pub async fn close(&self) {
        let running = self.inner.running.lock().take();
        if let Some(running) = running {
            // Its task has ended either way.
            let _ = running.cancel().await;
        }
    }

    /// Returns whether the server has disconnected or the connection was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.peer.is_transport_closed()
    }

    /// Returns whether the server has announced that its tools changed (`notifications/tools/list_changed`).
    ///
    /// Imported tools keep the schemas that were listed when they were imported. To get the new ones, import the tools again over
    /// a new connection, and build a registry of them. A server of revision 2026-07-28 announces changes only to clients that
    /// subscribe, which this one does not.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.inner.listener.changed.is_cancelled()
    }

    /// Waits until the server [announces](Self::has_changed) that its tools changed, which may be never.
    ///
    /// ```no_run
    /// use contract_mcp::{self, Connection};
    /// use contract_runtime::prelude::*;
    ///
    /// async fn connect() -> Result<(Registry, Connection), Box<dyn std::error::Error>> {
    ///     let tools = contract_mcp::import(contract_mcp::command(std::process::Command::new("file-server"))?).await?;
    ///     let connection = tools.connection();
    ///     Ok((Registry::builder().with(tools).build()?, connection))
    /// }
    ///
    /// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mut registry, mut connection) = connect().await?;
    /// loop {
    ///     connection.changed().await;
    ///     (registry, connection) = connect().await?;
    ///     println!("{} tools", registry.tools().count());
    /// }
    /// # }
    /// ```
    pub async fn changed(&self) {
        self.inner.listener.changed.cancelled().await;
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.inner.peer
    }

    pub(super) fn listener(&self) -> &Listener {
        &self.inner.listener
    }

    pub(super) fn runtime(&self) -> &Handle {
        &self.inner.runtime
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// The client side of the protocol: dispatches progress reports and questions to their calls, and declines every other request
/// of the server.
#[derive(Clone)]
pub(super) struct Listener {
    config: ClientConfig,
    calls: Arc<tokio::sync::Mutex<HashMap<u64, RunningCall>>>,
    /// Cancelled when the list of tools has changed.
    changed: CancellationToken,
}

/// A call that the server has not answered.
struct RunningCall {
    progress: Progress,
    /// The last reported value; reports that go back are dropped.
    done: f64,
    log: Log,
    asked: mpsc::UnboundedSender<Elicitation>,
}

const SEVERAL: &str = "the server asked, and its question was declined, because several calls are running and it does not say which one asks";

/// The longest message of a report, in characters.
const MESSAGE: usize = 2_000;

impl Listener {
    pub(super) fn new(config: ClientConfig) -> Self {
        Self {
            config,
            calls: Arc::default(),
            changed: CancellationToken::new(),
        }
    }

    /// Locks the calls while a request is sent, so that no report can arrive before its call is registered.
    pub(super) async fn sending(&self) -> Sending<'_> {
        Sending(self.calls.lock().await)
    }

    /// Passes a report to its call.
    pub(super) async fn report(&self, report: &ProgressNotificationParam) {
        let Some(token) = number(&report.progress_token) else {
            return;
        };
        let mut calls = self.calls.lock().await;
        let Some(heard) = calls.get_mut(&token) else {
            return;
        };
        if report.progress > heard.done {
            heard.done = report.progress;
            let message = report.message.as_deref().unwrap_or_default();
            let message: String = message.chars().take(MESSAGE).collect();
            heard
                .progress
                .report(report.progress, report.total, message);
        }
    }

    /// Has a question of the server answered by the call that it is about; `None` if it is declined.
    async fn ask(&self, asked: ElicitRequestParams) -> Option<ElicitResult> {
        let (answer, answered) = oneshot::channel();
        {
            let calls = self.calls.lock().await;
            let mut running = calls.values();
            let (Some(call), None) = (running.next(), running.next()) else {
                // The protocol does not say which of them asks.
                calls.values().for_each(|call| call.log.warning(SEVERAL));
                return None;
            };
            call.asked.send(Elicitation { asked, answer }).ok()?;
        }
        answered.await.ok()
    }

    pub(super) async fn forget(&self, token: &ProgressToken) {
        if let Some(token) = number(token) {
            self.calls.lock().await.remove(&token);
        }
    }
}

pub(super) struct Sending<'l>(tokio::sync::MutexGuard<'l, HashMap<u64, RunningCall>>);

impl Sending<'_> {
    /// Registers a call, and returns what the server asks while it runs.
    pub(super) fn register(
        mut self,
        token: &ProgressToken,
        context: &DynamicContext,
    ) -> mpsc::UnboundedReceiver<Elicitation> {
        let (asked, questions) = mpsc::unbounded_channel();
        if let Some(token) = number(token) {
            let call = RunningCall {
                progress: context.progress.clone(),
                done: f64::NEG_INFINITY,
                log: context.log.clone(),
                asked,
            };
            self.0.insert(token, call);
        }
        questions
    }
}

/// Our tokens are numbers; any other is not ours.
fn number(token: &ProgressToken) -> Option<u64> {
    match &token.0 {
        NumberOrString::Number(number) => u64::try_from(*number).ok(),
        NumberOrString::String(_) => None,
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.ask(asked).await.unwrap_or_else(declined))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.cancel();
    }
}
