//! Validates keywords for numbers and strings.

use super::expected::describe;
use super::findings::Found;
use super::node::Node;
use super::path::Path;
use super::problem::ProblemKind;
use super::walk::Walk;
use crate::{Limit, RuleId};

impl Walk<'_> {
    pub(super) fn number(&self, id: RuleId, node: &Node, path: &Path<'_>, found: &mut Found) {
        let rules = self.rules;
        let (Some(rule), Some(number)) = (&rules[id].number, node.number()) else {
            return;
        };
        let holds = |limit: &Option<Limit>, test: fn(&Limit, &crate::Decimal) -> bool| {
            limit.as_ref().is_none_or(|limit| test(limit, &number))
        };
        let within = holds(&rule.minimum, |limit, number| *number >= limit.exact)
            && holds(&rule.maximum, |limit, number| *number <= limit.exact)
            && holds(&rule.above, |limit, number| *number > limit.exact)
            && holds(&rule.below, |limit, number| *number < limit.exact)
            && holds(&rule.multiple_of, |limit, number| {
                number.is_multiple_of(&limit.exact)
            });
        if !within {
            found.refuse(ProblemKind::Range, path, node, || describe(rules, id));
        }
    }

    pub(super) fn text(
        &self,
        id: RuleId,
        node: &Node,
        text: &str,
        path: &Path<'_>,
        found: &mut Found,
    ) {
        let rules = self.rules;
        let Some(rule) = &rules[id].text else { return };
        if rule.min.is_some() || rule.max.is_some() {
            let length = text.chars().count();
            if rule.min.is_some_and(|min| length < min) || rule.max.is_some_and(|max| length > max)
            {
                found.refuse(ProblemKind::Length, path, node, || describe(rules, id));
                return;
            }
        }
        if rule
            .pattern
            .as_ref()
            .is_some_and(|pattern| !pattern.is_match(text))
        {
            found.refuse(ProblemKind::Pattern, path, node, || describe(rules, id));
            return;
        }
        if self.formats && rule.format.is_some_and(|format| !format.admits(text)) {
            found.refuse(ProblemKind::Format, path, node, || describe(rules, id));
        }
    }
}
