//! What arrives at a command.

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;
use toolkit::{Limits, Workspace};

use crate::test_shell::{TestShell, workspace};

/// S1
#[tokio::test]
async fn every_argument_arrives_as_it_is() {
    let Some(shell) = TestShell::new("S1", "every_argument_arrives_as_it_is").await else {
        return;
    };
    let arguments = [
        "",
        " ",
        "two words",
        "'",
        "\"",
        "a'b\"c",
        "new\nline",
        "tab\there",
        "$(touch made)",
        "`touch made`",
        "$HOME",
        "${IFS}",
        "~",
        "*",
        "; touch made",
        "&& touch made",
        "| cat",
        "> made",
        "\\",
        "\\n",
        "-rf",
        "--",
        "--help",
        "!",
        "é",
        "日本",
        "\u{202e}",
        "\u{7f}",
        "#",
        "a=b",
    ];
    let mut argv = vec!["printf", "[%s]\n"];
    argv.extend(arguments);
    let report = shell.report(json!({"argv": argv})).await;
    let expected = format!("[{}]\n", arguments.join("]\n["));
    assert_eq!(report["stdout"]["text"], expected);
    assert_eq!(report["ended"], json!({"by": "exit", "code": 0}));
    assert!(!shell.path().join("made").exists());
}

/// S1
#[tokio::test]
async fn a_program_is_not_read_as_text_of_a_shell() {
    let Some(shell) = TestShell::new("S1", "a_program_is_not_read_as_text_of_a_shell").await else {
        return;
    };
    for program in [
        "echo hello",
        "true; touch made",
        "$(touch made)",
        "no-such-program",
        "./missing",
        "sub",
    ] {
        let outcome = shell.call(json!({"argv": [program]})).await;
        assert_eq!(outcome.status(), Status::Failed, "{program}: {outcome:?}");
        let error = outcome.error().unwrap();
        assert!(error.contains("cannot be run"), "{program}: {error}");
    }
    assert!(!shell.path().join("made").exists());
}

/// S1: only what says so is text of a shell.
#[tokio::test]
async fn a_script_is_read_by_a_shell() {
    let Some(shell) = TestShell::new("S1", "a_script_is_read_by_a_shell").await else {
        return;
    };
    let report = shell
        .script("for x in a b; do echo \"<$x>\"; done | tr a-z A-Z; exit 3")
        .await;
    assert_eq!(report["stdout"]["text"], "<A>\n<B>\n");
    assert_eq!(report["ended"], json!({"by": "exit", "code": 3}));
    assert_eq!(report["stderr"]["text"], "");
    assert_eq!(report["stdout"]["complete"], true);
    assert_eq!(report["left_behind"], 0);
}

/// S1: the contract judges the arguments that would be run.
#[tokio::test]
async fn what_cannot_be_run_breaks_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::builder()
        .tool(toolkit::run_shell)
        .context(Workspace::new(folder.path()).unwrap())
        .build()
        .unwrap();
    let long = "x".repeat(131_072);
    let cases = [
        (json!({}), "give either `argv` or `script`"),
        (
            json!({"argv": ["ls"], "script": "ls"}),
            "give either `argv` or `script`",
        ),
        (
            json!({"argv": []}),
            "`argv` begins with the name of a program",
        ),
        (
            json!({"argv": ["", "x"]}),
            "`argv` begins with the name of a program",
        ),
        (
            json!({"argv": ["ls", "a\0b"]}),
            "an argument cannot hold a zero byte",
        ),
        (
            json!({"argv": ["ls", long]}),
            "an argument can have at most 131071 bytes",
        ),
        (
            json!({"script": "ls \0"}),
            "a script cannot hold a zero byte",
        ),
        (json!({"script": " \n"}), "the script is empty"),
        (
            json!({"script": "#".repeat(100_001)}),
            "a script can have at most 100000 bytes",
        ),
        (json!({"script": "ls", "directory": ""}), "give a folder"),
        (
            json!({"script": "ls", "directory": "a\0"}),
            "a folder's name cannot hold a zero byte",
        ),
        (
            json!({"script": "ls", "timeout_seconds": 0}),
            "the timeout is from 1 to 3600 seconds",
        ),
        (
            json!({"script": "ls", "timeout_seconds": 3_601}),
            "the timeout is from 1 to 3600 seconds",
        ),
    ];
    for (arguments, message) in cases {
        let outcome = registry.call(("", "run_shell", arguments.clone())).await;
        assert_eq!(
            outcome.status(),
            Status::Violation,
            "{message}: {outcome:?}"
        );
        let error = outcome.error().unwrap();
        assert!(error.contains(message), "{message}: {error}");
    }
}

