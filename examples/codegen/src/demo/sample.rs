//! A temporary copy of the sample project.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The project as it is shipped.
const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/sample");

/// What a build makes.
const BUILT: &str = "target";

/// A copy of the project, gone when this is dropped.
pub(super) struct Sample {
    folder: tempfile::TempDir,
    root: PathBuf,
}

/// Every file, by its path from the root.
type Texts = BTreeMap<String, String>;

impl Sample {
    pub(super) fn copy() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("codegen-").tempdir()?;
        let root = folder.path().join("shop");
        let texts = texts(Path::new(SHIPPED))?;
        for (path, text) in &texts {
            let path = root.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, text)?;
        }
        Ok(Self { folder, root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// A file beside the copy, which no tool reaches.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn texts(root: &Path) -> io::Result<Texts> {
    let mut texts = Texts::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path
                .strip_prefix(root)
                .unwrap_or(&path)
                .display()
                .to_string();
            if name == BUILT {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
                texts.insert(name, text);
            }
        }
    }
    Ok(texts)
}
