//! The parameters of a tool, as the dispatcher decodes them.

use std::sync::Arc;

use super::dynamic_contract::DynamicContract;
use crate::schema::{InputSchema, RuleId};

/// What the dispatcher must know to read the arguments of one tool.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) schema: InputSchema,
    pub(crate) parameters: Vec<Input>,
    pub(crate) coerce: bool,
    /// The conditions of a tool that no macro made.
    pub(crate) stated: Option<Arc<DynamicContract>>,
}

#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) secret: bool,
    /// Its type accepts nothing that the schema refuses.
    pub(crate) is_exact: bool,
    /// What any other is judged by before it is decoded.
    pub(crate) rule: Option<RuleId>,
}

impl Inputs {
    pub(crate) fn new(schema: InputSchema, coerce: bool) -> Self {
        let parameters: Vec<Input> = schema
            .parameters()
            .enumerate()
            .map(|(index, parameter)| Input {
                name: parameter.name.clone(),
                required: parameter.required,
                secret: parameter.secret,
                is_exact: schema.decodes_exactly(index),
                rule: schema.rule_of(index),
            })
            .collect();
        Self {
            schema,
            parameters,
            coerce,
            stated: None,
        }
    }

    pub(crate) fn stating(self, stated: Arc<DynamicContract>) -> Self {
        Self {
            stated: Some(stated),
            ..self
        }
    }
}
