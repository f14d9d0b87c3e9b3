//! Validates keywords for arrays.

use std::collections::HashSet;

use super::expected::describe;
use super::findings::Found;
use super::node::Node;
use super::path::Path;
use super::problem::{ArgumentProblem, ProblemKind};
use super::walk::Walk;
use crate::{ArrayRule, RuleId};

impl Walk<'_> {
    pub(super) fn array(
        &mut self,
        id: RuleId,
        rule: &ArrayRule,
        node: &Node,
        items: &[Node],
        path: &Path<'_>,
        found: &mut Found,
    ) {
        let rules = self.rules;
        let few = rule.min.is_some_and(|min| items.len() < min);
        let many = rule.max.is_some_and(|max| items.len() > max);
        if few || many {
            found.refuse(ProblemKind::Length, path, node, || describe(rules, id));
        }
        if rule.unique {
            unique(items, path, found);
        }
        for (index, item) in items.iter().enumerate() {
            let Some(by) = rule.prefix.get(index).copied().or(rule.items) else {
                break;
            };
            if found.is_settled() {
                return;
            }
            if rules[by].is_never() {
                // One problem for all items that are too many.
                found.refuse(ProblemKind::Length, path, node, || {
                    format!("an array of at most {index} items")
                });
                break;
            }
            self.judge(by, item, &path.index(index), found);
        }
        if let Some(wanted) = rule.contains {
            self.contains(wanted, rule, node, items, path, found);
        }
    }

    fn contains(
        &mut self,
        wanted: RuleId,
        rule: &ArrayRule,
        node: &Node,
        items: &[Node],
        path: &Path<'_>,
        found: &mut Found,
    ) {
        let count = items
            .iter()
            .filter(|item| self.verdict(wanted, item).is_valid())
            .count();
        let least = rule.min_contains.unwrap_or(1);
        let rules = self.rules;
        if count < least {
            found.refuse(ProblemKind::NoMatch, path, node, || {
                format!(
                    "an array with {least} or more of: {}",
                    describe(rules, wanted)
                )
            });
        }
        if let Some(most) = rule.max_contains.filter(|most| count > *most) {
            found.refuse(ProblemKind::NoMatch, path, node, || {
                format!(
                    "an array with at most {most} of: {}",
                    describe(rules, wanted)
                )
            });
        }
    }
}

fn unique(items: &[Node], path: &Path<'_>, found: &mut Found) {
    let mut seen = HashSet::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let mut key = String::new();
        item.key(&mut key);
        if !seen.insert(key) {
            let path = path.index(index);
            found.problem(|| {
                let got = super::escape::given(item, path.is_secret());
                let got = format!("{got} once more");
                let expected = "an item unlike all before it";
                ArgumentProblem::new(path.pointer(), ProblemKind::NoMatch, expected, got)
            });
            if found.is_settled() {
                return;
            }
        }
    }
}
