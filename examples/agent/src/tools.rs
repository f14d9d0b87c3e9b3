//! What the agent may do: look at the names and count the lines of the files in one folder.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Component, Path, PathBuf};

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// The folder that the tools look at.
pub(crate) struct Root(pub(crate) PathBuf);

/// Files of one kind, and how long they are.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Lines {
    files: usize,
    lines: usize,
}

/// Count the files with an extension, and their lines, in a folder and all folders below it.
///
/// Folders whose name begins with a dot and folders named `target` are left out.
#[tool(read_only, blocking, timeout = "1m")]
#[pre(!extension.is_empty(), "give the extension of the files to count")]
#[pre(!extension.starts_with('.'), "give the extension without its dot")]
#[pre(
    is_below(folder),
    "the folder must be below the one that the agent looks at"
)]
#[post(|counted| counted.as_ref().is_none_or(|counted| counted.files > 0))]
pub(crate) fn count_lines(
    /// Such as `rs` or `toml`.
    extension: &str,
    /// Relative, with `/`.
    #[arg(default = ".")]
    folder: &str,
    #[context] root: &Root,
) -> io::Result<Option<Lines>> {
    let mut counted = Lines { files: 0, lines: 0 };
    let mut folders = vec![root.0.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                if is_source(&entry) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|own| own == extension) {
                counted.files += 1;
                counted.lines += String::from_utf8_lossy(&fs::read(&path)?).lines().count();
            }
        }
    }
    Ok((counted.files > 0).then_some(counted))
}

/// List a folder: each name with the number of bytes of a file, or nothing for a folder.
#[tool(read_only, blocking, timeout = "1m")]
#[pre(
    is_below(folder),
    "the folder must be below the one that the agent looks at"
)]
pub(crate) fn list_folder(
    /// Relative, with `/`.
    #[arg(default = ".")]
    folder: &str,
    #[context] root: &Root,
) -> io::Result<BTreeMap<String, Option<u64>>> {
    fs::read_dir(root.0.join(folder))?
        .map(|entry| {
            let entry = entry?;
            let metadata = entry.metadata()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            Ok((name, metadata.is_file().then_some(metadata.len())))
        })
        .collect()
}

fn is_source(folder: &DirEntry) -> bool {
    let name = folder.file_name();
    name != "target" && !name.as_encoded_bytes().starts_with(b".")
}

fn is_below(path: &str) -> bool {
    Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
