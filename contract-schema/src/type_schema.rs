//! The schemas of the types of parameters and results, each made once for all tools of a registry.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::error::SchemaError;
use super::input_schema::{
    InputSchema, Parameter, ParameterSchema, annotated, arguments, closed_object,
};
use super::normalize::correct_output;
use super::renames::is_plain;
use super::stored::StoredSchema;

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
    schema: Value,
    /// What it refers to, by name.
    definitions: Map<String, Value>,
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
        let Some(json) = joined(&parameters, &types) else {
            return together(parameters);
        };
        let mut is_renamed = false;
        for (one, of_type) in parameters.iter_mut().zip(types) {
            one.parameter.is_exact &= of_type.is_exact;
            is_renamed |= of_type.is_renamed || !is_plain(&one.parameter.name);
        }
        let parameters = parameters.into_iter().map(|one| one.parameter);
        let stored = StoredSchema::of(&json);
        Ok(InputSchema::in_parts(
            stored,
            parameters.collect(),
            is_renamed,
        ))
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
        let definitions = json.get_mut("$defs").map(Value::take);
        Some(Self {
            schema,
            definitions: match definitions {
                Some(Value::Object(definitions)) => definitions,
                _ => Map::new(),
            },
            is_exact: parameters.first()?.is_exact,
            is_renamed: !renames.only(|name| name != UNNAMED).is_empty(),
        })
    }
}

/// The closed object of all parameters; `None` where two names are the same, of parameters or of different definitions.
fn joined(parameters: &[DescribedParameter], types: &[Rc<TypeSchema>]) -> Option<Value> {
    let mut definitions = BTreeMap::new();
    for (name, schema) in types.iter().flat_map(|one| &one.definitions) {
        if *definitions.entry(name).or_insert(schema) != schema {
            return None;
        }
    }
    let definitions = definitions.into_iter();
    let definitions = definitions.map(|(name, schema)| (name.clone(), schema.clone()));
    let mut properties = Map::new();
    for (one, of_type) in parameters.iter().zip(types) {
        let parameter = &one.parameter;
        let description = Some(one.description).filter(|text| !text.is_empty());
        let schema = of_type.schema.clone();
        let schema = annotated(
            schema,
            description,
            parameter.default(),
            parameter.examples(),
        );
        if properties
            .insert(parameter.name.to_string(), schema)
            .is_some()
        {
            return None;
        }
    }
    let required = parameters.iter().filter(|one| one.parameter.required);
    let required = required.map(|one| Value::from(&*one.parameter.name));
    Some(closed_object(
        properties,
        required.collect(),
        definitions.collect(),
    ))
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
