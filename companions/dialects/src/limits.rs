//! Counts what providers limit, per tool and per request.

use std::collections::HashMap;

use contract_schema::reader::join;
use contract_schema::vocabulary::{KeywordValue, holds};
use serde_json::{Map, Value};

use crate::problem::ExportProblem;

/// How many tools a problem names.
const NAMED: usize = 3;

/// What one exported schema holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Properties of all its objects.
    pub(super) properties: usize,
    /// Properties of all its objects that may be left out.
    pub(super) optional: usize,
    /// Values with several types: `anyOf`, and `type` as a list.
    pub(super) unions: usize,
    /// Values in enums.
    pub(super) values: usize,
    /// Characters in names of properties and definitions, and in the texts of enums.
    pub(super) characters: usize,
    /// Objects and arrays inside each other.
    pub(super) levels: usize,
}

impl Size {
    /// Counts every part of `schema` once, however often it is referred to.
    pub(super) fn of(schema: &Value) -> Self {
        let mut size = Self::default();
        each(schema, "", &mut |keywords, _| size.add(keywords));
        size.levels = Levels::of(schema);
        size
    }

    fn add(&mut self, keywords: &Map<String, Value>) {
        let names = |keyword: &str| keywords.get(keyword).and_then(Value::as_object);
        let required = keywords.get("required").and_then(Value::as_array);
        for name in names("properties")
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
        {
            self.properties += 1;
            self.characters += name.chars().count();
            let is_required = required.is_some_and(|names| names.iter().any(|one| one == name));
            self.optional += usize::from(!is_required);
        }
        for name in names("$defs").into_iter().flatten().map(|(name, _)| name) {
            self.characters += name.chars().count();
        }
        let several = keywords.get("type").is_some_and(Value::is_array);
        self.unions += usize::from(several || keywords.contains_key("anyOf"));
        let listed = keywords.get("enum").and_then(Value::as_array);
        self.values += listed.map_or(0, Vec::len);
        let texts = listed.into_iter().flatten().chain(keywords.get("const"));
        self.characters += texts.map(characters).sum::<usize>();
    }
}

fn characters(value: &Value) -> usize {
    value.as_str().map_or(0, |text| text.chars().count())
}

/// Calls with every schema object in `schema`, and its JSON pointer (RFC 6901).
pub(super) fn each<'s>(
    schema: &'s Value,
    at: &str,
    see: &mut impl FnMut(&'s Map<String, Value>, &str),
) {
    let Value::Object(keywords) = schema else {
        return;
    };
    see(keywords, at);
    for (keyword, value) in keywords {
        let at = join(at, keyword);
        match (holds(keyword), value) {
            (KeywordValue::Schema, below) => each(below, &at, see),
            (KeywordValue::List, Value::Array(list)) => {
                for (index, below) in list.iter().enumerate() {
                    each(below, &format!("{at}/{index}"), see);
                }
            }
            (KeywordValue::Map, Value::Object(map)) => {
                for (name, below) in map {
                    each(below, &join(&at, name), see);
                }
            }
            _ => {}
        }
    }
}

/// How many objects and arrays lie inside each other; one that lies inside itself is counted once.
struct Levels<'s> {
    root: &'s Value,
    /// By reference; what is still being counted counts nothing.
    known: HashMap<&'s str, usize>,
}

impl<'s> Levels<'s> {
    fn of(root: &'s Value) -> usize {
        let known = HashMap::new();
        Self { root, known }.below(root)
    }

    fn below(&mut self, schema: &'s Value) -> usize {
        let Value::Object(keywords) = schema else {
            return 0;
        };
        let mut levels = 0;
        for (keyword, value) in keywords {
            let found = match (holds(keyword), value) {
                (KeywordValue::Map, _) if keyword == "$defs" => 0,
                (KeywordValue::Map, Value::Object(map)) => 1 + self.deepest(map.values()),
                (KeywordValue::Schema, schema) if schema.is_object() => 1 + self.below(schema),
                (KeywordValue::List, Value::Array(list)) => {
                    self.deepest(list.iter()) + usize::from(keyword == "prefixItems")
                }
                (_, Value::String(target)) if keyword == "$ref" => self.target(target),
                _ => 0,
            };
            levels = levels.max(found);
        }
        levels
    }

    fn deepest(&mut self, schemas: impl Iterator<Item = &'s Value>) -> usize {
        schemas.map(|schema| self.below(schema)).max().unwrap_or(0)
    }

    fn target(&mut self, target: &'s str) -> usize {
        if let Some(levels) = self.known.get(target) {
            return *levels;
        }
        self.known.insert(target, 0);
        let schema = crate::dnf::resolve(self.root, target);
        let levels = schema.map_or(0, |(_, schema)| self.below(schema));
        self.known.insert(target, levels);
        levels
    }
}

/// A total over all tools of one request: what is counted, how many there may be, and how one tool's are counted.
pub(super) type Total = (&'static str, usize, fn(&Size) -> usize);

/// The totals that are exceeded by tools whose schemas stand at `schema`.
pub(super) fn exceeded(tools: &[&Value], schema: &str, totals: &[Total]) -> Vec<ExportProblem> {
    let sizes = tools.iter().filter_map(|tool| {
        let name = tool
            .pointer("/name")
            .or_else(|| tool.pointer("/function/name"))?;
        Some((name.as_str()?, Size::of(tool.pointer(schema)?)))
    });
    let sizes: Vec<(&str, Size)> = sizes.collect();
    let exceeded = |(what, limit, count): &Total| {
        let counts = sizes
            .iter()
            .map(|(tool, size)| ((*tool).to_owned(), count(size)));
        let mut most: Vec<_> = counts.filter(|(_, count)| *count > 0).collect();
        let found = most.iter().map(|(_, count)| count).sum();
        if found <= *limit {
            return None;
        }
        most.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        most.truncate(NAMED);
        Some(ExportProblem::Total {
            what,
            found,
            limit: *limit,
            most,
        })
    };
    totals.iter().filter_map(exceeded).collect()
}
