//! Streamable HTTP (Model Context Protocol, "Transports: Streamable HTTP").
//!
//! | file | holds |
//! |---|---|
//! | `settings` | the methods of a server that concern HTTP alone |
//! | `listen` | a listener of its own at `/mcp`: its connections, and their shutdown |
//! | `service` | the server as a tower service: one request, its checks, its answer by rmcp; how it ends |
//! | `authorization` | who sends a request, and the metadata that say how to get access |
//! | `cors` | responses that pages of allowed origins can read |
//! | `session_error` | why a request cannot have its session |
//! | `events` | the events of sessions, kept for clients that were away |
//! | `sessions` | sessions, for revisions that have them, up to a limit |

mod authorization;
mod cors;
mod events;
mod listen;
mod service;
mod session_error;
mod sessions;
mod settings;

pub use listen::BoundServer;
pub use service::HttpService;
pub use settings::serve_http;
