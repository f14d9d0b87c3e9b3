//! Commands whose output a page shows right below them print exactly that.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A command, and the block of code that begins on the next line but one.
fn shown(page: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for part in page.split("\n```sh\n").skip(1) {
        let Some((command, after)) = part.split_once("\n```\n") else {
            continue;
        };
        let output = after
            .strip_prefix("\n```text\n")
            .or_else(|| after.strip_prefix("\n```json\n"));
        if let Some((output, _)) = output.and_then(|output| output.split_once("\n```\n")) {
            found.push((command, output));
        }
    }
    found
}

/// Stands in for `cargo run -q -p NAME -- ARGUMENTS`: the program is there already, because the tests of its package have built
/// it. Cargo would build it again, alone, with the features that it asks for when nobody else asks for more.
const RUN: &str = r#"
cargo() {
    local name= program
    while [ $# -gt 0 ]; do
        case $1 in
            run | -q) ;;
            -p) name=$2; shift ;;
            --) shift; break ;;
            *) printf 'not a way in which pages run programs: %s\n' "$1" >&2; return 125 ;;
        esac
        shift
    done
    program=$BUILT/$name
    if [ ! -x "$program" ]; then
        printf '%s is not built; run `cargo test --workspace --no-run` first\n' "$program" >&2
        return 125
    fi
    "$program" "$@"
}
"#;

/// Where the programs of the workspace are: above the tests.
fn built() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    test.ancestors().nth(2).unwrap_or(&test).to_owned()
}

/// Runs every such command of a page in the folder of the repository, as its reader does.
fn all_print_what_is_shown(name: &str, at_least: usize) {
    let page = std::fs::read_to_string(root().join(name)).unwrap_or_default();
    let commands = shown(&page);
    assert!(
        commands.len() >= at_least,
        "{name} shows the output of {} commands only",
        commands.len()
    );
    for (command, output) in commands {
        let ran = Command::new("bash")
            .args(["-c", &format!("{RUN}{command}")])
            .current_dir(root())
            .env("BUILT", built())
            .output()
            .unwrap_or_else(|error| panic!("bash: {error}"));
        let printed = String::from_utf8_lossy(&ran.stdout);
        assert_eq!(
            printed.trim_end(),
            output,
            "{name} shows something else below `{command}`, which said on stderr:\n{}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
}

#[test]
fn a_command_belongs_to_the_block_right_below_it() {
    let page = "one\n\n```sh\na\n```\n\n```text\nb\n```\n\n```sh\nc\n```\n\nd\n\n```text\ne\n```\n";
    assert_eq!(shown(page), [("a", "b")]);
}

#[test]
fn of_the_page_on_programs() {
    all_print_what_is_shown("docs/src/program.md", 8);
}

#[test]
fn of_the_page_on_state() {
    all_print_what_is_shown("docs/src/state.md", 2);
}

#[test]
fn of_the_readme() {
    all_print_what_is_shown("README.md", 1);
}
