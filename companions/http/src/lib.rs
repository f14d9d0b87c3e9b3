//! The check of `Host` and `Origin` for servers of contracted tools.

mod origin_check;

pub use origin_check::{OriginCheck, OriginError};
