//! Subsumption of object keywords.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Defaults;
use super::accepts::{accepts, equal, matches};
use super::branch::{Branch, Kind};
use super::finding::Finding;
use super::node::Node;
use super::scalar::{count_at_least, count_at_most};
use super::subsumes::Prover;

impl<'s> Branch<'s> {
    pub(super) fn required(&self) -> BTreeSet<&'s str> {
        let lists = self.nodes.iter().flat_map(|node| node.names("required"));
        lists.collect()
    }

    /// What applies to a member.
    pub(super) fn member(&self, name: &str) -> Vec<Node<'s>> {
        self.nodes
            .iter()
            .flat_map(|node| member(*node, name))
            .collect()
    }

    fn never_has(&self, name: &str) -> bool {
        self.member(name).into_iter().any(Node::is_false)
    }

    /// What applies to a member that no schema names, as far as that does not depend on its name.
    fn other_members(&self) -> Vec<Node<'s>> {
        self.unmatched_members(&[])
    }

    /// Returns the schema of a member whose name matches none of these patterns.
    fn unmatched_members(&self, patterns: &[&str]) -> Vec<Node<'s>> {
        let unmatched = |node: &&Node<'s>| {
            let mut own = node.map("patternProperties");
            own.all(|(pattern, _)| patterns.contains(&pattern))
        };
        self.nodes
            .iter()
            .filter(unmatched)
            .filter_map(|node| node.child("additionalProperties"))
            .collect()
    }

    /// Every member that some schema names.
    fn named_members(&self) -> BTreeSet<&'s str> {
        let named = self.nodes.iter().flat_map(|node| node.map("properties"));
        named.map(|(name, _)| name).collect()
    }

    pub(super) fn most_members(&self) -> Option<u64> {
        let closed = self.nodes.iter().filter(|node| {
            node.keyword("patternProperties").is_none()
                && node
                    .child("additionalProperties")
                    .is_some_and(Node::is_false)
        });
        closed
            .map(|node| u64::try_from(node.map("properties").count()).unwrap_or(u64::MAX))
            .chain(self.at_most("maxProperties"))
            .min()
    }
}

fn member<'s>(node: Node<'s>, name: &str) -> Vec<Node<'s>> {
    let own = node.property(name);
    let patterns: Vec<_> = node
        .map("patternProperties")
        .map(|(pattern, one)| (matches(pattern, name), one))
        .collect();
    let rest = node.child("additionalProperties").filter(|_| {
        let unmatched = |(matched, _): &(Option<bool>, Node<'_>)| *matched == Some(false);
        own.is_none() && patterns.iter().all(unmatched)
    });
    let matched = patterns
        .into_iter()
        .filter_map(|(matched, one)| (matched == Some(true)).then_some(one));
    own.into_iter().chain(matched).chain(rest).collect()
}

impl Prover {
    pub(super) fn object(
        &mut self,
        branch: &Branch<'_>,
        outer: Node<'_>,
        keyword: &str,
    ) -> Result<(), Finding> {
        if branch.kind != Kind::Object {
            return Ok(());
        }
        let count = outer.count(keyword).unwrap_or(0);
        match keyword {
            "properties" => self.properties(branch, outer),
            "required" => required(branch, outer),
            "additionalProperties" => self.others(branch, outer),
            "patternProperties" => self.patterns(branch, outer),
            "propertyNames" => self.names(branch, outer),
            "minProperties" => {
                let required = u64::try_from(branch.required().len()).unwrap_or(u64::MAX);
                let before = branch.at_least(keyword).max(required);
                count_at_least(before, count, "member")
            }
            "maxProperties" => count_at_most(branch.most_members(), count, "member"),
            "dependentRequired" => needed(branch, outer),
            _ => self.dependent(branch, outer),
        }
    }

    fn properties(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
        let (required, named) = (branch.required(), branch.named_members());
        for (name, now) in outer.map("properties") {
            let before = branch.member(name);
            self.subsumes_at(name, &before, now)?;
            if named.contains(name) && !required.contains(name) {
                self.same_default(name, &before, now)?;
            }
        }
        Ok(())
    }

