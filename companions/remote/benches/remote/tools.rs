//! The tools that the benchmarks call.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, process};

use contract_runtime::prelude::*;

/// Give a text back.
#[tool(read_only)]
#[pre(text.len() <= 100_000, "at most 100 kB")]
fn echo(text: String) -> String {
    text
}

pub(crate) fn registry() -> Result<Registry, BuildError> {
    Registry::builder().tool(echo).build()
}

/// A call of `echo` with this many bytes of arguments.
pub(crate) fn call(bytes: usize) -> ToolCall {
    let room = bytes.saturating_sub(r#"{"text":""}"#.len());
    let text = "x".repeat(room);
    ToolCall::new("1", "echo", format!(r#"{{"text":"{text}"}}"#))
}

/// The time that this many of a hundred stay below, of times in order.
pub(crate) fn percentile(times: &[std::time::Duration], percent: usize) -> std::time::Duration {
    let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(place).copied().unwrap_or_default()
}

/// A folder that goes when this does.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> io::Result<Self> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("contract-remote-{}-{number}", process::id());
        let folder = env::temp_dir().join(name);
        fs::create_dir(&folder)?;
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
