//! What each command reports of the workspace, and its exit code.

use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use super::cargo::REAL_CARGO;
use super::program::BROKEN;
use super::workspace::{PAGE, Said, Workspace};

pub(crate) fn tests() -> Vec<Trial> {
    let test = |name: &str, test: fn()| {
        let run = move || -> Result<(), Failed> {
            test();
            Ok(())
        };
        Trial::test(name, run)
    };
    vec![
        test("every_crate_is_in_the_report", every_crate_is_in_the_report),
        test(
            "crates_are_chosen_and_built_with_features",
            crates_are_chosen_and_built_with_features,
        ),
        test(
            "a_finding_fails_and_a_job_shows_it",
            a_finding_fails_and_a_job_shows_it,
        ),
        test(
            "strict_fails_on_notes_and_on_what_is_left_out",
            strict_fails_on_notes_and_on_what_is_left_out,
        ),
        test(
            "the_job_of_the_page_on_publishing_passes_with_its_crate",
            the_job_of_the_page_on_publishing_passes_with_its_crate,
        ),
        test(
            "a_broken_promise_is_found_and_recorded",
            a_broken_promise_is_found_and_recorded,
        ),
        test(
            "a_change_says_which_version_comes_next",
            a_change_says_which_version_comes_next,
        ),
    ]
}

const LEFT_OUT: &str = "tool: left out
  it is a program, which nothing can link; run the commands of the program itself
";
const WITHOUT_TOOLS: &str = "plain: left out
  none of its functions is a tool
";

/// The whole report, of which `kit` is the part that changes.
#[track_caller]
fn assert_said(said: &Said, code: i32, kit: &str) {
    let report = format!("{LEFT_OUT}{kit}{WITHOUT_TOOLS}");
    assert_eq!((said.code, &*said.out), (code, &*report), "{}", said.err);
}

fn every_crate_is_in_the_report() {
    let workspace = Workspace::new("report");
    let said = workspace.run(&["check", "--", "--for", "openai"]);
    assert_said(&said, 0, "kit: ok\n  ok: 2 tools\n");
    // From the folder of a crate, too.
    let below = workspace.root.join("plain/Cargo.toml");
    let below = below.to_str().unwrap();
    let said = workspace.run(&["check", "--manifest-path", below, "--", "--for", "openai"]);
    assert_said(&said, 0, "kit: ok\n  ok: 2 tools\n");
    assert_eq!(
        workspace.read("target/contract/src/main.rs"),
        "//! Written by `cargo contract`.\n\nuse crate0 as _;\nuse crate1 as _;\n\n\
         fn main() -> std::process::ExitCode {\n    contract_program::__run_package()\n}\n"
    );
}

