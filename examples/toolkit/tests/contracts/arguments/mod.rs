//! Whatever a model sends as arguments, each tool of the package takes it or refuses it, and does nothing else.

mod limits;
mod names;
mod numbers;
mod schemas;
mod texts;

use jsonschema::Validator;
use serde_json::Value;

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).unwrap()
}
