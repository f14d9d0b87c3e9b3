//! What `run_shell` refuses with a sentence before anything is run. What passes runs, in a sandbox and
//! without any program in its path.

mod passing;
mod refused;
mod shell;