fn crates_are_chosen_and_built_with_features() {
    let workspace = Workspace::new("features");
    let said = workspace.run(&["check", "-p", "kit", "-F", "fast", "--", "--for", "openai"]);
    assert_eq!(
        (said.code, &*said.out),
        (0, "kit: ok\n  ok: 2 tools\n"),
        "{}",
        said.err
    );
    assert!(
        workspace
            .read("target/contract/Cargo.toml")
            .contains(r#"features = ["fast"]"#)
    );
    // A feature of one crate is no feature of the others.
    let said = workspace.run(&["check", "-F", "kit/fast", "--", "--for", "openai"]);
    assert_eq!(said.code, 0, "{said:?}");
    let manifest = workspace.read("target/contract/Cargo.toml");
    let of = |name: &str| {
        let mut lines = manifest.lines();
        lines.find(|line| line.contains(name)).unwrap().to_owned()
    };
    assert!(
        of("/kit\"").ends_with(r#"features = ["fast"] }"#),
        "{manifest}"
    );
    assert!(of("/plain\"").ends_with("features = [] }"), "{manifest}");
    let said = workspace.run(&["check", "-F", "kitt/fast"]);
    let problem = "error: no crate `kitt` is chosen that could have the feature `fast`\n";
    assert_eq!((said.code, &*said.err), (2, problem));
    let said = workspace.run(&["check", "-p", "plain"]);
    let nothing = format!("{WITHOUT_TOOLS}no crate has tools, so nothing was looked at\n");
    assert_eq!((said.code, said.out), (1, nothing));
    let said = workspace.run(&["check", "-p", "kitt"]);
    assert_eq!(
        (said.code, &*said.err),
        (2, "error: the workspace has no package `kitt`\n")
    );
    let said = workspace.run(&["check", "-F", "slow"]);
    assert_eq!((said.code, &*said.out), (2, ""));
    let end = "error: the crates could not be built into one program\n";
    assert!(
        said.err.contains("`slow`") && said.err.ends_with(end),
        "{}",
        said.err
    );
}

fn a_finding_fails_and_a_job_shows_it() {
    let workspace = Workspace::new("finding");
    let summary = workspace.root.join("summary.md");
    let job = [
        ("GITHUB_ACTIONS", Path::new("true")),
        ("GITHUB_STEP_SUMMARY", &summary),
    ];
    let said = workspace.run_with(&["check"], &job);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("kit: failed\n  export: "), "{said:?}");
    let annotation = "\n::error title=cargo contract check, kit::export: ";
    assert!(said.out.contains(annotation), "{said:?}");
    let summary = workspace.read("summary.md");
    assert!(
        summary.starts_with("### cargo contract check\n\n**tool**: left out\n"),
        "{summary}"
    );
    assert!(
        summary.contains("\n**kit**: failed\n\n```text\nexport: "),
        "{summary}"
    );
}

fn strict_fails_on_notes_and_on_what_is_left_out() {
    let workspace = Workspace::new("strict");
    let strict = ["--", "--for", "openai", "--strict"];
    let said = workspace.run(&[&["check", "-p", "kit"][..], &strict].concat());
    assert_eq!(said.code, 1, "{said:?}");
    let said = workspace.run(&[&["check", "-p", "kit"][..], &strict[..3]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let said = workspace.run(&["check", "-p", "tool", "-p", "plain", "--", "--strict"]);
    assert_eq!(said.code, 1, "{said:?}");
    let left_out = LEFT_OUT.replace("left out\n  ", "failed\n  left out: ");
    assert!(said.out.starts_with(&left_out), "{said:?}");

    // Methods are left out of a crate that has tools.
    let program = |words: &[&str]| {
        let mut program = Command::new(std::env::current_exe().unwrap());
        let program = program.arg("cargo-contract").args(words);
        let output = program.env(REAL_CARGO, "none").output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, _, err) = program(&["check", "--for", "openai"]);
    let methods = "left out: `books` of `Shelf` (";
    assert!(
        code == Some(0) && err.starts_with(methods),
        "{code:?} {err}"
    );
    let words = ["verify", "--cases", "40"];
    assert_eq!(program(&words).0, Some(0));
    let (code, out, err) = program(&[&words[..], &["--strict"]].concat());
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.ends_with("; left out: nothing\n"), "{out}");
}

fn the_job_of_the_page_on_publishing_passes_with_its_crate() {
    assert!(PAGE.contains(include_str!("daykit.rs")));
    let workspace = Workspace::of_page();
    let freeze = workspace.run(&["freeze"]);
    assert_eq!(freeze.code, 0, "{freeze:?}");
    let (_, job) = PAGE.split_once("```yaml\n").unwrap();
    let (job, _) = job.split_once("```\n").unwrap();
    let mut lines = job.lines().filter_map(|line| line.strip_prefix("- run: "));
    let line = lines
        .find(|line| line.starts_with("cargo contract "))
        .unwrap();
    for command in line.split(" && ") {
        let words: Vec<_> = command.split(' ').skip(2).collect();
        let said = workspace.run(&words);
        let is_whole = said.out.starts_with("daykit: ok\n");
        assert_eq!((said.code, is_whole), (0, true), "{said:?}");
    }
}

fn a_broken_promise_is_found_and_recorded() {
    let workspace = Workspace::new("verify");
    let words = ["verify", "-p", "kit", "--", "--cases", "40"];
    let said = workspace.run(&words);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.starts_with("kit: ok\n"), "{said:?}");
    assert_eq!(
        said.err,
        "building kit, contract-verify and contract-program (without its servers)\n"
    );
    assert!(!workspace.root.join("kit/verify-regressions").exists());
    let said = workspace.run_with(&words, &[(BROKEN, Path::new("1"))]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.starts_with("kit: failed\n"), "{said:?}");
    assert!(
        said.out.contains(r#""double", json!({"number": 11})"#),
        "{said:?}"
    );
    // The input is tried first from now on.
    assert!(
        workspace
            .read("kit/verify-regressions/double.json")
            .contains("11")
    );

    // So are boundaries, when somebody asks.
    let said = workspace.run_with(&words, &[("UPDATE_CONTRACTS", Path::new("1"))]);
    assert_eq!(said.code, 0, "{said:?}");
    let boundaries = workspace.read("kit/verify-boundaries/double.json");
    assert_eq!(workspace.run(&words).code, 0);
    workspace.write(
        "kit/verify-boundaries/double.json",
        &boundaries.replace("101", "99"),
    );
    let said = workspace.run(&words);
    assert_eq!(said.code, 1, "{said:?}");
}

fn a_change_says_which_version_comes_next() {
    let workspace = Workspace::new("freeze");
    let said = workspace.run(&["diff"]);
    assert_said(
        &said,
        1,
        "kit: failed\n  the contracts are not frozen: there is no `contracts.json`; run `cargo contract freeze`, and commit it\n",
    );
    let said = workspace.run(&["freeze"]);
    assert_said(&said, 0, "kit: ok\n  wrote `contracts.json`; commit it\n");
    assert_eq!(
        said.err,
        "building kit, plain and contract-program (without its servers)\n"
    );
    let said = workspace.run(&["freeze"]);
    assert_said(&said, 0, "kit: ok\n  `contracts.json` is as before\n");
    let said = workspace.run(&["diff"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("\n  the version may stay as it is\n"),
        "{said:?}"
    );

    // What was released had a wider tool.
    let wide = workspace.read("kit/contracts.json").replace("100", "200");
    workspace.write("kit/contracts.json", &wide);
    let said = workspace.run(&["diff"]);
    assert_eq!(said.code, 1, "{said:?}");
    let next = "the difference is major: after 1.2.0 comes 2.0.0";
    assert!(said.out.contains(next), "{said:?}");

    workspace.git(&["init", "--quiet"]);
    workspace.git(&["add", "kit/contracts.json"]);
    workspace.git(&["commit", "--quiet", "--message", "Release"]);
    workspace.git(&["tag", "v1.2.0"]);
    assert_eq!(workspace.run(&["freeze"]).code, 0);
    assert_eq!(workspace.run(&["diff"]).code, 0);
    let since = |revision| workspace.run(&["diff", "--since", revision]);
    let said = since("v1.2.0");
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.out.contains(&format!("{next}; 1.2.0 is not enough\n")),
        "{said:?}"
    );
    workspace.release("2.0.0");
    let said = since("v1.2.0");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains(&format!("{next}; 2.0.0 is enough\n")),
        "{said:?}"
    );
    let said = since("v9.0.0");
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.out
            .contains("there is no `contracts.json` at v9.0.0: "),
        "{said:?}"
    );
}
