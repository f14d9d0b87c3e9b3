//! Text that comes from outside, bounded.

use std::io::Read;

use super::Fault;

/// All of it as text; `None` if it is longer than so many bytes, of which no more is read than it takes to know.
pub(super) fn at_most(limit: usize, source: impl Read) -> Result<Option<String>, Fault> {
    let mut bytes = Vec::new();
    let one_more = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    source.take(one_more).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Ok(None);
    }
    let text = String::from_utf8(bytes).map_err(|error| Fault::NotUtf8 {
        at: error.utf8_error().valid_up_to(),
    })?;
    Ok(Some(text))
}
