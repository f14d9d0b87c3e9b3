use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use similar::TextDiff;

/// The project as it is shipped.
const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/sample");

/// What a build makes.
const BUILT: &str = "target";

/// A copy of the project, gone when this is dropped.
pub(super) struct Sample {
    folder: tempfile::TempDir,
    root: PathBuf,
    before: Texts,
}

/// Every file, by its path from the root.
type Texts = BTreeMap<String, String>;

impl Sample {
    pub(super) fn copy() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("codegen-").tempdir()?;
        let root = folder.path().join("shop");
        let before = texts(Path::new(SHIPPED))?;
        for (path, text) in &before {
            let path = root.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, text)?;
        }
        Ok(Self {
            folder,
            root,
            before,
        })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// A file beside the copy, which no tool reaches.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What is different now, as a unified diff.
    pub(super) fn changes(&self) -> io::Result<String> {
        let now = texts(&self.root)?;
        let mut names: Vec<_> = self.before.keys().chain(now.keys()).collect();
        names.sort();
        names.dedup();
        let mut all = String::new();
        for name in names {
            let (old, new) = (self.before.get(name), now.get(name));
            if old == new {
                continue;
            }
            let side = |text: Option<&String>, side| match text {
                Some(_) => format!("{side}/{name}"),
                None => "/dev/null".to_owned(),
            };
            let text = |text: Option<&String>| text.cloned().unwrap_or_default();
            let (before, after) = (text(old), text(new));
            let diff = TextDiff::from_lines(&before, &after);
            let mut unified = diff.unified_diff();
            let unified = unified.header(&side(old, "a"), &side(new, "b"));
            all.push_str(&unified.to_string());
        }
        Ok(all)
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
