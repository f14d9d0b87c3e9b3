//! The request handler that the protocol library calls.

#![allow(
    deprecated,
    reason = "the protocol gives up some requests in time; clients of today make them"
)]

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    self, CallToolRequestParams, CallToolResponse, CustomNotification, CustomRequest, CustomResult,
    InitializeRequestParams, InitializeResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscriptionFilter,
    Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use tokio_util::sync::CancellationToken;

use super::ask::ClientQuestions;
use super::beside::{self, Answer, Beside, Companion};
use super::call::CallSession;
use super::hooks::{CallRequest, Hooks};
use super::limits::{CallPermits, Limits};
use super::list::{CONTRACT, Wanted};
use super::notifications::WantedLevel;
use super::revision::Revision;
use super::served::ServedTools;
use super::{Server, call};
use crate::ServeError;

/// Handles the requests of every connection; a clone shares everything.
#[derive(Clone)]
pub(super) struct Handler(pub(super) Arc<Shared>);

/// What all calls of one server have in common.
pub(super) struct Shared {
    pub(super) tools: ServedTools,
    /// How many tools are in one page of the list.
    page: usize,
    /// Whether every client is told contracts and outcomes in full as data.
    list_contracts: bool,
    pub(super) coerce: bool,
    pub(super) limits: Limits,
    pub(super) permits: CallPermits,
    /// Those of requests to the handler beside the tools, so that neither takes the place of the other.
    beside: CallPermits,
    pub(super) hooks: Hooks,
    /// The session of the one client of a pair of streams.
    pub(super) connection: Option<CallSession>,
    pub(super) questions: ClientQuestions,
    /// Cancels every call.
    pub(super) end: CancellationToken,
    config: ServerConfig,
    companion: Companion,
}

impl Handler {
    pub(super) fn new(server: Server) -> Result<Self, ServeError> {
        server.tools.start()?;
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_logging()
            .build();
        if let Some(tools) = &mut capabilities.tools
            && server.tools.can_change()
        {
            tools.list_changed = Some(true);
        }
        let mut config = ServerConfig::new(capabilities).with_server_info(server.implementation);
        config.instructions = server.instructions;
        server.companion.add_to(&mut config);
        Ok(Self(Arc::new(Shared {
            tools: server.tools,
            page: server.page,
            list_contracts: server.list_contracts,
            coerce: server.coerce,
            limits: server.limits,
            permits: CallPermits::default(),
            beside: CallPermits::default(),
            hooks: server.hooks,
            connection: None,
            questions: ClientQuestions::new(server.ask_client),
            end: CancellationToken::new(),
            config,
            companion: server.companion,
        })))
    }
}

impl Handler {
    fn beside(&self) -> &dyn Beside {
        self.0.companion.handler()
    }

    /// Has a request answered by the handler beside the tools, as long as somebody waits for it.
    async fn answered<'h, T>(
        &'h self,
        context: RequestContext<RoleServer>,
        answer: impl FnOnce(&'h dyn Beside, RequestContext<RoleServer>) -> Answer<'h, T>,
    ) -> Result<T, ErrorData> {
        let limit = self.0.limits.calls;
        let Some(_permit) = self.0.beside.try_acquire(limit) else {
            let why = format!("{limit} requests are running, which is the limit; try again later");
            return Err(ErrorData::internal_error(why, None));
        };
        let cancelled = call::cancelled(&self.0, &context);
        tokio::select! {
            biased;
            answer = answer(self.beside(), context) => return answer,
            () = cancelled => {}
        }
        Err(ErrorData::internal_error("the request was cancelled", None))
    }

    /// Whether a method of the protocol is served here, although rmcp does not know a request of it by its parameters.
    fn has_method(&self, method: &str, revision: Revision) -> bool {
        let offered = &self.0.config.capabilities;
        let resources = offered.resources.as_ref();
        match method {
            // Those that 2026-07-28 has no more.
            "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe"
                if revision >= Revision::July2026 =>
            {
                false
            }
            "logging/setLevel" => true,
            "completion/complete" => offered.completions.is_some(),
            "prompts/get" | "prompts/list" => offered.prompts.is_some(),
            "resources/list" | "resources/read" | "resources/templates/list" => resources.is_some(),
            "resources/subscribe" | "resources/unsubscribe" => {
                resources.is_some_and(|resources| resources.subscribe == Some(true))
            }
            _ => false,
        }
    }

