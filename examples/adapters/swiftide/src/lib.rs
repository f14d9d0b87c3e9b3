//! Contracted tools in swiftide: an adapter to copy.

use std::borrow::Cow;
use std::error::Error;

use async_trait::async_trait;
use contract_runtime::approval::{ApprovalRequest, Decision};
use contract_runtime::{Context, Dialect, Registry, ToolCall};
use schemars::Schema;
use serde::Deserialize;
use serde_json::{from_str, from_value, json};
use swiftide_agents::{Agent, StopReason};
use swiftide_core::chat_completion::errors::ToolError;
use swiftide_core::chat_completion::{Tool, ToolCall as Called, ToolOutput, ToolSpec};
use swiftide_core::{AgentContext, ToolFeedback};

type Failure = Box<dyn Error + Send + Sync>;

/// Returns the tools of a registry, for `AgentBuilder::tools`.
///
/// # Errors
///
/// Those of [`Registry::export`], and a schema that swiftide does not take.
pub fn tools(registry: &Registry) -> Result<Vec<Box<dyn Tool>>, Failure> {
    #[derive(Deserialize)]
    struct Exported {
        name: String,
        description: String,
        parameters: Schema,
    }
    let exported: Vec<Exported> = from_str(registry.export_text(Dialect::Neutral))?;
    let contracted = |tool: Exported| {
        let spec = ToolSpec::builder()
            .name(tool.name)
            .description(tool.description)
            .parameters_schema(tool.parameters)
            .build()?;
        let registry = registry.clone();
        Ok(Contracted { registry, spec }.boxed())
    };
    exported.into_iter().map(contracted).collect()
}

#[derive(Clone)]
struct Contracted {
    registry: Registry,
    spec: ToolSpec,
}

#[async_trait]
impl Tool for Contracted {
    async fn invoke(
        &self,
        agent: &dyn AgentContext,
        call: &Called,
    ) -> Result<ToolOutput, ToolError> {
        let mut context = Context::new();
        // After a question, the same call comes again with what `approve` has left.
        if let Some(feedback) = agent.has_received_feedback(call).await {
            match feedback.payload() {
                Some(answer) => context = context.answer(from_value(answer.clone())?),
                None if feedback.is_refused() => {
                    return Ok(ToolOutput::fail("not started, because it was denied"));
                }
                None => {}
            }
        }
        let call = ToolCall::new(call.id(), call.name(), call.args().unwrap_or_default());
        let outcome = self.registry.call(call).context(context).await;
        if let Some(request) = outcome.approval_request() {
            return Ok(ToolOutput::feedback_required(Some(json!(request))));
        }
        // A failure is text too: errors of tools are counted, and end the agent.
        Ok(match outcome.error() {
            Some(error) => ToolOutput::fail(error),
            None => ToolOutput::text(outcome.into_result().text()),
        })
    }

    fn name(&self) -> Cow<'_, str> {
        self.spec.name.as_str().into()
    }

    fn tool_spec(&self) -> ToolSpec {
        self.spec.clone()
    }
}

/// Goes on with an agent for as long as it has stopped because a tool asks.
///
/// # Errors
///
/// Those of the agent.
pub async fn approve(
    agent: &mut Agent,
    mut decide: impl AsyncFnMut(&ApprovalRequest) -> Decision,
) -> Result<(), Failure> {
    while let Some(StopReason::FeedbackRequired {
        tool_call,
        payload: Some(request),
    }) = agent.stop_reason().cloned()
    {
        let request: ApprovalRequest = from_value(request)?;
        let answer = request.answer(decide(&request).await);
        let feedback = match &answer.decision {
            Decision::Approved(_) => ToolFeedback::approved(),
            _ => ToolFeedback::refused(),
        };
        let feedback = feedback.with_payload(json!(answer));
        agent
            .context()
            .feedback_received(&tool_call, &feedback)
            .await?;
        agent.run().await?;
    }
    Ok(())
}
