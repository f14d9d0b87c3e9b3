//! The executor: connects to a backend and runs its calls.
//!
//! | file | holds |
//! |---|---|
//! | `connect` | one attempt to connect to the backend |
//! | `connection` | one connection: handshake, then frames |
//! | `call_table` | the calls: journaled, run, journaled again, and answered |
//! | `drain` | the shutdown that drains calls |
//! | `recovery` | recovery from a journal that cannot be written |
//! | `reconnect` | the delays between attempts to connect |
//! | `event` | the events of an executor |

mod call_table;
mod connect;
mod connection;
mod drain;
mod event;
mod reconnect;
mod recovery;
#[cfg(test)]
mod simulated;
mod task_run;
#[cfg(test)]
mod tests;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_runtime::CancellationToken;
use contract_runtime::Registry;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use call_table::CallTable;
use connect::{ConnectError, connect};
use drain::Drain;
pub use event::ExecutorEvent;
pub use reconnect::Reconnect;

use super::RemoteError;
use super::backend::{LONGEST, SHORTEST};
use super::connection::ConnectionEnd;
use super::journal::{Journal, JournalError};
use super::protocol::{Handshake, PROTOCOL, Platform, TaskId};
use super::token::Token;

/// The callback for events.
type EventCallback = Arc<dyn Fn(ExecutorEvent) + Send + Sync>;

/// Runs the tools of a registry for a backend.
#[derive(Clone)]
#[must_use = "an executor does nothing until it connects"]
pub struct Executor {
    registry: Registry,
    custom: bool,
    journal: Option<Journal>,
    reconnect: Reconnect,
    working_directory: String,
    on_event: EventCallback,
    #[cfg(feature = "tls")]
    roots: Option<super::tls::Roots>,
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("registry", &self.registry)
            .field("custom", &self.custom)
            .field("journal", &self.journal)
            .field("reconnect", &self.reconnect)
            .field("working_directory", &self.working_directory)
            .finish_non_exhaustive()
    }
}

/// A running executor, which works until its task is over or it is dropped.
#[derive(Debug)]
#[must_use = "dropping it ends its connection and cancels its calls"]
pub struct ExecutorHandle {
    /// `None` without a runtime.
    work: Option<JoinHandle<Result<(), RemoteError>>>,
    stop: CancellationToken,
    drain: Arc<Drain>,
}

/// How long closing the connection may take after the last call.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

impl ExecutorHandle {
    /// Waits until the task is over.
    ///
    /// # Errors
    ///
    /// [`RemoteError`]; [`RemoteError::NoRuntime`] when it was connected outside of tokio.
    pub async fn ended(self) -> Result<(), RemoteError> {
        self.ended_or_shutdown(std::future::pending(), Duration::ZERO)
            .await
    }

    /// Waits until the task is over, or until `leave` completes: then no more calls are accepted, running ones have
    /// `drain_timeout` to end, and those that still run are cancelled.
    ///
    /// A call that was not accepted waits at the backend for the next executor that connects, as after a broken connection.
    ///
    /// # Errors
    ///
    /// As [`ended`](Self::ended); none once `leave` is over.
    pub async fn ended_or_shutdown(
        mut self,
        leave: impl Future<Output = ()>,
        drain_timeout: Duration,
    ) -> Result<(), RemoteError> {
        let mut work = self.work.take().ok_or(RemoteError::NoRuntime)?;
        tokio::select! {
            ended = &mut work => return ended.unwrap_or(Err(RemoteError::Gone)),
            () = leave => {}
        }
        tokio::select! {
            // There is nothing left to drain.
            _ = &mut work => return Ok(()),
            () = self.drain.run(drain_timeout) => {}
        }
        self.stop.cancel();
        // The connection closes with a reason, unless it is broken already.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, work).await;
        Ok(())
    }
}

impl Drop for ExecutorHandle {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Executor {
    /// Offers the tools of a registry by name; the backend must know them.
    ///
    /// A call that asks a person is put to the registry's approver ([`Builder::approver`](contract_runtime::Builder::approver)),
    /// within the deadline of the call. Without one it is denied, and the backend is told what was asked.
    pub fn new(registry: Registry) -> Self {
        Self {
            registry,
            custom: false,
            journal: None,
            reconnect: Reconnect::default(),
            working_directory: ".".to_owned(),
            on_event: Arc::new(|_| {}),
            #[cfg(feature = "tls")]
            roots: None,
        }
    }

