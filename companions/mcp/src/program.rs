//! The name of the running program, for peers.

/// The version of a program that has not said which it is.
pub(crate) const NO_VERSION: &str = "0.0.0";

/// Returns the file name of the program, without its extension.
pub(crate) fn name() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(|path| path.file_stem());
    let name = name.map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "program".to_owned())
}
