//! The side that acts.
//!
//! | file | holds |
//! |---|---|
//! | `dial`, `reach` | one attempt to reach the backend: TCP, TLS, the upgrade |
//! | `line` | one connection: handshake, then frames |
//! | `desk` | the calls: to the journal, to the registry, to the journal, to the backend |
//! | `leaving` | the end that waits for calls |
//! | `reconnect` | how long it waits before it dials again |
//! | `event` | what its user is told |

mod desk;
mod dial;
mod event;
mod leaving;
mod line;
mod reach;
mod reconnect;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_util::sync::{CancellationToken, DropGuard};

use desk::Desk;
use dial::{Failed, dial};
pub use event::ExecutorEvent;
use leaving::Leaving;
pub(super) use reach::check;
pub use reconnect::Reconnect;

use super::RemoteError;
use super::backend::{LONGEST, SHORTEST};
use super::journal::Journal;
use super::line::Ended;
use super::protocol::{Handshake, PROTOCOL, Platform, TaskId};
use super::token::Token;
use crate::Registry;

/// A registry that runs its tools for a backend.
#[derive(Clone)]
#[must_use = "an executor does nothing until it connects"]
pub struct Executor {
    registry: Registry,
    custom: bool,
    journal: Option<Journal>,
    reconnect: Reconnect,
    working_directory: String,
    tell: Arc<dyn Fn(ExecutorEvent) + Send + Sync>,
    #[cfg(feature = "remote-tls")]
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

/// An executor that works, until its task is over or it is dropped.
#[derive(Debug)]
#[must_use = "dropping it ends its connection and cancels its calls"]
pub struct Connected {
    /// There is none without a runtime.
    work: Option<JoinHandle<Result<(), RemoteError>>>,
    over: DropGuard,
    leaving: Arc<Leaving>,
}

/// How long a goodbye may take after the last call.
const GOODBYE: Duration = Duration::from_secs(2);

impl Connected {
    /// Waits until the task is over.
    ///
    /// # Errors
    ///
    /// [`RemoteError`]; [`RemoteError::NoRuntime`] when it was connected outside of tokio.
    pub async fn ended(self) -> Result<(), RemoteError> {
        self.ended_or_shutdown(std::future::pending(), Duration::ZERO)
            .await
    }

    /// Waits until the task is over, or until `leave` is: then no more calls are taken, those at work have as long as `drain`
    /// to end, and what runs even then is cancelled.
    ///
    /// A call that was not taken waits at the backend for the executor that dials in next, as one that was cut off does.
    ///
    /// # Errors
    ///
    /// As [`ended`](Self::ended); none once `leave` is over.
    pub async fn ended_or_shutdown(
        self,
        leave: impl Future<Output = ()>,
        drain: Duration,
    ) -> Result<(), RemoteError> {
        let Self {
            work,
            over,
            leaving,
        } = self;
        let mut work = work.ok_or(RemoteError::NoRuntime)?;
        tokio::select! {
            ended = &mut work => return ended.unwrap_or(Err(RemoteError::Gone)),
            () = leave => {}
        }
        tokio::select! {
            // Nothing is left that could come to an end.
            _ = &mut work => return Ok(()),
            () = leaving.leave(drain) => {}
        }
        drop(over);
        // Whoever is left is told that it is over, or is gone.
        let _ = tokio::time::timeout(GOODBYE, work).await;
        Ok(())
    }
}

impl Executor {
    /// Offers the tools of a registry by name: the backend knows them.
    pub fn new(registry: Registry) -> Self {
        Self {
            registry,
            custom: false,
            journal: None,
            reconnect: Reconnect::default(),
            working_directory: ".".to_owned(),
            tell: Arc::new(|_| {}),
            #[cfg(feature = "remote-tls")]
            roots: None,
        }
    }

    /// Offers them with all that describes them: the backend need not know them.
    pub fn custom(mut self) -> Self {
        self.custom = true;
        self
    }

    /// Where it is written which calls ran; without, in memory, so that a restart of this process leaves calls in doubt.
    pub fn journal(mut self, journal: Journal) -> Self {
        self.journal = Some(journal);
        self
    }

    /// How it dials again after its connection broke.
    pub fn reconnect(mut self, reconnect: Reconnect) -> Self {
        self.reconnect = reconnect;
        self
    }

    /// The folder that the tools work in, as the backend is told; `.` where it is nobody's business.
    pub fn working_directory(mut self, shown: impl Into<String>) -> Self {
        self.working_directory = shown.into();
        self
    }

    /// Whom it trusts to say who a backend is, in PEM; without, the certificates of the system.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Tls`] where they cannot be read.
    #[cfg(feature = "remote-tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "remote-tls")))]
    pub fn roots(mut self, certificates: impl AsRef<[u8]>) -> Result<Self, RemoteError> {
        self.roots = Some(super::tls::Roots::new(certificates.as_ref())?);
        Ok(self)
    }

    /// Is told what happens, on the way of every message: it must not wait.
    pub fn on_event(mut self, tell: impl Fn(ExecutorEvent) + Send + Sync + 'static) -> Self {
        self.tell = Arc::new(move |event| {
            // Its panic is its own: the calls go on.
            let _ = catch_unwind(AssertUnwindSafe(|| tell(event)));
        });
        self
    }

