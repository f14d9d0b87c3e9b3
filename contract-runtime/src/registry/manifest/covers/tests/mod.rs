mod edits;
mod random;
mod real;
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
