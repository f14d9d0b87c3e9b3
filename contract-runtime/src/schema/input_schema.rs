//! The neutral input schema, which is published and which the dispatcher enforces.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::close::close;
use super::compile::compile;
use super::draft07::upgrade;
use super::error::SchemaError;
use super::normalize::{correct, used};
use super::renames::Renames;
use super::rules::{RuleId, Rules};
use super::strict_types;

/// One parameter as the generated code describes it.
#[derive(Debug, Clone)]
pub(crate) struct ParameterSchema {
    /// The name the model uses.
    pub(crate) name: String,
    /// What the author wrote above the parameter.
    pub(crate) description: Option<String>,
    /// What schemars says about the type, references to definitions included.
    pub(crate) schema: Value,
    /// Whether the argument must be given.
    pub(crate) required: bool,
    /// What a missing argument becomes.
    pub(crate) default: Option<Value>,
    /// Values the author shows to the model.
    pub(crate) examples: Vec<Value>,
    /// Whether values must never be shown again.
    pub(crate) secret: bool,
}

/// The neutral input schema of a tool: exactly what the dispatcher accepts.
#[derive(Debug)]
pub(crate) struct InputSchema {
    json: Value,
    parameters: Vec<ParameterSchema>,
    exact: Vec<bool>,
    rules: Rules,
    root: RuleId,
    renames: Renames,
    /// Its author wrote which dialect it is, and it is the one that is enforced.
    says_dialect: bool,
}

/// JSON Schema 2020-12, the dialect of everything here.
pub(crate) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

impl InputSchema {
    /// Builds the closed object of all parameters, corrected and ready to be enforced.
    ///
    /// # Errors
    /// When a part of the schema could not be enforced: see [`SchemaError`].
    pub(crate) fn new(
        parameters: Vec<ParameterSchema>,
        definitions: Map<String, Value>,
    ) -> Result<Self, SchemaError> {
        let mut names = HashSet::new();
        if let Some(twice) = parameters
            .iter()
            .find(|one| !names.insert(one.name.as_str()))
        {
            return Err(SchemaError::DuplicateParameter {
                name: twice.name.clone(),
            });
        }
        let exact = parameters
            .iter()
            .map(|one| strict_types::decodes_exactly(&one.schema))
            .collect();
        let mut definitions = used(parameters.iter().map(|one| &one.schema), definitions);
        let mut properties: Map<_, _> = parameters
            .iter()
            .map(|one| (one.name.clone(), property(one)))
            .collect();
        close(&mut properties, &mut definitions);
        let required = parameters.iter().filter(|one| one.required);
        let required: Vec<_> = required.map(|one| Value::from(one.name.as_str())).collect();
        // `json!` would serialise what is already a value.
        let mut json = Value::Object(Map::from_iter([
            ("type".to_owned(), Value::from("object")),
            ("properties".to_owned(), Value::Object(properties)),
            ("required".to_owned(), Value::Array(required)),
            ("additionalProperties".to_owned(), Value::Bool(false)),
        ]));
        if let (Value::Object(keywords), false) = (&mut json, definitions.is_empty()) {
            keywords.insert("$defs".to_owned(), Value::Object(definitions));
        }
        let (rules, root) = compile(&json, false)?;
        Ok(Self {
            json,
            parameters,
            exact,
            renames: Renames::of(&rules),
            rules,
            root,
            says_dialect: false,
        })
    }

