//! Tools that stay where the files are: a backend decides, an executor acts, and the contract travels.
//!
//! The executor dials in, so it may sit behind any firewall. It brings a [`Handshake`](protocol::Handshake) with its tools;
//! the backend takes what it knows and what describes itself within the limits, and that [`Toolbelt`] is all a model can see
//! or call. Portable rules are judged by the backend before a call travels; the executor checks again and has the last word.
//!
//! ```
//! use contract_runtime::prelude::*;
//! use contract_runtime::remote::{Backend, Executor};
//!
//! /// Halve an even number.
//! #[tool]
//! #[pre(number % 2 == 0, "only even numbers can be halved")]
//! fn halve(number: i64) -> i64 {
//!     number / 2
//! }
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Registry::builder().tool(halve).build()?;
//! let backend = Backend::new(tools.manifest()).bind("127.0.0.1:0").await?;
//! let (task, token) = backend.task().await?;
//! let executor = Executor::new(tools).connect(task.address(), token);
//!
//! let session = task.attached().await?;
//! let outcome = session.registry().call(ToolCall::new("1", "halve", r#"{"number":42}"#)).await;
//! assert_eq!(outcome.output(), Some("21"));
//! let outcome = session.registry().call(ToolCall::new("2", "halve", r#"{"number":3}"#)).await;
//! assert_eq!(outcome.status(), Status::Violation);
//!
//! session.finish(true, "done").await;
//! executor.ended().await?;
//! # Ok(()) }
//! ```
//!
//! Each accepted call has one end. The executor writes it to its [`Journal`] before it runs, and again before its result is
//! sent, so that after a cut, a crash or a restart of either side the journal says whether it ran. Only a call that a crash
//! of the executor cut short is in doubt: the tool is called again if it is `idempotent`, else the call ends as "unknown
//! outcome".
//!
//! | file | holds |
//! |---|---|
//! | `protocol/` | the messages |
//! | `line` | one connection, the same from both sides |
//! | `toolbelt/` | what of a handshake is taken |
//! | `backend/` | the server, its tasks, the calls that are under way |
//! | `executor/` | the client, which runs the tools |
//! | `journal/` | what ran, as the executor has written it down |
//! | `store/` | what a backend keeps of its tasks |
//! | `safeguards/` | what ends a run that goes nowhere |
//! | `tls` | TLS of the line, on both sides |
//! | `token` | what an executor shows to be let in |
//! | `error` | what can go wrong |

mod backend;
mod error;
mod executor;
mod journal;
mod line;
pub mod protocol;
mod safeguards;
#[cfg(test)]
mod simulation;
pub mod store;
#[cfg(feature = "remote-tls")]
mod tls;
mod token;
mod toolbelt;

pub use backend::{
    Backend, BackendState, ConnectionLimits, Listening, Session, SessionEvent, Task, TurnedAway,
};
pub use error::RemoteError;
pub use executor::{Connected, Executor, ExecutorEvent, Reconnect};
#[cfg(fuzzing)]
pub use journal::recovered;
pub use journal::{Journal, JournalError};
pub use safeguards::{Safeguards, Tripped};
pub use store::StoreError;
pub use store::ledger::KeptCall;
pub use token::Token;
#[cfg(test)]
pub(crate) use toolbelt::reads_rule;
pub use toolbelt::{Limits, Toolbelt};

/// The largest message, in bytes; a longer one ends the connection (close code 1009: RFC 6455, 7.4.1, 2011).
const LARGEST: usize = 8 << 20;
