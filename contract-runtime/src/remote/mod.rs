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
//! let task = backend.task();
//! let executor = Executor::new(tools).connect(task.address(), task.token());
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
//! A beginning: a connection that breaks is not dialled again, and a call that was under way then ends as `failed` with
//! "unknown outcome", because no journal says yet whether it ran. Pictures and files do not travel. TLS is for a proxy.
//!
//! | file | holds |
//! |---|---|
//! | `protocol/` | the messages |
//! | `toolbelt/` | what of a handshake is taken |
//! | `backend/` | the server, its tasks, the calls that are under way |
//! | `executor/` | the client, which runs the tools |
//! | `error` | what can go wrong with a connection |

mod backend;
mod error;
mod executor;
pub mod protocol;
mod toolbelt;

pub use backend::{Backend, Listening, Session, Task};
pub use error::RemoteError;
pub use executor::{Connected, Executor};
pub use toolbelt::{Limits, Toolbelt};
