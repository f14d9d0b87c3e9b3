//! Maps tool names of a server to valid, unique names.

use std::collections::HashMap;

use contract_runtime::__family::escaped;

use super::ImportError;

/// The longest name that every provider accepts.
const LONGEST: usize = 64;

/// Converts a tool's name to a valid one: characters that are not allowed become `_`, a leading digit or `-` is preceded by
/// `_`, and only the first 64 characters are kept.
pub(super) fn legal(name: &str) -> String {
    let allowed = |c: char| {
        let legal = c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if legal { c } else { '_' }
    };
    let begins = name.starts_with(|c: char| c.is_ascii_digit() || c == '-') || name.is_empty();
    let start = begins.then_some('_');
    start
        .into_iter()
        .chain(name.chars().map(allowed))
        .take(LONGEST)
        .collect()
}

/// The names of imported tools, with the server's names.
#[derive(Debug, Default)]
pub(super) struct Names {
    theirs: HashMap<String, String>,
}

impl Names {
    /// Adds a name of the server, and returns the valid one.
    pub(super) fn take(&mut self, theirs: &str) -> Result<String, ImportError> {
        let ours = legal(theirs);
        if let Some(first) = self.theirs.get(&ours) {
            return Err(ImportError::Duplicate {
                name: ours,
                first: shortened(first),
                second: shortened(theirs),
            });
        }
        self.theirs.insert(ours.clone(), theirs.to_owned());
        Ok(ours)
    }

    pub(super) fn theirs(&self, ours: &str) -> Option<&str> {
        self.theirs.get(ours).map(String::as_str)
    }
}

/// Shortens a text of the server for a message, and escapes characters that move the cursor, or hide or reorder text.
pub(super) fn shortened(text: &str) -> String {
    let start: String = text.chars().take(200).collect();
    let mut short = escaped(&start);
    if start.len() < text.len() {
        short.push('…');
    }
    short
}
