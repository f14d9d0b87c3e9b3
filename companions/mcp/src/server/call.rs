use std::pin::pin;

use hyper::http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Extensions};
use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

use super::answer;
use super::handler::Shared;
use super::hooks::Asked;
use super::message::RawArguments;
use super::progress::Reports;
use crate::{McpRevision, Outcome, Status, ToolCall};

/// Cancelled when the session of a call ends; among the extensions of its HTTP request.
#[derive(Clone, Debug)]
pub(super) struct SessionEnd(pub(super) CancellationToken);

/// Makes the call, tied to the request: its cancellation, and its progress where the client wants to hear of it.
pub(super) async fn answer(
    shared: &Shared,
    request: CallToolRequestParams,
    mut context: RequestContext<RoleServer>,
    revision: McpRevision,
) -> Result<CallToolResponse, ErrorData> {
    let limit = shared.limits.calls;
    let Some(_place) = shared.places.take(limit) else {
        return Ok(answer::overloaded(limit).into());
    };
    let arguments = arguments(&mut context.extensions, &request);
    let call = ToolCall::new(context.id.to_string(), request.name, arguments);
    let asked = Asked {
        tool: &call.name,
        id: &call.id,
        http: context.extensions.get::<Parts>(),
    };
    let given = match shared.hooks.context(&asked) {
        Ok(given) => given,
        Err(why) => return Ok(answer::failed(why).into()),
    };
    let outcome = outcome(shared, call, given, &context).await;
    if outcome.status() == Status::UnknownTool {
        let why = outcome.error().unwrap_or_default();
        return Err(ErrorData::invalid_params(why, None));
    }
    let promise = shared.list.promise(revision, outcome.tool());
    Ok(answer::result(outcome, promise).into())
}

async fn outcome(
    shared: &Shared,
    call: ToolCall,
    given: crate::Context,
    context: &RequestContext<RoleServer>,
) -> Outcome {
    let token = context.ct.child_token();
    let reports = context
        .meta
        .get_progress_token()
        .map(|asked| Reports::to(context.peer.clone(), asked, token.clone()));
    let mut given = given.cancellation(token.clone());
    if let Some(reports) = &reports {
        given = given.progress(reports.progress());
    }
    let parts = context.extensions.get::<Parts>();
    let session = parts.and_then(|parts| parts.extensions.get::<SessionEnd>());
    let gone = async {
        match session {
            Some(SessionEnd(end)) => end.cancelled().await,
            None => std::future::pending().await,
        }
    };
    let number = shared.hooks.began(&call);
    let outcome = {
        let mut call = pin!(shared.registry.call_with(call, given));
        tokio::select! {
            biased;
            outcome = &mut call => outcome,
            () = shared.end.cancelled() => {
                token.cancel();
                call.await
            }
            () = gone => {
                token.cancel();
                call.await
            }
        }
    };
    shared.hooks.ended(number, &outcome);
    if let Some(reports) = reports {
        reports.finish().await;
    }
    outcome
}

/// The arguments as they were sent, so that what is judged is what was sent: a key that is there twice, a number that no
/// double holds.
fn arguments(extensions: &mut Extensions, request: &CallToolRequestParams) -> String {
    if let Some(RawArguments(text)) = extensions.remove::<RawArguments>() {
        return text;
    }
    let over_http = extensions
        .get_mut::<Parts>()
        .and_then(|parts| parts.extensions.remove::<RawArguments>());
    if let Some(RawArguments(text)) = over_http {
        return text;
    }
    match &request.arguments {
        Some(arguments) => serde_json::Value::Object(arguments.clone()).to_string(),
        None => String::new(),
    }
}
