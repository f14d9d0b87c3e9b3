//! Splits a schema into branches: one type, and a list of schemas that all apply.

use serde_json::Value;

use super::node::Node;
use contract_runtime::__family::Decimal;

/// A JSON type; numbers are two, because `integer` is a part of `number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Integer,
    Fraction,
    String,
    Array,
    Object,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Null,
        Self::Boolean,
        Self::Integer,
        Self::Fraction,
        Self::String,
        Self::Array,
        Self::Object,
    ];

    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if Decimal::of(number).is_integral() => Self::Integer,
            Value::Number(_) => Self::Fraction,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Fraction => "a number with a fraction",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }

    pub(super) const fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Fraction)
    }

    /// Whether the value of a `type` keyword names it.
    pub(super) fn is_named(self, types: &Value) -> bool {
        let own: &[&str] = match self {
            Self::Null => &["null"],
            Self::Boolean => &["boolean"],
            Self::Integer => &["integer", "number"],
            Self::Fraction => &["number"],
            Self::String => &["string"],
            Self::Array => &["array"],
            Self::Object => &["object"],
        };
        let names = |name: &Value| name.as_str().is_some_and(|name| own.contains(&name));
        match types {
            Value::Array(several) => several.iter().any(names),
            only => names(only),
        }
    }
}

/// The values of one type that several schemas accept, without references and alternatives.
#[derive(Clone, Debug)]
pub(super) struct Branch<'s> {
    pub(super) kind: Kind,
    pub(super) nodes: Vec<Node<'s>>,
}

/// More are not looked at: each alternative multiplies them.
const MOST: usize = 512;

/// The branches of which at least one holds of every value that all of `nodes` accept; `None` if there are too many.
pub(super) fn branches<'s>(nodes: &[Node<'s>]) -> Option<Vec<Branch<'s>>> {
    let mut found = Vec::new();
    Opening {
        waiting: nodes.to_vec(),
        ..Opening::default()
    }
    .finish(&mut found)?;
    Some(found)
}

/// A conjunction on its way to branches.
#[derive(Clone, Default)]
struct Opening<'s> {
    waiting: Vec<Node<'s>>,
    opened: Vec<Node<'s>>,
    /// One schema of each list holds.
    choices: Vec<Vec<Node<'s>>>,
}

impl<'s> Opening<'s> {
    fn finish(mut self, found: &mut Vec<Branch<'s>>) -> Option<()> {
        while let Some(node) = self.waiting.pop() {
            if node.is_false() {
                return Some(());
            }
            if !node.opened {
                self.waiting.extend(node.target());
                self.waiting.extend(node.list("allOf"));
                // Of `oneOf` at most one holds as well; to leave that out makes the branches wider, not narrower.
                for keyword in ["anyOf", "oneOf"] {
                    let choice: Vec<_> = node.list(keyword).collect();
                    if !choice.is_empty() {
                        self.choices.push(choice);
                    }
                }
            }
            if node.keywords().is_some() {
                self.opened.push(node.opened());
            }
        }
        if self.kinds().next().is_none() {
            return Some(());
        }
        if let Some(choice) = self.choices.pop() {
            for node in choice {
                let mut chosen = self.clone();
                chosen.waiting.push(node);
                chosen.finish(found)?;
            }
            return Some(());
        }
        for kind in self.kinds() {
            found.push(Branch {
                kind,
                nodes: self.opened.clone(),
            });
        }
        (found.len() <= MOST).then_some(())
    }

    fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        Kind::ALL.into_iter().filter(|kind| {
            let types = self.opened.iter().filter_map(|node| node.keyword("type"));
            types.into_iter().all(|types| kind.is_named(types))
        })
    }
}

impl<'s> Branch<'s> {
    /// Every value of a keyword.
    pub(super) fn all(&self, keyword: &str) -> impl Iterator<Item = &'s Value> {
        self.nodes
            .iter()
            .filter_map(move |node| node.keyword(keyword))
    }

    pub(super) fn at_least(&self, keyword: &str) -> u64 {
        let counts = self.nodes.iter().filter_map(|node| node.count(keyword));
        counts.max().unwrap_or(0)
    }

    pub(super) fn at_most(&self, keyword: &str) -> Option<u64> {
        self.nodes
            .iter()
            .filter_map(|node| node.count(keyword))
            .min()
    }
}
