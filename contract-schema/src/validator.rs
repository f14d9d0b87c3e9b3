//! Checks of JSON texts against a schema, without a call.

use serde_json::Value;

use super::arguments::{InvalidArguments, conforms, read_values};
use super::error::SchemaError;
use super::input_schema::InputSchema;

/// A JSON Schema (2020-12) that texts are checked against as a registry checks arguments: strictly, without network access,
/// and with all problems at once.
///
/// ```
/// use contract_runtime::Validator;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"seats": {"type": "integer", "maximum": 9}}});
/// let validator = Validator::of_arguments(schema)?;
/// assert!(validator.check(r#"{"seats":4}"#).is_ok());
/// let invalid = validator.check(r#"{"seats":12}"#).unwrap_err();
/// assert_eq!(invalid.problems()[0].pointer, "/seats");
/// # Ok::<(), contract_runtime::SchemaError>(())
/// ```
#[derive(Debug)]
pub struct Validator {
    schema: InputSchema,
    is_of_arguments: bool,
}

impl Validator {
    /// Reads the schema of the arguments of a tool, which must describe an object.
    ///
    /// # Errors
    ///
    /// When it is not the schema of an object, or a part of it could not be enforced.
    pub fn of_arguments(schema: Value) -> Result<Self, SchemaError> {
        InputSchema::from_object(schema).map(|schema| Self {
            schema,
            is_of_arguments: true,
        })
    }

    /// Reads the schema of any value, such as a result.
    ///
    /// # Errors
    ///
    /// When a part of it could not be enforced.
    pub fn of_value(schema: Value) -> Result<Self, SchemaError> {
        InputSchema::of_value(schema).map(|schema| Self {
            schema,
            is_of_arguments: false,
        })
    }

    /// Returns the schema as it is enforced.
    #[must_use]
    pub fn schema(&self) -> &Value {
        self.schema.json()
    }

    /// Checks a JSON text. Blank text and `null` are taken for no arguments, by a schema of arguments.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn check(&self, text: &str) -> Result<(), InvalidArguments> {
        if self.is_of_arguments {
            read_values(text, &self.schema, false).map(drop)
        } else {
            conforms(text, &self.schema)
        }
    }
}
