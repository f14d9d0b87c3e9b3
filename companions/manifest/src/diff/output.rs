//! Compares results: the new schema may allow less.

use serde_json::Value;

use super::Report;
use crate::subsumption::{Defaults, Direction, Node, accepts_all, readable};

pub(super) fn compare(old: Option<&Value>, new: Option<&Value>, report: &mut Report) {
    match (old, new) {
        (Some(old), Some(new)) if old != new => both(old, new, report),
        (Some(_), None) => report.breaking("output", "the result is not described any more"),
        (None, Some(_)) => report.compatible("output", "the result is described now"),
        _ => {}
    }
}

fn both(old: &Value, new: &Value, report: &mut Report) {
    if let Err(why) = readable(old).and_then(|()| readable(new)) {
        report.unproven("output", why);
        return;
    }
    let (before, now) = (Node::root(old), Node::root(new));
    match accepts_all(before, now, Defaults::AreNotes) {
        Err(finding) => report.breaking(
            format!("output{}", finding.path),
            finding.reason(Direction::Output),
        ),
        Ok(()) => match accepts_all(now, before, Defaults::AreNotes) {
            Err(finding) => report.compatible(
                format!("output{}", finding.path),
                finding.difference(Direction::Input, "allows nothing new"),
            ),
            Ok(()) => report.compatible("output", "allows the same; its text has changed"),
        },
    }
}
