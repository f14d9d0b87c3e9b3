use crate::house::{program, shipped};

#[test]
fn a_recorded_conversation_is_shown_as_it_was() {
    let output = program()
        .arg("create an endpoint")
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stdout);
    let expected = std::fs::read_to_string(shipped("expected.txt")).expect("a file");
    assert_eq!(shown, expected);
}

#[test]
fn without_a_provider_another_task_says_what_to_do() {
    let output = program().arg("make me rich").output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("set OPENAI_API_KEY"), "{shown}");
    assert!(shown.contains("`create an endpoint`"), "{shown}");
}

#[test]
fn a_token_is_no_argument() {
    let output = program()
        .args([
            "executor",
            "--connect",
            "ws://127.0.0.1:9/executor/x",
            "--token",
            "secret",
        ])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn the_guide_shows_what_is_printed() {
    let guide = std::fs::read_to_string(shipped("../../docs/src/codegen.md")).expect("a page");
    let block = guide
        .split("```text\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let printed = std::fs::read_to_string(shipped("expected.txt")).expect("a file");
    let mut printed = printed.lines();
    let shown = block
        .expect("a block")
        .lines()
        .filter(|line| *line != "...");
    let mut lines = 0;
    for line in shown {
        assert!(
            printed.any(|one| one == line),
            "this is not printed, or not there: {line}"
        );
        lines += 1;
    }
    assert!(lines >= 4, "only {lines} lines are shown");
}
