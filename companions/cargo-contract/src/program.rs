//! The program that links the crates: a package below the target folder, whose commands are those of `contract-program`.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::workspace::{Crate, Failure, PROGRAM, Workspace, cargo};

/// How the program ends where a package has no tools; see `contract_program::__run_package`.
const NO_TOOLS: i32 = 64;

pub(crate) struct Program {
    executable: PathBuf,
    /// The private folder in which it is built.
    pub(crate) folder: PathBuf,
    /// The folder of the workspace, which places in the source begin with.
    root: String,
}

/// How a command of the program ended.
pub(crate) struct Ended {
    pub(crate) ok: bool,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Everything that it said.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

impl Program {
    /// Builds the program; only the command `verify` `generates` inputs, with a part of `contract-program` that is large.
    pub(crate) fn build(
        workspace: &Workspace,
        features: &[String],
        generates: bool,
    ) -> Result<Self, Failure> {
        let folder = workspace.target.join("contract");
        fs::create_dir_all(folder.join("src"))?;
        let names = features.iter().filter_map(|one| one.split_once('/'));
        for (name, feature) in names {
            if !workspace.crates.iter().any(|one| one.name == name) {
                let problem =
                    format!("no crate `{name}` is chosen that could have the feature `{feature}`");
                return Err(problem.into());
            }
        }
        write(
            &folder.join("Cargo.toml"),
            &manifest(workspace, features, generates),
        )?;
        write(&folder.join("src/main.rs"), &source(workspace.crates.len()))?;
        // The same versions as in the workspace; Cargo takes out what is not needed.
        match fs::copy(workspace.root.join("Cargo.lock"), folder.join("Cargo.lock")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let names = workspace.crates.iter().map(|one| &*one.name);
        let verify = generates.then_some("contract-verify");
        let names: Vec<_> = names.chain(verify).collect();
        eprintln!(
            "building {} and {PROGRAM} (without its servers)",
            names.join(", ")
        );
        let output = Command::new(cargo())
            .args([
                "build",
                "--quiet",
                "--message-format",
                "json-render-diagnostics",
            ])
            .arg("--manifest-path")
            .arg(folder.join("Cargo.toml"))
            // Settings of Cargo and the toolchain are looked for from here upwards, so those of the workspace hold.
            .current_dir(&workspace.root)
            .env("CARGO_TARGET_DIR", &workspace.target)
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err("the crates could not be built into one program".into());
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        let mut executables = messages.lines().filter_map(|line| {
            let message: Value = serde_json::from_str(line).ok()?;
            message["executable"].as_str().map(PathBuf::from)
        });
        let executable = executables.next_back().ok_or("Cargo built no program")?;
        let root = format!("{}/", workspace.root.display());
        Ok(Self {
            executable,
            folder,
            root,
        })
    }

    /// Runs a command for the tools of a crate; `None` if it has none.
    pub(crate) fn run(
        &self,
        one: &Crate,
        words: &[&str],
        options: &[String],
    ) -> io::Result<Option<Ended>> {
        let output = Command::new(&self.executable)
            .arg(&one.name)
            .args(words)
            .args(options)
            .current_dir(&one.directory)
            .stdin(Stdio::null())
            .output()?;
        if output.status.code() == Some(NO_TOOLS) {
            return Ok(None);
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&self.root, "");
        Ok(Some(Ended {
            ok: output.status.success(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }))
    }

    pub(crate) fn has_tools(&self, one: &Crate) -> io::Result<bool> {
        Ok(self.run(one, &["list"], &[])?.is_some())
    }
}

/// Writes a file unless it is the same already, because Cargo looks at its time.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|before| before == text) {
        return Ok(());
    }
    fs::write(path, text)
}

fn manifest<'f>(workspace: &Workspace, features: &'f [String], generates: bool) -> String {
    let own: &[&str] = if generates { &["verify"] } else { &[] };
    let mut text = format!(
        "# Written by `cargo contract`.\n\
         [package]\nname = \"workspace-contracts\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
         [workspace]\n\n[profile.dev]\ndebug = false\n\n[dependencies]\n\
         {PROGRAM} = {{ {}, default-features = false, features = {own:?} }}\n",
        workspace.program
    );
    for (index, one) in workspace.crates.iter().enumerate() {
        let path = one.directory.display().to_string();
        let own = |feature: &'f String| match feature.split_once('/') {
            Some((name, feature)) => (name == one.name).then_some(feature),
            None => Some(feature.as_str()),
        };
        let features: Vec<&str> = features.iter().filter_map(own).collect();
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "crate{index} = {{ package = {:?}, path = {path:?}, features = {features:?} }}",
            one.name
        );
    }
    text
}

fn source(crates: usize) -> String {
    let mut text = "//! Written by `cargo contract`.\n\n".to_owned();
    for index in 0..crates {
        // So that the linker keeps the tools.
        let _ = writeln!(text, "use crate{index} as _;");
    }
    text.push_str(
        "\nfn main() -> std::process::ExitCode {\n    contract_program::__run_package()\n}\n",
    );
    text
}
