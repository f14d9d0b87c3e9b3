//! `search_in_files` beside ripgrep, over the same tree in the same run.
//!
//! ```sh
//! cargo bench -p toolkit --bench search [-- FOLDER]
//! ```
//!
//! Without a folder, a tree of 20,000 files is made. Both sides answer the same question with the same number of threads:
//! the tool in this process, through a registry, and `rg` (or what `RG` names) as a process of which the time of an empty
//! run is taken off, since an agent's tool is not started anew for each call. Runs alternate; medians are printed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use contract_runtime::prelude::*;
use serde_json::json;
use toolkit::{Limits, Workspace};

const RUNS: usize = 15;

/// What is asked, and what the arguments are on each side.
const QUESTIONS: [(&str, &str, &[&str]); 5] = [
    ("no match, literal", "zqxjkvbw", &[]),
    ("no match, regex", r"\bzq[xy]+jk\w+\(", &[]),
    ("few matches", "fn new_with_needle", &[]),
    (
        "few matches, capital or small",
        "fn New_With_Needle",
        &["-i"],
    ),
    (
        "few matches, hidden too",
        "fn new_with_needle",
        &["--hidden"],
    ),
];

fn main() {
    let given = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let made = tempfile::tempdir().expect("a folder for the tree");
    let folder = given.map_or_else(
        || {
            make_tree(made.path());
            made.path().to_owned()
        },
        PathBuf::from,
    );
    let rg = std::env::var("RG").unwrap_or_else(|_| "rg".to_owned());
    let Some(version) = answer(Command::new(&rg).arg("--version")) else {
        eprintln!("NOT RUN search: `{rg} --version` gives no answer");
        return;
    };
    println!(
        "{} in {}",
        version.lines().next().unwrap_or_default(),
        folder.display()
    );

    let workspace = Workspace::builder()
        .root(&folder)
        .limits(Limits {
            search_files: 1_000_000,
            ..Limits::default()
        })
        .build()
        .expect("a workspace");
    let registry = Registry::builder()
        .package("toolkit")
        .context(workspace)
        .build()
        .expect("a registry");

    let empty = tempfile::tempdir().expect("an empty folder");
    println!(
        "{:32} {:>9} {:>9} {:>9} {:>6}  files, hits",
        "", "tool", "rg", "rg start", "ratio"
    );
    for (question, pattern, flags) in QUESTIONS {
        let arguments = json!({
            "pattern": pattern,
            "case": if flags.contains(&"-i") { "insensitive" } else { "sensitive" },
            "hidden": flags.contains(&"--hidden"),
            "max_results": 1000,
        });
        let (mut tool, mut peer, mut start) = (Vec::new(), Vec::new(), Vec::new());
        let mut found = String::new();
        for _ in 0..RUNS {
            let (time, outcome) = timed(|| {
                registry
                    .call(ToolCall::new("1", "search_in_files", arguments.to_string()))
                    .blocking()
            });
            tool.push(time);
            let value = outcome.value().unwrap_or_default();
            assert!(value["stopped"].is_null(), "{:?}", outcome.error());
            found = format!(
                "{}, {}",
                value["files_searched"],
                value["hits"].as_array().map_or(0, Vec::len)
            );
            peer.push(timed(|| run(&rg, pattern, flags, &folder)).0);
            start.push(timed(|| run(&rg, pattern, flags, empty.path())).0);
        }
        let (tool, peer, start) = (median(tool), median(peer), median(start));
        let ratio = tool.as_secs_f64() / peer.saturating_sub(start).as_secs_f64();
        println!("{question:32} {tool:>9.1?} {peer:>9.1?} {start:>9.1?} {ratio:>6.2}  {found}");
    }
}

fn run(rg: &str, pattern: &str, flags: &[&str], folder: &Path) -> usize {
    let text = answer(
        Command::new(rg)
            .args([
                "--no-config",
                "--no-messages",
                "--no-require-git",
                "--line-number",
                "--no-heading",
                "--color=never",
            ])
            .args(flags)
            .args(["--regexp", pattern, "."])
            .current_dir(folder),
    );
    text.map_or(0, |text| text.lines().count())
}

fn answer(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed(), done)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// 20,000 files in 1,000 folders of 40 projects, each a repository with ignore files; every tenth file is ignored.
fn make_tree(folder: &Path) {
    for project in 0..40 {
        let project_folder = folder.join(format!("project-{project}"));
        std::fs::create_dir_all(project_folder.join(".git/info")).expect("a repository");
        let rules = format!("*.o\n/target\n!keep.o\nbuild-{project}/\n**/generated/*.rs\n");
        std::fs::write(project_folder.join(".gitignore"), rules).expect("an ignore file");
        for module in 0..25 {
            let module_folder =
                project_folder.join(format!("src/module_{}/part_{module}", module % 5));
            std::fs::create_dir_all(&module_folder).expect("a folder");
            for file in 0..20 {
                let name = if file % 10 == 9 {
                    format!("file_{file}.o")
                } else {
                    format!("file_{file}.rs")
                };
                let mut text = String::new();
                for line in 0..(file * 17 + module * 5) {
                    let _ = writeln!(
                        text,
                        "    let value_{line} = compute(value_{file}, {project} + {module}); // step"
                    );
                }
                if module == 7 && file == 3 {
                    text.push_str("fn new_with_needle() {}\n");
                }
                std::fs::write(module_folder.join(name), text).expect("a file");
            }
        }
    }
}
