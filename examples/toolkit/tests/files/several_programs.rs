//! Several programs, each with tools of its own, on one folder.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::reexec;
use crate::writing::{done, everything, record, refused, registry_of};
use contract_runtime::prelude::*;
use rustix::fs::FlockOperation;
use serde_json::json;
use toolkit::{Limits, Problem, Workspace, edit_file, read_file, write_file};

const PROGRAMS: usize = 4;
const EDITS: usize = 100;

/// What an edit takes out of the file.
fn mark(program: usize, edit: usize) -> String {
    format!("<{program}.{edit}>")
}

/// Starts a test as a program that works in a folder and has a number.
fn start<T: Fn() + Copy>(test: T, folder: &Path, number: usize) -> Child {
    reexec::command(test, &format!("{number} {}", folder.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the folder and the number of a program that [`start`] has started.
fn lent<T: Fn()>(test: T) -> (PathBuf, usize) {
    let input = reexec::input_of(test).expect("started by another test");
    let (number, folder) = input.split_once(' ').unwrap();
    (folder.into(), number.parse().unwrap())
}

#[track_caller]
fn wait_for(path: &Path) {
    let began = Instant::now();
    while !path.exists() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{}",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Edits one file, counts in another, and makes new ones, all in turn with others that do the same.
#[test]
#[ignore = "started by another test, several times"]
fn program() {
    let (folder, number) = lent(program);
    let workspace = Workspace::new(folder.join("root")).unwrap();
    let never = CancellationToken::new();
    let (mut refused, mut made) = (0, 0);
    std::fs::write(folder.join(format!("ready{number}")), "").unwrap();
    wait_for(&folder.join("go"));
    for edit in 0..EDITS {
        // Until it is reported done: whoever has read before another wrote is told so.
        while let Err(problem) = edit_file(
            "marks",
            &mark(number, edit),
            "",
            1,
            None,
            &workspace,
            &never,
        ) {
            assert!(matches!(problem, Problem::Changed { .. }), "{problem}");
            refused += 1;
        }
        loop {
            let before = read_file("count", None, None, None, false, &workspace, &never).unwrap();
            let count: usize = before.text.parse().unwrap();
            let (next, hash) = ((count + 1).to_string(), Some(before.hash.as_str()));
            match write_file("count", &next, hash, &workspace, &never) {
                Ok(_) => break,
                Err(problem) => assert!(matches!(problem, Problem::Changed { .. }), "{problem}"),
            }
        }
        let new = format!("new/{edit}");
        match write_file(&new, "x", Some("absent"), &workspace, &never) {
            Ok(_) => made += 1,
            Err(problem) => assert!(matches!(problem, Problem::Changed { .. }), "{problem}"),
        }
    }
    println!("\nrefused {refused}\nmade {made}");
}

/// F8
#[test]
fn no_edit_that_was_reported_done_is_lost_among_several_programs() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let marks: String = (0..PROGRAMS)
        .flat_map(|program| (0..EDITS).map(move |edit| mark(program, edit)))
        .collect();
    std::fs::write(root.join("marks"), marks).unwrap();
    std::fs::write(root.join("count"), "0").unwrap();
    let programs: Vec<Child> = (0..PROGRAMS)
        .map(|number| start(program, folder.path(), number))
        .collect();
    for number in 0..PROGRAMS {
        wait_for(&folder.path().join(format!("ready{number}")));
    }
    std::fs::write(folder.path().join("go"), "").unwrap();
    let (mut refused, mut made) = (0, 0);
    for program in programs {
        let output = program.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
        let number = |word: &str| -> usize {
            let line = said.lines().find_map(|line| line.strip_prefix(word));
            line.unwrap().trim().parse().unwrap()
        };
        refused += number("refused");
        made += number("made");
    }
    let lost = std::fs::read_to_string(root.join("marks"))
        .unwrap()
        .matches('<')
        .count();
    let count: usize = std::fs::read_to_string(root.join("count"))
        .unwrap()
        .parse()
        .unwrap();
    record(&format!(
        "{PROGRAMS} programs: {lost} of {} edits lost, {refused} refused; {} of as many writes lost; {made} of {EDITS} files made once",
        PROGRAMS * EDITS,
        PROGRAMS * EDITS - count
    ));
    assert_eq!((lost, count, made), (0, PROGRAMS * EDITS, EDITS));
    // Each had the file for itself from reading it to writing it.
    assert_eq!(refused, 0);
    assert_eq!(everything(&root).len(), 3 + EDITS);
}

fn locked(folder: &Path) -> std::fs::File {
    let handle = std::fs::File::open(folder).unwrap();
    rustix::fs::flock(&handle, FlockOperation::LockExclusive).unwrap();
    handle
}

/// F8
#[test]
fn a_folder_that_another_program_holds_is_waited_for_and_then_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let limits = Limits {
        write_wait: Duration::from_millis(200),
        ..Limits::default()
    };
    let registry = registry_of(Workspace::builder().root(folder.path()).limits(limits));
    let write = |path: &str| json!({"path": path, "text": "x"});
    let other = locked(folder.path());
    let began = Instant::now();
    assert_eq!(
        refused(&registry, "write_file", &write("a")),
        "`a` cannot be written yet: another program has locked its folder for 200 ms; try again later"
    );
    assert!(began.elapsed() >= Duration::from_millis(200));
    // What is above or below it is another folder.
    done(&registry, "write_file", &write("sub/a"));
    assert_eq!(everything(folder.path()).len(), 2);
    // Closing it alone does not do: a process that another test starts at this moment holds it until it runs its program.
    rustix::fs::flock(&other, FlockOperation::Unlock).unwrap();
    drop(other);
    done(&registry, "write_file", &write("a"));
}

#[test]
#[ignore = "started and killed by another test"]
fn holder() {
    let (folder, _) = lent(holder);
    let _held = locked(&folder.join("root"));
    std::fs::write(folder.join("held"), "").unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

/// F8, F9
#[test]
fn a_program_that_is_killed_leaves_no_lock_behind() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let mut child = start(holder, folder.path(), 0);
    wait_for(&folder.path().join("held"));
    let limits = Limits {
        write_wait: Duration::from_millis(100),
        ..Limits::default()
    };
    let registry = registry_of(Workspace::builder().root(&root).limits(limits));
    let write = json!({"path": "a", "text": "x"});
    refused(&registry, "write_file", &write);
    child.kill().unwrap();
    child.wait().unwrap();
    done(&registry, "write_file", &write);
    assert_eq!(everything(&root).len(), 1);
}
