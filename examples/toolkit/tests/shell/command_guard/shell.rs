//! A shell whose commands are judged, and find no program to run.

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::{Value, json};
use toolkit::{Sandbox, Workspace, run_shell};

pub(crate) struct GuardedShell {
    registry: Registry,
    root: String,
    _folder: tempfile::TempDir,
}

impl GuardedShell {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::confined()
            .helper(env!("CARGO_BIN_EXE_toolkit"))
            .environment("PATH", "/nowhere");
        let workspace = Workspace::builder()
            .root(folder.path())
            .sandbox(sandbox)
            .build()
            .unwrap();
        let root = workspace.working_directory().display().to_string();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let registry = Registry::builder()
            .tool(run_shell)
            .context(workspace)
            .build()
            .unwrap();
        Self {
            registry,
            root,
            _folder: folder,
        }
    }

    /// The refusal, if there is one; `ROOT` stands for the workspace.
    pub(crate) fn answer(&self, arguments: &Value) -> Option<String> {
        let mut arguments = arguments.clone();
        // A loop that passes would go on.
        arguments["timeout_seconds"] = Value::from(3);
        let arguments = arguments.to_string().replace("ROOT", &self.root);
        let outcome = self
            .registry
            .call(ToolCall::new("1", "run_shell", arguments))
            .blocking();
        let error = match outcome.status() {
            Status::Ok => return None,
            Status::Failed => outcome.error().unwrap(),
            _ => panic!("{outcome:?}"),
        };
        if error.starts_with("nothing was run: ") {
            return Some(error.to_owned());
        }
        assert!(error.contains("there is no such program"), "{error}");
        None
    }

    pub(crate) fn script(&self, script: &str) -> Option<String> {
        self.answer(&json!({"script": script}))
    }

    pub(crate) fn all_are_refused(&self, scripts: &[&str]) {
        let passed: Vec<_> = scripts
            .iter()
            .filter(|script| self.script(script).is_none())
            .collect();
        assert!(passed.is_empty(), "these passed: {passed:#?}");
    }

    pub(crate) fn all_pass(&self, scripts: &[&str]) {
        let refused: Vec<_> = scripts
            .iter()
            .filter_map(|script| Some((script, self.script(script)?)))
            .collect();
        assert!(refused.is_empty(), "these were refused: {refused:#?}");
    }
}
