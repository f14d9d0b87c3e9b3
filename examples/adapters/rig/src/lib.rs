//! Contracted tools in rig: an adapter to copy.

use std::error::Error;

use contract_runtime::approval::{ApprovalRequest, Decision};
use contract_runtime::{Context, Dialect, Outcome, Registry, Status, ToolCall};
use rig::agent::{
    AgentHook, HookContext, InvalidToolCallAction, InvalidToolCallContext, InvalidToolCallReason,
    OutcomeAction, OutcomeEvent,
};
use rig::completion::{ToolAnnotations, ToolDefinition};
use rig::effect::Answered;
use rig::tool::{
    ContextValue, DynamicTool, ToolErrorKind, ToolExecutionError, ToolOutput, ToolResult,
};
use serde::{Deserialize, Serialize};

/// Returns the tools of a registry, for `AgentBuilder::dynamic_tools`.
///
/// # Errors
///
/// Those of [`Registry::export`].
pub fn tools(registry: &Registry) -> Result<Vec<DynamicTool>, Box<dyn Error + Send + Sync>> {
    let exported = registry.export_text(Dialect::Neutral);
    let definitions: Vec<ToolDefinition> = serde_json::from_str(exported)?;
    let contracted = |definition| contracted(registry.clone(), definition);
    Ok(definitions.into_iter().map(contracted).collect())
}

fn contracted(registry: Registry, definition: ToolDefinition) -> DynamicTool {
    let hints = registry.tool(&definition.name).map(|tool| tool.hints());
    let hints = hints.unwrap_or_default();
    let annotations = ToolAnnotations {
        read_only_hint: hints.read_only,
        destructive_hint: hints.destructive,
        idempotent_hint: hints.idempotent,
        open_world_hint: hints.open_world,
        ..ToolAnnotations::default()
    };
    let name = definition.name.clone();
    let tool = DynamicTool::new_with_context(
        definition.name,
        definition.description,
        definition.parameters,
        move |context, arguments| {
            let call = ToolCall::new("", name.as_str(), arguments.to_string());
            let registry = registry.clone();
            Box::pin(async move {
                let outcome = registry.call(call).await;
                if let Some(request) = outcome.approval_request() {
                    context
                        .insert_result(Asked(request.clone()))
                        .map_err(ToolExecutionError::from_error)?;
                }
                told(&outcome)
            })
        },
    );
    tool.with_annotations(annotations)
}

/// What the model reads of a call. The artifacts of a result are left out.
fn told(outcome: &Outcome) -> Result<ToolOutput, ToolExecutionError> {
    let Some(error) = outcome.error() else {
        return Ok(ToolOutput::text(outcome.output().unwrap_or_default()));
    };
    let error = match outcome.status() {
        Status::Denied | Status::Refused => ToolExecutionError::refused(error),
        Status::InvalidArguments => ToolExecutionError::invalid_args(error),
        Status::TimedOut => ToolExecutionError::timeout(error),
        Status::Cancelled => ToolExecutionError::cancelled(error),
        Status::Overloaded => ToolExecutionError::rate_limited(error),
        _ => ToolExecutionError::new(ToolErrorKind::Other, error),
    };
    Err(error.with_code(outcome.status().name()))
}

/// What a call asked, which the host reads and the model does not.
#[derive(Serialize, Deserialize)]
struct Asked(ApprovalRequest);

impl ContextValue for Asked {
    const KEY: &'static str = "contract_asked";
}

/// Asks a person where a tool asks, and tells the model what is wrong with arguments that are not JSON and with a name that no
/// tool has; a hook for `AgentBuilder::add_hook`.
pub struct Approvals<F> {
    /// The registry of the tools.
    pub registry: Registry,
    /// Decides on a request; it may wait for a person.
    pub decide: F,
}

impl<F, D> AgentHook for Approvals<F>
where
    F: Fn(ApprovalRequest) -> D + Send + Sync,
    D: Future<Output = Decision> + Send,
{
    async fn on_outcome(&self, _: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        let asked = event.tool_context().map(rig::tool::ToolContext::result);
        let (Some(Ok(Some(Asked(request)))), Some(name), Some(arguments)) =
            (asked, event.tool_name(), event.tool_args())
        else {
            return OutcomeAction::proceed();
        };
        let decision = (self.decide)(request.clone()).await;
        let context = Context::new().answer(request.answer(decision));
        let call = ToolCall::new("", name, arguments);
        let result = match told(&self.registry.call(call).context(context).await) {
            Ok(output) => ToolResult::success(output),
            Err(error) => ToolResult::failed(error),
        };
        OutcomeAction::replace(Ok(Answered::ToolResult { result }))
    }

    async fn on_invalid_tool_call(
        &self,
        _: &HookContext,
        event: &InvalidToolCallContext,
    ) -> Option<InvalidToolCallAction> {
        // Such a call reaches no tool, and one of a tool that does not exist would end the agent.
        let (InvalidToolCallReason::MalformedArguments { .. } | InvalidToolCallReason::UnknownTool) =
            event.reason
        else {
            return None;
        };
        let arguments = event.args.as_deref().unwrap_or_default();
        let call = ToolCall::new("", event.tool_name.as_str(), arguments);
        let outcome = self.registry.check(call).await;
        outcome.error().map(InvalidToolCallAction::skip)
    }
}
