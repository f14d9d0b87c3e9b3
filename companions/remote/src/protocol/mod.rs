//! What backend and executor say to each other: JSON text frames, `{"type": …, "payload": …}`, over one WebSocket.
//!
//! | file | holds |
//! |---|---|
//! | `executor` | what an executor says |
//! | `backend` | what a backend says |
//! | `reply` | the end of a call as a message, and back |
//! | `artifact` | pictures and files inside JSON |
//! | `ids` | who and what is spoken of |
//! | `shown` | texts of the other side, as they may be shown |
//! | `read` | a frame as a message, or why it is none |

mod artifact;
mod backend;
mod executor;
mod ids;
mod read;
mod reply;
mod shown;
#[cfg(test)]
mod tests;

pub use artifact::WireArtifact;
pub use backend::{Accepted, AgentDelta, BackendMessage, Finished, Refusal, RunTool};
pub use executor::{
    Cancelled, Entry, EntryState, ExecutorMessage, Handshake, Platform, ToolProgress, ToolReply,
    Verdict,
};
pub use ids::{CallId, CallKey, JournalId, TaskId};
pub use read::{Fault, Malformed};
pub(crate) use read::{read, write};

/// The version of the protocol; a peer that speaks another is told so and sent away.
pub const PROTOCOL: u32 = 1;
