//! `edit_file`, as a model calls it.

use std::sync::LazyLock;

use crate::writing::{call, done, everything, refused, registry, registry_of};
use contract_runtime::Status;
use contract_runtime::prelude::*;
use proptest::prelude::*;
use serde_json::json;
use toolkit::{Limits, Workspace, edit_file};

/// A registry over a folder with one file, `a`.
fn with_file(content: &[u8]) -> (tempfile::TempDir, Registry) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), content).unwrap();
    let registry = registry(folder.path());
    (folder, registry)
}

fn content(folder: &tempfile::TempDir) -> Vec<u8> {
    std::fs::read(folder.path().join("a")).unwrap()
}

#[test]
fn one_match_is_replaced_and_the_report_names_its_lines() {
    let (folder, registry) = with_file(b"one\ntwo\nthree\n");
    let edited = done(
        &registry,
        "edit_file",
        &json!({"path": "a", "old": "two\n", "new": "2\n2b\n"}),
    );
    assert_eq!(content(&folder), b"one\n2\n2b\nthree\n");
    assert_eq!(edited["replaced"], 1);
    assert_eq!(edited["lines"], json!([{"first": 2, "last": 3}]));
    assert_eq!(edited["bytes"], 15);
    let read = done(&registry, "read_file", &json!({"path": "a"}));
    assert_eq!(read["hash"], edited["hash"]);
    assert_eq!(everything(folder.path()).len(), 1);
}

#[test]
fn line_endings_a_byte_order_mark_and_a_missing_newline_stay() {
    let (folder, registry) = with_file(b"\xef\xbb\xbfone\r\ntwo\nthree\r\n\xc3\xbc");
    done(
        &registry,
        "edit_file",
        &json!({"path": "a", "old": "two", "new": "2"}),
    );
    assert_eq!(content(&folder), b"\xef\xbb\xbfone\r\n2\nthree\r\n\xc3\xbc");
    done(
        &registry,
        "edit_file",
        &json!({"path": "a", "old": "one\r\n", "new": ""}),
    );
    assert_eq!(content(&folder), b"\xef\xbb\xbf2\nthree\r\n\xc3\xbc");
}

/// F7: models write `\n`, and a file of `\r\n` would be mixed afterwards.
#[test]
fn an_edit_keeps_the_line_endings_of_a_file() {
    let (folder, registry) = with_file(b"one\r\ntwo\r\nthree\r\n");
    let edit = |old: &str, new: &str| {
        let edit = json!({"path": "a", "old": old, "new": new});
        done(&registry, "edit_file", &edit)
    };
    let edited = edit("one\ntwo\n", "1\n2\n2b\n");
    assert_eq!(content(&folder), b"1\r\n2\r\n2b\r\nthree\r\n");
    assert_eq!(edited["lines"], json!([{"first": 1, "last": 3}]));
    assert_eq!(edited["bytes"], 17);
    edit("2b\r\n", "3\n4\r\n");
    assert_eq!(content(&folder), b"1\r\n2\r\n3\r\n4\r\nthree\r\n");
    // Line endings themselves can be changed, and where they differ, each is as it is given.
    edit("1\r\n", "1\n");
    assert_eq!(content(&folder), b"1\n2\r\n3\r\n4\r\nthree\r\n");
    edit("1\n", "0\n1\n");
    assert_eq!(content(&folder), b"0\n1\n2\r\n3\r\n4\r\nthree\r\n");
}

