//! Answers of a type: the model is told the schema of the type, and the answer is judged by it.

use contract_runtime::__family::correct_output;
use contract_runtime::{ConditionKind, Policy, Validator};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::hooks::{Hook, RunCondition};
use super::result::RunResult;
use crate::event::RunError;

/// The result of a run whose answer is a value of the type `T`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TypedResult<T> {
    /// The answer, which satisfies every postcondition. `None` if the run ended without one.
    pub value: Option<T>,
    /// The result of the run. Its `answer` is the text that the value was read from.
    pub run: RunResult,
}

/// The type that the answer of a run must have.
pub(super) struct AnswerType {
    name: String,
    validator: Validator,
    decode: fn(&str) -> Result<(), serde_json::Error>,
}

/// What is wrong with an answer: all of it for the model, and without the values of the answer for others.
pub(super) struct Mismatch {
    pub(super) told: String,
    masked: String,
}

impl AnswerType {
    pub(super) fn of<T: DeserializeOwned + JsonSchema>() -> Result<Self, RunError> {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let schema = generator.subschema_for::<T>().to_value();
        let schema = correct_output(schema, generator.take_definitions(true));
        let name = T::schema_name().into_owned();
        let validator = Validator::of_value(schema).map_err(|error| RunError::AnswerType {
            message: format!("the schema of `{name}` cannot be enforced: {error}"),
        })?;
        Ok(Self {
            name,
            validator,
            decode: |text| read::<T>(text).map(drop),
        })
    }

    /// What the model reads below its task.
    pub(super) fn instruction(&self) -> String {
        let schema = self.validator.schema();
        format!(
            "\n\nYour answer must be one JSON value and nothing else. It must satisfy this JSON Schema: {schema}"
        )
    }

    /// The schema for providers, which take only that of an object.
    pub(super) fn of_object(&self) -> Option<&Value> {
        let schema = self.validator.schema();
        let is_object = schema.get("type").is_some_and(|kind| kind == "object");
        is_object.then_some(schema)
    }

    /// Everything that is wrong with an answer.
    pub(super) fn mismatch(&self, text: &str) -> Option<Mismatch> {
        let text = unfenced(text);
        let mismatch = |told: String, masked: String| {
            Some(Mismatch {
                told: format!(
                    "the answer must be one JSON value of the type `{}`: {told}",
                    self.name
                ),
                masked: format!(
                    "the answer must be one JSON value of the type `{}`: {masked}",
                    self.name
                ),
            })
        };
        // An error of syntax never quotes the text.
        if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
            let told = format!("it is not JSON: {error}");
            return mismatch(told.clone(), told);
        }
        if let Err(invalid) = self.validator.check(text) {
            return mismatch(invalid.to_string(), invalid.masked().to_string());
        }
        let error = (self.decode)(text).err()?;
        let (line, column) = (error.line(), error.column());
        mismatch(
            format!("its type refuses it: {error}"),
            format!("its type refuses it at line {line}, column {column}"),
        )
    }

    /// The condition that an answer with this mismatch breaks, and every other answer keeps.
    pub(super) fn condition(&self, mismatch: Option<&Mismatch>) -> RunCondition<str> {
        let mut hook = Hook::new(format!("type: {}", self.name)).policy(Policy::Enforce);
        if let Some(mismatch) = mismatch {
            hook = hook.message(mismatch.masked.clone());
        }
        let holds = mismatch.is_none();
        RunCondition::new(hook, ConditionKind::Answer, move |_| holds)
    }
}

/// Reads an answer, which may stand in one code fence.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(unfenced(text))
}

fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let fenced = text
        .strip_prefix("```")
        .and_then(|text| text.strip_suffix("```"));
    match fenced.and_then(|fenced| fenced.split_once('\n')) {
        Some((language, inside)) if matches!(language.trim_end(), "" | "json" | "JSON") => inside,
        _ => text,
    }
}
