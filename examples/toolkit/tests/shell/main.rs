//! `run_shell`, as a program and a model use it: what arrives, what comes back, and what is left afterwards.

mod arguments;
mod endings;
#[path = "../shell_desk/mod.rs"]
mod shell_desk;
