//! A JSON tree that keeps duplicate keys and exact numbers.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use super::literal::{self, Literals};
use crate::number_text;
use crate::{Decimal, Types};

/// One JSON value. Boxed slices keep it at 24 bytes: a text of `[0,0,..]` has one for every two bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Number(Number),
    /// A number that a [`Number`] might round, as written.
    Literal(Box<str>),
    String(Box<str>),
    Array(Box<[Node]>),
    Object(Box<[(Box<str>, Node)]>),
}

impl Node {
    /// Parses `text`; nesting is limited to the 128 levels of `serde_json`.
    pub(super) fn parse(text: &str) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let literals = Literals::new(text);
        let node = Seed(&literals).deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(node)
    }

    /// The exact value of a number.
    pub(super) fn number(&self) -> Option<Decimal> {
        match self {
            Self::Number(number) => Some(Decimal::of(number)),
            Self::Literal(text) => literal::exact(text),
            _ => None,
        }
    }

    pub(super) fn is_integer(&self) -> bool {
        match self {
            // A float that is not kept as a literal reads back as it was written.
            Self::Number(number) => {
                !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
            }
            Self::Literal(text) => literal::is_integral(text),
            _ => false,
        }
    }

    /// Whether a [`Number`] is not the same value.
    pub(super) fn is_rounded(&self) -> bool {
        match self {
            Self::Literal(text) => {
                let number = serde_json::from_str::<Number>(text);
                literal::exact(text) != number.ok().map(|number| Decimal::of(&number))
            }
            _ => false,
        }
    }

    /// The types of JSON Schema this value has: `1.0` is an integer and a number.
    pub(super) fn types(&self) -> Types {
        match self {
            Self::Null => Types::NULL,
            Self::Bool(_) => Types::BOOLEAN,
            Self::Number(_) | Self::Literal(_) if self.is_integer() => {
                Types::INTEGER | Types::NUMBER
            }
            Self::Number(_) | Self::Literal(_) => Types::NUMBER,
            Self::String(_) => Types::STRING,
            Self::Array(_) => Types::ARRAY,
            Self::Object(_) => Types::OBJECT,
        }
    }

    /// The first value under `key`.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(entries) => entries
                .iter()
                .find(|(name, _)| **name == *key)
                .map(|(_, node)| node),
            _ => None,
        }
    }

    /// Whether `self` and `value` are equal as JSON Schema has it: `1` and `1.0` are.
    pub(super) fn equals(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Null, Value::Null) => true,
            (Self::Bool(left), Value::Bool(right)) => left == right,
            (Self::Number(_) | Self::Literal(_), Value::Number(right)) => {
                self.number() == Some(Decimal::of(right))
            }
            (Self::String(left), Value::String(right)) => **left == **right,
            (Self::Array(left), Value::Array(right)) => {
                left.len() == right.len()
                    && left
                        .iter()
                        .zip(right)
                        .all(|(left, right)| left.equals(right))
            }
            (Self::Object(left), Value::Object(right)) => {
                left.len() == right.len()
                    && left.iter().all(|(key, node)| {
                        right.get(&**key).is_some_and(|value| node.equals(value))
                    })
            }
            _ => false,
        }
    }

    /// One text per value, for finding equal items: numbers by value, keys sorted.
    pub(super) fn key(&self, out: &mut String) {
        match self {
            Self::Null => out.push('n'),
            Self::Bool(flag) => out.push(if *flag { 't' } else { 'f' }),
            Self::Number(_) | Self::Literal(_) => {
                out.extend(self.number().map(|number| number.key()));
            }
            Self::String(text) => quote(text, out),
            Self::Array(items) => {
                out.push('[');
                for item in items {
                    item.key(out);
                    out.push(',');
                }
                out.push(']');
            }
            Self::Object(entries) => {
                let mut sorted: Vec<_> = entries.iter().collect();
                sorted.sort_by(|left, right| left.0.cmp(&right.0));
                out.push('{');
                for (key, node) in sorted {
                    quote(key, out);
                    out.push(':');
                    node.key(out);
                    out.push(',');
                }
                out.push('}');
            }
        }
    }

    /// The value as others know it; the last of two equal keys stays, long numbers are rounded.
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Number(number) => Value::Number(number.clone()),
            Self::Literal(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            Self::String(text) => Value::String(text.to_string()),
            Self::Array(items) => items.iter().map(Self::to_value).collect(),
            Self::Object(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, node)| (key.to_string(), node.to_value()))
                    .collect(),
            ),
        }
    }
}

/// Appends `text` as a JSON string.
pub(super) fn quote(text: &str, out: &mut String) {
    // A string is always serialisable; an empty text could only make the second decode fail, not succeed.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

struct Seed<'l, 't>(&'l Literals<'t>);

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Node;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Bool(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Node, E> {
        self.0.count();
        Ok(Node::Number(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Node, E> {
        self.0.count();
        Ok(Node::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Node, E> {
        self.0.count();
        Ok(literal::float(number, self.0.current()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
        Ok(Node::String(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        // A first growth makes room for four: in a text of `[0],[0],..` most of the memory would be unused.
        let mut nodes = Vec::with_capacity(1);
        while let Some(node) = items.next_element_seed(Seed(self.0))? {
            nodes.push(node);
        }
        Ok(Node::Array(nodes.into_boxed_slice()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::with_capacity(1);
        while let Some(key) = entries.next_key::<Box<str>>()? {
            if number_text::is_key(&key) {
                let digits: Box<str> = entries.next_value()?;
                self.0.count();
                return Ok(literal::float(number_text::float(&digits)?, &digits));
            }
            nodes.push((key, entries.next_value_seed(Seed(self.0))?));
        }
        Ok(Node::Object(nodes.into_boxed_slice()))
    }
}
