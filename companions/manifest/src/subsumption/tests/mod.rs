//! Helpers of the tests of schema subsumption.

mod edits;
mod random;
mod real;
mod special;
mod table;

use serde_json::Value;

use super::{Defaults, Direction, Node, accepts_all, readable};

/// `Ok` if `outer` is shown to accept all that `inner` accepts, else where and why not.
fn shown(outer: &Value, inner: &Value) -> Result<(), String> {
    for schema in [outer, inner] {
        readable(schema).unwrap_or_else(|why| panic!("{schema}: {why}"));
    }
    let judged = accepts_all(Node::root(outer), Node::root(inner), Defaults::AreNotes);
    judged.map_err(|finding| format!("{}: {}", finding.path, finding.reason(Direction::Input)))
}

#[track_caller]
fn wider(outer: &Value, inner: &Value) {
    assert_eq!(
        shown(outer, inner),
        Ok(()),
        "{outer} accepts all of {inner}"
    );
}

#[track_caller]
fn not_wider(outer: &Value, inner: &Value, why: &str) {
    let found = shown(outer, inner).expect_err("it does not accept all of it");
    assert_eq!(found, why);
}
