//! Reads bounded input.

use std::io::Read;

use super::CommandError;

/// Reads the whole input as text; `None` if it is longer than the limit, beyond which nothing is read.
pub(super) fn at_most(limit: usize, source: impl Read) -> Result<Option<String>, CommandError> {
    let mut bytes = Vec::new();
    let one_more = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    source.take(one_more).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Ok(None);
    }
    let text = String::from_utf8(bytes).map_err(|error| CommandError::NotUtf8 {
        at: error.utf8_error().valid_up_to(),
    })?;
    Ok(Some(text))
}
