use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use crate::{McpRevision, Outcome};

/// An outcome as the protocol gives it.
pub(super) fn result(
    outcome: Outcome,
    schema: Option<&Value>,
    revision: McpRevision,
) -> CallToolResult {
    if let Some(error) = outcome.error() {
        return CallToolResult::error(vec![ContentBlock::text(error)]);
    }
    let value = schema.and_then(|_| outcome.value());
    let result = outcome.into_result();
    let mut answer = CallToolResult::success(vec![ContentBlock::text(result.text())]);
    answer.structured_content =
        value.filter(|value| value.is_object() || revision == McpRevision::July2026);
    answer
}
