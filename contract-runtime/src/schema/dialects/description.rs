//! A tool as every dialect begins with it, with other names for the properties whose names a dialect refuses.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use super::inline;
use crate::contract::condition::ConditionKind;
use crate::contract::panics::guard;
use crate::schema::arguments::{clip, examine};
use crate::schema::lower::sentence::describe;
use crate::schema::lower::{Lowering, PublishedCondition};
use crate::schema::normalize::{F32_MAX, integer_range, keywords, unescape};
use crate::schema::vocabulary::{KeywordValue, holds};
use crate::schema::{Decimal, Hints, InputSchema, Renames, StoredSchema};

/// Further examples teach a model little and are paid for in every request.
const MOST_EXAMPLES: usize = 3;

/// How a dialect refers from one schema to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definitions {
    /// A definition replaces each reference to it, unless it is recursive or the schema would grow too long: many clients do not
    /// read `$defs`.
    Inlined,
    /// References stay as they are, and the definitions in `$defs`.
    Kept,
}

/// A tool as a provider's format is written from it: its conditions are part of its schema and its description.
///
/// [`ToolInfo::describe`](crate::ToolInfo::describe) returns it. With it a program writes a format of its own.
///
/// ```
/// use contract_runtime::{Definitions, prelude::*};
/// use serde_json::json;
///
/// /// Cut a text.
/// #[tool]
/// #[pre(length >= 1, "nothing would remain")]
/// fn cut(text: String, length: u16) -> String {
///     text.chars().take(length.into()).collect()
/// }
///
/// let registry = Registry::builder().tool(cut).build()?;
/// let accepts = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric());
/// let mut tools = registry.tools().map(|tool| tool.describe(Definitions::Inlined, accepts));
/// let cut = tools.next().unwrap();
/// let listed = json!({"id": cut.name(), "about": cut.description(), "input": cut.input_schema()});
/// assert_eq!(listed["about"], "Cut a text.");
/// assert_eq!(
///     listed["input"]["properties"]["length"],
///     json!({"type": "integer", "minimum": 1, "maximum": 65535}),
/// );
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Debug)]
pub struct ToolDescription<'t> {
    pub(crate) name: &'t str,
    pub(crate) title: Option<&'t str>,
    /// As the author wrote it, without conditions.
    pub(crate) author_text: Cow<'t, str>,
    pub(crate) conditions: &'t [PublishedCondition],
    /// The schema of the arguments, where it differs from `enforced`.
    pub(crate) narrowed: Option<Cow<'t, Value>>,
    /// The properties that are exported under other names than their own.
    pub(crate) renames: Renames,
    /// What calls are held to before any condition; it says which arguments are secret.
    pub(crate) enforced: &'t InputSchema,
    /// Its schema, read where a dialect needs the value.
    pub(crate) types: OnceLock<Cow<'t, Value>>,
    pub(crate) output: Option<Cow<'t, StoredSchema>>,
    pub(crate) hints: Hints,
    /// A person is asked about every call.
    pub(crate) confirms: bool,
}