/// P1: an operator may switch the contracts off; then nothing worse happens than a command that fails.
#[tokio::test]
async fn without_its_contracts_it_fails_politely() {
    let row = "P1";
    let Some(shell) = TestShell::new(row, "without_its_contracts_it_fails_politely").await else {
        return;
    };
    let registry = Registry::builder()
        .tool(toolkit::run_shell)
        .context_per_call::<Workspace>()
        .override_policy("run_shell", Policy::Ignore)
        .build()
        .unwrap();
    let long = "x".repeat(500_000);
    let cases = [
        json!({}),
        json!({"argv": []}),
        json!({"argv": [""]}),
        json!({"argv": ["true"], "script": "true"}),
        json!({"argv": ["ls", "a\0b"]}),
        json!({"argv": ["ls\0"]}),
        json!({"argv": ["echo", long]}),
        json!({"script": "\0"}),
        json!({"script": long}),
        json!({"script": "true", "directory": ""}),
        json!({"script": "true", "directory": "\0"}),
        json!({"script": "true", "timeout_seconds": 0}),
        json!({"script": "true", "timeout_seconds": u32::MAX}),
    ];
    for arguments in cases {
        let shown = arguments.to_string();
        let call = ToolCall::new("1", "run_shell", shown.clone());
        let context = Context::new().with(workspace(shell.path(), Limits::default()));
        let outcome = registry.call(call).context(context).await;
        let shown: String = shown.chars().take(60).collect();
        let polite = matches!(outcome.status(), Status::Ok | Status::Failed);
        assert!(polite, "{shown}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_command_starts_in_its_folder() {
    let Some(shell) = TestShell::new("S1", "a_command_starts_in_its_folder").await else {
        return;
    };
    let root = shell.path().canonicalize().unwrap();
    let report = shell.report(json!({"argv": ["pwd"]})).await;
    assert_eq!(report["stdout"]["text"], format!("{}\n", root.display()));
    for directory in ["sub".to_owned(), root.join("sub").display().to_string()] {
        let report = shell
            .report(json!({"argv": ["pwd"], "directory": directory}))
            .await;
        assert_eq!(
            report["stdout"]["text"],
            format!("{}/sub\n", root.display())
        );
    }
    std::fs::write(shell.path().join("file"), "").unwrap();
    std::os::unix::fs::symlink("/etc", shell.path().join("out")).unwrap();
    for (directory, why) in [
        ("/etc", "outside the workspace"),
        ("..", "outside the workspace"),
        ("out", "outside the workspace"),
        ("file", "not a folder"),
        ("missing", "does not exist"),
    ] {
        let outcome = shell
            .call(json!({"argv": ["pwd"], "directory": directory}))
            .await;
        assert_eq!(outcome.status(), Status::Failed, "{directory}: {outcome:?}");
        let error = outcome.error().unwrap();
        assert!(error.contains(why), "{directory}: {error}");
    }
}

#[tokio::test]
async fn the_report_names_what_held_the_command() {
    let Some(shell) = TestShell::new("S9", "the_report_names_what_held_the_command").await else {
        return;
    };
    let report = shell.script("true").await;
    assert_ne!(report["sandbox"]["level"], "none", "{report}");
    assert!(
        !report["sandbox"]["in_force"].as_array().unwrap().is_empty(),
        "{report}"
    );
}