    fn same_default(&self, name: &str, before: &[Node<'_>], now: Node<'_>) -> Result<(), Finding> {
        if self.defaults == Defaults::AreNotes {
            return Ok(());
        }
        let given = before.iter().find(|node| !node.default().is_null());
        given
            .or(before.first())
            .and_then(|before| changed_default(*before, now))
            .map_or(Ok(()), |finding| Err(finding.below(name)))
    }

    /// Members that the outer schema does not name.
    fn others(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
        let Some(now) = outer.child("additionalProperties") else {
            return Ok(());
        };
        for name in branch.named_members() {
            let named = outer.property(name).is_some()
                || outer
                    .map("patternProperties")
                    .any(|(pattern, _)| matches(pattern, name) == Some(true));
            if !named {
                self.subsumes_at(name, &branch.member(name), now)?;
            }
        }
        let patterns: Vec<_> = outer
            .map("patternProperties")
            .map(|(name, _)| name)
            .collect();
        let rest = branch.unmatched_members(&patterns);
        self.subsumes_at("*", &rest, now)
    }

    fn patterns(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
        for (pattern, now) in outer.map("patternProperties") {
            for name in branch.named_members() {
                if matches(pattern, name) != Some(false) {
                    self.subsumes_at(name, &branch.member(name), now)?;
                }
            }
            let alike = branch.nodes.iter().filter_map(|node| {
                let patterns = node.child("patternProperties")?;
                patterns.child(pattern)
            });
            let before: Vec<_> = alike.chain(branch.other_members()).collect();
            self.subsumes_at("*", &before, now)?;
        }
        Ok(())
    }

    fn names(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
        let Some(now) = outer.child("propertyNames") else {
            return Ok(());
        };
        let unclear = || Finding::unclear("`propertyNames` is new or has changed");
        let before: Vec<_> = branch
            .nodes
            .iter()
            .filter_map(|node| node.child("propertyNames"))
            .collect();
        if !before.is_empty() && self.subsumes(&before, now).is_ok() {
            return Ok(());
        }
        let is_closed = branch.other_members().into_iter().any(Node::is_false);
        let accepted = |name: &&str| accepts(now, &Value::from(*name)) == Some(true);
        if is_closed && branch.named_members().iter().all(accepted) {
            return Ok(());
        }
        Err(unclear())
    }

    fn dependent(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
        for (name, now) in outer.map("dependentSchemas") {
            if branch.never_has(name) {
                continue;
            }
            // Where the member is there, what depended on it before holds as well.
            let mut nodes = branch.nodes.clone();
            for node in &branch.nodes {
                let before = node.child("dependentSchemas");
                nodes.extend(before.and_then(|before| before.child(name)));
            }
            self.subsumes(&nodes, now)?;
        }
        Ok(())
    }
}

fn needed(branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
    let required = branch.required();
    for (name, now) in outer.map("dependentRequired") {
        let before = branch.nodes.iter().filter_map(|node| {
            let lists = node.child("dependentRequired")?;
            lists.keyword(name)?.as_array()
        });
        let known: Vec<_> = before.flatten().filter_map(Value::as_str).collect();
        let mut wanted = now.schema.as_array().into_iter().flatten();
        let given = |one: &Value| {
            one.as_str()
                .is_some_and(|one| required.contains(one) || known.contains(&one))
        };
        if !wanted.all(given) && !branch.never_has(name) {
            return Err(Finding::refused(
                format!("`{name}` alone"),
                format!("`{name}` only with others"),
            ));
        }
    }
    Ok(())
}

fn required(branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
    let before = branch.required();
    match outer.names("required").find(|name| !before.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Finding::refused("may be left out", "must be given").below(name)),
    }
}

/// What a missing member stands for, if that is not what it was.
pub(in super::super) fn changed_default(before: Node<'_>, now: Node<'_>) -> Option<Finding> {
    let (before, now) = (before.default(), now.default());
    (!equal(before, now)).then(|| {
        let left_out = |value: &Value| format!("`{value}` when it is left out");
        Finding::refused(left_out(before), left_out(now))
    })
}
