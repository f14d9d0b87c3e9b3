//! `cargo contract`: checks, tests, compares and freezes the contracts of every crate of a workspace.
//!
//! | file | holds |
//! |---|---|
//! | `workspace` | the crates, from `cargo metadata` |
//! | `program` | the program that links them, and runs the commands of `contract-program` |
//! | `version` | which version comes next |
//! | `report` | what is printed, and what CI shows |

mod program;
mod report;
mod version;
mod workspace;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode};

use clap::{Parser, Subcommand};

use program::{Ended, Program};
use report::{Report, Verdict};
use version::{Change, Level, Version};
use workspace::{Crate, Failure, Workspace};

#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo", version)]
enum Cargo {
    /// Check, test, compare and freeze the contracts of every crate of a workspace.
    Contract(Options),
}

#[derive(Debug, clap::Args)]
struct Options {
    #[command(subcommand)]
    command: Command,
    /// This crate alone; may be repeated. By default all that have tools.
    #[arg(short, long, global = true, value_name = "NAME")]
    package: Vec<String>,
    /// The manifest of the workspace, or of one of its crates.
    #[arg(long, global = true, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// Build the crates with these features of theirs, separated by commas; `NAME/FEATURE` is of one crate.
    #[arg(
        short = 'F',
        long,
        global = true,
        value_name = "FEATURES",
        value_delimiter = ','
    )]
    features: Vec<String>,
    /// The frozen contracts, below the folder of each crate.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        default_value = "contracts.json"
    )]
    file: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find conditions that have no effect, and tools that a provider does not accept.
    Check {
        /// Options of the command `check` of a program, such as `--strict`.
        #[arg(last = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// Test the contracts with generated inputs.
    Verify {
        /// Options of the command `verify` of a program, such as `--cases 1000`.
        #[arg(last = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// Say what has changed since the contracts were frozen, and which version comes next.
    Diff {
        /// Compare with the file as it is at this revision of Git, such as `v1.2.0`. The revision says the version that was released;
        /// the crate fails if its own version is not high enough.
        #[arg(long, value_name = "REVISION")]
        since: Option<String>,
    },
    /// Write the contracts to the file that `diff` and `assert_frozen!` compare with.
    Freeze,
}

fn main() -> ExitCode {
    let Cargo::Contract(options) = Cargo::parse();
    match run(&options) {
        Ok(report) => report.finish(),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<Report, Failure> {
    let workspace = Workspace::read(options.manifest_path.as_deref(), &options.package)?;
    let generates = matches!(options.command, Command::Verify { .. });
    let program = Program::build(&workspace, &options.features, generates)?;
    let mut report = Report::new(options.command.name(), options.command.is_strict());
    for (name, reason) in &workspace.left_out {
        report.leave_out(name, reason);
    }
    for one in &workspace.crates {
        let verdict = options.command.run(one, &program, &options.file)?;
        match verdict {
            Some(verdict) => report.add(one, verdict),
            None => report.leave_out(&one.name, "none of its functions is a tool"),
        }
    }
    Ok(report)
}

impl Command {
    const fn name(&self) -> &'static str {
        match self {
            Self::Check { .. } => "check",
            Self::Verify { .. } => "verify",
            Self::Diff { .. } => "diff",
            Self::Freeze => "freeze",
        }
    }

    fn is_strict(&self) -> bool {
        let (Self::Check { options } | Self::Verify { options }) = self else {
            return false;
        };
        options.iter().any(|option| option == "--strict")
    }

    /// Runs it for one crate; `None` if that has no tools.
    fn run(&self, one: &Crate, program: &Program, file: &Path) -> Result<Option<Verdict>, Failure> {
        let ended = match self {
            Self::Check { options } => program.run(one, &["check"], options)?,
            Self::Verify { options } => {
                program.run(one, &verify(one).each_ref().map(|word| &**word), options)?
            }
            Self::Diff { since } => return diff(one, program, file, since.as_deref()),
            Self::Freeze => return freeze(one, program, file),
        };
        Ok(ended.map(Verdict::from))
    }
}

/// The inputs and the boundaries of `verify_all!`, which stand beside the manifest.
fn verify(one: &Crate) -> [String; 5] {
    let beside = |name: &str| one.directory.join(name).display().to_string();
    [
        "verify".to_owned(),
        "--regressions".to_owned(),
        beside("verify-regressions"),
        "--boundaries".to_owned(),
        beside("verify-boundaries"),
    ]
}

fn freeze(one: &Crate, program: &Program, file: &Path) -> Result<Option<Verdict>, Failure> {
    let Some(manifest) = program.run(one, &["manifest", "--without-locations"], &[])? else {
        return Ok(None);
    };
    if !manifest.ok {
        return Ok(Some(manifest.into()));
    }
    let path = one.directory.join(file);
    let text = manifest.out.trim_end();
    let before = fs::read_to_string(&path).unwrap_or_default();
    let said = if before.trim_end() == text {
        format!("`{}` is as before", file.display())
    } else {
        fs::write(&path, text)
            .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        format!("wrote `{}`; commit it", file.display())
    };
    Ok(Some(Verdict {
        ok: true,
        text: format!("{said}\n{}", manifest.err),
    }))
}

fn diff(
    one: &Crate,
    program: &Program,
    file: &Path,
    since: Option<&str>,
) -> Result<Option<Verdict>, Failure> {
    let old = match since {
        None => one.directory.join(file),
        Some(revision) => match at_revision(one, program, file, revision) {
            Ok(old) => old,
            Err(text) => {
                let failed = Verdict { ok: false, text };
                return Ok(program.has_tools(one)?.then_some(failed));
            }
        },
    };
    if !old.exists() {
        let text = format!(
            "the contracts are not frozen: there is no `{}`; run `cargo contract freeze`, and commit it",
            file.display()
        );
        return Ok(program
            .has_tools(one)?
            .then_some(Verdict { ok: false, text }));
    }
    let old = old.display().to_string();
    let (Some(said), Some(data)) = (
        program.run(one, &["diff", &old], &[])?,
        program.run(one, &["diff", &old, "--json"], &[])?,
    ) else {
        return Ok(None);
    };
    let Ok(data) = serde_json::from_str::<Changes>(&data.out) else {
        return Ok(Some(said.into()));
    };
    let level = Level::of(&data.changes);
    let (is_enough, answer) = answer(&one.version, level, since);
    Ok(Some(Verdict {
        ok: is_enough,
        text: format!("{}{answer}\n", said.text()),
    }))
}

/// What `diff --json` prints.
#[derive(serde::Deserialize)]
struct Changes {
    changes: Vec<Change>,
}

/// The file of a revision, written beside the program.
fn at_revision(
    one: &Crate,
    program: &Program,
    file: &Path,
    revision: &str,
) -> Result<PathBuf, String> {
    let object = format!("{revision}:./{}", file.display());
    let output = Process::new("git")
        .args(["show", &object])
        .current_dir(&one.directory)
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "there is no `{}` at {revision}: {}",
            file.display(),
            error.trim()
        ));
    }
    let path = program.folder.join(format!("{}-before.json", one.name));
    fs::write(&path, output.stdout)
        .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
    Ok(path)
}

