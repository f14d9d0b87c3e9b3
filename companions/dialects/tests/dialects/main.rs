//! The strict and reduced forms of tools, beside the plain ones: what a call takes, each of them accepts.

mod anthropic;
mod exports;
mod exports_sample;
mod gemini;
mod gemini_limits;
mod judges;
mod judges_random;
mod judges_tools;
mod openai;
mod openai_limits;
mod openai_superset;

use std::fmt;

use contract_dialects::{ExportError, ExportProblem, StrictDialect, StrictExport as _};
use contract_runtime::{Dialect, Registry};
use serde_json::{Map, Value, json};

/// A dialect of the runtime, or of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnyDialect {
    Plain(Dialect),
    Strict(StrictDialect),
}

impl From<Dialect> for AnyDialect {
    fn from(dialect: Dialect) -> Self {
        Self::Plain(dialect)
    }
}

impl From<StrictDialect> for AnyDialect {
    fn from(dialect: StrictDialect) -> Self {
        Self::Strict(dialect)
    }
}

impl fmt::Display for AnyDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(dialect) => dialect.fmt(f),
            Self::Strict(dialect) => dialect.fmt(f),
        }
    }
}

/// Every dialect.
fn every() -> impl Iterator<Item = AnyDialect> {
    let plain = Dialect::ALL.into_iter().map(AnyDialect::Plain);
    plain.chain(StrictDialect::ALL.into_iter().map(AnyDialect::Strict))
}

/// The tools in a dialect, and why some of them are not strict.
type Exported = (Value, Vec<ExportProblem>);

fn tools(registry: &Registry, dialect: impl Into<AnyDialect>) -> Value {
    export(registry, dialect)
        .unwrap_or_else(|error| panic!("{error}"))
        .0
}

fn export(registry: &Registry, dialect: impl Into<AnyDialect>) -> Result<Exported, ExportError> {
    match dialect.into() {
        AnyDialect::Plain(dialect) => Ok((registry.export(dialect).clone(), Vec::new())),
        AnyDialect::Strict(dialect) => {
            let exported = registry.export_strict(dialect)?;
            Ok((exported.tools, exported.not_strict))
        }
    }
}

/// A slow judge of what exports make of references and documented enums. Recursive definitions must refer to themselves directly.
fn inlined(schema: &Value, root: &Value) -> Value {
    let Value::Object(keywords) = schema else {
        return match schema {
            Value::Array(all) => all.iter().map(|one| inlined(one, root)).collect(),
            other => other.clone(),
        };
    };
    let mut own = keywords.clone();
    let is_recursive = |target: &Value| {
        root.pointer(&target.as_str().unwrap()[1..])
            .unwrap()
            .to_string()
            .contains(&target.to_string())
    };
    if let Some(Value::Object(all)) = own.get_mut("$defs") {
        all.retain(|name, _| is_recursive(&json!(format!("#/$defs/{name}"))));
    }
    if own.get("$defs") == Some(&json!({})) {
        own.shift_remove("$defs");
    }
    let target = own
        .get("$ref")
        .filter(|target| !is_recursive(target))
        .cloned();
    let mut node = Map::new();
    if let Some(target) = target {
        own.shift_remove("$ref");
        let definition = root.pointer(&target.as_str().unwrap()[1..]).unwrap();
        node.clone_from(definition.as_object().unwrap());
    }
    node.extend(own);
    let of_values = |all: &Value| {
        all.as_array()
            .unwrap()
            .iter()
            .all(|one| one.get("properties").is_none() && one["type"] == "string")
    };
    if let Some(Value::Array(all)) = node.get("oneOf").filter(|all| of_values(all)).cloned() {
        let values = |one: &Value| {
            one.get("enum")
                .cloned()
                .unwrap_or_else(|| json!([one["const"]]))
        };
        let narrowed = node.shift_remove("enum");
        let is_left = |value: &Value| {
            narrowed
                .as_ref()
                .is_none_or(|left| left.as_array().unwrap().contains(value))
        };
        let listed = all
            .iter()
            .flat_map(|one| values(one).as_array().unwrap().clone())
            .filter(is_left);
        let listed: Vec<Value> = listed.collect();
        let said = all
            .iter()
            .filter(|one| one["description"].is_string() && is_left(&one["const"]));
        let said: Vec<_> = said
            .map(|one| {
                let text = one["description"].as_str().unwrap();
                format!("{}: {}", one["const"], text.trim_end_matches('.'))
            })
            .collect();
        let said = said.join("; ");
        let text = node.get("description").and_then(Value::as_str);
        let text = text.map_or_else(|| said.clone(), |text| format!("{text} ({said})"));
        node.shift_remove("oneOf");
        node.extend([
            ("type".to_owned(), json!("string")),
            ("description".to_owned(), json!(text)),
            ("enum".to_owned(), json!(listed)),
        ]);
    }
    let node = node
        .iter()
        .map(|(keyword, value)| (keyword.clone(), inlined(value, root)));
    Value::Object(node.collect())
}
