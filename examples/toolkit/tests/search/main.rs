//! `search_in_files`: what it finds and leaves out, what it costs, and what `rg` finds in the same files.

mod bounds;
mod left_out;
mod peer;
mod races;
#[path = "../common/reexec.rs"]
mod reexec;
mod results;
mod support;
