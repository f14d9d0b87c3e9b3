//! Handles `tools/call`.

use std::pin::pin;

use contract_runtime::{Outcome, Run, Status, ToolCall};
use hyper::http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Extensions};
use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

use super::answer;
use super::handler::Shared;
use super::hooks::CallRequest;
use super::message::RawArguments;
use super::progress::Reports;
use super::revision::Revision;

/// The session of a call; among the extensions of its HTTP request.
#[derive(Clone, Debug)]
pub(super) struct CallSession {
    /// Cancelled when it ends.
    pub(super) end: CancellationToken,
    pub(super) run: Run,
}

impl CallSession {
    /// The same session, for calls that its client has sent together, because its model asked for them together.
    pub(super) fn turn(&self) -> Self {
        Self {
            end: self.end.clone(),
            run: self.run.turn(),
        }
    }
}

/// The run of the session that a request belongs to, if it belongs to one.
pub(super) fn session_run<'s>(shared: &'s Shared, extensions: &'s Extensions) -> Option<&'s Run> {
    let parts = extensions.get::<Parts>();
    let over_http = parts.and_then(|parts| parts.extensions.get::<CallSession>());
    let session = over_http.or_else(|| extensions.get::<CallSession>());
    session.map_or(shared.connection.as_ref(), |session| Some(&session.run))
}

/// Makes the call, with the cancellation of the request, and with progress reports if the client asked for them.
pub(super) async fn answer(
    shared: &Shared,
    request: CallToolRequestParams,
    mut context: RequestContext<RoleServer>,
    revision: Revision,
) -> Result<CallToolResponse, ErrorData> {
    let limit = shared.limits.calls;
    let Some(_permit) = shared.permits.try_acquire(limit) else {
        return Ok(answer::overloaded(limit).into());
    };
    let arguments = arguments(&mut context.extensions, &request);
    let call = ToolCall::new(context.id.to_string(), request.name, arguments);
    let asked = CallRequest {
        tool: &call.name,
        id: &call.id,
        http: context.extensions.get::<Parts>(),
    };
    let session = session_run(shared, &context.extensions);
    let given = match shared.hooks.context(&asked, session) {
        Ok(given) => given,
        Err(why) => return Ok(answer::failed(why).into()),
    };
    let outcome = outcome(shared, call, given, &context, revision).await;
    if outcome.status() == Status::UnknownTool {
        let why = outcome.error().unwrap_or_default();
        return Err(ErrorData::invalid_params(why, None));
    }
    let promise = shared.list.promise(revision, outcome.tool());
    Ok(answer::result(outcome, promise, revision).into())
}

async fn outcome(
    shared: &Shared,
    call: ToolCall,
    given: contract_runtime::Context,
    context: &RequestContext<RoleServer>,
    revision: Revision,
) -> Outcome {
    let token = context.ct.child_token();
    let reports = context
        .meta
        .get_progress_token()
        .map(|asked| Reports::to(context.peer.clone(), asked, token.clone(), revision));
    let mut given = given.cancellation(token.clone());
    if let Some(reports) = &reports {
        given = given.progress(reports.progress());
    }
    let parts = context.extensions.get::<Parts>();
    let session = parts.and_then(|parts| parts.extensions.get::<CallSession>());
    let gone = async {
        match session {
            Some(session) => session.end.cancelled().await,
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
    shared.hooks.report_end(number, &outcome);
    if let Some(reports) = reports {
        reports.finish().await;
    }
    outcome
}

/// The arguments exactly as they were sent, so that duplicate keys and numbers beyond a double are still seen.
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
