//! The neutral input schema, which is published and which the dispatcher enforces.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::compile::compile;
use super::error::SchemaError;
use super::normalize::{close, correct, keywords, upgrade, used};
use super::renames::Renames;
use super::rules::{RuleId, Rules};
use super::stored::StoredSchema;
use super::type_schema::decodes_exactly;

/// One parameter as it is described to a schema.
#[derive(Debug, Clone)]
pub struct ParameterSchema {
    /// The name the model uses.
    pub name: String,
    /// What the author wrote above the parameter.
    pub description: Option<String>,
    /// What schemars says about the type, references to definitions included.
    pub schema: Value,
    /// Whether the argument must be given.
    pub required: bool,
    /// What a missing argument becomes.
    pub default: Option<Value>,
    /// Values the author shows to the model.
    pub examples: Vec<Value>,
    /// Whether values must never be shown again.
    pub secret: bool,
}

/// One parameter as a schema keeps it.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Parameter {
    /// The name the model uses.
    pub name: Cow<'static, str>,
    /// Whether the argument must be given.
    pub required: bool,
    /// Whether values must never be shown again.
    pub secret: bool,
    /// Whether typed decoding accepts nothing that the schema refuses; else the argument is judged before it is decoded.
    pub is_exact: bool,
    /// It is a map whose keys JSON cannot have, so that no value of it is read.
    pub unreadable_keys: bool,
    pub constants: Option<Box<Constants>>,
}

/// The values that an author gave for a parameter.
#[derive(Debug, Clone)]
pub struct Constants {
    /// What a missing argument becomes.
    pub default: Option<Value>,
    /// Values the author shows to the model.
    pub examples: Vec<Value>,
}

impl Constants {
    /// Few parameters have any, which then take no memory.
    pub fn boxed(default: Option<Value>, examples: Vec<Value>) -> Option<Box<Self>> {
        let any = default.is_some() || !examples.is_empty();
        any.then(|| Box::new(Self { default, examples }))
    }
}

impl Parameter {
    pub fn default(&self) -> Option<&Value> {
        self.constants.as_ref()?.default.as_ref()
    }

    pub fn examples(&self) -> &[Value] {
        let constants = self.constants.as_deref();
        constants.map_or(&[], |constants| &constants.examples)
    }
}

/// Who wrote a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// A macro, from types.
    InParts,
    /// Its author.
    Whole,
    /// Its author, who says which dialect it is, and it is the one that is enforced.
    WholeWithDialect,
}

/// The neutral input schema of a tool: exactly what the dispatcher accepts.
#[derive(Clone, Debug)]
pub struct InputSchema {
    stored: StoredSchema,
    parameters: Box<[Parameter]>,
    written: Written,
    /// A provider may refuse the name of a property.
    is_renamed: bool,
    ignores_unknown_keys: bool,
    /// Made by the first call that the types alone cannot judge.
    compiled: OnceLock<Arc<Compiled>>,
}

#[derive(Debug)]
struct Compiled {
    rules: Rules,
    root: RuleId,
    of_parameters: Box<[Option<RuleId>]>,
    renames: Renames,
}

/// JSON Schema 2020-12, the dialect of everything here.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

impl InputSchema {
    /// Builds the closed object of all parameters, corrected and ready to be enforced.
    ///
    /// # Errors
    /// When a part of the schema could not be enforced: see [`SchemaError`].
    pub fn new(
        parameters: Vec<ParameterSchema>,
        definitions: Map<String, Value>,
    ) -> Result<Self, SchemaError> {
        let (json, parameters, renames) = arguments(parameters, definitions)?;
        let stored = StoredSchema::of(&json);
        Ok(Self::in_parts(stored, parameters, !renames.is_empty()))
    }

    /// Takes a text that was judged in parts; `is_renamed` says that a provider may refuse the name of a property.
    pub(super) fn in_parts(
        stored: StoredSchema,
        parameters: Box<[Parameter]>,
        is_renamed: bool,
    ) -> Self {
        Self {
            stored,
            parameters,
            written: Written::InParts,
            is_renamed,
            ignores_unknown_keys: false,
            compiled: OnceLock::new(),
        }
    }

