//! A compiled schema, in the form the walker follows.

use std::collections::HashMap;
use std::ops::{BitOr, Index};

use regex_lite::Regex;
use serde_json::{Number, Value};

use super::decimal::Decimal;
use super::format::Format;

/// The place of a rule among the rules of its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RuleId(pub(super) usize);

/// All rules of one schema; references between them are places in this list.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub(super) list: Vec<Rule>,
}

impl Rules {
    /// One rule, which admits no value.
    pub(super) fn never() -> (Self, RuleId) {
        let rule = Rule {
            types: Types::NONE,
            ..Rule::TRUE
        };
        (Self { list: vec![rule] }, RuleId(0))
    }
}

impl Index<RuleId> for Rules {
    type Output = Rule;

    fn index(&self, id: RuleId) -> &Rule {
        &self.list[id.0]
    }
}

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const INTEGER: Self = Self(4);
    pub(crate) const NUMBER: Self = Self(8);
    pub(crate) const STRING: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);
    pub(crate) const ALL: Self = Self(127);

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }
}

impl BitOr for Types {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One schema. The boolean schema `true` restricts nothing, `false` admits no type.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) types: Types,
    /// `enum` and `const`.
    pub(crate) values: Option<Vec<Value>>,
    pub(crate) number: Option<Box<NumberRule>>,
    pub(crate) text: Option<Box<TextRule>>,
    pub(crate) array: Option<Box<ArrayRule>>,
    pub(crate) object: Option<Box<ObjectRule>>,
    pub(crate) combination: Option<Box<Combination>>,
}

impl Rule {
    pub(super) const TRUE: Self = Self {
        types: Types::ALL,
        values: None,
        number: None,
        text: None,
        array: None,
        object: None,
        combination: None,
    };

    /// Whether no value at all is admitted.
    pub(crate) fn is_never(&self) -> bool {
        self.types == Types::NONE
    }
}

/// A bound as written and as compared.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) written: Number,
    pub(crate) exact: Decimal,
}

/// Keywords for numbers.
#[derive(Debug, Default)]
pub(crate) struct NumberRule {
    pub(crate) minimum: Option<Limit>,
    pub(crate) maximum: Option<Limit>,
    pub(crate) above: Option<Limit>,
    pub(crate) below: Option<Limit>,
    pub(crate) multiple_of: Option<Limit>,
}

/// Keywords for strings; lengths count code points.
#[derive(Debug, Default)]
pub(crate) struct TextRule {
    pub(crate) min: Option<usize>,
    pub(crate) max: Option<usize>,
    pub(crate) pattern: Option<Regex>,
    /// It explains a refusal and refuses nothing by itself.
    pub(crate) format: Option<Format>,
}

/// Keywords for arrays.
#[derive(Debug, Default)]
pub(crate) struct ArrayRule {
    pub(crate) min: Option<usize>,
    pub(crate) max: Option<usize>,
    pub(crate) unique: bool,
    pub(crate) prefix: Vec<RuleId>,
    pub(crate) items: Option<RuleId>,
    pub(crate) contains: Option<RuleId>,
    pub(crate) min_contains: Option<usize>,
    pub(crate) max_contains: Option<usize>,
}

/// Keywords for objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectRule {
    pub(crate) properties: Vec<(String, RuleId)>,
    /// The places of many properties by name; few are found by comparing.
    pub(super) index: HashMap<String, usize, foldhash::fast::RandomState>,
    pub(crate) required: Vec<String>,
    /// The required ones among the properties, one bit for each; `None` where a text cannot be judged in one pass.
    pub(crate) required_bits: Option<u64>,
    pub(crate) patterns: Vec<(Regex, RuleId)>,
    pub(crate) additional: Option<RuleId>,
    pub(crate) unevaluated: Option<RuleId>,
    pub(crate) names: Option<RuleId>,
    pub(crate) min: Option<usize>,
    pub(crate) max: Option<usize>,
    pub(crate) dependent_required: Vec<(String, Vec<String>)>,
    pub(crate) dependent_schemas: Vec<(String, RuleId)>,
}

/// Up to this many properties, comparing with each is faster than a hash.
const FEW: usize = 8;

impl ObjectRule {
    /// Finds what is derived from the keywords.
    pub(super) fn indexed(mut self) -> Self {
        if self.properties.len() > FEW {
            let names = self.properties.iter().enumerate();
            self.index = names
                .map(|(place, (name, _))| (name.clone(), place))
                .collect();
        }
        self.required_bits = self.bits();
        self
    }

    fn bits(&self) -> Option<u64> {
        // A name with one of these is written in another way than it reads.
        let plain =
            |name: &str| !name.contains(|c: char| matches!(c, '"' | '\\') || c.is_control());
        let one_pass = self.properties.len() <= 64
            && self.properties.iter().all(|(name, _)| plain(name))
            && self.unevaluated.is_none()
            && self.names.is_none()
            && self.dependent_required.is_empty()
            && self.dependent_schemas.is_empty();
        let mut bits = 0;
        for name in one_pass.then_some(&self.required)? {
            bits |= 1 << self.position(name)?;
        }
        Some(bits)
    }

    /// The place of a property among all of the rule.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        if self.index.is_empty() {
            return self.properties.iter().position(|(own, _)| own == name);
        }
        self.index.get(name).copied()
    }

    pub(crate) fn property(&self, name: &str) -> Option<RuleId> {
        Some(self.properties.get(self.position(name)?)?.1)
    }
}

/// Keywords that apply other schemas to the same value.
#[derive(Debug, Default)]
pub(crate) struct Combination {
    pub(crate) reference: Option<RuleId>,
    pub(crate) all: Vec<RuleId>,
    pub(crate) any: Vec<RuleId>,
    pub(crate) one: Vec<RuleId>,
    pub(crate) not: Option<RuleId>,
    pub(crate) condition: Option<RuleId>,
    pub(crate) then: Option<RuleId>,
    pub(crate) otherwise: Option<RuleId>,
}

impl Combination {
    /// Every schema that is applied to the same value.
    pub(super) fn parts(&self) -> impl Iterator<Item = RuleId> {
        let single = [
            self.reference,
            self.not,
            self.condition,
            self.then,
            self.otherwise,
        ];
        let lists = [&self.all, &self.any, &self.one];
        single
            .into_iter()
            .flatten()
            .chain(lists.into_iter().flatten().copied())
    }
}