    /// Takes the whole schema of a tool that no macro made, corrected and ready to be enforced.
    ///
    /// It is closed only if it says so. A property that is `writeOnly`, as passwords are (JSON Schema Validation 2020-12,
    /// section 9.4), is secret. None of its parameters decodes exactly: no type is behind them.
    ///
    /// # Errors
    /// When it is not the schema of an object, or a part of it could not be enforced.
    pub(crate) fn from_object(mut json: Value) -> Result<Self, SchemaError> {
        let says_dialect = json.get("$schema").is_some_and(|named| named == DIALECT);
        upgrade(&mut json);
        correct(&mut json);
        if json.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::Malformed {
                pointer: String::new(),
                expected: "the schema of an object, with `\"type\": \"object\"`",
            });
        }
        let (rules, root) = compile(&json, true)?;
        let required = rules[root]
            .object
            .as_ref()
            .map(|object| object.required.as_slice());
        let required = required.unwrap_or_default();
        let properties = json.get("properties").and_then(Value::as_object);
        let parameters: Vec<_> = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| ParameterSchema {
                name: name.clone(),
                description: None,
                schema: schema.clone(),
                required: required.contains(name),
                default: None,
                examples: Vec::new(),
                secret: schema.get("writeOnly") == Some(&Value::Bool(true)),
            })
            .collect();
        Ok(Self {
            exact: vec![false; parameters.len()],
            json,
            parameters,
            renames: Renames::of(&rules),
            rules,
            root,
            says_dialect,
        })
    }

    /// Takes the whole schema of any value, such as a result, corrected and ready to be enforced.
    ///
    /// # Errors
    /// When a part of it could not be enforced.
    pub(super) fn of_value(mut json: Value) -> Result<Self, SchemaError> {
        upgrade(&mut json);
        correct(&mut json);
        let (rules, root) = compile(&json, true)?;
        Ok(Self {
            exact: Vec::new(),
            json,
            parameters: Vec::new(),
            renames: Renames::default(),
            rules,
            root,
            says_dialect: false,
        })
    }

    /// The schema as it is published.
    pub(crate) fn json(&self) -> &Value {
        &self.json
    }

    /// The `$schema` that its author wrote, where it is true.
    pub(crate) fn dialect(&self) -> Option<&'static str> {
        self.says_dialect.then_some(DIALECT)
    }

    /// Whether typed decoding alone accepts nothing that the schema refuses, for the parameter at `index`.
    ///
    /// Where it is false the argument has to be judged before it is decoded.
    pub(crate) fn decodes_exactly(&self, index: usize) -> bool {
        self.exact.get(index).copied().unwrap_or(false)
    }

    /// The rule of the parameter at `index`.
    pub(crate) fn rule_of(&self, index: usize) -> Option<RuleId> {
        let name = &self.parameters.get(index)?.name;
        self.rules[self.root].object.as_ref()?.property(name)
    }

    /// The parameters in declaration order.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &ParameterSchema> {
        self.parameters.iter()
    }

    /// The default of this parameter, if it has one.
    pub(crate) fn default_of(&self, name: &str) -> Option<&Value> {
        let parameter = self.parameters.iter().find(|one| one.name == name)?;
        parameter.default.as_ref()
    }

    /// Whether the values of this parameter must never be shown.
    pub(crate) fn is_secret(&self, name: &str) -> bool {
        self.parameters
            .iter()
            .any(|one| one.secret && one.name == name)
    }

    /// The names of the parameters whose values must never be shown.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        let secret = self.parameters.iter().filter(|one| one.secret);
        secret.map(|one| one.name.as_str())
    }

    /// Marks them in a schema of the same parameters as `writeOnly` (JSON Schema Validation 2020-12, section 9.4).
    pub(crate) fn mark_secrets(&self, published: &mut Value) {
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

    /// The names of properties that a provider may refuse.
    pub(crate) fn renames(&self) -> &Renames {
        &self.renames
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn root(&self) -> RuleId {
        self.root
    }
}

fn property(parameter: &ParameterSchema) -> Value {
    let mut schema = parameter.schema.clone();
    correct(&mut schema);
    let mut additions = Map::new();
    if let Some(text) = &parameter.description {
        additions.insert("description".to_owned(), json!(text));
    }
    if let Some(value) = &parameter.default {
        additions.insert("default".to_owned(), value.clone());
    }
    if !parameter.examples.is_empty() {
        additions.insert("examples".to_owned(), json!(parameter.examples));
    }
    if additions.is_empty() {
        return schema;
    }
    let mut keywords = match schema {
        Value::Object(keywords) => keywords,
        Value::Bool(false) => Map::from_iter([("not".to_owned(), json!({}))]),
        _ => Map::new(),
    };
    keywords.extend(additions);
    Value::Object(keywords)
}
