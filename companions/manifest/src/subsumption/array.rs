//! Subsumption of array keywords.

use serde_json::Value;

use super::branch::{Branch, Kind};
use super::finding::Finding;
use super::node::Node;
use super::scalar::{count_at_least, count_at_most};
use super::subsumes::Prover;

impl<'s> Branch<'s> {
    /// What applies to the item at a place.
    pub(super) fn items_at(&self, place: u64) -> Vec<Node<'s>> {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let at = |node: &Node<'s>| {
            let own = node.list("prefixItems").nth(place);
            own.or_else(|| node.child("items"))
        };
        self.nodes.iter().filter_map(at).collect()
    }

    /// What applies to every item beyond those that have a schema of their own.
    fn later_items(&self) -> Vec<Node<'s>> {
        self.nodes
            .iter()
            .filter_map(|node| node.child("items"))
            .collect()
    }

    /// How many items have a schema of their own.
    fn listed_items(&self) -> u64 {
        let listed = self.nodes.iter().map(|node| listed(*node));
        listed.max().unwrap_or(0)
    }

    pub(super) fn most_items(&self) -> Option<u64> {
        let closed = self.nodes.iter().filter_map(|node| {
            let ended = node.child("items").is_some_and(Node::is_false);
            ended.then(|| listed(*node))
        });
        closed.chain(self.at_most("maxItems")).min()
    }

    fn is_unique(&self) -> bool {
        self.all("uniqueItems")
            .any(|flag| flag == &Value::Bool(true))
    }
}

fn listed(node: Node<'_>) -> u64 {
    u64::try_from(node.list("prefixItems").count()).unwrap_or(u64::MAX)
}

impl Prover {
    pub(super) fn array(
        &mut self,
        branch: &Branch<'_>,
        outer: Node<'_>,
        keyword: &str,
    ) -> Result<(), Finding> {
        if branch.kind != Kind::Array {
            return Ok(());
        }
        let count = outer.count(keyword).unwrap_or(0);
        match keyword {
            "minItems" => count_at_least(branch.at_least(keyword), count, "item"),
            "maxItems" => count_at_most(branch.most_items(), count, "item"),
            "uniqueItems" => unique(branch, outer),
            "prefixItems" => self.first_items(branch, outer),
            "items" => self.items(branch, outer),
            "contains" => self.contains(branch, outer),
            // Both are judged with `contains`.
            _ => Ok(()),
        }
    }

    fn first_items(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
        for (place, now) in (0..).zip(outer.list("prefixItems")) {
            if branch.most_items().is_some_and(|most| most <= place) {
                break;
            }
            self.subsumes_at(&place.to_string(), &branch.items_at(place), now)?;
        }
        Ok(())
    }

    fn items(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
        let Some(now) = outer.child("items") else {
            return Ok(());
        };
        let most = branch.most_items().unwrap_or(u64::MAX);
        let first = listed(outer);
        let listed = branch.listed_items();
        for place in first..listed.min(most) {
            self.subsumes_at(&place.to_string(), &branch.items_at(place), now)?;
        }
        if most <= first.max(listed) {
            return Ok(());
        }
        self.subsumes_at("*", &branch.later_items(), now)
    }

    fn contains(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
        let Some(now) = outer.child("contains") else {
            return Ok(());
        };
        let least = outer.count("minContains").unwrap_or(1);
        if least > 0 && !self.contains_enough(branch, now, least) {
            return Err(Finding::unclear("`contains` is new or has changed"));
        }
        match outer.count("maxContains") {
            Some(most) if !self.contains_few(branch, now, most) => {
                Err(Finding::unclear("`maxContains` is new or has changed"))
            }
            _ => Ok(()),
        }
    }

    fn contains_enough(&mut self, branch: &Branch<'_>, wanted: Node<'_>, least: u64) -> bool {
        let before = branch.nodes.iter().filter_map(|node| {
            let enough = node.count("minContains").unwrap_or(1) >= least;
            node.child("contains").filter(|_| enough)
        });
        for before in before {
            if self.subsumes(&[before], wanted).is_ok() {
                return true;
            }
        }
        if branch.at_least("minItems") < least {
            return false;
        }
        // Every item is one that is wanted.
        let alone = (0..branch.listed_items()).map(|place| branch.items_at(place));
        let kinds: Vec<_> = alone.chain([branch.later_items()]).collect();
        kinds
            .iter()
            .all(|items| self.subsumes(items, wanted).is_ok())
    }

    fn contains_few(&mut self, branch: &Branch<'_>, counted: Node<'_>, most: u64) -> bool {
        if branch.most_items().is_some_and(|items| items <= most) {
            return true;
        }
        for node in &branch.nodes {
            let few = node
                .count("maxContains")
                .is_some_and(|before| before <= most);
            if let Some(before) = node.child("contains").filter(|_| few)
                && self.subsumes(&[counted], before).is_ok()
            {
                return true;
            }
        }
        false
    }
}

fn unique(branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
    let asked = outer.keyword("uniqueItems") == Some(&Value::Bool(true));
    let few = branch.most_items().is_some_and(|most| most <= 1);
    if !asked || few || branch.is_unique() {
        return Ok(());
    }
    Err(Finding::refused("equal items", "no two equal items"))
}
