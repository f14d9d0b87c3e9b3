//! The side that decides.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the listener: token, Origin, the upgrade |
//! | `task` | what an executor dials in for, and the session once it has |
//! | `connection` | one executor's line: handshake, frames, keep-alive |
//! | `pending` | calls that are under way |
//! | `tool` | a tool that lives elsewhere |

mod connection;
mod pending;
mod server;
mod task;
mod tool;

pub use server::{Backend, Listening};
pub use task::{Session, Task};
