//! The name that was perhaps meant.

use super::open::is_link;
use super::{RootedPath, escape_path};
use crate::files::replace;

/// A folder is looked through no further for a name that was perhaps meant.
const LOOKED_AT: usize = 2_000;

/// Names less alike than this are not worth a hint (Jaro-Winkler, as in the compiler's and clap's own suggestions).
const ALIKE: f64 = 0.8;

impl RootedPath<'_> {
    /// What to do about a path that does not exist.
    pub(super) fn nearest(&self) -> String {
        if is_link(&self.root.handle, &self.path) {
            return "a symbolic link of this name points to nothing".to_owned();
        }
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
            // A link that points to nothing and a file that is still being written are not there either.
            .filter(|(_, name)| !name.starts_with(replace::PREFIX) && folder.metadata(name).is_ok())
            .max_by(|(one, _), (other, _)| one.total_cmp(other))?;
        Some(escape_path(&parent.join(name)))
    }
}
