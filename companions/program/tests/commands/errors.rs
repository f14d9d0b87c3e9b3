use serde_json::Value;

use super::started::{run, run_as};

tests![
    mistakes_of_usage_exit_with_two,
    they_are_json_where_json_is_asked_for,
    a_registry_that_cannot_be_built_says_why,
    help_and_version_are_no_mistakes,
    own_options_stand_beside_the_commands,
    a_program_without_tools_works,
];

fn mistakes_of_usage_exit_with_two() {
    for words in [
        &[][..],
        &["lst"],
        &["call"],
        &["show"],
        &["schema"],
        &["schema", "--for", "nobody"],
        &["schema", "--for", "gemini", "--strict"],
        &["call", "nothing", "--policy", "maybe"],
        &["call", "nothing", "--check", "--out", "x"],
        &["serve", "--http", "nowhere"],
        &["serve", "--http", ":8080"],
        &["serve", "--http", "localhost:70000"],
        &["serve", "--print-config", "nobody"],
        &["call", "nothing", "--explain", "--check"],
        &["call", "divide", "dividend=1", "and"],
        &["serve", "--allow-host", "example.com"],
        &["completions", "dosshell"],
        &["diff", "/nowhere/at/all"],
    ] {
        let said = run(words);
        assert_eq!((said.code, &*said.out), (2, ""), "{words:?}: {said:?}");
        assert!(!said.err.is_empty(), "{words:?}");
    }
}

fn they_are_json_where_json_is_asked_for() {
    for (words, kind, code) in [
        (&["lst", "--json"][..], "usage", 2),
        (&["--json", "call"], "usage", 2),
        (&["--json", "call", "nothing", "--no-such"], "usage", 2),
        (&["schema", "--json", "--for", "nobody"], "usage", 2),
        (
            &["schema", "--json", "--for", "gemini", "--strict"],
            "usage",
            2,
        ),
        (&["show", "--json", "dvide"], "unknown_tool", 4),
        (&["diff", "--json", "/nowhere/at/all"], "input", 2),
        (&["serve", "--json", "--http", "192.0.2.1:1"], "serve", 1),
    ] {
        let said = run(words);
        let error = &said.json_error()["error"];
        assert_eq!(
            (said.code, &error["kind"]),
            (code, &Value::from(kind)),
            "{words:?}"
        );
        assert_eq!(error["exit_code"], code);
        let message = error["message"].as_str().unwrap();
        assert!(
            !message.is_empty() && !message.starts_with("error"),
            "{message}"
        );
    }
    // After `--` it is a word like any other.
    assert!(
        run(&["call", "nothing", "b", "--", "--json"])
            .err
            .starts_with("error: ")
    );
}

fn a_registry_that_cannot_be_built_says_why() {
    let said = run_as("broken", &["list"]);
    assert_eq!((said.code, &*said.out), (2, ""));
    assert!(
        said.err
            .starts_with("error: the registry cannot be built, for 2 reasons:\n"),
        "{said:?}"
    );
    let said = run_as("broken", &["list", "--json"]);
    let error = said.json_error();
    assert_eq!(error["error"]["kind"], "build");
    assert_eq!(error["error"]["problems"].as_array().unwrap().len(), 2);
    let said = run_as("stateful", &["call", "count"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("`.context(..)`"), "{said:?}");
}

fn help_and_version_are_no_mistakes() {
    for words in [
        &["--help"][..],
        &["help"],
        &["-h"],
        &["call", "--help"],
        &["--json", "list", "--help"],
    ] {
        let said = run(words);
        assert_eq!((said.code, &*said.err), (0, ""), "{words:?}");
        assert!(said.out.contains("Usage: tools"), "{said:?}");
    }
    let version = format!("contract-program {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run(&["--version"]).out, version);
}

fn own_options_stand_beside_the_commands() {
    let run = |words: &[&str]| run_as("own options", words);
    assert_eq!(run(&["name", "--shop", "Corner"]).out, "Corner\n");
    assert_eq!(
        run(&[
            "--shop",
            "Corner",
            "call",
            "divide",
            r#"{"dividend":1,"divisor":0}"#
        ])
        .code,
        5
    );
    assert_eq!(run(&["call", "--shop", "Corner", "nothing"]).code, 0);
    // Behind the name of a tool are its arguments and the options of `call` alone.
    assert_eq!(run(&["call", "nothing", "--shop", "Corner"]).code, 2);
    for words in [["--json", "list"], ["list", "--json"]] {
        assert!(run(&words).json().is_array());
    }
    let script = run(&["completions", "bash"]).out;
    assert!(script.contains("--shop") && script.contains("divide"));
}

fn a_program_without_tools_works() {
    for (words, code) in [
        (&["list"][..], 0),
        (&["check"], 0),
        (&["manifest"], 0),
        (&["call", "x"], 4),
    ] {
        assert_eq!(run_as("empty", words).code, code, "{words:?}");
    }
    assert_eq!(run_as("empty", &["list", "--json"]).out, "[]\n");
    assert_eq!(run_as("empty", &["completions", "zsh"]).code, 0);
}
