//! Hints, timeouts, names and texts.

use contract_manifest::{Change, Manifest, ToManifest as _, Verdict};
use contract_runtime::prelude::*;
use serde_json::{Value, json};

use super::{assert_changes, lines, subject};

#[test]
fn a_hint_may_promise_more_and_not_less() {
    assert_changes(
        &subject!(
            fn subject() {}
        ),
        &{
            /// A subject.
            #[tool(read_only, open_world = false)]
            fn subject() {}
            Registry::builder()
                .tool(subject)
                .build()
                .unwrap()
                .manifest()
        },
        &[
            "+ hints/read_only: promises more",
            "+ hints/destructive: promises more",
            "+ hints/idempotent: promises more",
            "+ hints/open_world: promises more",
        ],
        &[
            "- hints/read_only: it may change something now",
            "- hints/destructive: it may remove or overwrite something now",
            "- hints/idempotent: the same call again may have a further effect now",
            "- hints/open_world: it may reach outside a closed world now",
        ],
    );
}

/// The manifest of a plain tool after an edit of its document.
fn edited(edit: impl FnOnce(&mut Value)) -> Manifest {
    let plain = subject!(
        fn subject(a: u8) -> u8 {
            a
        }
    );
    let mut document = serde_json::to_value(plain).unwrap();
    edit(&mut document["tools"][0]);
    serde_json::from_value(document).unwrap()
}

#[test]
fn what_is_said_by_default_may_be_said() {
    let old = edited(|_| {});
    let new = edited(|tool| tool["hints"] = json!({"read_only": false, "destructive": true}));
    assert_changes(
        &old,
        &new,
        &["+ hints: promise the same"],
        &["+ hints: promise the same"],
    );
}

#[test]
fn a_tool_may_no_longer_stand_alone() {
    let after = |alone: bool| edited(|tool| tool["alone"] = json!(alone));
    assert_changes(
        &after(true),
        &after(false),
        &["+ alone: may stand beside other calls now"],
        &["- alone: is refused beside other calls of its turn now"],
    );
}

#[test]
fn a_tool_may_begin_to_correct_arguments() {
    let after = |coerce: bool| edited(|tool| tool["coerce"] = json!(coerce));
    assert_changes(
        &after(false),
        &after(true),
        &["+ coerce: corrects arguments of another type now"],
        &["- coerce: refuses arguments of another type now"],
    );
}

#[test]
fn a_timeout_may_become_longer() {
    let after = |ms: Value| edited(|tool| tool["timeout_ms"] = ms);
    assert_changes(
        &after(json!(1_000)),
        &after(json!(2_000)),
        &["+ timeout: before: 1000 ms; now: 2000 ms"],
        &["- timeout: before: 2000 ms; now: 1000 ms"],
    );
    assert_changes(
        &after(json!(1_000)),
        &after(Value::Null),
        &["+ timeout: before: 1000 ms; now: none"],
        &["- timeout: before: none; now: 1000 ms"],
    );
}

#[test]
fn names_for_people_and_places_are_no_part_of_the_contract() {
    let old = edited(|_| {});
    let new = edited(|tool| {
        tool["title"] = json!("A title");
        tool["description"] = json!("Another text.");
        tool["package"] = json!("another");
        tool["location"] = json!("src/elsewhere.rs:1:1");
    });
    assert_eq!(
        lines(&new.diff(&old)),
        [
            "+ title: the text has changed",
            "+ description: the text has changed",
            "+ package: is `another`, and was `contract-manifest`",
        ],
    );
}

#[test]
fn a_tool_may_come_and_not_go() {
    let one = edited(|_| {});
    let renamed = edited(|tool| tool["name"] = json!("other"));
    let diff = renamed.diff(&one);
    assert_eq!(
        lines(&diff),
        ["- is gone; `other` looks the same", "+ other: is new"],
    );
    let Change {
        tool,
        path,
        verdict,
        ..
    } = &diff.changes()[0];
    assert_eq!(
        (tool.as_str(), path.as_str(), *verdict),
        ("subject", "", Verdict::Breaking)
    );
}

#[test]
fn a_schema_that_cannot_be_read_is_not_proven_compatible() {
    let unread = |schema: Value| {
        edited(|tool| {
            tool["input_schema"] = schema.clone();
            tool["output_schema"] = schema;
        })
    };
    let old = unread(json!({"type": "object", "$dynamicRef": "#a"}));
    let new = unread(json!({"type": "object", "$dynamicRef": "#b"}));
    assert_eq!(
        lines(&new.diff(&old)),
        [
            "- input: cannot be proven compatible: the root: the keyword `$dynamicRef` is not supported",
            "- output: cannot be proven compatible: the root: the keyword `$dynamicRef` is not supported",
        ],
    );
    assert!(new.diff(&new).is_empty());
}

#[test]
fn a_schema_that_is_more_than_its_parameters_is_judged_whole() {
    let with = |more: Value| {
        edited(|tool| {
            let schema = &mut tool["input_schema"];
            schema["properties"]["b"] = json!({"type": "string"});
            schema
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
        })
    };
    let two = with(json!({"maxProperties": 2}));
    let one = with(json!({"maxProperties": 1}));
    assert_changes(
        &two,
        &one,
        &["- input: before: at most 2 members; now: at most 1 member"],
        &["+ input: before: at most 1 member; now: at most 2 members"],
    );
    let open = with(json!({"additionalProperties": true}));
    let closed = with(json!({}));
    assert!(closed.diff(&open).is_breaking());
    assert!(!open.diff(&closed).is_breaking());
}

#[test]
fn the_report_begins_with_what_breaks() {
    let old = edited(|_| {});
    let new = edited(|tool| {
        tool["description"] = json!("Another text.");
        tool["timeout_ms"] = json!(5);
    });
    assert_eq!(
        new.diff(&old).to_string(),
        "the contracts have changed: 1 breaking, 1 compatible\n\
         breaking\n\
         \x20 subject: timeout: before: none; now: 5 ms\n\
         compatible\n\
         \x20 subject: description: the text has changed",
    );
    assert_eq!(old.diff(&old).to_string(), "the contracts have not changed");
}
