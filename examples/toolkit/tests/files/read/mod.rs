//! `read_file`: what it gives, what it refuses, and what it costs.

mod cost;
mod refusals;

use std::fs;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolkit::{Limits, Workspace};

/// What a registry passes on, unless told otherwise.
const PASSED_ON: usize = 100_000;

fn registry(workspace: Workspace) -> Registry {
    Registry::builder()
        .tool(toolkit::read_file)
        .context(workspace)
        .build()
        .unwrap()
}

fn over(folder: &TempDir) -> Registry {
    registry(Workspace::new(folder.path()).unwrap())
}

fn limited(folder: &TempDir, read_characters: usize) -> Registry {
    let limits = Limits {
        read_characters,
        ..Limits::default()
    };
    registry(
        Workspace::builder()
            .root(folder.path())
            .limits(limits)
            .build()
            .unwrap(),
    )
}

fn read(registry: &Registry, arguments: &Value) -> Outcome {
    registry
        .call(ToolCall::new("1", "read_file", arguments.to_string()))
        .blocking()
}

#[track_caller]
fn text(registry: &Registry, arguments: &Value) -> Value {
    let outcome = read(registry, arguments);
    assert_eq!(
        outcome.status(),
        Status::Ok,
        "{arguments}: {:?}",
        outcome.error()
    );
    let output = outcome.output().unwrap();
    assert!(
        output.chars().count() <= PASSED_ON,
        "the registry would cut this"
    );
    serde_json::from_str(output).unwrap()
}

#[track_caller]
fn refusal(registry: &Registry, arguments: &Value) -> String {
    let outcome = read(registry, arguments);
    assert_eq!(
        outcome.status(),
        Status::Failed,
        "{arguments}: {:?}",
        outcome.output()
    );
    outcome.error().unwrap().to_owned()
}

/// Reads a file as a model would: from each `next` on, until there is none.
fn in_parts(registry: &Registry, escape: bool) -> (String, usize) {
    let mut arguments = json!({"path": "file", "escape": escape});
    let (mut whole, mut parts) = (String::new(), 0);
    loop {
        let part = text(registry, &arguments);
        whole += part["text"].as_str().unwrap();
        parts += 1;
        let Some(next) = part.get("next") else {
            return (whole, parts);
        };
        arguments = json!({"path": "file", "escape": escape, "first_line": next["first_line"], "first_column": next["first_column"]});
    }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

#[test]
fn a_file_is_given_with_its_totals_and_its_hash() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "one\ntwo\nthr\u{e9}e\n").unwrap();
    assert_eq!(
        text(&over(&folder), &json!({"path": "file"})),
        json!({
            "text": "one\ntwo\nthr\u{e9}e\n", "first_line": 1, "last_line": 3, "total_lines": 3,
            "total_characters": 14, "hash": hash("one\ntwo\nthr\u{e9}e\n".as_bytes()),
        })
    );
    let part = text(
        &over(&folder),
        &json!({"path": "file", "first_line": 2, "last_line": 2}),
    );
    assert_eq!(part["text"], "two\n");
    assert_eq!(
        (&part["first_line"], &part["last_line"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(
        (&part["total_lines"], &part["total_characters"]),
        (&json!(3), &json!(14))
    );
    assert_eq!(
        part["hash"],
        hash("one\ntwo\nthr\u{e9}e\n".as_bytes()),
        "of the whole file"
    );
    assert_eq!(
        part.get("next"),
        None,
        "nothing that was asked for is missing"
    );
}

/// F7
#[test]
fn line_ends_marks_and_a_missing_end_are_given_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let registry = over(&folder);
    let cases = [
        ("", 0, 0),
        ("\n", 1, 1),
        ("one", 1, 3),
        ("one\r\ntwo\r\n", 2, 10),
        ("one\rtwo", 1, 7),
        ("one\n\n\n", 3, 6),
        ("\u{feff}one\n", 1, 5),
        ("\u{2028}\u{85}\u{c}", 1, 3),
    ];
    for (content, lines, characters) in cases {
        fs::write(folder.path().join("file"), content).unwrap();
        let file = text(&registry, &json!({"path": "file"}));
        assert_eq!(file["text"], content);
        assert_eq!(file["total_lines"], lines, "{content:?}");
        assert_eq!(file["last_line"], lines, "{content:?}");
        assert_eq!(file["total_characters"], characters, "{content:?}");
        assert_eq!(
            file.get("byte_order_mark").is_some(),
            content.starts_with('\u{feff}')
        );
    }
}

/// F7
#[test]
fn what_is_no_text_can_be_read_in_escapes() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), b"caf\xe9\0\\n\r\n\x1b[31m\tred").unwrap();
    let file = text(&over(&folder), &json!({"path": "file", "escape": true}));
    assert_eq!(file["text"], "caf\\xe9\\u{0}\\\\n\r\n\\u{1b}[31m\tred");
    assert_eq!(file["total_lines"], 2);
    assert_eq!(
        file["hash"],
        hash(b"caf\xe9\0\\n\r\n\x1b[31m\tred"),
        "of the file, not of the escapes"
    );
}

