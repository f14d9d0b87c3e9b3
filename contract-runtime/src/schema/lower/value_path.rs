//! The location of the value that a predicate tests.

use serde_json::Value;

use super::constant::{COUNTS, Constant};
use super::finite;
use super::nnf::Root;
use crate::contract::expression::Expression;
use crate::contract::type_kind::TypeKind;

/// A parameter, or what the variable of a closure stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValuePath<'s> {
    pub(super) root: Root,
    pub(super) kind: TypeKind,
    /// Whether `null` may stand there.
    pub(super) nullable: bool,
    /// Whether nothing may stand there, and Rust then sees what it sees of `null`.
    pub(super) absent: bool,
    schema: Option<&'s Value>,
    /// With the definitions that schemas refer to.
    input: &'s Value,
}

impl<'s> ValuePath<'s> {
    pub(super) fn parameter(
        name: &'static str,
        kind: TypeKind,
        absent: bool,
        schema: &'s Value,
        input: &'s Value,
    ) -> Self {
        Self {
            root: Root::Parameter(name),
            kind,
            nullable: matches!(kind, TypeKind::Optional(_)) || admits_null(schema, input),
            absent,
            schema: Some(schema),
            input,
        }
    }

    /// What an optional holds when it holds something.
    pub(super) fn content(self, variable: &'static str, kind: TypeKind) -> Self {
        Self {
            root: Root::Variable(variable),
            kind,
            nullable: false,
            absent: false,
            ..self
        }
    }

    /// Any item of a list.
    pub(super) fn item(self, variable: &'static str, kind: TypeKind) -> Self {
        Self {
            root: Root::Variable(variable),
            kind,
            nullable: matches!(kind, TypeKind::Optional(_)),
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
        Constant::of(expression, self.kind)
    }

    /// All values that may stand here, if they are few.
    pub(super) fn values(&self) -> Option<Vec<Value>> {
        finite::values(self.schema?, self.input)
    }
}

/// A constant that a count is compared with.
pub(super) fn counted(expression: &Expression) -> Option<i128> {
    let (low, high) = COUNTS;
    match Constant::of(expression, TypeKind::Integer { low, high })? {
        Constant::Integer(value) => Some(value),
        _ => None,
    }
}

fn admits_null(schema: &Value, input: &Value) -> bool {
    finite::values(schema, input).is_some_and(|values| values.contains(&Value::Null))
}
