//! What the tests of the writing tools share.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::Value;
use toolkit::{Workspace, WorkspaceBuilder};

/// The tools over one folder.
pub(crate) fn registry(folder: &Path) -> Registry {
    registry_of(Workspace::builder().root(folder))
}

pub(crate) fn registry_of(workspace: WorkspaceBuilder) -> Registry {
    Registry::builder()
        .package("toolkit")
        .context(workspace.build().unwrap())
        .build()
        .unwrap()
}

pub(crate) fn call(registry: &Registry, tool: &str, arguments: &Value) -> Outcome {
    registry
        .call(ToolCall::new("1", tool, arguments.to_string()))
        .blocking()
}

/// The value that a tool gives.
#[track_caller]
pub(crate) fn done(registry: &Registry, tool: &str, arguments: &Value) -> Value {
    let outcome = call(registry, tool, arguments);
    assert_eq!(outcome.status(), Status::Ok, "{:?}", outcome.error());
    outcome.value().unwrap()
}

/// The message with which a tool refuses.
#[track_caller]
pub(crate) fn refused(registry: &Registry, tool: &str, arguments: &Value) -> String {
    let outcome = call(registry, tool, arguments);
    assert_eq!(outcome.status(), Status::Failed, "{:?}", outcome.output());
    outcome.error().unwrap().to_owned()
}

/// Everything below a folder: its content if it is a file, what it points to if it is a link.
pub(crate) fn everything(folder: &Path) -> BTreeMap<OsString, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder_now) = folders.pop() {
        for entry in std::fs::read_dir(&folder_now).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().as_os_str().to_owned();
            let kind = path.symlink_metadata().unwrap().file_type();
            let what = if kind.is_symlink() {
                format!("-> {}", path.read_link().unwrap().display())
            } else if kind.is_dir() {
                folders.push(path);
                "folder".to_owned()
            } else if kind.is_file() {
                String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()
            } else {
                "special".to_owned()
            };
            found.insert(name, what);
        }
    }
    found
}

/// Says on the record that a test could not be made here.
pub(crate) fn not_run(row: &str, test: &str, probe: &str) {
    record(&format!("NOT RUN {row} {test}: {probe}"));
}

/// The harness keeps what tests print that pass, but for what goes to the handle itself.
pub(crate) fn record(line: &str) {
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
