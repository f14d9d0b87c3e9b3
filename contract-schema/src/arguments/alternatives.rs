//! Validates keywords that combine schemas, and chooses the alternative that a refusal describes.

use serde_json::Value;

use super::expected::describe;
use super::findings::{Found, Verdict};
use super::node::Node;
use super::path::Path;
use super::problem::{ArgumentProblem, ProblemKind};
use super::walk::{Walk, list_values};
use crate::{ObjectRule, RuleId, Rules};

impl Walk<'_> {
    pub(super) fn combination(
        &mut self,
        id: RuleId,
        node: &Node,
        path: &Path<'_>,
        found: &mut Found,
    ) {
        let rules = self.rules;
        let Some(rule) = &rules[id].combination else {
            return;
        };
        for by in rule.reference.iter().chain(&rule.all) {
            self.judge(*by, node, path, found);
        }
        if !rule.any.is_empty() {
            self.choose(id, (&rule.any, false), node, path, found);
        }
        if !rule.one.is_empty() {
            self.choose(id, (&rule.one, true), node, path, found);
        }
        if let Some(not) = rule.not
            && self.verdict(not, node).is_valid()
        {
            let kind = match rules[not].values {
                Some(_) => ProblemKind::Value,
                None => ProblemKind::NoMatch,
            };
            found.refuse(kind, path, node, || {
                format!("anything but {}", describe(rules, not))
            });
        }
        if let Some(condition) = rule.condition {
            let branch = if self.verdict(condition, node).is_valid() {
                rule.then
            } else {
                rule.otherwise
            };
            if let Some(branch) = branch {
                self.judge(branch, node, path, found);
            }
        }
    }

    /// At least one of the alternatives has to fit, or exactly one.
    fn choose(
        &mut self,
        id: RuleId,
        (branches, exactly_one): (&[RuleId], bool),
        node: &Node,
        path: &Path<'_>,
        found: &mut Found,
    ) {
        let mut best = (Verdict::Refused, None);
        let (mut valid, mut coerced) = (0, 0);
        for branch in branches {
            let verdict = self.verdict(*branch, node);
            valid += usize::from(verdict.is_valid());
            coerced += usize::from(verdict == Verdict::Coerced);
            if verdict < best.0 {
                best = (verdict, Some(*branch));
            }
            if verdict == Verdict::Fits && !exactly_one {
                break;
            }
        }
        // A string that fits two is ambiguous.
        if exactly_one && (valid > 1 || (valid == 0 && coerced > 1)) {
            found.refuse(ProblemKind::NoMatch, path, node, || {
                "a value that fits only one of the accepted forms".to_owned()
            });
            return;
        }
        self.settle(id, best, branches, node, path, found);
    }

    /// Follows the alternative that was chosen, or reports why there is none.
    fn settle(
        &mut self,
        id: RuleId,
        (verdict, branch): (Verdict, Option<RuleId>),
        branches: &[RuleId],
        node: &Node,
        path: &Path<'_>,
        found: &mut Found,
    ) {
        match branch {
            _ if !found.loud => found.verdict = found.verdict.max(verdict),
            None => self.report(id, branches, node, path, found),
            Some(_) if verdict == Verdict::Fits => {}
            Some(branch) => self.judge(branch, node, path, found),
        }
    }

    fn report(
        &mut self,
        id: RuleId,
        branches: &[RuleId],
        node: &Node,
        path: &Path<'_>,
        found: &mut Found,
    ) {
        let rules = self.rules;
        let suited: Vec<RuleId> = branches
            .iter()
            .copied()
            .filter(|branch| admits(rules, *branch, node))
            .collect();
        if suited.len() < 2 {
            match suited.first() {
                Some(only) => self.judge(*only, node, path, found),
                None => found.refuse(ProblemKind::Type, path, node, || describe(rules, id)),
            }
            return;
        }
        if let Some(tag) = tag(rules, &suited) {
            self.tagged(tag, &suited, node, path, found);
            return;
        }
        let lists: Option<Vec<&Vec<Value>>> = suited
            .iter()
            .map(|branch| rules[*branch].values.as_ref())
            .collect();
        if let Some(lists) = lists {
            found.refuse(ProblemKind::Value, path, node, || describe(rules, id));
            if !path.is_secret() && found.loud {
                list_values(found, lists.into_iter().flatten(), node);
            }
            return;
        }
        let scores: Vec<i64> = suited
            .iter()
            .map(|branch| self.score(*branch, node))
            .collect();
        let best = scores.iter().max().copied().unwrap_or(0);
        let mut furthest = suited
            .iter()
            .zip(&scores)
            .filter(|(_, score)| **score == best);
        match (furthest.next(), furthest.next()) {
            (Some((branch, _)), None) => self.judge(*branch, node, path, found),
            _ => found.refuse(ProblemKind::NoMatch, path, node, || describe(rules, id)),
        }
    }

    /// Objects whose alternatives are told apart by the value under one key.
    fn tagged(
        &mut self,
        tag: &str,
        branches: &[RuleId],
        node: &Node,
        path: &Path<'_>,
        found: &mut Found,
    ) {
        let rules = self.rules;
        let tags = || {
            branches
                .iter()
                .filter_map(|branch| tag_value(rules, *branch, tag))
        };
        let here = path.key(tag).hidden(self.is_secret(path, tag));
        let expected = || {
            let values: Vec<_> = tags().map(Value::to_string).collect();
            super::expected::one_of(&values)
        };
        let Some(given) = node.get(tag) else {
            found.problem(|| {
                let pointer = here.pointer();
                ArgumentProblem::new(pointer, ProblemKind::Missing, expected(), "nothing")
            });
            if !here.is_secret() && found.loud {
                list_values(found, tags(), &Node::Null);
            }
            return;
        };
        let matching = branches.iter().find(|branch| {
            tag_value(rules, **branch, tag).is_some_and(|value| given.equals(value))
        });
        if let Some(branch) = matching {
            self.judge(*branch, node, path, found);
            return;
        }
        found.refuse(ProblemKind::Value, &here, given, expected);
        if !here.is_secret() && found.loud {
            list_values(found, tags(), given);
        }
    }

    /// How far an alternative gets: keys that are known and fit, less those unknown or missing.
    fn score(&mut self, branch: RuleId, node: &Node) -> i64 {
        let rules = self.rules;
        let (Some(rule), Node::Object(entries)) = (object(rules, branch), node) else {
            return 0;
        };
        let mut score = 0;
        for (name, node) in entries {
            score += match rule.property(name) {
                Some(by) if self.verdict(by, node).is_valid() => 3,
                Some(_) => 2,
                None if rule.additional.is_some_and(|by| rules[by].is_never()) => -1,
                None => 0,
            };
        }
        for name in &rule.required {
            score -= i64::from(node.get(name).is_none());
        }
        score
    }
}

