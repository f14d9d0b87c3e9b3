//! What ends a run that goes nowhere.
//!
//! | file | holds |
//! |---|---|
//! | `figures` | when a run goes nowhere |
//! | `tripped` | which safeguard ended it |
//! | `repeats` | calls that come again and again |
//! | `watch` | the run under its safeguards |

mod figures;
mod repeats;
#[cfg(test)]
mod tests;
mod tripped;
mod watch;

pub use figures::Safeguards;
pub use tripped::Tripped;
pub(crate) use watch::Watch;
