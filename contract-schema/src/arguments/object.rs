//! Validates keywords for objects.

use std::collections::HashSet;

use serde_json::Value;

use super::edit::Coercion;
use super::expected::describe;
use super::findings::Found;
use super::nearest::{by_words, nearest};
use super::node::Node;
use super::path::Path;
use super::problem::{ArgumentProblem, ProblemKind};
use super::walk::Walk;
use crate::{ObjectRule, RuleId, Rules};

/// The entries of an object as they were parsed.
pub(super) type Entries = [(Box<str>, Node)];

/// Below this many keys, comparing each with each is faster than a set.
const FEW: usize = 8;

impl<'s> Walk<'s> {
    pub(super) fn object(
        &mut self,
        id: RuleId,
        rule: &ObjectRule,
        node: &Node,
        entries: &Entries,
        path: &Path<'_>,
        found: &mut Found,
    ) {
        let rules = self.rules;
        let few = rule.min.is_some_and(|min| entries.len() < min);
        let many = rule.max.is_some_and(|max| entries.len() > max);
        if few || many {
            found.refuse(ProblemKind::Length, path, node, || describe(rules, id));
        }
        if !self.step(entries.len().saturating_mul(rule.required.len())) {
            return;
        }
        for name in rule.required.iter().filter(|name| node.get(name).is_none()) {
            self.missing(rule, name, path, found);
        }
        for (name, node) in entries {
            if found.is_settled() {
                return;
            }
            self.entry(rule, name, node, path, found);
        }
        self.dependent(rule, node, path, found);
    }

    fn entry(
        &mut self,
        rule: &ObjectRule,
        name: &str,
        node: &Node,
        path: &Path<'_>,
        found: &mut Found,
    ) {
        let property = rule.property(name);
        let here = match property {
            Some(_) => path.key(name),
            None => path.invented(name),
        };
        let here = here.hidden(self.is_secret(path, name));
        if let Some(names) = rule.names {
            let text = Node::String(name.into());
            // A name is nothing but a string.
            let coerce = std::mem::replace(&mut self.coerce, false);
            let fits = self.verdict(names, &text).is_valid();
            self.coerce = coerce;
            if !fits {
                let rules = self.rules;
                // A key that must not be shown cannot be said to be unknown.
                let kind = if here.is_hidden() {
                    ProblemKind::NoMatch
                } else {
                    ProblemKind::Unknown
                };
                found.refuse(kind, &here, &text, || {
                    format!("a key that is {}", describe(rules, names))
                });
                return;
            }
        }
        if let Some(by) = property {
            if self.is_absent(rule, by, name, node) {
                // The default of an argument is recorded with its value; what a type makes of a missing member is its own affair.
                if found.loud && !path.is_root() {
                    found.coercions.push(Coercion::left_out(&here, node, false));
                }
                found.leave_out(node);
                return;
            }
            self.judge(by, node, &here, found);
        }
        let mut evaluated = property.is_some();
        for (pattern, by) in &rule.patterns {
            if pattern.is_match(name) {
                evaluated = true;
                self.judge(*by, node, &here, found);
            }
        }
        if let (false, Some(by)) = (evaluated, rule.additional) {
            self.other(by, name, node, &here, found, || Known::of(rule));
        }
    }

    /// Whether a null says that an optional member is not there: it could say nothing else.
    fn is_absent(&mut self, rule: &ObjectRule, by: RuleId, name: &str, node: &Node) -> bool {
        self.null_is_absent
            && *node == Node::Null
            && !rule.required.iter().any(|required| required == name)
            && !self.verdict(by, node).is_valid()
    }

