//! The parameters of a tool, as the dispatcher decodes them.

use std::sync::Arc;

use super::dynamic_contract::DynamicContract;
use crate::schema::InputSchema;

/// What the dispatcher must know to read the arguments of one tool.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) schema: InputSchema,
    pub(crate) coerce: bool,
    /// The conditions of a tool that no macro made.
    pub(crate) stated: Option<Arc<DynamicContract>>,
}
