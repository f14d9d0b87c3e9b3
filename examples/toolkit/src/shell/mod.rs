//! `run_shell`

mod capture;
mod problem;
mod report;
mod run;

use std::path::Path;
use std::time::Duration;

use contract_runtime::prelude::*;

pub use problem::ShellProblem;
pub use report::{CommandReport, Ending, Stream};

use crate::sandbox::Level;
use crate::workspace::Workspace;

/// What a command gets that does not say how long it may take, in seconds.
const PATIENCE: u64 = 60;

/// Run a program, or a script of the shell, and wait until it has ended.
///
/// Give `argv` wherever one program is enough: each argument arrives as it is, whatever it contains. Give `script` only for
/// what needs a shell, such as pipes and loops. Each call starts anew: no folder, variable or background process stays from
/// one to the next. The input is empty, there is no terminal and, unless the workspace says otherwise, no network. Files can
/// be written in the workspace and in `$TMPDIR`, which is also `$HOME` and is gone afterwards. A command that fails is
/// reported with its exit code; that is not an error of the tool.
#[tool(destructive, open_world, output_schema, timeout = "61m")]
#[pre(argv.is_some() != script.is_some(), "give either `argv` or `script`")]
#[pre(
    argv.as_ref().is_none_or(|argv| argv.first().is_some_and(|program| !program.is_empty())),
    "`argv` begins with the name of a program"
)]
#[pre(argv.iter().flatten().all(|argument| !argument.contains('\0')), "an argument cannot hold a zero byte")]
#[pre(
    argv.iter().flatten().all(|argument| argument.len() < 131_072),
    "an argument can have at most 131071 bytes; write what is longer to a file"
)]
#[pre(script.is_none_or(|script| !script.trim().is_empty()), "the script is empty")]
#[pre(script.is_none_or(|script| !script.contains('\0')), "a script cannot hold a zero byte")]
#[pre(
    script.is_none_or(|script| script.len() <= 100_000),
    "a script can have at most 100000 bytes; write a longer one to a file and run the file"
)]
#[pre(!directory.contains('\0'), "a folder's name cannot hold a zero byte")]
#[pre(!directory.is_empty(), "give a folder, or `.` for the working directory")]
#[pre(
    timeout_seconds.is_none_or(|seconds| (1..=3_600).contains(&seconds)),
    "the timeout is from 1 to 3600 seconds"
)]
#[post(
    |report| report.sandbox.level != Level::None || !workspace.sandbox.is_confined(),
    "a command ran outside the sandbox"
)]
#[post(
    |report| [&report.stdout, &report.stderr].iter().all(|stream| stream.is_within(workspace.limits().shell_characters)),
    "more was kept than the workspace allows"
)]
pub async fn run_shell(
    /// The program and its arguments. The program is a name that is looked for in `$PATH`, or a path.
    #[arg(example = Some(["cargo", "test"].map(str::to_owned).to_vec()))]
    argv: Option<Vec<String>>,
    /// A `command` for the shell: a script for `bash -c`, or `sh -c` where there is no bash.
    #[arg(example = "grep -c error *.log | sort -t: -k2 -n | tail -n 3")]
    script: Option<&str>,
    /// The folder to run it in, relative to the working directory, or absolute and below it.
    #[arg(default = ".")]
    directory: &str,
    /// After how many seconds all of its processes are ended: 60 unless this says otherwise, and at most what the workspace
    /// allows.
    timeout_seconds: Option<u32>,
    #[context] workspace: &Workspace,
) -> Result<CommandReport, ShellProblem> {
    let allowed = workspace.limits().shell_time;
    let timeout = match timeout_seconds {
        Some(asked) if Duration::from_secs(asked.into()) > allowed => {
            return Err(ShellProblem::TooLong {
                asked,
                allowed: allowed.as_secs(),
            });
        }
        Some(asked) => Duration::from_secs(asked.into()),
        None => allowed.min(Duration::from_secs(PATIENCE)),
    };
    let argv = argv.unwrap_or_else(|| {
        let script = script.unwrap_or_default();
        vec![shell().to_owned(), "-c".to_owned(), script.to_owned()]
    });
    let rooted = workspace.resolve(directory)?;
    // For the sentence that says what is wrong with it. The command has a path, not this handle; where that leads by
    // then, the sandbox decides.
    rooted.open_folder()?;
    let directory = rooted.root.path.join(&rooted.path);
    run::run(workspace, &directory, argv, timeout).await
}

fn shell() -> &'static str {
    if Path::new("/bin/bash").exists() {
        "/bin/bash"
    } else {
        "/bin/sh"
    }
}