#[test]
fn a_text_that_occurs_more_or_less_often_than_was_said_changes_nothing() {
    let (folder, registry) = with_file(b"x = 1\ny = 2\nx = 1\n");
    let edit =
        |old: &str, count: u32| json!({"path": "a", "old": old, "new": "new", "count": count});
    assert_eq!(
        refused(
            &registry,
            "edit_file",
            &json!({"path": "a", "old": "x = 1", "new": "z"})
        ),
        "the text to replace occurs 2 times in `a`, and 1 was expected; it begins in the lines 1 and 3: give more of the \
         text around the one that is meant, or set `count`"
    );
    assert!(
        refused(&registry, "edit_file", &edit("y", 2))
            .contains("occurs 1 times in `a`, and 2 was expected")
    );
    assert_eq!(
        refused(&registry, "edit_file", &edit("z", 1)),
        "the text to replace occurs 0 times in `a`, and 1 was expected; read the file and copy the text exactly"
    );
    assert_eq!(content(&folder), b"x = 1\ny = 2\nx = 1\n");
    let edited = done(&registry, "edit_file", &edit("x = 1", 2));
    assert_eq!(
        edited["lines"],
        json!([{"first": 1, "last": 1}, {"first": 3, "last": 3}])
    );
    assert_eq!(content(&folder), b"new\ny = 2\nnew\n");
}

#[test]
fn a_near_miss_is_told_with_what_stands_there_instead() {
    let (_folder, registry) = with_file(b"fn main() {\n    run();\n}\n");
    let hint = |old: &str| {
        refused(
            &registry,
            "edit_file",
            &json!({"path": "a", "old": old, "new": "x"}),
        )
    };
    assert!(
        hint("{\n\trun();\n}")
            .ends_with("the same text with other white space begins in line 1: copy it exactly")
    );
    assert!(
        hint("run();\r\n}")
            .ends_with(r"there the lines end in `\n` alone: write them so in `old` and `new`")
    );
    let (_folder, registry) = with_file(b"a\r\nb\nc\r\n");
    let message = refused(
        &registry,
        "edit_file",
        &json!({"path": "a", "old": "a\nb", "new": "x"}),
    );
    assert!(message.ends_with(r"there the lines end in `\r\n`: write them so in `old` and `new`"));
}

#[test]
fn what_cannot_be_right_is_refused_before_anything_is_opened() {
    let (folder, registry) = with_file(b"x");
    for arguments in [
        json!({"path": "", "old": "x", "new": "y"}),
        json!({"path": "a\u{0}", "old": "x", "new": "y"}),
        json!({"path": "a", "old": "", "new": "y"}),
        json!({"path": "a", "old": "x", "new": "x"}),
        json!({"path": "a", "old": "x", "new": "y", "count": 0}),
        json!({"path": "a", "old": "x", "new": "y", "expected_hash": "absent"}),
    ] {
        let outcome = call(&registry, "edit_file", &arguments);
        assert!(
            matches!(
                outcome.status(),
                Status::Violation | Status::InvalidArguments
            ),
            "{arguments}"
        );
    }
    assert_eq!(content(&folder), b"x");
}

#[test]
fn a_file_in_another_state_is_not_edited() {
    let (folder, registry) = with_file(b"one");
    let hash = done(&registry, "read_file", &json!({"path": "a"}))["hash"].clone();
    std::fs::write(folder.path().join("a"), "one and more").unwrap();
    let edit = json!({"path": "a", "old": "one", "new": "two", "expected_hash": hash});
    assert!(refused(&registry, "edit_file", &edit).starts_with("`a` has changed: its hash is "));
    std::fs::write(folder.path().join("a"), "one").unwrap();
    done(&registry, "edit_file", &edit);
    assert_eq!(content(&folder), b"two");
}

/// F7
#[test]
fn a_file_that_is_no_text_is_not_edited() {
    let (folder, registry) = with_file(b"caf\xe9 au lait");
    let message = refused(
        &registry,
        "edit_file",
        &json!({"path": "a", "old": "lait", "new": "the"}),
    );
    assert!(
        message.contains(
            "is in another encoding or binary (the byte 0xe9 at offset 3), not UTF-8 text"
        ),
        "{message}"
    );
    assert_eq!(content(&folder), b"caf\xe9 au lait");
}

#[test]
fn a_file_that_is_missing_is_named_with_one_that_is_nearly_the_same() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("settings.toml"), "x").unwrap();
    let registry = registry(folder.path());
    let edit = |path: &str| json!({"path": path, "old": "x", "new": "y"});
    let message = refused(&registry, "edit_file", &edit("setings.toml"));
    assert_eq!(
        message,
        "`setings.toml` does not exist; did you mean `settings.toml`?"
    );
    refused(&registry, "edit_file", &edit("no/such/folder.txt"));
    assert_eq!(everything(folder.path()).len(), 1);
}

