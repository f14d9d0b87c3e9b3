//! The side that decides.
//!
//! | file | holds |
//! |---|---|
//! | `settings` | what the tasks of a backend have in common |
//! | `server` | a backend, before and while it listens |
//! | `entry`, `limits` | how executors come in, as it was set |
//! | `accept` | connections, up to their upgrade |
//! | `door` | who is let in: token, Origin, the upgrade |
//! | `crowd` | how many, and how fast |
//! | `doors`, `shutdown` | what is under way, and the end that waits for it |
//! | `state` | what it all comes to, for dashboards |
//! | `listening` | tasks that are opened, and opened again |
//! | `task` | what an executor dials in for: epochs, the session |
//! | `settled` | the tools of a task, which do not change |
//! | `line` | one executor's connection: handshake, frames, keep-alive |
//! | `session` | what a run has of its executor |
//! | `tool` | a tool that lives elsewhere |
//! | `calls/` | calls that are under way, whatever happens to connections |
//! | `post/` | several backends that share their work |
//! | `event` | what a session tells |

mod accept;
mod calls;
mod crowd;
mod door;
mod doors;
mod entry;
mod event;
mod limits;
mod line;
mod listening;
#[cfg(feature = "redis")]
mod post;
mod server;
mod session;
mod settings;
mod settled;
mod shutdown;
#[cfg(test)]
pub(super) mod simulated;
mod state;
mod task;
mod tool;

pub use event::SessionEvent;
pub use limits::ConnectionLimits;
pub use server::{Backend, Listening};
pub use session::Session;
pub(super) use settings::{LONGEST, SHORTEST};
pub use state::{BackendState, TurnedAway};
pub use task::Task;
