//! The globs of a search.

use ignore::overrides::{Override, OverrideBuilder};

use super::SearchProblem;
use crate::path::escape;

/// Globs that are separated by spaces.
pub(super) fn parse(text: &str) -> Result<Override, SearchProblem> {
    let problem = |glob: &str, error: &ignore::Error| SearchProblem::Glob {
        glob: escape(glob),
        reason: reason(error),
    };
    let mut builder = OverrideBuilder::new("");
    for glob in text.split_whitespace() {
        // `./src/*.rs` means what `src/*.rs` means.
        let (not, path) = glob.split_at(usize::from(glob.starts_with('!')));
        let plain = path
            .strip_prefix("./")
            .map_or_else(|| glob.to_owned(), |path| format!("{not}/{path}"));
        builder.add(&plain).map_err(|error| problem(glob, &error))?;
    }
    builder.build().map_err(|error| problem(text, &error))
}

/// What is wrong, without the glob, which stands in front of it.
fn reason(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => escape(err),
        other => escape(&other.to_string()),
    }
}
