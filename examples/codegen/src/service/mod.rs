//! The HTTP service: the chat API, the read API of the page, and the page.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the listener, its limits, the routes |
//! | `guard` | authorisation |
//! | `chat` | `/api/chat` and `/api/chat/stream` |
//! | `runs_api` | runs and tools, for the page |
//! | `follow` | server-sent events |
//! | `problem` | error responses, as JSON |
//! | `page` | one document made of everything in `page/` |

mod chat;
mod follow;
mod guard;
mod page;
mod problem;
mod runs_api;
mod server;

pub use guard::ServiceToken;
pub use server::Service;
