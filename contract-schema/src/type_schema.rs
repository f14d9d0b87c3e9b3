//! The schemas of the types of parameters and results, each made once for all tools of a registry.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::decimal::Decimal;
use super::error::SchemaError;
use super::input_schema::{
    InputSchema, Parameter, ParameterSchema, annotated, arguments, is_annotated,
};
use super::json_text::ObjectText;
use super::normalize::{correct_output, integer_range};
use super::renames::is_plain;
use super::stored::StoredSchema;
use super::vocabulary::annotates;

/// Describes a type. Two of the same address are the same code, so they describe the same.
pub type Describe = fn(&mut SchemaGenerator) -> Schema;

/// A parameter as its tool describes it.
pub struct DescribedParameter {
    pub parameter: Parameter,
    pub description: &'static str,
    pub describe: Describe,
}

/// The schemas that have been made, by the addresses of what describes them.
#[derive(Default)]
pub struct TypeSchemas {
    parameters: HashMap<usize, Option<Rc<TypeSchema>>, foldhash::fast::RandomState>,
    results: HashMap<usize, Option<Arc<StoredSchema>>, foldhash::fast::RandomState>,
}

/// The schema of one type, corrected and judged.
struct TypeSchema {
    text: String,
    /// It is an object, to which a description and the like can be added at the end.
    is_open: bool,
    /// What it refers to, by name.
    definitions: Vec<(String, String)>,
    is_exact: bool,
    /// A provider may refuse the name of one of its properties.
    is_renamed: bool,
}

impl TypeSchemas {
    /// The schema of the arguments of a tool.
    ///
    /// # Errors
    /// When a part of it could not be enforced.
    pub fn input(
        &mut self,
        mut parameters: Vec<DescribedParameter>,
    ) -> Result<InputSchema, SchemaError> {
        let types = parameters.iter().map(|one| self.parameter(one.describe));
        let Some(types) = types.collect::<Option<Vec<_>>>() else {
            return together(parameters);
        };
        let Some(text) = joined(&parameters, &types) else {
            return together(parameters);
        };
        let mut is_renamed = false;
        for (one, of_type) in parameters.iter_mut().zip(types) {
            one.parameter.is_exact &= of_type.is_exact;
            is_renamed |= of_type.is_renamed || !is_plain(&one.parameter.name);
        }
        let parameters = parameters.into_iter().map(|one| one.parameter).collect();
        let stored = StoredSchema::new(text);
        Ok(InputSchema::in_parts(stored, parameters, is_renamed))
    }

    /// The schema of a result; `()` is given as nothing at all.
    pub fn result(&mut self, describe: Describe) -> Option<Arc<StoredSchema>> {
        let known = self.results.entry(describe as usize);
        let made = known.or_insert_with(|| {
            let settings = SchemaSettings::draft2020_12();
            let mut generator = settings.for_serialize().into_generator();
            let schema = describe(&mut generator).to_value();
            let schema = correct_output(schema, generator.take_definitions(true));
            let is_nothing = schema.get("type").and_then(Value::as_str) == Some("null");
            (!is_nothing).then(|| Arc::new(StoredSchema::of(&schema)))
        });
        made.clone()
    }

    fn parameter(&mut self, describe: Describe) -> Option<Rc<TypeSchema>> {
        let known = self.parameters.entry(describe as usize);
        known
            .or_insert_with(|| TypeSchema::new(describe).map(Rc::new))
            .clone()
    }
}

impl TypeSchema {
    /// `None` if a part of it cannot be enforced: what is wrong is said of the tool as a whole.
    fn new(describe: Describe) -> Option<Self> {
        /// No reference leads to a parameter of this name, and no provider is shown it.
        const UNNAMED: &str = "\u{0}";
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let schema = describe(&mut generator).to_value();
        let alone = ParameterSchema {
            name: UNNAMED.to_owned(),
            description: None,
            schema,
            required: false,
            default: None,
            examples: Vec::new(),
            secret: false,
        };
        let (mut json, parameters, renames) =
            arguments(vec![alone], generator.take_definitions(true)).ok()?;
        let schema = json.get_mut("properties")?.get_mut(UNNAMED)?.take();
        let definitions = json.get("$defs").and_then(Value::as_object);
        let definitions = definitions.into_iter().flatten();
        Some(Self {
            text: schema.to_string(),
            is_open: schema
                .as_object()
                .is_some_and(|keywords| !is_annotated(keywords)),
            definitions: definitions
                .map(|(name, schema)| (name.clone(), schema.to_string()))
                .collect(),
            is_exact: parameters.first()?.is_exact,
            is_renamed: !renames.only(|name| name != UNNAMED).is_empty(),
        })
    }

    /// The type as the schema of one parameter.
    fn write(&self, one: &DescribedParameter, out: &mut String) {
        let (default, examples) = (one.parameter.default(), one.parameter.examples());
        let is_silent = one.description.is_empty() && default.is_none() && examples.is_empty();
        let open = self.text.strip_suffix('}').filter(|_| self.is_open);
        let Some(open) = open.filter(|_| !is_silent) else {
            if is_silent {
                out.push_str(&self.text);
            } else {
                let description = Some(one.description).filter(|text| !text.is_empty());
                let schema = super::stored::parse(&self.text);
                let schema = annotated(schema, description, default, examples);
                out.push_str(&schema.to_string());
            }
            return;
        };
        out.push_str(open);
        let mut keywords = ObjectText::resume(out, open.len() == 1);
        if !one.description.is_empty() {
            keywords.string("description", one.description);
        }
        if let Some(default) = default {
            keywords.value("default", default);
        }
        if !examples.is_empty() {
            keywords.value("examples", &Value::from(examples));
        }
        keywords.end();
    }
}

