//! A workspace of three crates, and how the command ends over it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cargo::REAL_CARGO;

pub(crate) const PAGE: &str = include_str!("../../../../docs/src/publishing.md");

/// Gone when it is dropped.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
}

/// How the command ended, and what it said.
#[derive(Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Workspace {
    /// A library with tools, one without, and a program; all depend on the runtime of this repository.
    pub(crate) fn new(test: &str) -> Self {
        let root = format!("{test}-{}", std::process::id());
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(root);
        let workspace = Self { root };
        let members = "[workspace]\nresolver = \"3\"\nmembers = [\"kit\", \"plain\", \"tool\"]\n";
        workspace.write("Cargo.toml", members);
        for name in ["kit", "plain", "tool"] {
            workspace.write(&format!("{name}/Cargo.toml"), &manifest(name, "1.2.0"));
        }
        for source in ["kit/src/lib.rs", "plain/src/lib.rs"] {
            workspace.write(source, "");
        }
        workspace.write("tool/src/main.rs", "fn main() {}\n");
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
        fs::copy(lock, workspace.root.join("Cargo.lock")).unwrap();
        workspace
    }

    /// The crate of the page on publishing, as the page shows it.
    pub(crate) fn of_page() -> Self {
        let root = format!("page-{}", std::process::id());
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(root);
        let workspace = Self { root };
        for file in ["Cargo.toml", "src/lib.rs", "src/main.rs"] {
            let begin = format!("`daykit/{file}`:\n\n```");
            let (_, after) = PAGE.split_once(&begin).unwrap();
            let (_, after) = after.split_once('\n').unwrap();
            let (text, _) = after.split_once("```\n").unwrap();
            // It lies below the folder of another workspace.
            let own = if file == "Cargo.toml" {
                "\n[workspace]\n"
            } else {
                ""
            };
            workspace.write(file, &format!("{text}{own}"));
        }
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let patches = [
            ("contract-runtime", "contract-runtime"),
            ("contract-manifest", "companions/manifest"),
            ("contract-program", "companions/program"),
            ("contract-verify", "companions/verify"),
        ]
        .map(|(name, folder)| format!("{name}.path = '{}'", repository.join(folder).display()));
        let settings = format!("[patch.crates-io]\n{}\n", patches.join("\n"));
        workspace.write(".cargo/config.toml", &settings);
        fs::copy(
            repository.join("Cargo.lock"),
            workspace.root.join("Cargo.lock"),
        )
        .unwrap();
        workspace
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.root.join(file)).unwrap()
    }

    /// Gives the library another version.
    pub(crate) fn release(&self, version: &str) {
        self.write("kit/Cargo.toml", &manifest("kit", version));
    }

    pub(crate) fn git(&self, words: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
            .args(words)
            .current_dir(&self.root)
            .status();
        assert!(status.unwrap().success(), "{words:?}");
    }

    /// `cargo contract` with these words.
    pub(crate) fn run(&self, words: &[&str]) -> Said {
        self.run_with(words, &[])
    }

    pub(crate) fn run_with(&self, words: &[&str], variables: &[(&str, &Path)]) -> Said {
        let (this, real) = (std::env::current_exe().unwrap(), std::env::var_os("CARGO"));
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-contract"))
            .arg("contract")
            .args(words)
            .current_dir(&self.root)
            .env("CARGO", this)
            .env(REAL_CARGO, real.unwrap_or_else(|| "cargo".into()))
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("UPDATE_CONTRACTS")
            .env_remove("GITHUB_ACTIONS")
            .env_remove("GITHUB_STEP_SUMMARY")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Said {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn manifest(name: &str, version: &str) -> String {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contract-runtime");
    format!(
        "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\n\n\
         [features]\nfast = []\n\n[dependencies]\ncontract-runtime = {{ path = '{}' }}\n",
        runtime.display()
    )
}
