//! Where the value stands that a predicate speaks about.

use serde_json::Value;

use super::constant::{COUNTS, Constant};
use super::finite;
use super::normal::Root;
use crate::contract::expression::Expression;
use crate::tool::form::Form;

/// A parameter, or what the variable of a closure stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'s> {
    pub(super) root: Root,
    pub(super) form: Form,
    /// Whether `null` may stand there.
    pub(super) nullable: bool,
    /// Whether nothing may stand there, and Rust then sees what it sees of `null`.
    pub(super) absent: bool,
    schema: Option<&'s Value>,
    /// With the definitions that schemas refer to.
    input: &'s Value,
}

impl<'s> Place<'s> {
    pub(super) fn parameter(
        name: &'static str,
        form: Form,
        absent: bool,
        schema: &'s Value,
        input: &'s Value,
    ) -> Self {
        Self {
            root: Root::Parameter(name),
            form,
            nullable: matches!(form, Form::Optional(_)) || admits_null(schema, input),
            absent,
            schema: Some(schema),
            input,
        }
    }

    /// What an optional holds when it holds something.
    pub(super) fn content(self, variable: &'static str, form: Form) -> Self {
        Self {
            root: Root::Variable(variable),
            form,
            nullable: false,
            absent: false,
            ..self
        }
    }

    /// Any item of a list.
    pub(super) fn item(self, variable: &'static str, form: Form) -> Self {
        Self {
            root: Root::Variable(variable),
            form,
            nullable: matches!(form, Form::Optional(_)),
            absent: false,
            schema: None,
            input: self.input,
        }
    }

    /// Whether this is what the expression names.
    pub(super) fn is(&self, expression: &Expression) -> bool {
        match (self.root, expression) {
            (Root::Parameter(own), Expression::Parameter(name))
            | (Root::Variable(own), Expression::Variable(name)) => own == *name,
            _ => false,
        }
    }

    /// A constant of the type that stands here.
    pub(super) fn constant(&self, expression: &Expression) -> Option<Constant> {
        Constant::of(expression, self.form)
    }

    /// All values that may stand here, if they are few.
    pub(super) fn values(&self) -> Option<Vec<Value>> {
        finite::values(self.schema?, self.input)
    }
}

/// A constant that a count is compared with.
pub(super) fn counted(expression: &Expression) -> Option<i128> {
    let (low, high) = COUNTS;
    match Constant::of(expression, Form::Integer { low, high })? {
        Constant::Integer(value) => Some(value),
        _ => None,
    }
}

fn admits_null(schema: &Value, input: &Value) -> bool {
    finite::values(schema, input).is_some_and(|values| values.contains(&Value::Null))
}
