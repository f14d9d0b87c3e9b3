//! Handles `tools/call`.

use std::pin::pin;
use std::sync::Arc;

use contract_runtime::{Context, Outcome, Registry, Run, Status, ToolCall};
#[cfg(feature = "http")]
use hyper::http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Extensions};
use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

use super::answer;
use super::ask::{Channel, Unasked};
use super::handler::Shared;
use super::hooks::CallRequest;
use super::message::RawArguments;
use super::notifications::{Audience, Notifications, WantedLevel, of_client};
use super::revision::Revision;
use crate::original;

/// What the calls of one client have in common: those of a pair of streams, or of a session over HTTP. A call over HTTP finds it
/// among the extensions of its HTTP request.
#[derive(Clone, Debug)]
pub(super) struct CallSession {
    /// The id of a session over HTTP.
    pub(super) id: Option<Arc<str>>,
    /// Cancelled when it ends.
    pub(super) end: CancellationToken,
    pub(super) run: Run,
    /// Which log messages its client wants.
    pub(super) level: WantedLevel,
}

/// The id of the principal that sends a request over HTTP, which is among the extensions of its HTTP request.
#[derive(Clone, Debug)]
pub(super) struct PrincipalId(pub(super) Arc<str>);

/// Returns the session of a request, if it has one.
pub(super) fn session<'s>(
    shared: &'s Shared,
    extensions: &'s Extensions,
) -> Option<&'s CallSession> {
    of_http(extensions).or(shared.connection.as_ref())
}

/// Returns what the HTTP service says of a request, if it came over HTTP.
#[cfg(feature = "http")]
fn of_http<T: Send + Sync + 'static>(extensions: &Extensions) -> Option<&T> {
    extensions.get::<Parts>()?.extensions.get()
}

#[cfg(not(feature = "http"))]
fn of_http<T>(_: &Extensions) -> Option<&T> {
    None
}

/// Waits until a request is cancelled, its session ends, or the server stops.
pub(super) fn cancelled(
    shared: &Shared,
    context: &RequestContext<RoleServer>,
) -> impl Future<Output = ()> + use<> {
    let session = session(shared, &context.extensions).map_or(&shared.end, |session| &session.end);
    let (request, session, server) = (context.ct.clone(), session.clone(), shared.end.clone());
    async move {
        tokio::select! {
            () = request.cancelled() => {}
            () = session.cancelled() => {}
            () = server.cancelled() => {}
        }
    }
}

/// Makes the call, with the cancellation of the request, and with progress reports if the client asked for them.
pub(super) async fn answer(
    shared: &Shared,
    mut request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
    revision: Revision,
) -> Result<CallToolResponse, ErrorData> {
    let limit = shared.limits.calls;
    let Some(_permit) = shared.permits.try_acquire(limit) else {
        return Ok(answer::overloaded(limit).into());
    };
    let in_full = shared.tells_contracts(&context);
    let channel = shared.questions.channel(&context, revision);
    let principal = principal(&context.extensions);
    let brought = match channel {
        Channel::InputRequired => shared
            .questions
            .answer(&mut request, principal.as_deref())?,
        _ => None,
    };
    let arguments = arguments(&context.extensions, &request);
    let call = ToolCall::new(context.id.to_string(), request.name, arguments);
    let asked = CallRequest {
        tool: &call.name,
        id: &call.id,
        extensions: &context.extensions,
        peer: &context.peer,
    };
    let session = session(shared, &context.extensions);
    let mut given = match shared
        .hooks
        .context(&asked, session.map(|session| &session.run))
    {
        Ok(given) => given.coerce(shared.coerce),
        Err(why) => return Ok(answer::failed(why).into()),
    };
    if let Some(answer) = brought {
        given = given.answer(answer);
    }
    let tools = shared.tools.current();
    let calling = outcome(shared, &tools.registry, call, given, &context, revision);
    // Boxed, because it is large and would be moved around.
    let (outcome, original) = original::during(Box::pin(calling)).await;
    if let Some(asked) = outcome.approval_request() {
        return Ok(shared.questions.input_required(asked).into());
    }
    if outcome.status() == Status::UnknownTool {
        let why = outcome.error().unwrap_or_default();
        return Err(ErrorData::invalid_params(why.to_owned(), None));
    }
    let promise = tools.list.promise(revision, outcome.tool());
    Ok(answer::result(outcome, original, promise, revision, in_full).into())
}

/// Makes the call, and sends what it reports and asks on the way.
async fn outcome(
    shared: &Shared,
    registry: &Registry,
    call: ToolCall,
    given: Context,
    context: &RequestContext<RoleServer>,
    revision: Revision,
) -> Outcome {
    let token = contract_runtime::CancellationToken::new();
    let progress = context.meta.get_progress_token();
    let session = session(shared, &context.extensions);
    let level = if revision >= Revision::July2026 {
        context.meta.log_level().map(of_client)
    } else {
        session.map(|session| session.level.get())
    };
    let mut given = given.cancellation(token.clone());
    let wants_something = progress.is_some() || level.is_some();
    let notifications = wants_something.then(|| {
        Notifications::to(Audience {
            peer: context.peer.clone(),
            progress: progress.clone(),
            level,
            revision,
            cancelled: token.clone(),
        })
    });
    if let Some(notifications) = &notifications {
        if progress.is_some() {
            given = given.progress(notifications.progress());
        }
        let notifications = notifications.clone();
        given = given.log(move |record| notifications.log(record));
    }
    let channel = shared.questions.channel(context, revision);
    let unasked = Unasked::default();
    if channel == Channel::Elicitation {
        let owner = principal(&context.extensions).or_else(|| session?.id.clone());
        given = shared
            .questions
            .elicit(given, context, owner, &shared.permits, &token, &unasked);
    }
    let outcome = {
        let mut calling = pin!(registry.call(call).context(given));
        tokio::select! {
            biased;
            outcome = &mut calling => outcome,
            () = cancelled(shared, context) => {
                token.cancel();
                calling.await
            }
        }
    };
    if let Some(notifications) = notifications {
        notifications.finish().await;
    }
    if channel == Channel::InputRequired {
        return outcome;
    }
    unasked.apply(registry, outcome)
}

/// Returns the id of the principal that sends a request, where that is checked.
pub(super) fn principal(extensions: &Extensions) -> Option<Arc<str>> {
    let PrincipalId(id) = of_http(extensions)?;
    Some(Arc::clone(id))
}

/// The arguments exactly as they were sent, so that duplicate keys and numbers beyond a double are still seen.
fn arguments(extensions: &Extensions, request: &CallToolRequestParams) -> String {
    let sent = extensions.get().or_else(|| of_http(extensions));
    match (sent, &request.arguments) {
        (Some(RawArguments(text)), _) => text.to_string(),
        (None, Some(arguments)) => serde_json::Value::Object(arguments.clone()).to_string(),
        (None, None) => String::new(),
    }
}