/// Whether a rule, or what it refers to, admits the type of `node`.
fn admits(rules: &Rules, id: RuleId, node: &Node) -> bool {
    let rule = &rules[id];
    let inner = rule.combination.as_ref();
    rule.types.has(node.types())
        && inner
            .and_then(|inner| inner.reference)
            .is_none_or(|id| admits(rules, id, node))
        && inner.is_none_or(|inner| {
            inner.all.iter().all(|id| admits(rules, *id, node))
                && (inner.any.is_empty() || inner.any.iter().any(|id| admits(rules, *id, node)))
                && (inner.one.is_empty() || inner.one.iter().any(|id| admits(rules, *id, node)))
        })
}

/// The keywords for objects of a rule, or of what it refers to.
fn object(rules: &Rules, id: RuleId) -> Option<&ObjectRule> {
    let rule = &rules[id];
    rule.object
        .as_deref()
        .or_else(|| object(rules, rule.combination.as_ref()?.reference?))
}

/// The key every alternative requires with one fixed value, as internally tagged enums do.
fn tag<'r>(rules: &'r Rules, branches: &[RuleId]) -> Option<&'r str> {
    let first = object(rules, *branches.first()?)?;
    first
        .properties
        .iter()
        .map(|(name, _)| name.as_str())
        .find(|name| {
            branches
                .iter()
                .all(|branch| tag_value(rules, *branch, name).is_some())
        })
}

fn tag_value<'r>(rules: &'r Rules, branch: RuleId, name: &str) -> Option<&'r Value> {
    let rule = object(rules, branch)?;
    let required = rule.required.iter().any(|required| required == name);
    match rules[rule.property(name)?].values.as_deref()? {
        [only] if required => Some(only),
        _ => None,
    }
}