    /// Offers the tools with their full descriptions, so that the backend need not know them.
    pub fn custom(mut self) -> Self {
        self.custom = true;
        self
    }

    /// Sets the journal that records which calls ran; by default it is in memory, so that a restart of this process
    /// leaves calls in doubt.
    pub fn journal(mut self, journal: Journal) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Sets how the executor reconnects after its connection broke; by default it retries without a limit.
    pub fn reconnect(mut self, reconnect: Reconnect) -> Self {
        self.reconnect = reconnect;
        self
    }

    /// Sets the working directory that is reported to the backend; `.` if it should not be known.
    pub fn working_directory(mut self, shown: impl Into<String>) -> Self {
        self.working_directory = shown.into();
        self
    }

    /// Sets the root certificates that authenticate the backend, in PEM; by default those of the system.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Tls`] where they cannot be read.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    pub fn roots(mut self, certificates: impl AsRef<[u8]>) -> Result<Self, RemoteError> {
        self.roots = Some(super::tls::Roots::new(certificates.as_ref())?);
        Ok(self)
    }

    /// Sets a callback for events; it is called while messages are processed and must not block.
    pub fn on_event(mut self, on_event: impl Fn(ExecutorEvent) + Send + Sync + 'static) -> Self {
        self.on_event = Arc::new(move |event| {
            // A panic of the callback must not end the calls.
            let _ = catch_unwind(AssertUnwindSafe(|| on_event(event)));
        });
        self
    }

    /// Connects to a task, in the background.
    ///
    /// That is a task of the tokio runtime in which this is called, one with I/O and time (`enable_all`). Without a
    /// runtime no connection is made, and [`ExecutorHandle::ended`] returns an error.
    pub fn connect(self, address: impl Into<String>, token: impl Into<Token>) -> ExecutorHandle {
        let (address, token) = (address.into(), token.into());
        let stop = CancellationToken::new();
        let ends = stop.clone();
        let drain = Arc::new(Drain::default());
        let leaves = Arc::clone(&drain);
        let runtime = tokio::runtime::Handle::try_current().ok();
        ExecutorHandle {
            work: runtime.map(|runtime| {
                runtime.spawn(async move { self.work(&address, &token, ends, leaves).await })
            }),
            stop,
            drain,
        }
    }

    async fn work(
        self,
        address: &str,
        token: &Token,
        stop: CancellationToken,
        drain: Arc<Drain>,
    ) -> Result<(), RemoteError> {
        let task = address.rsplit('/').next().and_then(|id| id.parse().ok());
        let task = task.ok_or_else(|| RemoteError::Connect {
            address: super::ws_connect::redact(address),
            reason: "the address does not end with the id of a task".to_owned(),
        })?;
        self.run_connections(task, stop, drain, || connect(&self, address, token))
            .await
    }

    /// Reconnects until the task is over.
    async fn run_connections<S, D>(
        &self,
        task: TaskId,
        stop: CancellationToken,
        drain: Arc<Drain>,
        connect: impl Fn() -> D,
    ) -> Result<(), RemoteError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
        D: Future<Output = Result<WebSocketStream<S>, ConnectError>>,
    {
        let journal = self.journal.clone().unwrap_or_else(Journal::in_memory);
        let registry = self.registry.clone();
        let on_event = Arc::clone(&self.on_event);
        let calls = CallTable::new(registry, journal, task, stop.clone(), drain, on_event);
        let mut attempt = 0_u32;
        loop {
            if !self.recover(&calls, &stop).await? {
                return Ok(());
            }
            let connected = tokio::select! {
                connected = connect() => connected,
                () = stop.cancelled() => return Ok(()),
            };
            let (reason, wait) = match connected {
                Ok(socket) => match self.serve(socket, &calls, &stop).await? {
                    (_, ConnectionEnd::Done) => return Ok(()),
                    (_, ConnectionEnd::ClosedByPeer { code, reason }) if is_final(code) => {
                        return Err(RemoteError::Refused { code, reason });
                    }
                    (_, ConnectionEnd::ClosedHere(_, reason)) if calls.failure().is_none() => {
                        return Err(RemoteError::Protocol(reason));
                    }
                    (
                        accepted,
                        ConnectionEnd::ClosedByPeer { reason, .. }
                        | ConnectionEnd::Broken(reason)
                        | ConnectionEnd::ClosedHere(_, reason),
                    ) => {
                        if accepted {
                            attempt = 0;
                        }
                        (reason, Duration::ZERO)
                    }
                },
                Err(ConnectError::Permanent(error)) => return Err(error),
                Err(ConnectError::Transient { reason, wait }) => (reason, wait),
            };
            (self.on_event)(ExecutorEvent::Lost {
                reason: reason.clone(),
            });
            if calls.failure().is_some() {
                // It reconnects only once the journal can be written.
                continue;
            }
            attempt = attempt.saturating_add(1);
            if let Some(attempts) = self.reconnect.is_exhausted(attempt) {
                tracing::warn!(%task, reason, attempts, "the backend is lost; giving up");
                return Err(RemoteError::Lost { reason, attempts });
            }
            let after = wait.saturating_add(self.reconnect.delay(attempt));
            tracing::warn!(%task, reason, attempt, ?after, "the backend is lost; reconnecting");
            (self.on_event)(ExecutorEvent::Reconnecting {
                attempt,
                of: self.reconnect.attempts,
                after,
            });
            tokio::select! {
                () = tokio::time::sleep(after) => {}
                () = stop.cancelled() => return Ok(()),
            }
        }
    }

