//! The files in which inputs that failed are kept, written by hand, by another process, or not at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use contract_runtime::prelude::*;
use contract_verify::{Fault, Report, Verifier};
use serde_json::{Value, json};

/// Break what is promised.
#[tool(read_only)]
#[pre(number < 100)]
#[post(|_| number != 7)]
fn breaks(number: u8) {
    let _ = number;
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn keep(name: &str, place: &Path) {
    let report = verify(name, place);
    assert!(!report.is_ok(), "{report}");
}

fn verify(name: &str, place: &Path) -> Report {
    let tools = Registry::builder().tool(breaks).rename("breaks", name);
    let verifier = Verifier::new(tools.build().unwrap());
    verifier.cases(300).seed(1).regressions(place).run()
}

/// What is kept of the tool, in a file.
fn kept(file: &Path, name: &str) -> Value {
    let text = fs::read_to_string(file).unwrap();
    let mut all: Value = serde_json::from_str(&text).unwrap();
    all[name].take()
}

fn unreadable(report: &Report) -> &str {
    match report.problems().next().map(|problem| &problem.fault) {
        Some(Fault::Unreadable { why }) => why,
        other => panic!("{other:?}: {report}"),
    }
}

#[test]
fn inputs_that_are_no_list_are_told() {
    let place = folder("kept-no-list");
    fs::write(place.join("breaks.json"), r#"{"breaks": {"number": 1}}"#).unwrap();
    let report = verify("breaks", &place);
    let why = unreadable(&report);
    assert!(
        why.ends_with("`breaks` is not a list; write the inputs as `[{..}, {..}]`"),
        "{why}"
    );
}

#[test]
fn inputs_of_another_name_are_told() {
    let place = folder("kept-other-name");
    fs::write(place.join("breaks.json"), r#"{"braeks": [{"number": 1}]}"#).unwrap();
    let report = verify("breaks", &place);
    let why = unreadable(&report);
    assert!(
        why.ends_with(
            "there are inputs of `braeks`, and they are never tried; write `breaks`, or remove them"
        ),
        "{why}"
    );
    // A file of several tools has other names.
    let file = place.join("all.json");
    fs::write(&file, r#"{"braeks": [{"number": 1}]}"#).unwrap();
    keep("breaks", &file);
    assert_eq!(kept(&file, "breaks"), json!([{"number": 7}]));
    assert_eq!(kept(&file, "braeks"), json!([{"number": 1}]));
}

#[test]
fn an_empty_path_is_no_place() {
    let report = verify("breaks", Path::new(""));
    assert!(
        unreadable(&report).starts_with("the path is empty"),
        "{report}"
    );
}

#[test]
fn a_folder_with_a_dot_and_a_file_without_one_are_what_they_are() {
    let place = folder("kept-with.dot");
    keep("breaks", &place);
    assert_eq!(
        kept(&place.join("breaks.json"), "breaks"),
        json!([{"number": 7}])
    );
    let file = place.join("plain");
    fs::write(&file, "{}").unwrap();
    keep("breaks", &file);
    assert_eq!(kept(&file, "breaks"), json!([{"number": 7}]));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let place = folder("kept-behind-a-link");
    fs::create_dir(place.join("shared")).unwrap();
    for (link, target) in [
        ("there.json", "shared/there.json"),
        ("new.json", "shared/new.json"),
    ] {
        std::os::unix::fs::symlink(target, place.join(link)).unwrap();
    }
    fs::write(place.join("shared/there.json"), r#"{"other": []}"#).unwrap();
    for name in ["there.json", "new.json"] {
        keep("breaks", &place.join(name));
        assert!(place.join(name).is_symlink());
        let target = place.join("shared").join(name);
        assert_eq!(kept(&target, "breaks"), json!([{"number": 7}]));
    }
    let left = fs::read_dir(place.join("shared")).unwrap().count();
    assert_eq!(left, 2, "nothing is left beside them");
}

/// Which of several processes this is, and the file that they share.
const PROCESS: &str = "VERIFY_KEPT_PROCESS";
const FILE: &str = "VERIFY_KEPT_FILE";

/// How many, and how many tools each has.
const PROCESSES: usize = 4;
const TOOLS: usize = 8;

#[test]
#[ignore = "started by the test below it, in processes of its own"]
fn a_process_keeps_its_inputs() {
    let (Ok(process), Some(file)) = (std::env::var(PROCESS), std::env::var_os(FILE)) else {
        return;
    };
    for tool in 0..TOOLS {
        keep(&format!("breaks_{process}_{tool}"), Path::new(&file));
    }
}

#[test]
fn processes_that_keep_inputs_in_one_file_lose_none() {
    let file = folder("kept-by-several").join("all.json");
    let start = |process: usize| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "kept::a_process_keeps_its_inputs"])
            .env(PROCESS, process.to_string())
            .env(FILE, &file)
            .spawn()
            .unwrap()
    };
    let processes: Vec<_> = (0..PROCESSES).map(start).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    for (process, tool) in
        (0..PROCESSES).flat_map(|process| (0..TOOLS).map(move |tool| (process, tool)))
    {
        let name = format!("breaks_{process}_{tool}");
        assert_eq!(kept(&file, &name), json!([{"number": 7}]), "{name}");
    }
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_lock_that_nobody_holds_is_passed() {
    let place = folder("kept-under-an-old-lock");
    fs::write(place.join("breaks.lock"), "").unwrap();
    keep("breaks", &place);
    assert_eq!(
        kept(&place.join("breaks.json"), "breaks"),
        json!([{"number": 7}])
    );
    assert!(!place.join("breaks.lock").exists());
}

#[test]
fn a_tool_that_is_named_twice_is_tried_once() {
    let registry = Registry::builder().tool(breaks).build().unwrap();
    let report = Verifier::new(registry).tool("breaks").tool("breaks").run();
    assert_eq!(report.tools().len(), 1);
}
