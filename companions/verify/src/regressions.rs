//! Failing inputs of earlier runs: they are tried first, and new ones are saved.
//!
//! The inputs themselves are kept and not the seeds they came from, so that they stay what they are when the generator, or the
//! schema, changes. The file is a JSON object of lists by the names of the tools, made to be committed.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

/// Tests of one process share a file.
static WRITING: Mutex<()> = Mutex::new(());

/// The inputs of one tool that failed before.
///
/// # Errors
///
/// What is wrong with the file, if it is there and cannot be read.
pub(super) fn load(path: &Path, tool: &str) -> Result<Vec<Value>, String> {
    let file = named(path, tool)?;
    let all = read(&file)?;
    let inputs = match all.get(tool) {
        None => Vec::new(),
        Some(Value::Array(inputs)) => inputs.clone(),
        Some(_) => return Err(no_list(&file, tool)),
    };
    // A file of its own holds nothing else, so another name is a slip of whoever wrote it, or the tool had that name.
    let is_own = self::file(path, "") != file;
    let other = all
        .keys()
        .find(|name| is_own && self::file(path, name) != file);
    match other {
        Some(other) => Err(format!(
            "{}: there are inputs of `{other}`, and they are never tried; write `{tool}`, or remove them",
            file.display()
        )),
        None => Ok(inputs),
    }
}

fn no_list(file: &Path, tool: &str) -> String {
    format!(
        "{}: `{tool}` is not a list; write the inputs as `[{{..}}, {{..}}]`",
        file.display()
    )
}

/// The file of a tool, where a place is named at all.
fn named(path: &Path, tool: &str) -> Result<PathBuf, String> {
    if path.as_os_str().is_empty() {
        return Err("the path is empty; write `.` for the working directory".to_owned());
    }
    Ok(file(path, tool))
}

/// Keeps inputs of one tool.
///
/// # Errors
///
/// What is wrong with the place, if nothing can be written there.
pub(super) fn save(path: &Path, tool: &str, inputs: &[Value]) -> Result<(), String> {
    let pretty = |all: &Map<String, Value>| format!("{:#}\n", json!(all));
    update(path, tool, pretty, |file, all| {
        let known = all.entry(tool).or_insert_with(|| json!([]));
        let known = known.as_array_mut().ok_or_else(|| no_list(file, tool))?;
        for input in inputs {
            if !known.contains(input) {
                known.push(input.clone());
            }
        }
        Ok(())
    })
}

/// Changes the file of a tool, alone. A file that says nothing any more is removed.
///
/// # Errors
///
/// What is wrong with the place, if nothing can be written there.
pub(super) fn update(
    path: &Path,
    tool: &str,
    render: impl FnOnce(&Map<String, Value>) -> String,
    change: impl FnOnce(&Path, &mut Map<String, Value>) -> Result<(), String>,
) -> Result<(), String> {
    let file = named(path, tool)?;
    let unwritten = |error: io::Error| format!("{}: {error}", file.display());
    let _writing = WRITING.lock();
    let _alone = Alone::with(&file).map_err(unwritten)?;
    let before = read(&file)?;
    let mut all = before.clone();
    change(&file, &mut all)?;
    if all == before {
        return Ok(());
    }
    let done = if all.is_empty() {
        fs::remove_file(&file)
    } else {
        write(&file, &render(&all))
    };
    done.map_err(unwritten)
}

/// A path with an extension is a file, any other a folder with a file for each tool; unless it is there, and the other of the two.
pub(super) fn file(path: &Path, tool: &str) -> PathBuf {
    if path.is_file() || path.extension().is_some() && !path.is_dir() {
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

pub(super) fn read(file: &Path) -> Result<Map<String, Value>, String> {
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
fn write(file: &Path, text: &str) -> io::Result<()> {
    let file = led_to(file);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&beside, text)?;
    fs::rename(&beside, file)
}

/// The most links that are followed, as by Linux (`path_resolution(7)`).
const LINKS: usize = 40;

/// A link stays a link; what it leads to is written.
fn led_to(file: &Path) -> PathBuf {
    let mut place = file.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&place) else {
            break;
        };
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    place
}

/// How often, and how long, a process waits for another one that keeps inputs; each needs a few milliseconds.
const TURNS: u32 = 500;
const TURN: Duration = Duration::from_millis(10);

/// That no other process keeps inputs in the same file; while it lasts, there is a file beside it.
struct Alone(PathBuf);

impl Alone {
    fn with(file: &Path) -> io::Result<Self> {
        let lock = led_to(file).with_extension("lock");
        if let Some(folder) = lock.parent() {
            fs::create_dir_all(folder)?;
        }
        for _ in 0..TURNS {
            match fs::File::create_new(&lock) {
                Ok(_) => return Ok(Self(lock)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => thread::sleep(TURN),
                Err(error) => return Err(error),
            }
        }
        // Whoever made it was ended before it could remove it.
        Ok(Self(lock))
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        // If it cannot be removed, others wait for it in vain and go on.
        let _ = fs::remove_file(&self.0);
    }
}