    /// Takes the whole schema of a tool that no macro made, corrected and ready to be enforced.
    ///
    /// It is closed only if it says so. A property that is `writeOnly`, as passwords are (JSON Schema Validation 2020-12,
    /// section 9.4), is secret. None of its parameters decodes exactly: no type is behind them.
    ///
    /// # Errors
    /// When it is not the schema of an object, or a part of it could not be enforced.
    pub fn from_object(mut json: Value) -> Result<Self, SchemaError> {
        let written = match json.get("$schema") {
            Some(named) if named == DIALECT => Written::WholeWithDialect,
            _ => Written::Whole,
        };
        upgrade(&mut json);
        correct(&mut json);
        if json.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::Malformed {
                pointer: String::new(),
                expected: "the schema of an object, with `\"type\": \"object\"`",
            });
        }
        if let Some(keywords) = json.as_object_mut() {
            // OpenAI, and clients with it behind them, refuse an object without `properties`.
            keywords.entry("properties").or_insert_with(|| json!({}));
        }
        let (rules, root) = compile(&json, true)?;
        let required = rules[root].object.as_ref();
        let required = required.map_or(&[][..], |object| object.required.as_slice());
        let properties = json.get("properties").and_then(Value::as_object);
        let parameters = properties.into_iter().flatten();
        let parameters = parameters.map(|(name, schema)| Parameter {
            name: Cow::Owned(name.clone()),
            required: required.contains(name),
            secret: schema.get("writeOnly") == Some(&Value::Bool(true)),
            is_exact: false,
            unreadable_keys: false,
            constants: None,
        });
        Ok(Self {
            written,
            ..Self::in_parts(
                StoredSchema::of(&json),
                parameters.collect(),
                !Renames::of(&rules).is_empty(),
            )
        })
    }

    /// Takes the whole schema of any value, such as a result, corrected and ready to be enforced.
    ///
    /// # Errors
    /// When a part of it could not be enforced.
    pub(super) fn of_value(mut json: Value) -> Result<Self, SchemaError> {
        upgrade(&mut json);
        correct(&mut json);
        compile(&json, true)?;
        Ok(Self {
            written: Written::Whole,
            ..Self::in_parts(StoredSchema::of(&json), Box::default(), false)
        })
    }

    /// The schema as it is published.
    pub fn json(&self) -> &Value {
        self.stored.value()
    }

    /// The same, as it is kept.
    pub fn as_stored(&self) -> &StoredSchema {
        &self.stored
    }

    /// The `$schema` that its author wrote, where it is true.
    pub fn dialect(&self) -> Option<&'static str> {
        (self.written == Written::WholeWithDialect).then_some(DIALECT)
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            // It was compiled before it was stored; should it fail all the same, nothing is accepted.
            let compiled = compile(&self.stored.read(), self.written != Written::InParts);
            let (rules, root) = compiled.unwrap_or_else(|_| Rules::never());
            let object = rules[root].object.as_ref();
            let rule = |one: &Parameter| object?.property(&one.name);
            let of_parameters = self.parameters.iter().map(rule).collect();
            Arc::new(Compiled {
                renames: if self.is_renamed {
                    Renames::of(&rules)
                } else {
                    Renames::default()
                },
                rules,
                root,
                of_parameters,
            })
        })
    }

    /// The rules, and among them that of the parameter at `index`.
    pub fn rule_of(&self, index: usize) -> Option<(&Rules, RuleId)> {
        let compiled = self.compiled();
        let rule = compiled.of_parameters.get(index).copied().flatten()?;
        Some((&compiled.rules, rule))
    }

    /// Marks as inexact all parameters except those that are named here.
    pub(super) fn be_exact_at_most_where(&mut self, may_be_exact: &[bool]) {
        for (parameter, may_be_exact) in self.parameters.iter_mut().zip(may_be_exact) {
            parameter.is_exact &= may_be_exact;
        }
    }

    /// The parameters in declaration order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The default of this parameter, if it has one.
    pub fn default_of(&self, name: &str) -> Option<&Value> {
        let mut parameters = self.parameters.iter();
        parameters.find(|one| one.name == name)?.default()
    }

    /// Whether the values of this parameter must never be shown.
    pub fn is_secret(&self, name: &str) -> bool {
        self.secrets().any(|secret| secret == name)
    }

    /// The names of the parameters whose values must never be shown.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let secret = self.parameters.iter().filter(|one| one.secret);
        secret.map(|one| one.name.as_ref())
    }

    /// Marks them in a schema of the same parameters as `writeOnly` (JSON Schema Validation 2020-12, section 9.4).
    pub fn mark_secrets(&self, published: &mut Value) {
        for secret in self.secrets() {
            let properties = published.get_mut("properties");
            match properties.and_then(|all| all.get_mut(secret)) {
                Some(Value::Object(property)) => {
                    property.insert("writeOnly".to_owned(), json!(true));
                }
                Some(anything @ Value::Bool(true)) => *anything = json!({"writeOnly": true}),
                _ => {}
            }
        }
    }

    /// Whether keys that it does not know are left out of a call.
    pub fn ignores_unknown_keys(&self) -> bool {
        self.ignores_unknown_keys
    }

    pub fn ignore_unknown_keys(&mut self, ignore: bool) {
        self.ignores_unknown_keys = ignore;
    }

    /// The names of properties that a provider may refuse.
    pub fn renames(&self) -> &Renames {
        if self.is_renamed {
            &self.compiled().renames
        } else {
            Renames::NONE
        }
    }

    pub fn rules(&self) -> &Rules {
        &self.compiled().rules
    }

    pub fn root(&self) -> RuleId {
        self.compiled().root
    }
}

