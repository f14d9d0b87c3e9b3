//! A tree of files, and the tool over it.

use std::fs;
use std::path::Path;

use contract_runtime::prelude::*;
use serde_json::Value;
use toolkit::{Findings, Hit, Limits, Workspace};

/// A tree of files that can be searched.
pub(crate) struct Searched {
    folder: tempfile::TempDir,
    limits: Limits,
}

impl Searched {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self {
            folder: tempfile::tempdir().expect("a folder"),
            limits: Limits::default(),
        };
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    pub(crate) fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.folder().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("a folder");
        }
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn registry(&self) -> Registry {
        let workspace = Workspace::builder()
            .root(self.folder())
            .limits(self.limits.clone())
            .build()
            .expect("a workspace");
        registry(workspace)
    }

    pub(crate) fn call(&self, arguments: impl std::borrow::Borrow<Value>) -> Outcome {
        call_of(&self.registry(), arguments.borrow())
    }

    pub(crate) fn find(&self, arguments: impl std::borrow::Borrow<Value>) -> Findings {
        findings(&self.call(arguments))
    }

    pub(crate) fn lines(&self, arguments: impl std::borrow::Borrow<Value>) -> Vec<String> {
        self.find(arguments)
            .hits
            .iter()
            .map(Hit::to_string)
            .collect()
    }
}

pub(crate) fn registry(workspace: Workspace) -> Registry {
    Registry::builder()
        .tool(toolkit::search_in_files)
        .context(workspace)
        .build()
        .expect("a registry")
}

pub(crate) fn call(workspace: Workspace, arguments: &Value) -> Outcome {
    call_of(&registry(workspace), arguments)
}

pub(crate) fn call_of(registry: &Registry, arguments: &Value) -> Outcome {
    registry
        .call(ToolCall::new("1", "search_in_files", arguments.to_string()))
        .blocking()
}

pub(crate) fn findings(outcome: &Outcome) -> Findings {
    let text = outcome
        .output()
        .unwrap_or_else(|| panic!("{:?}", outcome.error()));
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Says that a test was not run, past the harness, which keeps what a passing test prints to itself.
/// It is one write: the names of other tests are printed meanwhile, and would stand in the middle of the line.
pub(crate) fn not_run(row: &str, test: &str, answer: impl std::fmt::Display) {
    use std::io::Write as _;

    let line = format!("NOT RUN {row} {test}: {answer}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}