impl<'t> ToolDescription<'t> {
    /// Returns the name of the tool.
    #[must_use]
    pub fn name(&self) -> &'t str {
        self.name
    }

    /// Returns the name for people, if the tool has one.
    #[must_use]
    pub fn title(&self) -> Option<&'t str> {
        self.title
    }

    /// Returns the author's description, and below it the conditions that the schema does not express.
    #[must_use]
    pub fn description(&self) -> String {
        describe(&self.author_text, self.conditions, self.confirms)
    }

    /// Returns the JSON Schema (2020-12) of the arguments, with every condition that a keyword can express.
    #[must_use]
    pub fn input_schema(&self) -> &Value {
        match &self.narrowed {
            Some(narrowed) => narrowed,
            None => self.types(),
        }
    }

    /// Returns the schema of the arguments without the bounds that only say how wide a number type is, for types of `bits` bits
    /// and more: models learn nothing from them, and a reader that uses floats rounds those of 64 bits. A bound of a condition
    /// stays.
    ///
    /// Those of `f32` are removed as well.
    #[must_use]
    pub fn input_schema_without_widths(&self, bits: u32) -> Value {
        without_widths(self.input_schema(), self.types(), bits)
    }

    /// Returns the JSON Schema (2020-12) of the result, if there is one that says more than "a text".
    #[must_use]
    pub fn output_schema(&self) -> Option<Value> {
        self.output
            .as_ref()
            .map(|output| output.read().into_owned())
    }

    /// Returns the hints about the tool's effects.
    #[must_use]
    pub fn hints(&self) -> Hints {
        self.hints
    }

    /// The schema of the arguments before any condition.
    fn types(&self) -> &Value {
        self.types.get_or_init(|| self.enforced.as_stored().read())
    }

    /// The schema of the arguments as text, without the ends of 64-bit types.
    pub(super) fn quiet_text(&self) -> Cow<'_, str> {
        if !may_have_wide_ends(self.enforced.as_stored().text()) {
            return self.input_text();
        }
        Cow::Owned(self.input_schema_without_widths(64).to_string())
    }

    /// The schema of the arguments as text.
    pub(super) fn input_text(&self) -> Cow<'_, str> {
        match &self.narrowed {
            Some(narrowed) => Cow::Owned(narrowed.to_string()),
            None => Cow::Borrowed(self.enforced.as_stored().text()),
        }
    }

    /// Rewrites the tool as the clients of a dialect can read it: without references where that is possible, and with other names
    /// for the properties whose names `accepts` refuses.
    pub(crate) fn prepared(
        mut self,
        definitions: Definitions,
        accepts: impl Fn(&str) -> bool,
    ) -> Self {
        let applies =
            |schema: &str| definitions == Definitions::Inlined && inline::may_apply(schema);
        if let Some(output) = self.output.as_mut().filter(|output| applies(output.text())) {
            *output = Cow::Owned(StoredSchema::of(&inline::inlined(&output.read())));
        }
        let renames = self.enforced.renames().only(|name| !accepts(name));
        let is_inlined = applies(self.enforced.as_stored().text());
        if !is_inlined && renames.is_empty() {
            return self;
        }
        let changed = |schema: &Value| {
            let mut schema = Cow::Borrowed(schema);
            if is_inlined {
                schema = Cow::Owned(inline::inlined(&schema));
            }
            if !renames.is_empty() {
                schema = Cow::Owned(renamed(&schema, &renames));
            }
            Cow::Owned(schema.into_owned())
        };
        Self {
            narrowed: Some(changed(self.input_schema())),
            types: OnceLock::from(changed(self.types())),
            renames,
            ..self
        }
    }

    /// Returns whole example arguments that a call would accept, as far as that can be known without making it, and that the
    /// schema `exported` accepts as well.
    ///
    /// Each holds an example of every parameter that has one. There is none if a required parameter has no example, or if only a
    /// call can judge a condition.
    #[must_use]
    pub fn examples(&self, exported: &Value) -> Vec<Value> {
        let properties = self
            .input_schema()
            .get("properties")
            .and_then(Value::as_object);
        let Some(properties) = properties else {
            return Vec::new();
        };
        let of = |schema: &Value| -> Vec<Value> {
            let examples = schema.get("examples").and_then(Value::as_array);
            examples.cloned().unwrap_or_default()
        };
        let given: Vec<(&String, Vec<Value>)> = properties
            .iter()
            .map(|(name, schema)| (name, of(schema)))
            .collect();
        let most = given.iter().map(|(_, values)| values.len()).max();
        if most.is_none_or(|most| most == 0) {
            return Vec::new();
        }
        let schemas =
            [self.input_schema(), exported].map(|schema| InputSchema::from_object(schema.clone()));
        let [Ok(schema), Ok(exported)] = schemas else {
            return Vec::new();
        };
        let accepted = |text: &str| {
            let mut both = [&schema, &exported].into_iter();
            both.all(|schema| examine(text, schema, false).is_ok())
        };
        let mut found: Vec<Value> = Vec::new();
        for turn in 0..most.unwrap_or_default().min(MOST_EXAMPLES) {
            let one = given
                .iter()
                .filter_map(|(name, values)| {
                    let value = values.get(turn).or_else(|| values.last())?;
                    Some(((*name).clone(), value.clone()))
                })
                .collect::<Map<_, _>>();
            if !self.holds(&one) {
                continue;
            }
            let one = Value::Object(one);
            if accepted(&one.to_string()) && !found.contains(&one) {
                found.push(one);
            }
        }
        found
    }

    /// Whether no condition is broken that ends calls: of what the schema says in full, the schema is the judge.
    fn holds(&self, arguments: &Map<String, Value>) -> bool {
        let conditions = self.conditions.iter();
        conditions
            .filter(|one| one.condition().kind() == ConditionKind::Pre && one.refuses())
            .all(|one| one.lowering() == Lowering::Exact || self.asked(one, arguments))
    }

    fn asked(&self, published: &PublishedCondition, arguments: &Map<String, Value>) -> bool {
        let condition = published.condition();
        let ([parameter], Some(probe)) = (condition.parameters(), condition.probe()) else {
            return false;
        };
        let name = self.renames.exported(parameter);
        let default = || {
            self.input_schema()
                .get("properties")?
                .get(name)?
                .get("default")
        };
        let value = arguments.get(name).or_else(default);
        let text = value.unwrap_or(&Value::Null).to_string();
        guard(|| probe(&text)).ok().flatten() == Some(true)
    }
}

/// A copy of `input` without the ends that it has from its types of `bits` bits and more, and of `f32`. What a condition has
/// narrowed stays.
pub(super) fn without_widths(input: &Value, types: &Value, bits: u32) -> Value {
    let mut quiet = input.clone();
    let wide = [8, 16, 32, 64, 128].into_iter().filter(|own| *own >= bits);
    let ends: Vec<Decimal> = wide
        .flat_map(|bits| [format!("int{bits}"), format!("uint{bits}")])
        .filter_map(|name| integer_range(&name))
        .flat_map(|(low, high)| [low, high])
        .filter_map(|end| Some(Decimal::of(end.as_number()?)))
        .filter(|end| *end != Decimal::of_float(0.0))
        .chain([-F32_MAX, F32_MAX].map(Decimal::of_float))
        .collect();
    silence(&mut quiet, types, &ends);
    quiet
}

