//! Grammars of replies: they accept what a call accepts, and list what they approximate.

#![allow(unused_variables, reason = "the bodies of the tools do nothing")]
#![allow(
    clippy::manual_range_contains,
    clippy::manual_is_multiple_of,
    reason = "bounds as authors write them"
)]

mod decoder;
mod exact;
mod forms;
mod gbnf_reader;
mod generated;
mod mismatches;
mod sampled;
mod tools;
