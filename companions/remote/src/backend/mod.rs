//! The backend: decides which calls are made, and listens for executors.
//!
//! | file | holds |
//! |---|---|
//! | `settings` | the settings that the tasks of a backend share |
//! | `server` | the backend before and after it listens |
//! | `listener`, `limits` | the address, TLS and connection limits |
//! | `accept` | connections before their upgrade |
//! | `upgrade` | request validation: token, `Origin`, the upgrade |
//! | `admission` | admission control: connection and rate limits |
//! | `drain`, `shutdown` | calls and connections in flight, and the shutdown that drains them |
//! | `state` | a snapshot of the counters, for dashboards |
//! | `tasks` | opening, reopening and closing tasks |
//! | `task` | an open task: epochs, the latest connection, the session |
//! | `pinned_tools` | the tools of a task, which never change |
//! | `connection` | one executor's connection: handshake, frames, keep-alive |
//! | `session` | a session: the executor's tools and its events |
//! | `tool` | an executor's tool as a tool of the registry |
//! | `calls/` | calls in flight, which outlive connections |
//! | `cluster/` | several backends on one store |
//! | `event` | the events of a session |

mod accept;
mod admission;
mod calls;
#[cfg(feature = "redis")]
mod cluster;
mod connection;
mod drain;
mod event;
mod limits;
mod listener;
mod pinned_tools;
mod server;
mod session;
mod settings;
mod shutdown;
#[cfg(test)]
pub(super) mod simulated;
mod state;
mod task;
mod tasks;
#[cfg(test)]
mod tests;
mod tool;
mod upgrade;

pub use event::SessionEvent;
pub use limits::ConnectionLimits;
pub use server::{Backend, BackendHandle};
pub use session::Session;
pub(super) use settings::{LONGEST, SHORTEST};
pub use state::{BackendState, Rejections};
pub use task::Task;
