//! HTTP in front of the runs: what existing clients call, what the page reads, and the page.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the listener, its limits, the routes |
//! | `guard` | who may ask |
//! | `chat` | `/api/chat` and `/api/chat/stream` |
//! | `look` | runs and tools, for the page |
//! | `follow` | events as they happen |
//! | `problem` | what is refused, as JSON |
//! | `page` | one document made of everything in `page/` |

mod chat;
mod follow;
mod guard;
mod look;
mod page;
mod problem;
mod server;

pub use guard::ServiceToken;
pub use server::Service;
