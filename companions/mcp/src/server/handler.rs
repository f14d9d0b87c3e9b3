//! The request handler that the protocol library calls.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use contract_runtime::{Registry, Run};
use hyper::http::request::Parts;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, InitializeRequestParams, InitializeResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

use super::ask::ClientQuestions;
use super::hooks::{CallRequest, Hooks};
use super::limits::{CallPermits, Limits};
use super::list::List;
use super::revision::Revision;
use super::{Server, call};
use crate::ServeError;

/// Handles the requests of every connection; a clone shares everything.
#[derive(Clone)]
pub(super) struct Handler(pub(super) Arc<Shared>);

/// What all calls of one server have in common.
pub(super) struct Shared {
    pub(super) registry: Registry,
    pub(super) list: List,
    pub(super) limits: Limits,
    pub(super) permits: CallPermits,
    pub(super) hooks: Hooks,
    /// The run of the one client of a pair of streams.
    pub(super) connection: Option<Run>,
    pub(super) questions: ClientQuestions,
    /// Cancels every call.
    pub(super) end: CancellationToken,
    config: ServerConfig,
}

impl Handler {
    pub(super) fn new(server: Server) -> Result<Self, ServeError> {
        let mut config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server.implementation);
        config.instructions = server.instructions;
        Ok(Self(Arc::new(Shared {
            list: List::new(&server.registry, server.page)?,
            registry: server.registry,
            limits: server.limits,
            permits: CallPermits::default(),
            hooks: server.hooks,
            connection: None,
            questions: ClientQuestions::new(server.ask_client),
            end: CancellationToken::new(),
            config,
        })))
    }
}

impl Handler {
    /// The same for a server that has one client, whose connection is its session.
    pub(super) fn connected(server: Server) -> Result<Self, ServeError> {
        let run = server.hooks.session();
        let mut handler = Self::new(server)?;
        if let Some(shared) = Arc::get_mut(&mut handler.0) {
            shared.connection = Some(run);
        }
        Ok(handler)
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handler").field(&self.0.registry).finish()
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.0.config.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(Revision::SUPPORTED)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        context.peer.set_peer_info(request);
        Revision::of(&result.protocol_version).strip_implementation(&mut result.server_info);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let asked = CallRequest {
            tool: "",
            id: &context.id.to_string(),
            http: context.extensions.get::<Parts>(),
        };
        let session = call::session_run(&self.0, &context.extensions);
        let remembered = self.0.hooks.remembers(&asked, session);
        let revision = revision(&context);
        self.0.list.page(revision, cursor.as_deref(), remembered)
    }

    /// rmcp calls it to compare headers with arguments, and for nothing else.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.list.with_headers(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let revision = revision(&context);
        // Boxed: rmcp moves this future to a task of its own, some ten times, and it is large.
        Box::pin(call::answer(&self.0, request, context, revision)).await
    }
}

fn revision(context: &RequestContext<RoleServer>) -> Revision {
    let version = context.protocol_version();
    version.map_or(Revision::November2025, |version| Revision::of(&version))
}