/// Whether the version of a crate is enough, and which one comes next.
fn answer(own: &str, level: Level, since: Option<&str>) -> (bool, String) {
    let released = match since {
        Some(revision) => Version::of_tag(revision),
        None => Version::parse(own),
    };
    let is_breaking = level == Level::Major;
    if level == Level::None {
        return (true, "the version may stay as it is".to_owned());
    }
    let Some(released) = released else {
        return (
            !is_breaking,
            format!("the difference is {level}; which version was released is not known"),
        );
    };
    let next = released.next(level);
    let text = format!("the difference is {level}: after {released} comes {next}");
    let own_version = Version::parse(own);
    match (since, own_version) {
        (Some(_), Some(version)) if version >= next => {
            (true, format!("{text}; {version} is enough"))
        }
        (Some(_), _) => (false, format!("{text}; {own} is not enough")),
        (None, _) => (!is_breaking, text),
    }
}

impl From<Ended> for Verdict {
    fn from(ended: Ended) -> Self {
        Self {
            ok: ended.ok,
            text: ended.text(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, answer};

    #[test]
    fn a_version_that_is_high_enough_is_accepted() {
        let said = |own, level, since| answer(own, level, since);
        let (ok, text) = said("2.0.0", Level::Major, Some("v1.2.0"));
        assert_eq!(
            (ok, &*text),
            (
                true,
                "the difference is major: after 1.2.0 comes 2.0.0; 2.0.0 is enough"
            )
        );
        let (ok, text) = said("1.3.0", Level::Major, Some("v1.2.0"));
        assert_eq!(
            (ok, &*text),
            (
                false,
                "the difference is major: after 1.2.0 comes 2.0.0; 1.3.0 is not enough"
            )
        );
        assert!(said("1.3.0", Level::Minor, Some("v1.2.0")).0);
        assert!(!said("1.2.0", Level::Major, None).0);
        assert!(said("1.2.0", Level::Minor, None).0);
        assert!(said("1.2.0", Level::Minor, Some("main")).0);
        assert!(!said("1.2.0", Level::Major, Some("main")).0);
    }
}