/// F7: a character may begin in one piece that is read and end in the next.
#[test]
fn no_character_is_split_where_pieces_meet() {
    let folder = tempfile::tempdir().unwrap();
    let registry = over(&folder);
    for before in (128 << 10) - 12..=(128 << 10) + 2 {
        let content = format!(
            "{}\u{1f600}\u{20ac}\u{e9}\n{}end",
            "a".repeat(before),
            "\u{20ac}".repeat(50_000)
        );
        fs::write(folder.path().join("file"), &content).unwrap();
        let file = text(
            &registry,
            &json!({"path": "file", "first_column": before + 1, "last_line": 1}),
        );
        assert_eq!(file["text"], "\u{1f600}\u{20ac}\u{e9}\n");
        assert_eq!(file["total_characters"], content.chars().count());
        assert_eq!(file["hash"], hash(content.as_bytes()));
        let file = text(
            &registry,
            &json!({"path": "file", "first_line": 2, "first_column": 50_001, "escape": true}),
        );
        assert_eq!(file["text"], "end");
        assert_eq!(file["total_characters"], content.chars().count());
    }
}

#[test]
fn an_answer_is_never_cut_by_the_registry() {
    let folder = tempfile::tempdir().unwrap();
    let registry = over(&folder);
    for content in [
        "a".repeat(150_000),
        "\"\n".repeat(60_000),
        "\u{1}".repeat(100_000),
        "\u{e9}\\".repeat(70_000),
    ] {
        fs::write(folder.path().join("file"), &content).unwrap();
        let first = text(&registry, &json!({"path": "file"}));
        assert_eq!(first["total_characters"], content.chars().count());
        assert!(first.get("next").is_some());
        // Nothing is given away: the answer is nearly as long as it may be.
        assert!(
            read(&registry, &json!({"path": "file"}))
                .output()
                .unwrap()
                .chars()
                .count()
                > 99_000
        );
        assert_eq!(in_parts(&registry, false).0, content);
    }
}

#[test]
fn an_answer_ends_with_a_whole_line_where_it_can() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("file"),
        "12345\n12345\n123456789012345\n\n1",
    )
    .unwrap();
    let registry = limited(&folder, 14);
    let first = text(&registry, &json!({"path": "file"}));
    assert_eq!(
        (&first["text"], &first["next"]),
        (&json!("12345\n12345\n"), &json!({"first_line": 3}))
    );
    let second = text(&registry, &json!({"path": "file", "first_line": 3}));
    assert_eq!(
        (&second["text"], &second["next"]),
        (
            &json!("12345678901234"),
            &json!({"first_line": 3, "first_column": 15})
        )
    );
    let third = text(
        &registry,
        &json!({"path": "file", "first_line": 3, "first_column": 15}),
    );
    assert_eq!(
        (&third["text"], third.get("next")),
        (&json!("5\n\n1"), None)
    );
    assert_eq!(
        in_parts(&limited(&folder, 1), false),
        (fs::read_to_string(folder.path().join("file")).unwrap(), 30)
    );
}

