use std::collections::HashMap;

use super::ImportError;

/// The longest name that every provider takes.
const LONGEST: usize = 64;

/// The name of another server's tool here: `_` for what is not allowed, before a digit or `-` at the beginning too, and
/// the first 64 characters.
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

/// Which name here is whose.
#[derive(Debug, Default)]
pub(super) struct Names {
    theirs: HashMap<String, String>,
}

impl Names {
    /// Takes a name in.
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

/// A text of the server's, short enough for a message.
pub(super) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(200).flat_map(plain).collect();
    if short.len() < text.len() && text.chars().nth(200).is_some() {
        short.push('…');
    }
    short
}

/// What could move the cursor of whoever reads a message is written as its number.
fn plain(c: char) -> Vec<char> {
    if c.is_control() {
        return c.escape_unicode().collect();
    }
    vec![c]
}
