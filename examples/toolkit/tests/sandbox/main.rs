//! What a command can reach, use up and leave behind in its sandbox.
#![cfg(target_os = "linux")]

mod confined;
mod faults;
mod limits;
mod measured;
mod names;
mod network;
mod protected;
mod reach;
#[path = "../common/reexec.rs"]
mod reexec;
