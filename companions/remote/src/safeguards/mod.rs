//! Limits that end a run which makes no progress.
//!
//! | file | holds |
//! |---|---|
//! | `limits` | the limits of a run |
//! | `error` | which safeguard ended it |
//! | `loop_detection` | detection of repeated calls |
//! | `watchdog` | the safeguards applied to a run |

mod error;
mod limits;
mod loop_detection;
#[cfg(test)]
mod tests;
mod watchdog;

pub use error::Tripped;
pub use limits::Safeguards;
pub(crate) use watchdog::Watchdog;