    /// Serves one connection; returns whether the backend accepted it, and how it ended.
    async fn serve<S>(
        &self,
        socket: WebSocketStream<S>,
        calls: &Arc<CallTable>,
        stop: &CancellationToken,
    ) -> Result<(bool, ConnectionEnd), RemoteError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // A call that ends from here on replies over this connection; those that ended before are in the handshake.
        let mut queue = calls.attach();
        let handshake = match self.handshake(calls).await {
            Ok(handshake) => handshake,
            Err(error) => {
                calls.record_failure(&error);
                if calls.failure().is_none() {
                    return Err(error.into());
                }
                return Ok((false, ConnectionEnd::Broken(error.to_string())));
            }
        };
        let (socket, accepted) = match connection::send_handshake(socket, handshake).await {
            Ok(entered) => entered,
            Err(ended) => return Ok((false, ended)),
        };
        calls.run.accepted(accepted.epoch);
        if let Err(error) = calls.journal.set_epoch(calls.task(), accepted.epoch).await {
            tracing::warn!(%error, "the epoch could not be written");
            calls.record_failure(&error);
        }
        let keep_alive = Duration::from_millis(accepted.keep_alive_ms).clamp(SHORTEST, LONGEST);
        (self.on_event)(ExecutorEvent::Attached {
            epoch: accepted.epoch,
            toolbelt: accepted.toolbelt,
            refused: accepted.refused,
        });
        let leaves = async {
            tokio::select! {
                () = stop.cancelled() => ConnectionEnd::closed_here(CloseCode::Away, "the executor leaves"),
                why = calls.wait_for_failure() => ConnectionEnd::closed_here(CloseCode::Again, why),
            }
        };
        let ended = connection::run(
            socket,
            calls,
            &mut queue,
            keep_alive,
            &*self.on_event,
            leaves,
        )
        .await;
        calls.detach();
        Ok((true, ended))
    }

    async fn handshake(&self, calls: &CallTable) -> Result<Handshake, JournalError> {
        let journal = &calls.journal;
        let (mut known_tools, mut custom_tools) = (Vec::new(), Vec::new());
        for tool in self.registry.manifest().tools {
            if self.custom {
                custom_tools.push(serde_json::to_value(&tool).unwrap_or_default());
            } else {
                known_tools.push(tool.name);
            }
        }
        Ok(Handshake {
            protocol: PROTOCOL,
            task: calls.task(),
            epoch: journal.epoch(calls.task()).await?,
            journal: journal.id(),
            known_tools,
            custom_tools,
            platform: Platform {
                working_directory: self.working_directory.clone(),
                system: std::env::consts::OS.to_owned(),
                architecture: std::env::consts::ARCH.to_owned(),
                parallel: std::thread::available_parallelism().map_or(1, |threads| {
                    u32::try_from(threads.get()).unwrap_or(u32::MAX)
                }),
            },
            unacknowledged: calls.journal_entries().await?,
        })
    }
}

/// Whether a close code is final: a policy or the protocol was violated, rather than the backend going away.
fn is_final(code: u16) -> bool {
    let codes = [
        CloseCode::Policy,
        CloseCode::Protocol,
        CloseCode::Unsupported,
        CloseCode::Size,
        CloseCode::Invalid,
    ];
    codes.map(u16::from).contains(&code)
}
