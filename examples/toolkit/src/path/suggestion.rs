//! The name that was perhaps meant.

use super::{RootedPath, escape_path};

/// A folder is looked through no further for a name that was perhaps meant.
const LOOKED_AT: usize = 2_000;

/// Names less alike than this are not worth a hint (Jaro-Winkler, as in the compiler's and clap's own suggestions).
const ALIKE: f64 = 0.8;

impl RootedPath<'_> {
    /// What to do about a path that does not exist.
    pub(super) fn nearest(&self) -> String {
        self.alike().map_or_else(
            || "list the folder with read_folder".to_owned(),
            |name| format!("did you mean `{name}`?"),
        )
    }

    fn alike(&self) -> Option<String> {
        let wanted = self.path.file_name()?.to_str()?;
        let parent = self.path.parent()?;
        let folder = self.at(parent.join(".")).open_folder().ok()?;
        let (_, name) = folder
            .entries()
            .ok()?
            .take(LOOKED_AT)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .map(|name| (strsim::jaro_winkler(&name, wanted), name))
            .filter(|(alike, _)| *alike >= ALIKE)
            .max_by(|(one, _), (other, _)| one.total_cmp(other))?;
        Some(escape_path(&parent.join(name)))
    }
}
