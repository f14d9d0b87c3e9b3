//! Compares arguments: the new schema may accept more.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Report;
use crate::subsumption::{
    Defaults, Direction, Finding, Node, accepts_all, changed_default, readable,
};

/// What was shown of the arguments.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Nothing was, of any of them.
    none: bool,
    /// The parameters for which it was not proven that every earlier value is still accepted.
    narrowed: BTreeSet<String>,
}

impl Judged {
    /// Whether all of these parameters accept what they accepted.
    pub(super) fn accept(&self, parameters: &[String]) -> bool {
        !self.none && !parameters.iter().any(|name| self.narrowed.contains(name))
    }
}

pub(super) fn compare(old: &Value, new: &Value, report: &mut Report) -> Judged {
    let mut judged = Judged::default();
    if old == new {
        return judged;
    }
    if let Err(why) = readable(old).and_then(|()| readable(new)) {
        report.unproven("input", why);
        judged.none = true;
        return judged;
    }
    let before = report.changes.len();
    if is_plain(old) && is_plain(new) {
        Parameters {
            old: Node::root(old),
            new: Node::root(new),
            report,
            judged: &mut judged,
        }
        .compare();
    }
    // The parameters one by one are for the reader; the whole decides.
    let whole = accepts_all(Node::root(new), Node::root(old), Defaults::Matter);
    if let Err(finding) = whole
        && judged.narrowed.is_empty()
    {
        refused(&finding, report);
        judged.none = true;
    }
    if report.changes.len() == before {
        match accepts_all(Node::root(old), Node::root(new), Defaults::Matter) {
            Ok(()) => report.compatible("input", SAME),
            Err(finding) => wider(&finding, report),
        }
    }
    judged
}

const SAME: &str = "accepts the same; its text has changed";

/// Whether parameters are all there is to it.
fn is_plain(schema: &Value) -> bool {
    const PLAIN: [&str; 6] = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "description",
        "$defs",
    ];
    let keywords = schema.as_object();
    keywords.is_some_and(|keywords| keywords.keys().all(|one| PLAIN.contains(&one.as_str())))
}

fn refused(finding: &Finding, report: &mut Report) {
    let path = format!("input{}", finding.path);
    report.breaking(path, finding.reason(Direction::Input));
}

fn wider(finding: &Finding, report: &mut Report) {
    let path = format!("input{}", finding.path);
    let reason = finding.difference(Direction::Output, "accepts what it accepted");
    report.compatible(path, reason);
}

struct Parameters<'c, 's> {
    old: Node<'s>,
    new: Node<'s>,
    report: &'c mut Report,
    judged: &'c mut Judged,
}

impl<'s> Parameters<'_, 's> {
    fn compare(&mut self) {
        let names = |node: Node<'s>| node.map("properties").map(|(name, _)| name);
        let names: BTreeSet<_> = names(self.old).chain(names(self.new)).collect();
        for name in names {
            let intact = match (self.old.property(name), self.new.property(name)) {
                (Some(old), Some(new)) => self.both(name, old, new),
                (Some(_), None) => self.gone(name),
                _ => self.added(name),
            };
            if !intact {
                self.judged.narrowed.insert(name.to_owned());
            }
        }
    }

    fn requires(node: Node<'_>, name: &str) -> bool {
        node.names("required").any(|required| required == name)
    }

    fn gone(&mut self, name: &str) -> bool {
        let reason = match self.new.keyword("additionalProperties") {
            Some(Value::Bool(false)) => "is gone; a call that gives it is refused",
            _ => "is gone; a call that gives it is not understood",
        };
        self.report.breaking(format!("input/{name}"), reason);
        false
    }

    fn added(&mut self, name: &str) -> bool {
        let path = format!("input/{name}");
        let required = Self::requires(self.new, name);
        if required {
            self.report.breaking(path, "is new, and must be given");
        } else {
            self.report.compatible(path, "is new, and may be left out");
        }
        !required
    }

    fn both(&mut self, name: &str, old: Node<'s>, new: Node<'s>) -> bool {
        let path = format!("input/{name}");
        let (was, is) = (
            Self::requires(self.old, name),
            Self::requires(self.new, name),
        );
        match (was, is) {
            (false, true) => self
                .report
                .breaking(&*path, "before: may be left out; now: must be given"),
            (true, false) => self
                .report
                .compatible(&*path, "before: must be given; now: may be left out"),
            _ => {}
        }
        // Of one that was always given, no default was ever used.
        let default = (!was && !is).then(|| changed_default(old, new)).flatten();
        if let Some(finding) = &default {
            refused(&finding.clone().below(name), self.report);
        }
        self.values(name, old, new) && default.is_none() && (was || !is)
    }

    fn values(&mut self, name: &str, old: Node<'s>, new: Node<'s>) -> bool {
        if let Err(finding) = accepts_all(new, old, Defaults::Matter) {
            refused(&finding.below(name), self.report);
            return false;
        }
        match accepts_all(old, new, Defaults::Matter) {
            Err(finding) => wider(&finding.below(name), self.report),
            Ok(()) if !old.is_written_like(new) => {
                self.report.compatible(format!("input/{name}"), SAME);
            }
            Ok(()) => {}
        }
        true
    }
}