/// D3
#[test]
fn an_edit_that_would_blow_a_file_up_is_refused_before_it_is_made() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "a".repeat(1_000_000)).unwrap();
    let registry = registry_of(
        Workspace::builder()
            .root(folder.path())
            .limits(Limits::default()),
    );
    // A hundred gigabytes, if it were made.
    let bomb = json!({"path": "a", "old": "a", "new": "b".repeat(100_000), "count": 1_000_000});
    let message = refused(&registry, "edit_file", &bomb);
    assert!(
        message.starts_with("`a` has 100000000000 bytes, and at most 10485760 are allowed here"),
        "{message}"
    );
}

/// F10
#[test]
fn a_text_that_nearly_matches_everywhere_takes_no_longer_than_any_other() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "\n \t".repeat(1_000_000)).unwrap();
    let registry = registry(folder.path());
    let start = std::time::Instant::now();
    let old = format!("{}x", " \n".repeat(100_000));
    refused(
        &registry,
        "edit_file",
        &json!({"path": "a", "old": old, "new": ""}),
    );
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// F8
#[test]
fn edits_at_the_same_time_do_not_undo_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<String> = (0..80).map(|number| format!("<{number}>")).collect();
    std::fs::write(folder.path().join("a"), numbers.concat()).unwrap();
    let workspace = Workspace::new(folder.path()).unwrap();
    let never = CancellationToken::new();
    std::thread::scope(|scope| {
        for part in numbers.chunks(10) {
            let (workspace, never) = (&workspace, &never);
            scope.spawn(move || {
                for number in part {
                    edit_file("a", number, ".", 1, None, workspace, never).unwrap();
                }
            });
        }
    });
    assert_eq!(content(&folder), ".".repeat(80).into_bytes());
}

/// Replaces as the description says, one byte after the other; nothing if the count is another.
fn model(content: &[u8], old: &[u8], new: &[u8], count: usize) -> Option<Vec<u8>> {
    let (mut changed, mut found, mut at) = (Vec::new(), 0, 0);
    while at < content.len() {
        if content[at..].starts_with(old) {
            changed.extend_from_slice(new);
            found += 1;
            at += old.len();
        } else {
            changed.push(content[at]);
            at += 1;
        }
    }
    (found == count).then_some(changed)
}

/// Building a registry takes longer than an edit.
static ALWAYS: LazyLock<(tempfile::TempDir, Registry)> = LazyLock::new(|| with_file(b""));

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_outside_of_the_matches_stays(
        content in "\u{feff}?([ab\u{fc}\u{1f980} \t]|\r\n|\n|\r){0,40}",
        old in "([ab\u{fc}\u{1f980} \t]|\r\n|\n){1,3}",
        new in "([ab\u{fc} ]|\r\n|\n){0,4}",
        count in 1_usize..4,
    ) {
        prop_assume!(old != new);
        let (folder, registry) = &*ALWAYS;
        std::fs::write(folder.path().join("a"), &content).unwrap();
        let arguments = json!({"path": "a", "old": old, "new": new, "count": count});
        let outcome = call(registry, "edit_file", &arguments);
        let now = self::content(folder);
        // In a file without a lone `\n`, each `\n` of the edit is a `\r\n`.
        let long = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
        let is_long = content.contains('\n') && !content.replace("\r\n", "").contains('\n');
        let (old, new) = if is_long && long(&old) != long(&new) {
            (long(&old), long(&new))
        } else {
            (old, new)
        };
        let (status, expected) = model(content.as_bytes(), old.as_bytes(), new.as_bytes(), count)
            .map_or((Status::Failed, content.into_bytes()), |changed| (Status::Ok, changed));
        prop_assert_eq!(outcome.status(), status);
        prop_assert_eq!(now, expected);
    }
}
