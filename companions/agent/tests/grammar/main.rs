//! Grammars of replies: what they accept, a call accepts; what they cannot say, they list.

#![allow(unused_variables, reason = "the bodies of the tools do nothing")]
#![allow(
    clippy::manual_range_contains,
    clippy::manual_is_multiple_of,
    reason = "bounds as authors write them"
)]

mod exact;
mod figures;
mod forms;
mod generated;
mod masks;
mod mismatches;
mod reader;
mod sampled;
mod tools;
