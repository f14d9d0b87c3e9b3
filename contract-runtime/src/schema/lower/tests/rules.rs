//! The portable rules of hand-made trees, evaluated by an independent engine.

use cel::{Context, Program};
use serde_json::{Value, json};

use self::portable::PortableRule;
use crate::schema::PublishedCondition;

// They are judged beside the schemas, on the same trees and arguments.
#[allow(
    dead_code,
    unreachable_pub,
    reason = "it is a part of contract-manifest"
)]
#[path = "../../../../../companions/manifest/src/rules/mod.rs"]
mod portable;

/// The rules of some conditions, where they have one.
pub(super) struct Judge {
    programs: Vec<Option<(String, Program)>>,
    functions: Context<'static, 'static>,
}

impl Judge {
    pub(super) fn new(conditions: &[PublishedCondition]) -> Self {
        let compiled = |one: &PublishedCondition| {
            let rule = PortableRule::of(one)?.rule;
            match Program::compile(&rule) {
                Ok(program) => Some((rule, program)),
                Err(error) => panic!("{rule}: {error}"),
            }
        };
        Self {
            programs: conditions.iter().map(compiled).collect(),
            functions: Context::default(),
        }
    }

    /// Demands that no rule refuses what its condition accepts, whatever kind of number the engine reads from JSON.
    pub(super) fn judge(&self, arguments: &Value, native: &[bool]) {
        for (program, accepts) in self.programs.iter().zip(native) {
            let Some((rule, program)) = program.as_ref().filter(|_| *accepts) else {
                continue;
            };
            for arguments in [arguments, &doubles(arguments)] {
                let mut context = self.functions.new_inner_scope();
                context.add_variable("args", arguments).unwrap();
                let answer = program.execute(&context).ok();
                assert_ne!(
                    answer,
                    Some(cel::Value::Bool(false)),
                    "{rule} of {arguments}"
                );
            }
        }
    }
}

/// The arguments as a reader has them who knows no other number than `double`.
fn doubles(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(doubles).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), doubles(value)))
            .collect(),
        other => other.clone(),
    }
}
