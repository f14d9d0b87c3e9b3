//! `search_in_files`: what is found, and how it is said.

use std::fs;

use crate::support::Searched;
use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;
use toolkit::{Findings, Hit, Stop, Workspace};

#[test]
fn hits_come_in_the_order_of_paths_and_lines() {
    let tree = Searched::new(&[
        ("b.txt", "needle\n"),
        ("a.txt", "needle\n\nneedle\n"),
        ("a-b.txt", "needle\n"),
        ("a/z/x.txt", "needle\n"),
        ("a/z.txt", "needle\n"),
        ("a/B.txt", "needle\n"),
    ]);
    assert_eq!(
        tree.lines(json!({"pattern": "needle"})),
        [
            "a/B.txt:1: needle",
            "a/z/x.txt:1: needle",
            "a/z.txt:1: needle",
            "a-b.txt:1: needle",
            "a.txt:1: needle",
            "a.txt:3: needle",
            "b.txt:1: needle",
        ]
    );
}

#[test]
fn a_model_reads_one_string_for_each_hit_and_nothing_that_says_nothing() {
    let tree = Searched::new(&[("src/main.rs", "fn main() {\n    run()\n}\n")]);
    let outcome = tree.call(json!({"pattern": r"\brun\(", "path": "./src/"}));
    assert_eq!(
        outcome.output(),
        Some(r#"{"hits":["src/main.rs:2:     run()"],"files_searched":1}"#)
    );
    let findings: Findings =
        serde_json::from_str(outcome.output().unwrap_or_default()).expect("findings");
    assert_eq!(findings.hits[0].text, "    run()");
    let outcome = tree.call(json!({"pattern": "nothing of the kind"}));
    assert_eq!(outcome.output(), Some(r#"{"hits":[],"files_searched":1}"#));
}

#[test]
fn a_path_is_shown_as_it_was_given_and_can_be_given_to_another_tool() {
    let strange = "odd: \n\\name\u{202e}.txt";
    let tree = Searched::new(&[
        (&*format!("a/{strange}"), "needle\n"),
        ("a/b/c.txt", "needle\n"),
    ]);
    let root = fs::canonicalize(tree.folder()).expect("a root");
    let inner = root.join("a/b");
    assert_eq!(
        tree.lines(json!({"pattern": "needle", "path": inner})),
        [format!("{}/c.txt:1: needle", inner.display())]
    );
    let odd = tree.find(json!({"pattern": "needle", "path": "a", "glob": "odd*"}));
    assert_eq!(odd.hits[0].path, std::path::Path::new("a").join(strange));
    let written = odd.hits[0].to_string();
    assert!(written.starts_with(r"a/odd\x3a "), "{written}");
    assert!(
        written.ends_with(r"\\name\u{202e}.txt:1: needle"),
        "{written}"
    );
    assert_eq!(written.parse::<Hit>().as_ref(), Ok(&odd.hits[0]));

    let registry = Registry::builder()
        .tool(toolkit::read_file)
        .context(Workspace::new(tree.folder()).expect("a workspace"))
        .build()
        .expect("a registry");
    let path = written.strip_suffix(":1: needle").expect("the path");
    let call = ToolCall::new("1", "read_file", json!({"path": path}).to_string());
    let outcome = registry.call(call).blocking();
    assert!(outcome.is_ok(), "{:?}", outcome.error());
}

#[test]
fn case_and_literal_do_what_they_say() {
    let tree = Searched::new(&[("a.txt", "Straße (x)\nSTRASSE (X)\nstraße\n")]);
    let lines = |arguments| {
        tree.find(arguments)
            .hits
            .iter()
            .map(|hit| hit.line)
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(json!({"pattern": "straße"})), [3]);
    assert_eq!(
        lines(json!({"pattern": "straße", "case": "insensitive"})),
        [1, 3]
    );
    assert_eq!(lines(json!({"pattern": "straße", "case": "smart"})), [1, 3]);
    assert_eq!(lines(json!({"pattern": "Straße", "case": "smart"})), [1]);
    assert_eq!(lines(json!({"pattern": "(x)", "literal": true})), [1]);
    assert_eq!(
        lines(json!({"pattern": "(x)", "literal": true, "case": "insensitive"})),
        [1, 2]
    );
    assert_eq!(lines(json!({"pattern": "e$"})), [3]);
    assert_eq!(lines(json!({"pattern": "^S"})), [1, 2]);
}

#[test]
fn a_bad_pattern_is_refused_with_its_place() {
    let tree = Searched::new(&[("a.txt", "a\n")]);
    for (pattern, expected) in [
        (
            "ä(b",
            "the pattern is not a regular expression: unclosed group, at character 2 of it; ",
        ),
        (
            "ab)",
            "the pattern is not a regular expression: unopened group, at character 3 of it; ",
        ),
        (
            "a)|(b",
            "the pattern is not a regular expression: unopened group, at character 2 of it; ",
        ),
        (
            "*",
            "the pattern is not a regular expression: repetition operator missing expression, at character 1 of it; ",
        ),
        (
            "x(?=y)",
            "the pattern is not a regular expression: look-around, including look-ahead and look-behind, is not supported, at character 2",
        ),
        (
            r"(a)\1",
            "the pattern is not a regular expression: backreferences are not supported, at character 4 of it; ",
        ),
        (
            r"\p{Nope}",
            "the pattern is not a regular expression: Unicode property not found, at character 1 of it; ",
        ),
        (
            r"a\nb",
            "the pattern asks for a line break, which no line holds; search for a part without it",
        ),
        (
            r"a\x00b",
            "the pattern asks for a zero byte, which no line holds; search for a part without it",
        ),
    ] {
        let outcome = tree.call(json!({"pattern": pattern}));
        assert_eq!(outcome.status(), Status::Failed, "{pattern}");
        let error = outcome.error().unwrap_or_default();
        assert!(error.starts_with(expected), "{pattern}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn the_contract_refuses_what_makes_no_sense() {
    let tree = Searched::new(&[("a.txt", "a\n")]);
    for arguments in [
        json!({"pattern": ""}),
        json!({"pattern": "a\nb"}),
        json!({"pattern": "a".repeat(1_001)}),
        json!({"pattern": "a", "path": ""}),
        json!({"pattern": "a", "max_results": 0}),
        json!({"pattern": "a", "max_results": 1_001}),
        json!({"pattern": "a", "glob": "x".repeat(1_001)}),
    ] {
        assert_eq!(
            tree.call(arguments.clone()).status(),
            Status::Violation,
            "{arguments}"
        );
    }
    assert_eq!(
        tree.call(json!({"pattern": "a", "case": "none"})).status(),
        Status::InvalidArguments
    );
    for path in ["nowhere", "/etc", "../x"] {
        assert_eq!(
            tree.call(json!({"pattern": "a", "path": path})).status(),
            Status::Failed,
            "{path}"
        );
    }
}

#[test]
fn a_result_that_is_cut_short_says_so() {
    let tree = Searched::new(&[("a.txt", &"needle\n".repeat(20)), ("b.txt", "needle\n")]);
    let found = tree.find(json!({"pattern": "needle", "max_results": 20}));
    assert_eq!((found.hits.len(), found.stopped), (20, Some(Stop::Results)));
    let found = tree.find(json!({"pattern": "needle", "max_results": 21}));
    assert_eq!((found.hits.len(), found.stopped), (21, None));
}

#[test]
fn the_schema_tells_a_model_what_it_needs() {
    let tree = Searched::new(&[]);
    let registry = tree.registry();
    let tool = registry.tool("search_in_files").expect("the tool");
    let schema = tool.input_schema();
    assert_eq!(schema["required"], json!(["pattern"]));
    assert_eq!(schema["properties"]["max_results"]["maximum"], 1_000);
    assert_eq!(schema["properties"]["pattern"]["maxLength"], 1_000);
    let output = tool.output_schema().expect("an output schema").to_string();
    assert!(output.contains(r#""stopped""#), "{output}");
    assert!(!output.contains("text\":{"), "a hit is a string: {output}");
}