    /// Dials in to a task, in the background.
    ///
    /// That is a task of the tokio runtime in which this is called, one with I/O and time (`enable_all`). Without a
    /// runtime nothing is dialled, and [`Connected::ended`] says so.
    pub fn connect(self, address: impl Into<String>, token: impl Into<Token>) -> Connected {
        let (address, token) = (address.into(), token.into());
        let over = CancellationToken::new();
        let ends = over.clone();
        let leaving = Arc::new(Leaving::default());
        let leaves = Arc::clone(&leaving);
        let runtime = tokio::runtime::Handle::try_current().ok();
        Connected {
            work: runtime.map(|runtime| {
                runtime.spawn(async move { self.work(&address, &token, ends, leaves).await })
            }),
            over: over.drop_guard(),
            leaving,
        }
    }

    async fn work(
        self,
        address: &str,
        token: &Token,
        over: CancellationToken,
        leaving: Arc<Leaving>,
    ) -> Result<(), RemoteError> {
        let task = address.rsplit('/').next().and_then(|id| id.parse().ok());
        let task = task.ok_or_else(|| RemoteError::Connect {
            address: reach::shown(address),
            reason: "the address does not end with the id of a task".to_owned(),
        })?;
        self.over_lines(task, over, leaving, || dial(&self, address, token))
            .await
    }

    /// One connection after the other, until the task is over.
    async fn over_lines<S, D>(
        &self,
        task: TaskId,
        over: CancellationToken,
        leaving: Arc<Leaving>,
        dial: impl Fn() -> D,
    ) -> Result<(), RemoteError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
        D: Future<Output = Result<WebSocketStream<S>, Failed>>,
    {
        let journal = self.journal.clone().unwrap_or_else(Journal::in_memory);
        let registry = self.registry.clone();
        let desk = Desk::new(registry, journal.clone(), task, over.clone(), leaving);
        let mut attempt = 0;
        loop {
            let dialled = tokio::select! {
                dialled = dial() => dialled,
                () = over.cancelled() => return Ok(()),
            };
            let (reason, wait) = match dialled {
                Ok(socket) => match self.attached(socket, &desk, &journal, &over).await? {
                    (_, Ended::Done) => return Ok(()),
                    (_, Ended::Closed { code, reason }) if is_final(code) => {
                        return Err(RemoteError::Refused { code, reason });
                    }
                    (_, Ended::Dismissed(_, reason)) => {
                        return Err(RemoteError::Protocol(reason));
                    }
                    (let_in, Ended::Closed { reason, .. } | Ended::Broken(reason)) => {
                        if let_in {
                            attempt = 0;
                        }
                        (reason, Duration::ZERO)
                    }
                },
                Err(Failed::ForGood(error)) => return Err(error),
                Err(Failed::Now { reason, wait }) => (reason, wait),
            };
            (self.tell)(ExecutorEvent::Lost {
                reason: reason.clone(),
            });
            attempt += 1;
            if attempt > self.reconnect.attempts {
                return Err(RemoteError::Lost {
                    reason,
                    attempts: self.reconnect.attempts,
                });
            }
            let after = wait.saturating_add(self.reconnect.delay(attempt));
            (self.tell)(ExecutorEvent::Dialling {
                attempt,
                of: self.reconnect.attempts,
                after,
            });
            tokio::select! {
                () = tokio::time::sleep(after) => {}
                () = over.cancelled() => return Ok(()),
            }
        }
    }

    /// One connection: whether the backend let it in, and how it ended.
    async fn attached<S>(
        &self,
        socket: WebSocketStream<S>,
        desk: &Arc<Desk>,
        journal: &Journal,
        over: &CancellationToken,
    ) -> Result<(bool, Ended), RemoteError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // What ends from here on waits for this connection; what ended before is in the handshake.
        let mut queue = desk.attach();
        let handshake = self.handshake(desk, journal).await?;
        let (socket, accepted) = match line::enter(socket, handshake).await {
            Ok(entered) => entered,
            Err(ended) => return Ok((false, ended)),
        };
        if let Err(error) = journal.set_epoch(desk.task(), accepted.epoch).await {
            tracing::warn!(%error, "the epoch could not be written");
        }
        let keep_alive = Duration::from_millis(accepted.keep_alive_ms).clamp(SHORTEST, LONGEST);
        (self.tell)(ExecutorEvent::Attached {
            epoch: accepted.epoch,
            toolbelt: accepted.toolbelt,
            refused: accepted.refused,
        });
        let leaves = async {
            over.cancelled().await;
            Ended::dismissed(CloseCode::Away, "the executor leaves")
        };
        let ended = line::work(socket, desk, &mut queue, keep_alive, &*self.tell, leaves).await;
        desk.detach();
        Ok((true, ended))
    }

    async fn handshake(&self, desk: &Desk, journal: &Journal) -> Result<Handshake, RemoteError> {
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
            task: desk.task(),
            epoch: journal.epoch(desk.task()).await?,
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
            unacknowledged: desk.entries().await?,
        })
    }
}

/// Whether a goodbye is meant for good: a policy or the protocol was broken, rather than the backend going away.
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
