//! Whether no value at all is left.

use serde_json::Value;

use super::accepts::accepts;
use super::case::{Case, Kind, cases};
use super::node::Node;
use super::prove::Prover;
use super::scalar::{greatest, least, low_above_high};

/// Required members are followed no further than this.
const DEEPEST: usize = 4;
/// A range of integers up to this long is looked at value by value.
const FEW: i128 = 64;

impl Prover {
    /// Whether the case surely has no value; `false` means nothing.
    pub(super) fn impossible(&mut self, case: &Case<'_>) -> bool {
        self.impossible_at(case, DEEPEST)
    }

    /// Whether no value of the case is surely accepted by another schema as well.
    pub(super) fn is_empty_with(&mut self, case: &Case<'_>, other: Node<'_>) -> bool {
        let mut nodes = case.nodes.clone();
        nodes.push(other);
        let Some(all) = cases(&nodes) else {
            return false;
        };
        all.iter()
            .filter(|one| one.kind == case.kind)
            .all(|one| self.impossible(one))
    }

    fn is_empty(&mut self, nodes: &[Node<'_>], depth: usize) -> bool {
        if depth == 0 || !self.may_go_on() {
            return false;
        }
        cases(nodes).is_some_and(|all| all.iter().all(|case| self.impossible_at(case, depth)))
    }

    fn impossible_at(&mut self, case: &Case<'_>, depth: usize) -> bool {
        let refuses_all = |node: &Node<'_>| {
            let refused = node.child("not");
            refused.is_some_and(Node::is_anything)
        };
        if case.nodes.iter().any(refuses_all) {
            return true;
        }
        if let Some(values) = self.values(case) {
            return values.is_empty();
        }
        match case.kind {
            Kind::Null | Kind::Boolean => false,
            Kind::Integer | Kind::Fraction => low_above_high(case),
            Kind::String => above(case.at_least("minLength"), case.at_most("maxLength")),
            Kind::Array => {
                above(case.at_least("minItems"), case.most_items())
                    || (0..case.at_least("minItems").min(8))
                        .any(|place| self.is_empty(&case.items_at(place), depth - 1))
            }
            Kind::Object => {
                let required = case.required();
                let count = u64::try_from(required.len()).unwrap_or(u64::MAX);
                above(count, case.most_members())
                    || required
                        .iter()
                        .any(|name| self.is_empty(&case.member(name), depth - 1))
            }
        }
    }

    /// The values of the case, if they are few; some of them may be refused all the same.
    pub(super) fn values(&mut self, case: &Case<'_>) -> Option<Vec<Value>> {
        let listed = match case.kind {
            Kind::Null => vec![Value::Null],
            Kind::Boolean => vec![Value::Bool(false), Value::Bool(true)],
            kind => match case.enumerated() {
                Some(values) => values
                    .iter()
                    .filter(|value| Kind::of(value) == kind)
                    .cloned()
                    .collect(),
                None if kind == Kind::Integer => few_integers(case)?,
                None => return None,
            },
        };
        if !self.may_go_on() {
            return None;
        }
        let possible = |value: &Value| {
            case.nodes
                .iter()
                .all(|node| accepts(*node, value) != Some(false))
        };
        Some(listed.into_iter().filter(possible).collect())
    }
}

fn above(least: u64, most: Option<u64>) -> bool {
    most.is_some_and(|most| least > most)
}

fn few_integers(case: &Case<'_>) -> Option<Vec<Value>> {
    let (least, greatest) = (least(case)?, greatest(case)?);
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

impl<'s> Case<'s> {
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
