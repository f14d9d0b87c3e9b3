//! `run_shell`, as a program and a model use it: what arrives, what comes back, and what is left afterwards.

mod arguments;
mod endings;
mod flood;
#[path = "../common/reexec.rs"]
mod reexec;
mod test_shell;
