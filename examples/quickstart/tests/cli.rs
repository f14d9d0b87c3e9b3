//! The program, as the guide shows it.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn quickstart(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quickstart"));
    command.args(words).stdin(Stdio::null());
    command.output().unwrap()
}

fn out(words: &[&str]) -> String {
    String::from_utf8(quickstart(words).stdout).unwrap()
}

#[test]
fn without_a_command_it_shows_itself() {
    let expected = include_str!("../expected.txt");
    assert_eq!(out(&[]), expected);
    assert_eq!(out(&["calls"]), expected);
}

#[test]
fn calls_come_from_standard_input_too() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quickstart"));
    command
        .args(["calls", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(
        input,
        r#"{{"id":"7","name":"divide","arguments":{{"dividend":1,"divisor":8}}}}"#
    )
    .unwrap();
    drop(input);
    let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(text.contains("\n  ok 0.125\n"), "{text}");
}

#[test]
fn the_tools_are_a_program() {
    let list = out(&["list"]);
    assert_eq!(list.lines().count(), 7);
    assert!(
        list.starts_with("book_room\tidempotent\tBook a room for a part of one day\n"),
        "{list}"
    );
    let shown = out(&["show", "book_room"]);
    assert!(include_str!("../expected.txt").contains(&shown), "{shown}");
    for (arguments, code, said) in [
        (r#"{"start":540,"end":600}"#, 0, ""),
        (
            r#"{"start":600,"end":540}"#,
            5,
            "violation: the end (540) must come after the start (600)\n",
        ),
        (
            r#"{"start":600}"#,
            3,
            "invalid_arguments: `/end`: required argument is missing; ",
        ),
    ] {
        let output = quickstart(&["call", "book_room", arguments]);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(
            String::from_utf8_lossy(&output.stderr).starts_with(said),
            "{output:?}"
        );
    }
    assert_eq!(quickstart(&["check"]).status.code(), Some(0));
    let frozen = concat!(env!("CARGO_MANIFEST_DIR"), "/contracts.json");
    // The file holds the free functions; the two tools of the notes have come to them.
    let output = quickstart(&["diff", frozen]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let version = format!("quickstart {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(out(&["--version"]), version);
}
