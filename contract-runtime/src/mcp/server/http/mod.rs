//! Streamable HTTP (Model Context Protocol, "Transports: Streamable HTTP").
//!
//! | file | holds |
//! |---|---|
//! | `listen` | the listener, its connections, and their end |
//! | `mounted` | one request: who may ask, where, how much; rmcp answers it |
//! | `door` | which hosts and origins are answered |
//! | `flights` | requests whose answers are not out yet |
//! | `sessions` | clients of the older revision, as many as there is room for |
//! | `patient` | a connection whose peer has to read |

mod door;
mod flights;
mod listen;
mod mounted;
mod patient;
mod sessions;

pub use listen::Listening;
pub(super) use listen::bind;
pub(crate) use mounted::Mounted;
