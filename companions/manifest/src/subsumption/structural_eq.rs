//! Whether two schemas are written alike, with references followed.

use std::collections::HashSet;

use serde_json::Value;

use super::Defaults;
use super::accepts::equal;
use super::node::{Node, is_note};
use contract_runtime::__family::{KeywordValue, holds};

/// Whether the two say the same, notes apart.
pub(super) fn same(one: Node<'_>, other: Node<'_>, defaults: Defaults) -> bool {
    Comparison {
        defaults,
        seen: HashSet::new(),
    }
    .same(one, other)
}

struct Comparison {
    defaults: Defaults,
    /// Pairs that are being compared: a recursive schema meets itself again.
    seen: HashSet<(usize, usize)>,
}

impl Comparison {
    fn same(&mut self, one: Node<'_>, other: Node<'_>) -> bool {
        if !self.seen.insert((one.address(), other.address())) {
            return true;
        }
        let (Some(left), Some(right)) = (one.keywords(), other.keywords()) else {
            return one.schema == other.schema;
        };
        let counts = |keyword: &String| {
            !is_note(keyword) || (keyword == "default" && self.defaults == Defaults::Matter)
        };
        let left: Vec<_> = left.keys().filter(|keyword| counts(keyword)).collect();
        let right = right.keys().filter(|keyword| counts(keyword)).count();
        left.len() == right
            && left
                .into_iter()
                .all(|keyword| self.same_keyword(one, other, keyword))
    }

    fn same_keyword(&mut self, one: Node<'_>, other: Node<'_>, keyword: &str) -> bool {
        let (Some(left), Some(right)) = (one.keyword(keyword), other.keyword(keyword)) else {
            return false;
        };
        match holds(keyword) {
            KeywordValue::Schema => self.same(one.at(left), other.at(right)),
            KeywordValue::List => {
                let (left, right) = (one.list(keyword), other.list(keyword));
                let (left, right): (Vec<_>, Vec<_>) = (left.collect(), right.collect());
                left.len() == right.len()
                    && left
                        .into_iter()
                        .zip(right)
                        .all(|(one, other)| self.same(one, other))
            }
            KeywordValue::Map => {
                let size = |value: &Value| value.as_object().map(serde_json::Map::len);
                size(left) == size(right)
                    && one.map(keyword).all(|(name, one)| {
                        right
                            .get(name)
                            .is_some_and(|right| self.same(one, other.at(right)))
                    })
            }
            KeywordValue::Data if keyword == "$ref" => match (one.target(), other.target()) {
                (Some(one), Some(other)) => self.same(one, other),
                _ => false,
            },
            KeywordValue::Data => equal(left, right),
        }
    }
}