    /// A key that only `additionalProperties` or `unevaluatedProperties` speaks of.
    fn other<'n>(
        &mut self,
        by: RuleId,
        name: &str,
        node: &Node,
        here: &Path<'_>,
        found: &mut Found,
        known: impl FnOnce() -> Known<'n>,
    ) {
        if !self.rules[by].is_never() {
            self.judge(by, node, here, found);
            return;
        }
        if self.ignores_unknown_keys() {
            if found.loud {
                let left_out = Coercion::left_out(here, node, self.has_secrets());
                found.coercions.push(left_out);
            }
            found.leave_out(node);
            return;
        }
        found.problem(|| {
            let pointer = here.pointer();
            if here.is_hidden() {
                let got = "another key (not shown)";
                return ArgumentProblem::new(pointer, ProblemKind::NoMatch, "only known keys", got);
            }
            let known = known();
            let mut problem =
                ArgumentProblem::new(pointer, ProblemKind::Unknown, known.expected(), "this name");
            // Below a secret nothing is listed, not even what the schema says.
            if !here.is_secret() {
                let names = || known.names.iter().copied();
                let meant = nearest(name, names()).or_else(|| by_words(name, names()));
                let described = || {
                    self.described(name)
                        .filter(|name| known.names.contains(name))
                };
                problem.nearest = meant.or_else(described).map(str::to_owned);
                problem.allowed = known.names.into_iter().map(Value::from).collect();
            }
            problem
        });
    }

    /// Returns the argument whose description has this name in backquotes, for callers who know the argument by that name.
    fn described(&self, name: &str) -> Option<&'s str> {
        let quoted = format!("`{name}`");
        let words = |schema: &'s Value| schema["description"].as_str().unwrap_or_default();
        let mut properties = self.schema.json()["properties"].as_object()?.iter();
        let (argument, _) = properties.find(|(_, schema)| words(schema).contains(&quoted))?;
        Some(argument)
    }

    fn missing(&self, rule: &ObjectRule, name: &str, path: &Path<'_>, found: &mut Found) {
        let rules = self.rules;
        let here = path.key(name);
        found.problem(|| {
            let expected = rule
                .property(name)
                .map_or_else(|| "a value".to_owned(), |by| describe(rules, by));
            ArgumentProblem::new(here.pointer(), ProblemKind::Missing, expected, "nothing")
        });
    }

    fn dependent(&mut self, rule: &ObjectRule, node: &Node, path: &Path<'_>, found: &mut Found) {
        for (name, needed) in &rule.dependent_required {
            if node.get(name).is_some() {
                for other in needed.iter().filter(|other| node.get(other).is_none()) {
                    self.missing(rule, other, path, found);
                }
            }
        }
        for (name, by) in &rule.dependent_schemas {
            if node.get(name).is_some() {
                self.judge(*by, node, path, found);
            }
        }
    }

    pub(super) fn unevaluated(
        &mut self,
        id: RuleId,
        by: RuleId,
        node: &Node,
        path: &Path<'_>,
        found: &mut Found,
    ) {
        let Node::Object(entries) = node else { return };
        let rules = self.rules;
        let mut evaluated = vec![false; entries.len()];
        self.evaluate(id, node, entries, false, &mut evaluated);
        for ((name, node), _) in entries.iter().zip(&evaluated).filter(|(_, seen)| !**seen) {
            let here = path.invented(name).hidden(self.is_secret(path, name));
            let known = || {
                let mut known = Known::default();
                known.collect(rules, id);
                known
            };
            self.other(by, name, node, &here, found, known);
        }
    }

    /// Marks the keys that a schema and those it applies to the same object speak of.
    fn evaluate(
        &mut self,
        id: RuleId,
        node: &Node,
        entries: &Entries,
        nested: bool,
        evaluated: &mut [bool],
    ) {
        let rules = self.rules;
        if !self.step(entries.len()) {
            return;
        }
        if let Some(rule) = &rules[id].object {
            let all = rule.additional.is_some() || (nested && rule.unevaluated.is_some());
            for ((name, _), seen) in entries.iter().zip(evaluated.iter_mut()) {
                *seen |= all
                    || rule.property(name).is_some()
                    || rule
                        .patterns
                        .iter()
                        .any(|(pattern, _)| pattern.is_match(name));
            }
            for (name, by) in &rule.dependent_schemas {
                if node.get(name).is_some() {
                    self.evaluate(*by, node, entries, true, evaluated);
                }
            }
        }
        let Some(combination) = &rules[id].combination else {
            return;
        };
        for by in combination.reference.iter().chain(&combination.all) {
            self.evaluate(*by, node, entries, true, evaluated);
        }
        for by in combination.any.iter().chain(&combination.one) {
            if self.verdict(*by, node).is_valid() {
                self.evaluate(*by, node, entries, true, evaluated);
            }
        }
        if let Some(condition) = combination.condition {
            let branch = if self.verdict(condition, node).is_valid() {
                self.evaluate(condition, node, entries, true, evaluated);
                combination.then
            } else {
                combination.otherwise
            };
            if let Some(branch) = branch {
                self.evaluate(branch, node, entries, true, evaluated);
            }
        }
    }
}

/// The keys of a closed object.
#[derive(Default)]
struct Known<'r> {
    names: Vec<&'r str>,
    pattern: Option<&'r str>,
}

impl<'r> Known<'r> {
    fn of(rule: &'r ObjectRule) -> Self {
        let names = rule.properties.iter().map(|(name, _)| name.as_str());
        Self {
            names: names.collect(),
            pattern: rule.patterns.first().map(|(pattern, _)| pattern.as_str()),
        }
    }

    /// Adds the keys of a rule and of those it applies to the same object.
    fn collect(&mut self, rules: &'r Rules, id: RuleId) {
        if let Some(object) = &rules[id].object {
            let known = Self::of(object);
            for name in known.names {
                if !self.names.contains(&name) {
                    self.names.push(name);
                }
            }
            self.pattern = self.pattern.or(known.pattern);
        }
        let Some(inner) = &rules[id].combination else {
            return;
        };
        let lists = [&inner.all, &inner.any, &inner.one].into_iter().flatten();
        let parts = inner.reference.iter().chain(lists);
        parts.for_each(|part| self.collect(rules, *part));
    }

    fn expected(&self) -> String {
        match (self.names.is_empty(), self.pattern) {
            (_, Some(pattern)) => format!("a key matching the pattern `{pattern}`"),
            (true, None) => "none".to_owned(),
            (false, None) => "a known key".to_owned(),
        }
    }
}

/// Refuses keys that are given more than once, at any depth: what a parser keeps of them is its own choice.
pub(super) fn duplicates(walk: &Walk<'_>, node: &Node, path: &Path<'_>, found: &mut Found) {
    match node {
        Node::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                duplicates(walk, item, &path.index(index), found);
            }
        }
        Node::Object(entries) => {
            let mut seen = HashSet::new();
            for (index, (name, node)) in entries.iter().enumerate() {
                let here = path.invented(name).hidden(walk.is_secret(path, name));
                let again = if entries.len() <= FEW {
                    entries[..index].iter().any(|(other, _)| other == name)
                } else {
                    !seen.insert(name)
                };
                if again {
                    found.problem(|| {
                        let (kind, got) = if here.is_hidden() {
                            (ProblemKind::NoMatch, "one of them again (not shown)")
                        } else {
                            (ProblemKind::Duplicate, "this key again")
                        };
                        ArgumentProblem::new(here.pointer(), kind, "each key once", got)
                    });
                }
                duplicates(walk, node, &here, found);
            }
        }
        _ => {}
    }
}