/// F5
#[test]
fn a_file_with_a_second_name_is_read_and_said_to_have_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "one").unwrap();
    assert_eq!(
        text(&over(&folder), &json!({"path": "file"})).get("hard_links"),
        None
    );
    fs::hard_link(&path, folder.path().join("other")).unwrap();
    assert_eq!(
        text(&over(&folder), &json!({"path": "file"}))["hard_links"],
        2
    );
}

/// F6: the files of /proc are said to be empty.
#[test]
fn a_file_that_is_longer_than_it_is_said_to_be_is_read_to_its_end() {
    let registry = registry(Workspace::new("/proc/self").unwrap());
    let status = text(&registry, &json!({"path": "status"}));
    assert!(status["text"].as_str().unwrap().starts_with("Name:"));
    assert!(status["total_lines"].as_u64().unwrap() > 20);
}

/// Lines of all kinds, short and long.
fn content() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-c \t\"\\\\]{0,12}",
        "[\u{e9}\u{20ac}\u{1f600}\u{feff}]{0,6}",
        "[a-z]{30,60}",
        Just("\r".to_owned()),
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\n\n")];
    let lines = prop::collection::vec((line.clone(), end), 0..12);
    (lines, line).prop_map(|(lines, last)| {
        lines
            .into_iter()
            .map(|(line, end)| line + end)
            .collect::<String>()
            + &last
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// F7
    #[test]
    fn the_parts_of_a_file_put_together_are_the_file(content in content(), characters in 1_usize..80) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), &content).unwrap();
        let (whole, _) = in_parts(&limited(&folder, characters), false);
        prop_assert_eq!(whole, content);
    }

    #[test]
    fn a_range_is_those_lines_and_no_others(content in content(), first in 1_usize..14, lines in 0_usize..14) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), &content).unwrap();
        let all: Vec<&str> = content.split_inclusive('\n').collect();
        let last = first + lines;
        let outcome = read(&over(&folder), &json!({"path": "file", "first_line": first, "last_line": last}));
        if first > all.len().max(1) {
            prop_assert_eq!(outcome.status(), Status::Failed);
            return Ok(());
        }
        let file: Value = serde_json::from_str(outcome.output().unwrap()).unwrap();
        let wanted: String = all.iter().skip(first - 1).take(lines + 1).copied().collect();
        prop_assert_eq!(&file["text"], &wanted);
        prop_assert_eq!(&file["last_line"], &json!(last.min(all.len())));
        prop_assert_eq!(&file["total_lines"], &json!(all.len()));
        prop_assert_eq!(&file["total_characters"], &json!(content.chars().count()));
        prop_assert_eq!(&file["hash"], &hash(content.as_bytes()));
    }

    /// F7
    #[test]
    fn escapes_lose_no_byte(content in prop::collection::vec(any::<u8>(), 0..300), characters in 1_usize..200) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), &content).unwrap();
        let (whole, _) = in_parts(&limited(&folder, characters), true);
        prop_assert_eq!(unescaped(&whole), content);
    }
}

/// As the description of `escape` says, and no more than that.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        bytes.extend(before.bytes());
        rest = match escape.as_bytes()[0] {
            b'\\' => {
                bytes.push(b'\\');
                &escape[1..]
            }
            b'x' => {
                bytes.push(u8::from_str_radix(&escape[1..3], 16).unwrap());
                &escape[3..]
            }
            _ => {
                let (digits, rest) = escape.strip_prefix("u{").unwrap().split_once('}').unwrap();
                let character = char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
                bytes.extend(character.to_string().bytes());
                rest
            }
        };
    }
    bytes.extend(rest.bytes());
    bytes
}
