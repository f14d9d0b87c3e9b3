use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ProgressNotificationParam};
use rmcp::service::{RequestContext, RoleServer};

use super::answer::result;
use crate::{Context, McpRevision, Progress, Registry, Status, ToolCall};

/// Makes the call, tied to the request: its cancellation, and its progress where the client wants to hear of it.
pub(super) async fn answer(
    registry: &Registry,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
    revision: McpRevision,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let arguments = serde_json::to_string(&arguments).unwrap_or_default();
    let call = ToolCall::new(context.id.to_string(), request.name, arguments);
    let mut ours = Context::new().cancellation(context.ct.clone());
    if let Some(token) = context.meta.get_progress_token() {
        let (sender, mut reports) = tokio::sync::mpsc::unbounded_channel();
        let peer = context.peer.clone();
        tokio::spawn(async move {
            while let Some(report) = reports.recv().await {
                let report: crate::ProgressReport = report;
                let mut told = ProgressNotificationParam::new(token.clone(), report.done);
                told.total = report.total;
                told.message = Some(report.message);
                if peer.notify_progress(told).await.is_err() {
                    break;
                }
            }
        });
        ours = ours.progress(Progress::new(move |report| {
            let _ = sender.send(report);
        }));
    }
    let outcome = registry.call_with(call, ours).await;
    if outcome.status() == Status::UnknownTool {
        let why = outcome.error().unwrap_or_default();
        return Err(ErrorData::invalid_params(why, None));
    }
    let schema = registry
        .tool(outcome.tool())
        .and_then(|tool| tool.output_schema());
    Ok(result(outcome, schema, revision).into())
}
