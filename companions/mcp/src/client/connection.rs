//! A connection to an MCP server, shared by the tools imported over it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use contract_runtime::Progress;
use parking_lot::Mutex;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{ClientConfig, NumberOrString, ProgressNotificationParam, ProgressToken};
use rmcp::service::{NotificationContext, Peer, RoleClient, RunningService};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

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

/// The client side of the protocol: dispatches progress reports to their calls, and declines every request of the server.
#[derive(Clone)]
pub(super) struct Listener {
    config: ClientConfig,
    calls: Arc<tokio::sync::Mutex<HashMap<u64, ProgressSink>>>,
    /// Cancelled when the list of tools has changed.
    changed: CancellationToken,
}

/// A call whose progress is reported.
struct ProgressSink {
    progress: Progress,
    /// The last reported value; reports that go back are dropped.
    done: f64,
}

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

    pub(super) async fn forget(&self, token: &ProgressToken) {
        if let Some(token) = number(token) {
            self.calls.lock().await.remove(&token);
        }
    }
}

pub(super) struct Sending<'l>(tokio::sync::MutexGuard<'l, HashMap<u64, ProgressSink>>);

impl Sending<'_> {
    pub(super) fn register(mut self, token: &ProgressToken, progress: Progress) {
        if let Some(token) = number(token) {
            let done = f64::NEG_INFINITY;
            self.0.insert(token, ProgressSink { progress, done });
        }
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

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.cancel();
    }
}