    /// The same for a server that has one client, whose connection is its session.
    pub(super) fn connected(server: Server) -> Result<Self, ServeError> {
        let run = server.hooks.session();
        let mut handler = Self::new(server)?;
        if let Some(shared) = Arc::get_mut(&mut handler.0) {
            shared.connection = Some(CallSession {
                id: None,
                end: shared.end.clone(),
                run,
                level: WantedLevel::default(),
            });
        }
        Ok(handler)
    }
}

/// Passes requests on to the handler that stands beside the tools.
macro_rules! passed_on {
    ($($name:ident($params:ty) -> $result:ty;)*) => {
        $(async fn $name(
            &self,
            params: $params,
            context: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            self.answered(context, |beside, context| beside.$name(params, context)).await
        })*
    };
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
            extensions: &context.extensions,
            peer: &context.peer,
        };
        let session = call::session(&self.0, &context.extensions);
        let remembered = session.is_some() || self.0.hooks.has_run_of(&asked);
        let fault = |why| ErrorData::internal_error(why, None);
        let run = session.map(|session| &session.run);
        let caller = self.0.hooks.context(&asked, run).map_err(fault)?;
        let served = self.0.tools.current();
        let wanted = Wanted {
            revision: revision(&context),
            page: self.0.page,
            remembered,
            contracts: self.0.tells_contracts(&context),
            visible: served.registry.visible_to(&caller),
        };
        served.list.page(&wanted, cursor.as_deref())
    }

    /// rmcp calls it to compare headers with arguments, and for nothing else.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.tools.current().list.with_headers(name)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if revision(&context) >= Revision::July2026 {
            return Err(ErrorData::method_not_found::<model::SetLevelRequestMethod>());
        }
        if let Some(session) = call::session(&self.0, &context.extensions) {
            session.level.set(request.level);
        }
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.0.tools.can_change() {
            let session = call::session(&self.0, &context.extensions);
            let end = session.map_or(&self.0.end, |session| &session.end).clone();
            let principal = call::principal(&context.extensions);
            let mut changes = self.0.tools.changes(principal);
            let peer = context.peer.clone();
            tokio::spawn(end.run_until_cancelled_owned(async move {
                while changes.next().await && peer.notify_tool_list_changed().await.is_ok() {}
            }));
        }
        self.beside().initialized(context).await;
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        self.beside().notified(notification, context).await;
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut theirs = self.beside().filter(requested);
        if self.0.tools.can_change() {
            let filter = theirs.get_or_insert_default();
            filter.tools_list_changed = requested.tools_list_changed;
        }
        theirs
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let sink = subscription.sink().clone();
        let principal = call::principal(&subscription.request_context().extensions);
        let mut changes = self.0.tools.changes(principal);
        let told = async {
            while changes.next().await {
                // It is refused where the client has not asked for it.
                let _ = sink.notify_tool_list_changed().await;
            }
        };
        tokio::select! {
            listened = self.beside().listen(subscription) => listened,
            () = self.0.end.cancelled() => Ok(()),
            () = told => Ok(()),
        }
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

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if self.has_method(&request.method, revision(&context)) {
            let why = format!("`params` are not those of `{}`", request.method);
            return Err(ErrorData::invalid_params(why, None));
        }
        self.answered(context, |beside, context| beside.custom(request, context))
            .await
    }

    beside::requests!(passed_on);
}

impl Shared {
    /// Whether contracts and outcomes are told in full as data.
    pub(super) fn tells_contracts(&self, context: &RequestContext<RoleServer>) -> bool {
        self.list_contracts || asks_for_contracts(context)
    }
}

/// Whether a client says that it reads contracts as data: by a capability of this name.
fn asks_for_contracts(context: &RequestContext<RoleServer>) -> bool {
    let Some(capabilities) = context.client_capabilities() else {
        return false;
    };
    let experimental = capabilities.experimental.as_ref();
    let extensions = capabilities.extensions.as_ref();
    experimental.is_some_and(|all| all.contains_key(CONTRACT))
        || extensions.is_some_and(|all| all.contains_key(CONTRACT))
}

fn revision(context: &RequestContext<RoleServer>) -> Revision {
    let version = context.protocol_version();
    version.map_or(Revision::November2025, |version| Revision::of(&version))
}
