//! Contracted tools beside the others of an rmcp server: an adapter to copy.

use std::error::Error;

use contract_runtime::approval::{Approval, ApprovalRequest, Decision};
use contract_runtime::{Context, Dialect, McpRevision, Registry};
use rmcp::RoleServer;
use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{CallToolResult, ContentBlock, Tool};
use rmcp::service::{ElicitationError, Peer};
use schemars::JsonSchema;
use serde::Deserialize;

/// Returns the tools of a registry as routes, to add to those of `#[tool_router]`.
///
/// # Errors
///
/// Those of [`Registry::export`].
pub fn routes<S: Send + Sync + 'static>(
    registry: &Registry,
) -> Result<ToolRouter<S>, Box<dyn Error + Send + Sync>> {
    let exported = registry.export_text(Dialect::Mcp(McpRevision::November2025));
    let tools: Vec<Tool> = serde_json::from_str(exported)?;
    let mut router = ToolRouter::new();
    for mut tool in tools {
        // A server that promises structured content must send it; here the results are text.
        tool.output_schema = None;
        let registry = registry.clone();
        router.add_route(ToolRoute::new_dyn(tool, move |call| {
            let registry = registry.clone();
            Box::pin(async move { Ok(called(&registry, call).await.into()) })
        }));
    }
    Ok(router)
}

async fn called<S>(registry: &Registry, call: ToolCallContext<'_, S>) -> CallToolResult {
    let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
    let client = call.request_context.peer.clone();
    let context = Context::new().approver(move |request| ask(client.clone(), request));
    let made = registry
        .call(("", &*call.name, &*arguments))
        .context(context);
    let Some(outcome) = call.request_context.ct.run_until_cancelled(made).await else {
        return CallToolResult::error(vec![ContentBlock::text("the call was cancelled")]);
    };
    let succeeded = outcome.is_ok();
    let text = vec![ContentBlock::text(outcome.into_result().text())];
    if succeeded {
        CallToolResult::success(text)
    } else {
        CallToolResult::error(text)
    }
}

/// The form that the person at the client fills in.
#[derive(Deserialize, JsonSchema)]
struct Form {
    /// Whether the call may go on.
    approve: bool,
}

rmcp::elicit_safe!(Form);

/// Asks the person at the client; whatever is not a clear yes denies.
async fn ask(client: Peer<RoleServer>, request: ApprovalRequest) -> Decision {
    match client.elicit::<Form>(request.to_string()).await {
        Ok(Some(Form { approve: true })) => Decision::Approved(Approval::Once),
        Ok(_) | Err(ElicitationError::UserDeclined) => {
            Decision::Denied("the user said no".to_owned())
        }
        Err(_) => Decision::Denied("nobody at the client could be asked".to_owned()),
    }
}
