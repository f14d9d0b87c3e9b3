//! Streamable HTTP (Model Context Protocol, "Transports: Streamable HTTP").
//!
//! | file | holds |
//! |---|---|
//! | `listen` | the listener, its connections, and their end |
//! | `mounted` | one request: who may ask, where, how much; rmcp answers it |
//! | `door` | which hosts and origins are answered |
//! | `declined` | why a request cannot have its session |
//! | `flights` | requests whose answers are not out yet |
//! | `sessions` | clients of the older revision, as many as there is room for |

mod declined;
mod door;
mod flights;
mod listen;
mod mounted;
mod sessions;

pub use listen::Listening;
pub(super) use listen::bind;
pub(crate) use mounted::Mounted;
