//! Keywords that a grammar expresses only approximately.

use std::fmt;

use contract_runtime::__family::{KeywordValue, holds};
use serde::Serialize;
use serde_json::Value;

use super::engine;
use super::gbnf::{DEFINITIONS, Keywords, Shape};

/// A keyword that a grammar expresses only approximately: the grammar accepts texts that the call then refuses.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Approximation {
    /// The place in a reply: the tool and the path into its arguments.
    pub at: String,
    /// The JSON Schema keyword.
    pub keyword: String,
    /// Only GBNF approximates it; llguidance enforces the keyword.
    pub only_gbnf: bool,
}

impl fmt::Display for Approximation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, keyword, .. } = self;
        let form = if self.only_gbnf {
            "GBNF approximates"
        } else {
            "GBNF and llguidance approximate"
        };
        write!(f, "{form} `{keyword}` at `{at}`; the call checks it")
    }
}

/// Lists what the grammars of a schema approximate, in the order of the schema.
pub(super) fn list(schema: &Value) -> Vec<Approximation> {
    let mut found = Vec::new();
    walk(schema, "", &mut found);
    found
}

fn walk(schema: &Value, at: &str, found: &mut Vec<Approximation>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    let shape = Shape::of(keywords);
    for (keyword, value) in keywords {
        let only_gbnf = in_llguidance(keyword, value);
        if !is_constraint(keyword, value) || (only_gbnf && shape.expresses(keywords, keyword)) {
            continue;
        }
        let one = Approximation {
            at: at.to_owned(),
            keyword: keyword.clone(),
            only_gbnf,
        };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    descend(keywords, at, found);
}

fn descend(keywords: &Keywords, at: &str, found: &mut Vec<Approximation>) {
    for (keyword, value) in keywords {
        match (keyword.as_str(), holds(keyword), value) {
            ("items" | "additionalProperties", _, schema) => {
                walk(schema, &format!("{at}/*"), found);
            }
            ("prefixItems", _, Value::Array(schemas)) => {
                for (index, schema) in schemas.iter().enumerate() {
                    walk(schema, &format!("{at}/{index}"), found);
                }
            }
            (_, KeywordValue::List, Value::Array(branches)) => {
                for branch in branches {
                    walk(branch, at, found);
                }
            }
            // The arguments of a tool, or a type.
            (DEFINITIONS, _, Value::Object(schemas)) if at.is_empty() => {
                for (name, schema) in schemas {
                    walk(schema, name, found);
                }
            }
            (_, KeywordValue::Map, Value::Object(schemas)) if keyword != "dependentSchemas" => {
                for (name, schema) in schemas {
                    walk(schema, &format!("{at}/{name}"), found);
                }
            }
            _ => {}
        }
    }
}

/// Whether the keyword refuses any value.
fn is_constraint(keyword: &str, value: &Value) -> bool {
    let refuses_nothing = match keyword {
        "$defs" | "$schema" | "$comment" | "$anchor" | "title" | "description" | "default"
        | "examples" | "deprecated" | "readOnly" | "writeOnly" | "format" | "contentEncoding"
        | "contentMediaType" | "contentSchema" => true,
        "uniqueItems" => value == false,
        _ => keyword.starts_with("x-"),
    };
    !refuses_nothing
}

/// Whether llguidance enforces the keyword; it compiles `oneOf` as `anyOf`, and lets keys of a map repeat.
fn in_llguidance(keyword: &str, value: &Value) -> bool {
    match keyword {
        "allOf" | "anyOf" | "type" | "items" | "prefixItems" | "minItems" | "maxItems"
        | "properties" | "required" | "minLength" | "maxLength" => true,
        "additionalProperties" => value == false,
        "$ref" | "const" | "enum" | "pattern" | "minimum" | "maximum" | "exclusiveMinimum"
        | "exclusiveMaximum" | "multipleOf" => engine::reads(keyword, value),
        _ => false,
    }
}
