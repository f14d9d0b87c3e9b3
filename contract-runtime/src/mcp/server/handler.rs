use std::borrow::Cow;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};

use super::list::List;
use super::{Server, call};
use crate::{McpRevision, Registry};

/// What a connection talks to; a clone shares everything.
#[derive(Clone)]
pub(super) struct Handler {
    pub(super) registry: Registry,
    config: ServerConfig,
    list: Arc<List>,
}

impl Handler {
    pub(super) fn new(server: &Server, list: List) -> Self {
        let mut config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server.implementation.clone());
        config.instructions.clone_from(&server.instructions);
        Self {
            registry: server.registry.clone(),
            config,
            list: Arc::new(list),
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28])
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.list.page(revision(&context), cursor.as_deref())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.list.tool(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let revision = revision(&context);
        call::answer(&self.registry, request, context, revision).await
    }
}

fn revision(context: &RequestContext<RoleServer>) -> McpRevision {
    match context.protocol_version() {
        Some(version) if !version.has_initialize() => McpRevision::July2026,
        _ => McpRevision::November2025,
    }
}
