//! Whether a branch accepts no value at all.

use serde_json::Value;

use super::accepts::accepts;
use super::branch::{Branch, Kind, branches};
use super::node::Node;
use super::scalar::{greatest, least, low_above_high};
use super::subsumes::Prover;

/// Required members are followed no further than this.
const DEEPEST: usize = 4;
/// A range of integers up to this long is looked at value by value.
const FEW: i128 = 64;

impl Prover {
    /// Whether the branch surely has no value; `false` means nothing.
    pub(super) fn impossible(&mut self, branch: &Branch<'_>) -> bool {
        self.impossible_at(branch, DEEPEST)
    }

    /// Whether no value of the branch is surely accepted by another schema as well.
    pub(super) fn is_empty_with(&mut self, branch: &Branch<'_>, other: Node<'_>) -> bool {
        let mut nodes = branch.nodes.clone();
        nodes.push(other);
        let Some(all) = branches(&nodes) else {
            return false;
        };
        all.iter()
            .filter(|one| one.kind == branch.kind)
            .all(|one| self.impossible(one))
    }

    fn is_empty(&mut self, nodes: &[Node<'_>], depth: usize) -> bool {
        if depth == 0 || !self.may_go_on() {
            return false;
        }
        branches(nodes)
            .is_some_and(|all| all.iter().all(|branch| self.impossible_at(branch, depth)))
    }

    fn impossible_at(&mut self, branch: &Branch<'_>, depth: usize) -> bool {
        let refuses_all = |node: &Node<'_>| {
            let refused = node.child("not");
            refused.is_some_and(Node::is_anything)
        };
        if branch.nodes.iter().any(refuses_all) {
            return true;
        }
        if let Some(values) = self.values(branch) {
            return values.is_empty();
        }
        match branch.kind {
            Kind::Null | Kind::Boolean => false,
            Kind::Integer | Kind::Fraction => low_above_high(branch),
            Kind::String => above(branch.at_least("minLength"), branch.at_most("maxLength")),
            Kind::Array => {
                above(branch.at_least("minItems"), branch.most_items())
                    || (0..branch.at_least("minItems").min(8))
                        .any(|place| self.is_empty(&branch.items_at(place), depth - 1))
            }
            Kind::Object => {
                let required = branch.required();
                let count = u64::try_from(required.len()).unwrap_or(u64::MAX);
                above(count, branch.most_members())
                    || required
                        .iter()
                        .any(|name| self.is_empty(&branch.member(name), depth - 1))
            }
        }
    }

    /// The values of the branch, if they are few; some of them may be refused all the same.
    pub(super) fn values(&mut self, branch: &Branch<'_>) -> Option<Vec<Value>> {
        let listed = match branch.kind {
            Kind::Null => vec![Value::Null],
            Kind::Boolean => vec![Value::Bool(false), Value::Bool(true)],
            kind => match branch.enumerated() {
                Some(values) => values
                    .iter()
                    .filter(|value| Kind::of(value) == kind)
                    .cloned()
                    .collect(),
                None if kind == Kind::Integer => few_integers(branch)?,
                None => return None,
            },
        };
        if !self.may_go_on() {
            return None;
        }
        let possible = |value: &Value| {
            branch
                .nodes
                .iter()
                .all(|node| accepts(*node, value) != Some(false))
        };
        Some(listed.into_iter().filter(possible).collect())
    }
}

fn above(least: u64, most: Option<u64>) -> bool {
    most.is_some_and(|most| least > most)
}

fn few_integers(branch: &Branch<'_>) -> Option<Vec<Value>> {
    let (least, greatest) = (least(branch)?, greatest(branch)?);
    if greatest.checked_sub(least)? >= FEW {
        return None;
    }
    (least..=greatest)
        .map(|number| {
            let small = i64::try_from(number).map(Value::from);
            small
                .or_else(|_| u64::try_from(number).map(Value::from))
                .ok()
        })
        .collect()
}

impl<'s> Branch<'s> {
    /// The values of an `enum` or a `const`.
    fn enumerated(&self) -> Option<&'s [Value]> {
        let only = self.all("const").next().map(std::slice::from_ref);
        only.or_else(|| {
            self.all("enum")
                .find_map(Value::as_array)
                .map(Vec::as_slice)
        })
    }

    /// Whether its values are written down, and not only few.
    pub(super) fn is_listed(&self) -> bool {
        matches!(self.kind, Kind::Null | Kind::Boolean) || self.enumerated().is_some()
    }
}