/// Whether a schema as text may have an end of a type of 64 bits and more.
fn may_have_wide_ends(schema: &str) -> bool {
    let ends = ["9223372036854775", "18446744073709551615", "e38", "e+38"];
    ends.into_iter().any(|end| schema.contains(end))
}

fn silence(schema: &mut Value, types: &Value, ends: &[Decimal]) {
    let (Value::Object(keywords), Value::Object(types)) = (schema, types) else {
        return;
    };
    let number = |keywords: &Map<String, Value>, keyword: &str| {
        let number = keywords.get(keyword)?.as_number()?;
        Some(Decimal::of(number))
    };
    for keyword in ["minimum", "maximum"] {
        let of_type = number(types, keyword).filter(|end| ends.contains(end));
        if of_type.is_some() && number(keywords, keyword) == of_type {
            keywords.shift_remove(keyword);
        }
    }
    for (keyword, value) in keywords.iter_mut() {
        let Some(of_type) = types.get(keyword) else {
            continue;
        };
        match (holds(keyword), value, of_type) {
            (KeywordValue::Schema, schema, types) => silence(schema, types, ends),
            (KeywordValue::List, Value::Array(schemas), Value::Array(types)) => {
                for (schema, types) in schemas.iter_mut().zip(types) {
                    silence(schema, types, ends);
                }
            }
            (KeywordValue::Map, Value::Object(schemas), Value::Object(types)) => {
                for (name, schema) in schemas.iter_mut() {
                    if let Some(types) = types.get(name) {
                        silence(schema, types, ends);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The longest name that a description repeats whole.
const LONGEST_NAME: usize = 100;

/// The same schema with these properties renamed; each says which name the tool's own sentences have for it.
fn renamed(schema: &Value, renames: &Renames) -> Value {
    let Value::Object(keywords) = schema else {
        return schema.clone();
    };
    let keyword = |(keyword, value): (&String, &Value)| {
        let new = match (holds(keyword), value) {
            (KeywordValue::Schema, schema) => renamed(schema, renames),
            (KeywordValue::List, Value::Array(list)) => {
                list.iter().map(|schema| renamed(schema, renames)).collect()
            }
            (KeywordValue::Map, Value::Object(map)) => {
                let name = |name: &str| match keyword.as_str() {
                    "properties" | "dependentSchemas" => renames.exported(name).to_owned(),
                    _ => name.to_owned(),
                };
                let described = |(old, schema): (&String, &Value)| {
                    let (new, schema) = (name(old), renamed(schema, renames));
                    if new == *old || keyword != "properties" {
                        return (new, schema);
                    }
                    (new, described(schema, old))
                };
                Value::Object(map.iter().map(described).collect())
            }
            (_, Value::Array(names)) if keyword == "required" => list(names, renames),
            (_, Value::Object(map)) if keyword == "dependentRequired" => {
                let map = map.iter().map(|(name, names)| {
                    let names = names.as_array().map(Vec::as_slice).unwrap_or_default();
                    (renames.exported(name).to_owned(), list(names, renames))
                });
                Value::Object(map.collect())
            }
            (_, Value::String(target)) if keyword == "$ref" => json!(pointer(target, renames)),
            (_, value) if matches!(keyword.as_str(), "default" | "examples" | "enum" | "const") => {
                data(value, renames)
            }
            (_, value) => value.clone(),
        };
        (keyword.clone(), new)
    };
    Value::Object(keywords.iter().map(keyword).collect())
}

fn described(schema: Value, name: &str) -> Value {
    let mut keywords = keywords(schema);
    let own = keywords.get("description").and_then(Value::as_str);
    let note = format!("(This tool calls it `{}`.)", clip(name, LONGEST_NAME));
    let text = own.map_or_else(|| note.clone(), |own| format!("{} {note}", own.trim_end()));
    keywords.insert("description".to_owned(), json!(text));
    Value::Object(keywords)
}

fn list(names: &[Value], renames: &Renames) -> Value {
    let names = names.iter();
    names
        .map(|name| {
            name.as_str()
                .map_or_else(|| name.clone(), |name| json!(renames.exported(name)))
        })
        .collect()
}

/// A JSON pointer (RFC 6901) to the same schema.
fn pointer(target: &str, renames: &Renames) -> String {
    let mut steps: Vec<Cow<'_, str>> = Vec::new();
    for step in target.split('/') {
        let is_name = steps.last().is_some_and(|before| before == "properties");
        let name = unescape(step);
        let new = renames.exported(&name);
        steps.push(if is_name && new != name {
            Cow::Owned(new.to_owned())
        } else {
            Cow::Borrowed(step)
        });
    }
    steps.join("/")
}

/// A value such as the properties hold: its keys are taken for names, because it stands in no schema.
fn data(value: &Value, renames: &Renames) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| data(item, renames)).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                (renames.exported(name).to_owned(), data(value, renames))
            };
            Value::Object(members.iter().map(member).collect())
        }
        scalar => scalar.clone(),
    }
}
