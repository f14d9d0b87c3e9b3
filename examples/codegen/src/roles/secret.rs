//! Reads and writes tokens in variables and files.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use super::Failure;

/// Reads a token from a variable or a file; arguments of a program can be seen by everybody on the machine.
pub(super) fn read(variable: Option<&str>, file: Option<&Path>) -> Result<Option<String>, Failure> {
    if let Some(name) = variable {
        let text = std::env::var(name).map_err(|error| format!("the variable {name}: {error}"))?;
        return Ok(Some(text.trim().to_owned()));
    }
    let Some(path) = file else { return Ok(None) };
    let text = fs::read_to_string(path);
    let text = text.map_err(|error| format!("the token in `{}`: {error}", path.display()))?;
    Ok(Some(text.trim().to_owned()))
}

/// Writes a token into a file of its own, which only this user can read.
pub(super) fn write(path: &Path, token: &str) -> Result<(), Failure> {
    let failed = |error| {
        format!(
            "the token cannot be written to `{}`: {error}",
            path.display()
        )
    };
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(failed(error).into());
        }
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(failed)?;
    writeln!(file, "{token}").map_err(failed)?;
    Ok(())
}
