//! What `verify` finds, what it leaves alone, and how it is asked.

#![allow(
    clippy::ignored_unit_patterns,
    clippy::manual_is_multiple_of,
    clippy::single_char_pattern,
    clippy::too_many_arguments,
    reason = "what authors may write, not what they should"
)]

mod asked;
mod boundaries;
mod extremes;
mod far;
mod helpers;
mod kept;
mod right;
mod smallest;
mod types;
mod wrong;
