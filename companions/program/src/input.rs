//! Reads bounded input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::CommandError;

/// Reads a file, or standard input where the path is `-`; `None` if it is longer than the limit.
pub(super) fn file(limit: usize, path: &Path) -> Result<Option<String>, CommandError> {
    if path == Path::new("-") {
        return at_most(limit, io::stdin().lock());
    }
    let unread = |source| CommandError::Unread {
        path: path.to_owned(),
        source,
    };
    at_most(limit, File::open(path).map_err(unread)?).map_err(|error| match error {
        CommandError::Io(source) => unread(source),
        CommandError::NotUtf8 { .. } => unread(io::Error::new(
            io::ErrorKind::InvalidData,
            "it is not UTF-8",
        )),
        other => other,
    })
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads the whole input as text, without a byte order mark; `None` if it is longer than the limit, beyond which nothing is read.
fn at_most(limit: usize, source: impl Read) -> Result<Option<String>, CommandError> {
    let mut bytes = Vec::new();
    let one_more = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    source.take(one_more).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Ok(None);
    }
    let mut text = String::from_utf8(bytes).map_err(|error| CommandError::NotUtf8 {
        at: error.utf8_error().valid_up_to(),
    })?;
    // Editors on Windows write one, and a reader of JSON may ignore it (RFC 8259, section 8.1).
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len_utf8());
    }
    Ok(Some(text))
}
