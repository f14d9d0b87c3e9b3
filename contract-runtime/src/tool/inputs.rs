//! The parameters of a tool, as the dispatcher decodes them.

use std::sync::Arc;

use super::dynamic_contract::DynamicContract;
use crate::schema::InputSchema;

/// What the dispatcher must know to read the arguments of one tool.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) schema: InputSchema,
    pub(crate) parameters: Vec<Input>,
    /// Typed decoding alone accepts what the schema admits, for every parameter.
    pub(crate) exact: bool,
    pub(crate) coerce: bool,
    /// The conditions of a tool that no macro made.
    pub(crate) stated: Option<Arc<DynamicContract>>,
}

#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) secret: bool,
}

impl Inputs {
    pub(crate) fn new(schema: InputSchema, coerce: bool) -> Self {
        let parameters: Vec<Input> = schema
            .parameters()
            .map(|parameter| Input {
                name: parameter.name.clone(),
                required: parameter.required,
                secret: parameter.secret,
            })
            .collect();
        let exact = (0..parameters.len()).all(|index| schema.decodes_exactly(index));
        Self {
            schema,
            parameters,
            exact,
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
