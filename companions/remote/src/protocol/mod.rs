//! The messages of the protocol: JSON text frames, `{"type": …, "payload": …}`, over one WebSocket.
//!
//! | file | holds |
//! |---|---|
//! | `executor` | messages from the executor |
//! | `backend` | messages from the backend |
//! | `reply` | the end of a call as a message, and back |
//! | `artifact` | images and files inside JSON |
//! | `ids` | ids of tasks, calls and journals |
//! | `sanitize` | sanitised texts of the peer |
//! | `read` | parsing a frame, or why it is malformed |

mod artifact;
mod backend;
mod executor;
mod ids;
mod read;
mod reply;
mod sanitize;
#[cfg(test)]
mod tests;

pub use artifact::WireArtifact;
pub use backend::{Accepted, AgentDelta, BackendMessage, Finished, Refusal, RunTool};
pub use executor::{
    Cancelled, Entry, EntryState, ExecutorMessage, Handshake, Platform, ToolLog, ToolProgress,
    ToolReply, Verdict,
};
pub(crate) use ids::received_key;
pub use ids::{CallId, CallKey, JournalId, TaskId};
pub use read::{Fault, Malformed};
pub(crate) use read::{read, write};

/// The protocol version; a peer with another one is rejected.
pub const PROTOCOL: u32 = 1;
