//! Inputs that failed before: tried first, and kept when new ones fail.
//!
//! The inputs themselves are kept and not the seeds they came from, so that they stay what they are when the generator, or the
//! schema, changes. The file is a JSON object of lists by the names of the tools, made to be committed.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};

/// Tests of one process share a file.
static WRITING: Mutex<()> = Mutex::new(());

/// The inputs of one tool that failed before.
///
/// # Errors
///
/// What is wrong with the file, if it is there and cannot be read.
pub(super) fn load(path: &Path, tool: &str) -> Result<Vec<Value>, String> {
    let all = read(&file(path, tool))?;
    Ok(all
        .get(tool)
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default())
}

/// Keeps inputs of one tool.
///
/// # Errors
///
/// What is wrong with the place, if nothing can be written there.
pub(super) fn save(path: &Path, tool: &str, inputs: &[Value]) -> Result<(), String> {
    let file = file(path, tool);
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut all = read(&file)?;
    let known = all.entry(tool).or_insert_with(|| Value::Array(Vec::new()));
    let Some(known) = known.as_array_mut() else {
        return Err(format!("{}: `{tool}` is no list", file.display()));
    };
    for input in inputs {
        if !known.contains(input) {
            known.push(input.clone());
        }
    }
    write(&file, &all).map_err(|error| format!("{}: {error}", file.display()))
}

/// A path with an extension is a file; any other is a folder with a file for each tool.
fn file(path: &Path, tool: &str) -> PathBuf {
    if path.extension().is_some() {
        return path.to_owned();
    }
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || "-_".contains(letter) {
            letter
        } else {
            '_'
        }
    };
    let name: String = tool.chars().map(plain).collect();
    path.join(format!("{name}.json"))
}

fn read(file: &Path) -> Result<Map<String, Value>, String> {
    let wrong = |why: String| format!("{}: {why}", file.display());
    match fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| wrong(error.to_string())),
        // Where a file stands in the way of the folder, writing will say so.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Map::new())
        }
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// The whole file or none of it, whoever reads meanwhile.
fn write(file: &Path, all: &Map<String, Value>) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let text = serde_json::to_string_pretty(all)?;
    let beside = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&beside, text + "\n")?;
    fs::rename(&beside, file)
}
