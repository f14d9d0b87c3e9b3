//! Compares conditions: preconditions may weaken, postconditions may strengthen.
//!
//! Ids are positions, so conditions are matched by what they say.

use serde_json::Value;

use super::input::Judged;
use super::{Report, tools};
use crate::ConditionManifest;
use crate::subsumption::equal;
use contract_runtime::ConditionKind;
use contract_runtime::Lowering;

pub(super) fn compare(
    old: &[ConditionManifest],
    new: &[ConditionManifest],
    judged: &Judged,
    report: &mut Report,
) {
    let mut unmatched: Vec<_> = old.iter().collect();
    let mut added = Vec::new();
    for now in new {
        match counterpart(&unmatched, now) {
            Some(place) => both(unmatched.remove(place), now, judged, report),
            None => added.push(now),
        }
    }
    for before in unmatched {
        removed(before, report);
    }
    for now in added {
        appeared(now, judged, report);
    }
}

/// The place of the condition that says the same; the more alike of two.
fn counterpart(old: &[&ConditionManifest], new: &ConditionManifest) -> Option<usize> {
    let alike = |one: &&ConditionManifest| one.kind == new.kind && one.predicate == new.predicate;
    let wholly = |one: &&ConditionManifest| alike(one) && one.message == new.message;
    old.iter()
        .position(wholly)
        .or_else(|| old.iter().position(alike))
}

fn path(condition: &ConditionManifest) -> String {
    format!("{} `{}`", condition.kind.name(), condition.predicate)
}

fn ends(condition: &ConditionManifest) -> bool {
    condition.policy.ends_the_call()
}

fn removed(condition: &ConditionManifest, report: &mut Report) {
    match condition.kind {
        _ if !ends(condition) => {
            report.compatible(path(condition), "is gone; it did not end calls");
        }
        ConditionKind::Pre | ConditionKind::Given => {
            report.compatible(path(condition), "is not required any more");
        }
        _ => report.breaking(path(condition), "is not promised any more"),
    }
}

fn appeared(condition: &ConditionManifest, judged: &Judged, report: &mut Report) {
    match condition.kind {
        _ if !ends(condition) => {
            report.compatible(path(condition), "is new, and does not end calls");
        }
        ConditionKind::Post => report.compatible(path(condition), "is promised now"),
        ConditionKind::Pre | ConditionKind::Given => {
            required(condition, "is required now", judged, report);
        }
        _ => report.unproven(path(condition), "it is new"),
    }
}

/// A precondition that is new, or means something else.
fn required(condition: &ConditionManifest, what: &str, judged: &Judged, report: &mut Report) {
    let path = path(condition);
    // What it refuses, the schema refuses; and it refuses nothing that it did not refuse before.
    if condition.lowering != Lowering::Exact {
        report.breaking(
            path,
            format!("{what}; cannot be proven compatible: the schema does not say all of it"),
        );
    } else if judged.accept(&condition.parameters) {
        let reason =
            format!("{what}; the schema says all of it, and refuses nothing that it accepted");
        report.compatible(path, reason);
    } else {
        report.breaking(path, format!("{what}; see the schema of the arguments"));
    }
}

fn both(old: &ConditionManifest, new: &ConditionManifest, judged: &Judged, report: &mut Report) {
    tools::unknown_fields(&old.other, &new.other, &path(new), report);
    if old.policy != new.policy {
        let reason = format!("its policy is `{}`, and was `{}`", new.policy, old.policy);
        report.compatible(path(new), reason);
    }
    match (old.asks, new.asks) {
        (true, false) => return report.breaking(path(new), "is refused now, and was asked about"),
        (false, true) => report.compatible(path(new), "is asked about now, and was refused"),
        _ => {}
    }
    match (ends(old), ends(new)) {
        (true, false) => return removed(old, report),
        (false, true) => return appeared(new, judged, report),
        _ => {}
    }
    if let Some(reason) = meaning(old, new) {
        match new.kind {
            _ if !ends(new) => report.compatible(path(new), reason),
            ConditionKind::Pre | ConditionKind::Given => required(new, &reason, judged, report),
            _ => report.unproven(path(new), reason),
        }
    }
    if old.lowering != new.lowering {
        report.compatible(path(new), "is shown in another way");
    }
    if rule(old) != rule(new) {
        report.compatible(path(new), "the portable rule is written in another way");
    }
    if old.message != new.message {
        report.compatible(path(new), "the message has changed");
    } else if (old.heading, &old.sentence) != (new.heading, &new.sentence) {
        report.compatible(path(new), "the sentence has changed");
    }
}

/// In what two conditions of the same text differ.
fn meaning(old: &ConditionManifest, new: &ConditionManifest) -> Option<String> {
    let same = |(one, other)| equal(one, other);
    let constants = old.constants.iter().zip(&new.constants);
    if old.constants.len() != new.constants.len() || !constants.into_iter().all(same) {
        let (before, now) = (listed(&old.constants), listed(&new.constants));
        return Some(format!("before: with {before}; now: with {now}"));
    }
    (old.parameters != new.parameters).then(|| "refers to other parameters now".to_owned())
}

fn listed(constants: &[Value]) -> String {
    let constants: Vec<_> = constants.iter().map(|value| format!("`{value}`")).collect();
    if constants.is_empty() {
        return "no known constant".to_owned();
    }
    constants.join(", ")
}

/// What a rule tests; what it is called and what it says is text.
fn rule(condition: &ConditionManifest) -> Option<&str> {
    condition.rule.as_ref().map(|rule| rule.rule.as_str())
}