/// The closed object of all parameters, which can be enforced, and the names that providers may refuse.
pub(super) fn arguments(
    parameters: Vec<ParameterSchema>,
    definitions: Map<String, Value>,
) -> Result<(Value, Box<[Parameter]>, Renames), SchemaError> {
    let mut names = HashSet::new();
    if let Some(twice) = parameters
        .iter()
        .find(|one| !names.insert(one.name.as_str()))
    {
        return Err(SchemaError::DuplicateParameter {
            name: twice.name.clone(),
        });
    }
    let mut definitions = used(parameters.iter().map(|one| &one.schema), definitions);
    let mut properties: Map<_, _> = parameters
        .iter()
        .map(|one| (one.name.clone(), property(one)))
        .collect();
    close(&mut properties, &mut definitions);
    let required = parameters.iter().filter(|one| one.required);
    let required = required.map(|one| Value::from(one.name.as_str()));
    // `json!` would serialise what is already a value.
    let mut json = Map::from_iter([
        ("type".to_owned(), Value::from("object")),
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), Value::Array(required.collect())),
        ("additionalProperties".to_owned(), Value::Bool(false)),
    ]);
    if !definitions.is_empty() {
        json.insert("$defs".to_owned(), Value::Object(definitions));
    }
    let json = Value::Object(json);
    let (rules, _) = compile(&json, false)?;
    let parameters = parameters.into_iter().map(|one| Parameter {
        is_exact: decodes_exactly(&one.schema),
        unreadable_keys: false,
        name: Cow::Owned(one.name),
        required: one.required,
        secret: one.secret,
        constants: Constants::boxed(one.default, one.examples),
    });
    Ok((json, parameters.collect(), Renames::of(&rules)))
}

fn property(parameter: &ParameterSchema) -> Value {
    let mut schema = parameter.schema.clone();
    correct(&mut schema);
    let (default, examples) = (parameter.default.as_ref(), &parameter.examples);
    annotated(schema, parameter.description.as_deref(), default, examples)
}

/// A schema with what its author says of the parameter.
pub(super) fn annotated(
    schema: Value,
    description: Option<&str>,
    default: Option<&Value>,
    examples: &[Value],
) -> Value {
    let mut additions = Map::new();
    if let Some(text) = description {
        additions.insert("description".to_owned(), Value::from(text));
    }
    if let Some(value) = default {
        additions.insert("default".to_owned(), value.clone());
    }
    if !examples.is_empty() {
        additions.insert("examples".to_owned(), Value::from(examples));
    }
    if additions.is_empty() {
        return schema;
    }
    let mut keywords = keywords(schema);
    keywords.extend(additions);
    Value::Object(keywords)
}

/// Whether a schema says of itself what may be said of a parameter.
pub(super) fn is_annotated(keywords: &Map<String, Value>) -> bool {
    let mut own = ["description", "default", "examples"].into_iter();
    own.any(|keyword| keywords.contains_key(keyword))
}