/// The closed object of all parameters; `None` where two names are the same, of parameters or of different definitions.
fn joined(parameters: &[DescribedParameter], types: &[Rc<TypeSchema>]) -> Option<String> {
    let mut definitions = BTreeMap::new();
    for (name, text) in types.iter().flat_map(|one| &one.definitions) {
        if *definitions.entry(name.as_str()).or_insert(text) != text {
            return None;
        }
    }
    let mut out = String::with_capacity(256);
    let mut object = ObjectText::begin(&mut out);
    object.string("type", "object");
    let mut properties = ObjectText::begin(object.key("properties"));
    for (index, (one, of_type)) in parameters.iter().zip(types).enumerate() {
        let mut before = parameters.iter().take(index);
        if before.any(|other| other.parameter.name == one.parameter.name) {
            return None;
        }
        of_type.write(one, properties.key(&one.parameter.name));
    }
    properties.end();
    let required = object.key("required");
    required.push('[');
    let names = parameters.iter().filter(|one| one.parameter.required);
    for (index, one) in names.enumerate() {
        if index > 0 {
            required.push(',');
        }
        super::json_text::string(required, &one.parameter.name);
    }
    required.push(']');
    object.json("additionalProperties", "false");
    if !definitions.is_empty() {
        let mut all = ObjectText::begin(object.key("$defs"));
        for (name, text) in definitions {
            all.json(name, text);
        }
        all.end();
    }
    object.end();
    Some(out)
}

/// All parameters described by one generator, which gives two types of one name two names.
fn together(parameters: Vec<DescribedParameter>) -> Result<InputSchema, SchemaError> {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let may_be_exact: Vec<bool> = parameters
        .iter()
        .map(|one| one.parameter.is_exact)
        .collect();
    let parameters = parameters.into_iter().map(|one| {
        let constants = one.parameter.constants.map(|constants| *constants);
        let (default, examples) = constants
            .map(|constants| (constants.default, constants.examples))
            .unwrap_or_default();
        ParameterSchema {
            name: one.parameter.name.into_owned(),
            description: Some(one.description.to_owned()).filter(|text| !text.is_empty()),
            schema: (one.describe)(&mut generator).to_value(),
            required: one.parameter.required,
            default,
            examples,
            secret: one.parameter.secret,
        }
    });
    let parameters = parameters.collect();
    let definitions: Map<String, Value> = generator.take_definitions(true);
    let mut schema = InputSchema::new(parameters, definitions)?;
    schema.be_exact_at_most_where(&may_be_exact);
    Ok(schema)
}

/// Whether everything that typed decoding accepts is admitted by `schema`, as schemars wrote it.
///
/// True only for numbers, booleans, strings and null without further keywords, and arrays of these:
/// - a map or a `Value` keeps the last of two equal keys, an open struct ignores unknown ones;
/// - `f32` turns `1e300` into infinity;
/// - serde knows none of the attributes of schemars;
/// - a unit variant is also read from `{"Variant":null}`, and from its `#[serde(alias)]`.
pub(super) fn decodes_exactly(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    let Some(names) = type_names(keywords) else {
        return false;
    };
    let rest = || {
        keywords.iter().filter(|(keyword, _)| {
            *keyword != "type" && (*keyword == "format" || !annotates(keyword))
        })
    };
    match names.as_slice() {
        ["boolean" | "string" | "null"] => rest().next().is_none(),
        ["number"] => rest().all(|(keyword, value)| keyword == "format" && value == "double"),
        ["integer"] => exact_integer(keywords, rest().count()),
        ["array"] => {
            rest().all(|(keyword, _)| keyword == "items")
                && keywords.get("items").is_some_and(decodes_exactly)
        }
        _ => false,
    }
}

/// The type names without `null`, unless it is the only one.
fn type_names(keywords: &Map<String, Value>) -> Option<Vec<&str>> {
    match keywords.get("type")? {
        Value::String(only) => Some(vec![only]),
        Value::Array(several) => {
            let names: Option<Vec<_>> = several.iter().map(Value::as_str).collect();
            names.map(|names| names.into_iter().filter(|name| *name != "null").collect())
        }
        _ => None,
    }
}

fn exact_integer(keywords: &Map<String, Value>, mut others: usize) -> bool {
    let Some((low, high)) = keywords
        .get("format")
        .and_then(Value::as_str)
        .and_then(integer_range)
    else {
        return false;
    };
    others -= 1;
    let exact = |value: &Value| value.as_number().map(Decimal::of);
    for (keyword, limit) in [("minimum", low), ("maximum", high)] {
        match keywords.get(keyword) {
            Some(own) if exact(own) == exact(&limit) => others -= 1,
            Some(_) => return false,
            None => {}
        }
    }
    others == 0
}
