//! A handler of the host beside the tools: prompts, resources, completion, and requests of its own.

#![allow(
    deprecated,
    reason = "the protocol gives up some requests in time; clients of today make them"
)]

use std::sync::Arc;

use contract_runtime::__family::guard;
use futures_util::future::BoxFuture;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    self, CustomNotification, CustomRequest, CustomResult, ErrorData, ServerCapabilities,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};

use super::guarded::guarded;

pub(super) type Answer<'a, T> = BoxFuture<'a, Result<T, ErrorData>>;
type Context = RequestContext<RoleServer>;

/// What a handler answers; a panic is an error, because the client would wait without end.
fn answered<'a, T, F>(make: impl FnOnce() -> F + Send + 'a) -> Answer<'a, T>
where
    F: Future<Output = Result<T, ErrorData>> + Send + 'a,
{
    Box::pin(async move {
        guarded(make).await.unwrap_or_else(|_| {
            let why = "the handler of this request panicked; this is a fault of the server";
            Err(ErrorData::internal_error(why, None))
        })
    })
}

/// Hands the requests of the protocol that the handler of the host answers to a macro; whoever calls it imports `rmcp::model`.
macro_rules! requests {
    ($of:ident) => {
        $of! {
            complete(model::CompleteRequestParams) -> model::CompleteResult;
            get_prompt(model::GetPromptRequestParams) -> model::GetPromptResponse;
            list_prompts(Option<model::PaginatedRequestParams>) -> model::ListPromptsResult;
            list_resources(Option<model::PaginatedRequestParams>) -> model::ListResourcesResult;
            list_resource_templates(Option<model::PaginatedRequestParams>)
                -> model::ListResourceTemplatesResult;
            read_resource(model::ReadResourceRequestParams) -> model::ReadResourceResponse;
            subscribe(model::SubscribeRequestParams) -> ();
            unsubscribe(model::UnsubscribeRequestParams) -> ();
        }
    };
}
pub(super) use requests;

macro_rules! object {
    ($($name:ident($params:ty) -> $result:ty;)*) => {
        /// A [`ServerHandler`] as an object.
        pub(super) trait Beside: Send + Sync {
            $(fn $name(&self, params: $params, context: Context) -> Answer<'_, $result>;)*
            fn custom(&self, request: CustomRequest, context: Context) -> Answer<'_, CustomResult>;
            fn config(&self) -> ServerConfig;
            fn filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter>;
            fn listen(&self, subscription: SubscriptionContext) -> Answer<'_, ()>;
            fn initialized(&self, context: NotificationContext<RoleServer>) -> BoxFuture<'_, ()>;
            fn notified(
                &self,
                notification: CustomNotification,
                context: NotificationContext<RoleServer>,
            ) -> BoxFuture<'_, ()>;
        }

        impl<H: ServerHandler> Beside for H {
            $(fn $name(&self, params: $params, context: Context) -> Answer<'_, $result> {
                answered(move || ServerHandler::$name(self, params, context))
            })*
            fn custom(&self, request: CustomRequest, context: Context) -> Answer<'_, CustomResult> {
                answered(move || self.on_custom_request(request, context))
            }
            fn config(&self) -> ServerConfig {
                ServerHandler::get_info(self)
            }
            fn filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
                guard(|| self.accepted_subscription_filter(requested)).unwrap_or_default()
            }
            fn listen(&self, subscription: SubscriptionContext) -> Answer<'_, ()> {
                answered(move || ServerHandler::listen(self, subscription))
            }
            fn initialized(&self, context: NotificationContext<RoleServer>) -> BoxFuture<'_, ()> {
                Box::pin(self.on_initialized(context))
            }
            fn notified(
                &self,
                notification: CustomNotification,
                context: NotificationContext<RoleServer>,
            ) -> BoxFuture<'_, ()> {
                Box::pin(self.on_custom_notification(notification, context))
            }
        }
    };
}

requests!(object);

/// Nothing beside the tools.
struct Nothing;

impl ServerHandler for Nothing {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::default())
    }
}

/// What stands beside the tools.
#[derive(Clone)]
pub(super) struct Companion(Arc<dyn Beside>);

impl Companion {
    pub(super) fn new(handler: impl ServerHandler) -> Self {
        Self(Arc::new(handler))
    }

    pub(super) fn handler(&self) -> &dyn Beside {
        &*self.0
    }

    /// Adds what it offers to what the tools offer.
    pub(super) fn add_to(&self, config: &mut ServerConfig) {
        let theirs = self.0.config();
        let ours = &mut config.capabilities;
        ours.prompts = theirs.capabilities.prompts;
        ours.resources = theirs.capabilities.resources;
        ours.completions = theirs.capabilities.completions;
        ours.experimental = theirs.capabilities.experimental;
        ours.extensions = theirs.capabilities.extensions;
        config.instructions = config.instructions.take().or(theirs.instructions);
    }
}

impl Default for Companion {
    fn default() -> Self {
        Self::new(Nothing)
    }
}
