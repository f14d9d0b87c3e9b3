#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

// | file | holds |
// |---|---|
// | `protocol/` | the messages |
// | `connection` | one WebSocket connection, shared by both sides |
// | `toolbelt/` | the accepted tools of a handshake |
// | `backend/` | the server, its tasks and the calls in flight |
// | `executor/` | the client, which runs the tools |
// | `journal/` | the executor's durable record of what ran |
// | `store/` | the stored state of a backend's tasks |
// | `safeguards/` | limits on a run that makes no progress |
// | `tls` | TLS of the connection, on both sides |
// | `ws_connect` | an attempt to connect to a backend: TCP, TLS, the upgrade |
// | `token` | the token that authenticates an executor |
// | `error` | errors |

mod backend;
mod connection;
mod error;
mod executor;
mod journal;
pub mod protocol;
mod safeguards;
#[cfg(test)]
mod simulation;
pub mod store;
#[cfg(feature = "tls")]
mod tls;
mod token;
mod toolbelt;
mod ws_connect;

pub use backend::{
    Backend, BackendHandle, BackendState, ConnectionLimits, Rejections, Session, SessionEvent, Task,
};
pub use error::RemoteError;
pub use executor::{Executor, ExecutorEvent, ExecutorHandle, Reconnect};
#[cfg(fuzzing)]
pub use journal::recovered;
pub use journal::{Journal, JournalError};
pub use safeguards::{Safeguards, Tripped};
pub use store::StoreError;
pub use store::task_store::CallRecord;
pub use token::Token;
pub use toolbelt::{Limits, Toolbelt};

/// The largest message, in bytes; a longer one ends the connection (close code 1009: RFC 6455, 7.4.1, 2011).
const MAX_MESSAGE_BYTES: usize = 8 << 20;
