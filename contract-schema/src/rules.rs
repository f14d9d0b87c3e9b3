//! A compiled schema, in the form the walker follows.

use std::collections::HashMap;
use std::ops::{BitOr, Index};

use regex_lite::Regex;
use serde_json::{Number, Value};

use super::decimal::Decimal;
use super::format::Format;

/// The place of a rule among the rules of its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RuleId(pub(super) usize);

/// All rules of one schema; references between them are places in this list.
#[derive(Debug, Default)]
pub struct Rules {
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
pub struct Types(u8);

impl Types {
    pub const NONE: Self = Self(0);
    pub const NULL: Self = Self(1);
    pub const BOOLEAN: Self = Self(2);
    pub const INTEGER: Self = Self(4);
    pub const NUMBER: Self = Self(8);
    pub const STRING: Self = Self(16);
    pub const ARRAY: Self = Self(32);
    pub const OBJECT: Self = Self(64);
    pub const ALL: Self = Self(127);

    pub fn has(self, other: Self) -> bool {
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
pub struct Rule {
    pub types: Types,
    /// `enum` and `const`.
    pub values: Option<Vec<Value>>,
    pub number: Option<Box<NumberRule>>,
    pub text: Option<Box<TextRule>>,
    pub array: Option<Box<ArrayRule>>,
    pub object: Option<Box<ObjectRule>>,
    pub combination: Option<Box<Combination>>,
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

    pub(super) fn number(&mut self) -> &mut NumberRule {
        self.number.get_or_insert_default()
    }

    pub(super) fn text(&mut self) -> &mut TextRule {
        self.text.get_or_insert_default()
    }

    pub(super) fn array(&mut self) -> &mut ArrayRule {
        self.array.get_or_insert_default()
    }

    pub(super) fn object(&mut self) -> &mut ObjectRule {
        self.object.get_or_insert_default()
    }

    pub(super) fn parts(&mut self) -> &mut Combination {
        self.combination.get_or_insert_default()
    }

    /// The rules that are applied to the same value.
    pub(super) fn applied(&self) -> Vec<RuleId> {
        let parts = self.combination.iter().flat_map(|parts| parts.parts());
        let object = self.object.iter();
        let dependent = object.flat_map(|object| &object.dependent_schemas);
        parts.chain(dependent.map(|(_, id)| *id)).collect()
    }

    /// Whether no value at all is admitted.
    pub fn is_never(&self) -> bool {
        self.types == Types::NONE
    }
}

/// A bound as written and as compared.
#[derive(Debug, Clone)]
pub struct Limit {
    pub written: Number,
    pub exact: Decimal,
}

/// Keywords for numbers.
#[derive(Debug, Default)]
pub struct NumberRule {
    pub minimum: Option<Limit>,
    pub maximum: Option<Limit>,
    pub above: Option<Limit>,
    pub below: Option<Limit>,
    pub multiple_of: Option<Limit>,
}

/// Keywords for strings; lengths count code points.
#[derive(Debug, Default)]
pub struct TextRule {
    pub min: Option<usize>,
    pub max: Option<usize>,
    pub pattern: Option<Regex>,
    /// It explains a refusal and refuses nothing by itself.
    pub format: Option<&'static Format>,
}

/// Keywords for arrays.
#[derive(Debug, Default)]
pub struct ArrayRule {
    pub min: Option<usize>,
    pub max: Option<usize>,
    pub unique: bool,
    pub prefix: Vec<RuleId>,
    pub items: Option<RuleId>,
    pub contains: Option<RuleId>,
    pub min_contains: Option<usize>,
    pub max_contains: Option<usize>,
}

/// Keywords for objects.
#[derive(Debug, Default)]
pub struct ObjectRule {
    pub properties: Vec<(String, RuleId)>,
    /// The places of many properties by name; few are found by comparing.
    pub(super) index: HashMap<String, usize, foldhash::fast::RandomState>,
    pub required: Vec<String>,
    /// The required ones among the first 64 properties, one bit for each; `None` if another name is required.
    pub required_bits: Option<u64>,
    /// Whether the properties are all that is said of its members, and their names are written as they read.
    pub is_plain: bool,
    pub patterns: Vec<(Regex, RuleId)>,
    pub additional: Option<RuleId>,
    pub unevaluated: Option<RuleId>,
    pub names: Option<RuleId>,
    pub min: Option<usize>,
    pub max: Option<usize>,
    pub dependent_required: Vec<(String, Vec<String>)>,
    pub dependent_schemas: Vec<(String, RuleId)>,
}

/// Up to this many properties, comparing with each is faster than a hash.
const FEW: usize = 8;

impl ObjectRule {
    /// Finds what is derived from the keywords.
    pub(super) fn derive(&mut self) {
        if self.properties.len() > FEW {
            let names = self.properties.iter().enumerate();
            self.index = names
                .map(|(place, (name, _))| (name.clone(), place))
                .collect();
        }
        let plain =
            |name: &str| !name.contains(|c: char| matches!(c, '"' | '\\') || c.is_control());
        self.is_plain = self.properties.iter().all(|(name, _)| plain(name))
            && self.patterns.is_empty()
            && self.names.is_none();
        let bit = |name: &String| Some(1 << self.position(name).filter(|place| *place < 64)?);
        let mut bits = self.required.iter().map(bit);
        self.required_bits = bits.try_fold(0, |all, bit| Some(all | bit?));
    }

    /// The place of a property among all of the rule.
    #[inline]
    pub fn position(&self, name: &str) -> Option<usize> {
        if self.index.is_empty() {
            return self.properties.iter().position(|(own, _)| own == name);
        }
        self.index.get(name).copied()
    }

    pub fn property(&self, name: &str) -> Option<RuleId> {
        Some(self.properties.get(self.position(name)?)?.1)
    }
}

/// Keywords that apply other schemas to the same value.
#[derive(Debug, Default)]
pub struct Combination {
    pub reference: Option<RuleId>,
    pub all: Vec<RuleId>,
    pub any: Vec<RuleId>,
    pub one: Vec<RuleId>,
    pub not: Option<RuleId>,
    pub condition: Option<RuleId>,
    pub then: Option<RuleId>,
    pub otherwise: Option<RuleId>,
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
