//! The executor's tools: the toolkit, and a tool that asks the user.

use std::path::{Path, PathBuf};
use std::process::Command;

use contract_runtime::prelude::*;
use toolkit::{Sandbox, Workspace};

use crate::changes::{Snapshots, workspace_diff};
use crate::contract::Question;

/// Ask the user up to eight questions. Their answers come when you have ended your turn; do not guess them.
#[tool(read_only, open_world = false)]
#[pre(!questions.is_empty(), "ask at least one question")]
#[pre(questions.len() <= 8, "ask at most eight questions at once")]
#[pre(
    questions.iter().all(Question::is_askable),
    "each question has an id and a text; `radio` and `checkbox` have two or more options, and `text` has none"
)]
#[pre(differ(questions), "each question has an id of its own")]
#[must_use]
pub fn ask_user(
    /// What you want to know.
    questions: &[Question],
) -> String {
    format!(
        "{} asked; end your turn now",
        match questions.len() {
            1 => "one question was".to_owned(),
            many => format!("{many} questions were"),
        }
    )
}

fn differ(questions: &[Question]) -> bool {
    let mut ids: Vec<&str> = questions.iter().map(|one| one.id.as_str()).collect();
    ids.sort_unstable();
    ids.is_sorted_by(|one, next| one < next)
}

/// Builds the registry of tools over one folder.
///
/// # Errors
///
/// When the folder cannot be opened.
pub fn registry(root: &Path) -> Result<Registry, Box<dyn std::error::Error + Send + Sync>> {
    let workspace = Workspace::builder().root(root).sandbox(sandbox()).build()?;
    Ok(Registry::builder()
        .package("toolkit")
        .tool(ask_user)
        .tool(workspace_diff)
        .context(workspace)
        .context(Snapshots::new(root)?)
        .build()?)
}

/// Commands may use the Rust toolchain of this machine, if there is one: it lies in somebody's home, as a rule.
fn sandbox() -> Sandbox {
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output();
    let printed = asked.ok().filter(|asked| asked.status.success());
    let Some(printed) = printed else {
        return Sandbox::confined();
    };
    let toolchain = PathBuf::from(String::from_utf8_lossy(&printed.stdout).trim());
    let path = format!("{}/bin:/usr/local/bin:/usr/bin:/bin", toolchain.display());
    Sandbox::confined()
        .readable(&toolchain)
        .environment("PATH", path)
}
