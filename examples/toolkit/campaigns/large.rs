//! Files and folders larger than any answer: what they cost in time and memory.
//!
//! ```sh
//! cargo run --release -p toolkit --example large [-- ENTRIES]
//! ```
//!
//! A folder of a million entries, a sparse file of 16 GiB, a gibibyte of zeros and a line of a gibibyte. It needs some
//! 5 GiB of disk in the temporary folder. Prints one line each, and fails if the memory grows by more than 64 MiB.

use std::error::Error;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use contract_runtime::prelude::*;
use serde_json::{Value, json};
use toolkit::{Limits, Workspace};

/// The most that the memory may grow, in KiB.
const GROWTH: u64 = 64 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let entries = std::env::args()
        .nth(1)
        .map_or(Ok(1_000_000), |entries| entries.parse())?;
    let folder = tempfile::tempdir()?;
    prepare(folder.path(), entries)?;
    let bounded = registry(folder.path(), Limits::default())?;
    let whole = registry(
        folder.path(),
        Limits {
            folder_scan: usize::MAX,
            ..Limits::default()
        },
    )?;
    let middle = 1_u64 << 29;
    let questions = [
        (
            "a large folder, within the limits",
            &bounded,
            "read_folder",
            json!({"path": "folder"}),
        ),
        (
            "a large folder, all of it looked at",
            &whole,
            "read_folder",
            json!({"path": "folder"}),
        ),
        (
            "16 GiB, sparse",
            &bounded,
            "read_file",
            json!({"path": "sparse"}),
        ),
        (
            "1 GiB of zeros",
            &bounded,
            "read_file",
            json!({"path": "zeros"}),
        ),
        (
            "1 GiB of zeros, in escapes",
            &bounded,
            "read_file",
            json!({"path": "zeros", "escape": true}),
        ),
        (
            "the middle of a line of 1 GiB",
            &bounded,
            "read_file",
            json!({"path": "line", "first_column": middle}),
        ),
    ];
    println!("{entries} entries; times in ms, memory in KiB");
    let before = most_memory()?;
    for (what, registry, tool, arguments) in questions {
        let began = Instant::now();
        let outcome = registry
            .call(ToolCall::new("1", tool, arguments.to_string()))
            .blocking();
        let elapsed = began.elapsed().as_millis();
        let grown = most_memory()?.saturating_sub(before);
        println!(
            "{what:<36} {elapsed:>7} ms {grown:>7} KiB   {}",
            said(&outcome)
        );
        if grown > GROWTH {
            return Err("the memory grew".into());
        }
    }
    Ok(())
}

fn registry(root: &Path, limits: Limits) -> Result<Registry, Box<dyn Error>> {
    let workspace = Workspace::builder().root(root).limits(limits).build()?;
    Ok(Registry::builder()
        .package("toolkit")
        .context(workspace)
        .build()?)
}

fn prepare(folder: &Path, entries: usize) -> Result<(), Box<dyn Error>> {
    fs::create_dir(folder.join("folder"))?;
    for entry in 0..entries {
        File::create(folder.join(format!("folder/{entry:07}")))?;
    }
    File::create(folder.join("sparse"))?.set_len(16 << 30)?;
    File::create(folder.join("zeros"))?.set_len(1 << 30)?;
    let mut line = File::create(folder.join("line"))?;
    let piece = [b'x'; 1 << 14];
    for _ in 0..1 << 16 {
        line.write_all(&piece)?;
    }
    Ok(())
}

/// The answer without its text.
fn said(outcome: &Outcome) -> String {
    let Some(output) = outcome.output() else {
        return outcome.error().unwrap_or_default().to_owned();
    };
    let Ok(mut answer) = serde_json::from_str::<Value>(output) else {
        return format!("no JSON: {output:.80}");
    };
    if let Some(text) = answer.get_mut("text") {
        *text = format!("{} characters", text.as_str().map_or(0, str::len)).into();
    }
    if let Some(entries) = answer.get_mut("entries") {
        *entries = format!("{} entries", entries.as_array().map_or(0, Vec::len)).into();
    }
    answer.to_string()
}

/// In KiB (proc(5), `VmHWM`).
fn most_memory() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .ok_or("no VmHWM")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}
