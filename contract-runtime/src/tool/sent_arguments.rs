//! The arguments of a call, for the history of its run.

use serde_json::Value;

use super::call::Request;
use crate::contract::history::CallArguments;
use crate::schema::InputSchema;

/// The arguments of a call as its body has them, defaults included.
pub(crate) struct SentArguments<'r> {
    text: &'r str,
    schema: &'r InputSchema,
}

impl<'r> SentArguments<'r> {
    pub(super) fn new(request: &'r Request<'_>) -> Self {
        let examined = request.examined.get();
        let text = examined.map_or(request.text, |examined| &examined.text);
        Self::of(text, &request.inputs.schema)
    }

    pub(crate) const fn of(text: &'r str, schema: &'r InputSchema) -> Self {
        Self { text, schema }
    }
}

impl CallArguments for SentArguments<'_> {
    fn text(&self) -> &str {
        self.text
    }

    fn each_parameter(&self, visit: &mut dyn FnMut(&str, Option<&Value>)) {
        for parameter in self.schema.parameters() {
            visit(&parameter.name, parameter.default());
        }
    }
}
