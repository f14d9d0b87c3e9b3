//! A folder that is lent, and one beside it that is not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::machine::tell;
use contract_runtime::Builder;
use contract_runtime::prelude::*;
use serde_json::{Value, json};
use toolkit::{Sandbox, Workspace, WorkspaceBuilder};

/// Stands in a file outside of every root, and nowhere else.
pub(crate) const CANARY: &str = "canary-that-no-tool-may-show";

/// What the library offers; the tools that tests define belong to the same package.
pub(crate) const TOOLS: [&str; 7] = [
    "edit_file",
    "get_working_directory",
    "read_file",
    "read_folder",
    "run_shell",
    "search_in_files",
    "write_file",
];

/// A lent folder with known files, beside one that is not lent.
pub(crate) struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let ground = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(ground.path("src")).unwrap();
        fs::create_dir_all(ground.outside()).unwrap();
        fs::write(ground.path("notes.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(ground.path("src/main.rs"), "fn main() {}\n").unwrap();
        fs::write(ground.path(".hidden"), "hidden one\n").unwrap();
        fs::write(ground.outside().join("secret.txt"), format!("{CANARY}\n")).unwrap();
        ground
    }

    /// The root.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("ws")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.folder.path().join("ws-outside")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("ws").join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn workspace(&self) -> WorkspaceBuilder {
        Workspace::builder().root(self.root()).sandbox(sandbox())
    }

    /// Every tool of the package that this machine can run, over this folder.
    pub(crate) fn builder(&self) -> Builder {
        let builder = self.every_tool();
        if no_commands().is_some() {
            return builder.without(["run_shell"]);
        }
        builder
    }

    fn every_tool(&self) -> Builder {
        Registry::builder()
            .package("toolkit")
            .only(TOOLS)
            .context(self.workspace().build().unwrap())
    }

    pub(crate) fn registry(&self) -> Registry {
        self.builder().build().unwrap()
    }

    /// Every file and folder, inside and outside, with what is in it.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(self.folder.path(), &mut found);
        found
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        let content = if kind.is_file() {
            fs::read(&path).unwrap()
        } else {
            format!("{kind:?}").into_bytes()
        };
        found.insert(path.clone(), content);
        if kind.is_dir() {
            collect(&path, found);
        }
    }
}

fn sandbox() -> Sandbox {
    Sandbox::confined().helper(env!("CARGO_BIN_EXE_toolkit"))
}

/// Why commands cannot be run here, if they cannot.
pub(crate) fn no_commands() -> Option<&'static str> {
    static ANSWER: OnceLock<Option<String>> = OnceLock::new();
    let answer = ANSWER.get_or_init(|| {
        let ground = Ground::new();
        let registry = ground.every_tool().build().unwrap();
        let call = ToolCall::new("probe", "run_shell", r#"{"argv":["true"]}"#);
        let answer = registry.call(call).blocking().error()?.to_owned();
        tell(format_args!(
            "NOT RUN D1..P10 every test with run_shell: {answer}"
        ));
        Some(answer)
    });
    answer.as_deref()
}

/// Good arguments of a tool, which act on the files of a [`Ground`] as it was made.
pub(crate) fn samples(tool: &str) -> Vec<Value> {
    match tool {
        "edit_file" => vec![json!({"path": "notes.txt", "old": "two", "new": "2"})],
        "get_working_directory" => vec![json!({})],
        "read_file" => vec![json!({"path": "notes.txt"})],
        "read_folder" => vec![json!({}), json!({"path": "src"})],
        "run_shell" => vec![
            json!({"argv": ["echo", "one"]}),
            json!({"script": "echo one | cat; cat notes.txt"}),
        ],
        "search_in_files" => vec![json!({"pattern": "one"})],
        "write_file" => vec![
            json!({"path": "notes.txt", "text": "new\n"}),
            json!({"path": "made/for/it.txt", "text": "new\n"}),
        ],
        other => panic!("say here what good arguments of `{other}` are"),
    }
}
