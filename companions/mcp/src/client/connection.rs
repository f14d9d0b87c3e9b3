//! A connection to an MCP server, shared by the tools imported over it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use contract_runtime::dynamic::DynamicContext;
use contract_runtime::{Log, Progress};
use parking_lot::Mutex;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientConfig, CustomRequest, CustomResult, ElicitRequestParams, ElicitResult, ErrorCode,
    ErrorData, NumberOrString, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleClient, RunningService};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::elicitation::{Elicitation, QUESTIONS, declined};

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
    /// How many questions the server has asked.
    questions: usize,
}

impl RunningCall {
    fn declined(&self, why: &str) {
        self.log.warning(format_args!(
            "the server asked, and its question was declined, because {why}"
        ));
    }
}

const ELICITATION: &str = "elicitation/create";

const SEVERAL: &str = "several calls are running and it does not name the call that asks";
const UNREADABLE: &str = "it asks for more than a form of plain fields";

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

    /// Whether the server was told that it may ask people.
    pub(super) fn may_ask(&self) -> bool {
        self.config.capabilities.elicitation.is_some()
    }

    /// Has a question of the server answered by the call that it is about; `None` if it is declined.
    async fn ask(&self, asked: ElicitRequestParams) -> Option<ElicitResult> {
        let (answer, answered) = oneshot::channel();
        {
            let mut calls = self.calls.lock().await;
            let mut running = calls.values_mut();
            let (Some(call), None) = (running.next(), running.next()) else {
                // The protocol does not say which of them asks.
                for call in calls.values_mut() {
                    call.questions += 1;
                    if call.questions <= QUESTIONS {
                        call.declined(SEVERAL);
                    }
                }
                return None;
            };
            call.questions += 1;
            if call.questions > QUESTIONS {
                // Said once, because a flood of questions must not become one of messages.
                if call.questions == QUESTIONS + 1 {
                    call.declined(&format!("it has asked {QUESTIONS} others"));
                }
                return None;
            }
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
                questions: 0,
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
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if !self.may_ask() {
            return Ok(declined());
        }
        tokio::select! {
            answer = self.ask(asked) => Ok(answer.unwrap_or_else(declined)),
            // The server has taken its question back, and nobody reads the answer.
            () = context.ct.cancelled() => Ok(declined()),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        // A question with fields that the protocol does not have.
        if request.method != ELICITATION || !self.may_ask() {
            let unknown = ErrorCode::METHOD_NOT_FOUND;
            return Err(ErrorData::new(unknown, request.method, None));
        }
        for call in self.calls.lock().await.values_mut() {
            call.questions += 1;
            if call.questions <= QUESTIONS {
                call.declined(UNREADABLE);
            }
        }
        Ok(CustomResult(json!(declined())))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.cancel();
    }
}
