//! Handles `tools/call`.

use std::pin::pin;
use std::sync::Arc;

use contract_runtime::approval::Decision;
use contract_runtime::{Context, Outcome, Registry, Run, Status, ToolCall};
use hyper::http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Extensions};
use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

use super::answer;
use super::ask::{self, Channel, Elicited};
use super::handler::Shared;
use super::hooks::CallRequest;
use super::limits::CallPermit;
use super::message::RawArguments;
use super::notifications::{Audience, Notifications, WantedLevel, of_client};
use super::open_questions::Owner;
use super::revision::Revision;
use crate::original;

/// The session of a call over HTTP; among the extensions of its HTTP request.
#[derive(Clone, Debug)]
pub(super) struct CallSession {
    pub(super) id: Arc<str>,
    /// Cancelled when it ends.
    pub(super) end: CancellationToken,
    pub(super) run: Run,
    /// Which log messages its client wants.
    pub(super) level: WantedLevel,
}

impl CallSession {
    /// Who is asked what its calls ask.
    pub(super) fn owner(&self) -> Owner {
        Owner::Session(Arc::clone(&self.id))
    }
}

/// The run of the session that a request belongs to, if it belongs to one.
pub(super) fn session_run<'s>(shared: &'s Shared, extensions: &'s Extensions) -> Option<&'s Run> {
    session(extensions).map_or(shared.connection.as_ref(), |session| Some(&session.run))
}

/// The session of a request over HTTP, if it has one.
pub(super) fn session(extensions: &Extensions) -> Option<&CallSession> {
    let parts = extensions.get::<Parts>()?;
    parts.extensions.get::<CallSession>()
}

/// Which log messages the client of a session wants.
pub(super) fn wanted_level<'s>(shared: &'s Shared, extensions: &'s Extensions) -> &'s WantedLevel {
    session(extensions).map_or(&shared.level, |session| &session.level)
}

/// Makes the call, with the cancellation of the request, and with progress reports if the client asked for them.
pub(super) async fn answer(
    shared: &Shared,
    mut request: CallToolRequestParams,
    mut context: RequestContext<RoleServer>,
    revision: Revision,
) -> Result<CallToolResponse, ErrorData> {
    let limit = shared.limits.calls;
    let Some(permit) = shared.permits.try_acquire(limit) else {
        return Ok(answer::overloaded(limit).into());
    };
    let in_full = shared.tells_contracts(&context);
    let channel = shared.questions.channel(&context, revision);
    let brought = match channel {
        Channel::InputRequired => {
            let owner = Owner::of(&context.extensions);
            shared.questions.answer(&mut request, &owner)?
        }
        _ => None,
    };
    let arguments = arguments(&mut context.extensions, &request);
    let call = ToolCall::new(context.id.to_string(), request.name, arguments);
    let asked = CallRequest {
        tool: &call.name,
        id: &call.id,
        http: context.extensions.get::<Parts>(),
        peer: &context.peer,
    };
    let session = session_run(shared, &context.extensions);
    let given = match shared.hooks.context(&asked, session) {
        Ok(given) => given,
        Err(why) => return Ok(answer::failed(why).into()),
    };
    let given = match brought {
        Some(answer) => given.answer(answer),
        None => given,
    };
    let given = given.coerce(shared.coerce);
    let given = match Owner::of(&context.extensions) {
        Owner::Principal(principal) => given.identified_as(principal),
        Owner::Session(_) | Owner::Anybody => given,
    };
    let client = Client {
        context: &context,
        revision,
        channel,
    };
    let tools = shared.tools.current();
    // Pinned, because it is large and would be moved around.
    let calling = pin!(outcome(
        shared,
        &tools.registry,
        call,
        given,
        client,
        permit
    ));
    let (outcome, original) = original::during(calling).await;
    if let Some(asked) = outcome.approval_request() {
        let owner = Owner::of(&context.extensions);
        let result = shared
            .questions
            .input_required(&tools.registry, asked, owner);
        return Ok(result.into());
    }
    if outcome.status() == Status::UnknownTool {
        let why = outcome.error().unwrap_or_default();
        return Err(ErrorData::invalid_params(why.to_owned(), None));
    }
    let promise = tools.list.promise(revision, outcome.tool());
    Ok(answer::result(outcome, original, promise, revision, in_full).into())
}

/// The client of a call, and how the person there can be asked.
#[derive(Clone, Copy)]
struct Client<'c> {
    context: &'c RequestContext<RoleServer>,
    revision: Revision,
    channel: Channel,
}

async fn outcome(
    shared: &Shared,
    registry: &Registry,
    call: ToolCall,
    given: Context,
    client: Client<'_>,
    permit: CallPermit,
) -> Outcome {
    let Client {
        context, revision, ..
    } = client;
    let token = contract_runtime::CancellationToken::new();
    let progress = context.meta.get_progress_token();
    let level = if revision >= Revision::July2026 {
        context.meta.log_level().map(of_client)
    } else {
        Some(wanted_level(shared, &context.extensions).get())
    };
    let mut given = given.cancellation(token.clone());
    let wants_something = progress.is_some() || level.is_some();
    let notifications = wants_something.then(|| {
        Notifications::to(Audience {
            peer: context.peer.clone(),
            progress,
            level,
            revision,
            cancelled: token.clone(),
        })
    });
    if let Some(notifications) = &notifications {
        if context.meta.get_progress_token().is_some() {
            given = given.progress(notifications.progress());
        }
        let notifications = notifications.clone();
        given = given.log(move |record| notifications.log(record));
    }
    let session = session(&context.extensions);
    let gone = async {
        let end = session.map_or(&shared.end, |session| &session.end);
        tokio::select! {
            () = context.ct.cancelled() => {}
            () = shared.end.cancelled() => {}
            () = end.cancelled() => {}
        }
    };
    let outcome = {
        let mut call = pin!(answered(shared, registry, call, given, client, permit));
        tokio::select! {
            biased;
            outcome = &mut call => outcome,
            () = gone => {
                token.cancel();
                call.await
            }
        }
    };
    if let Some(notifications) = notifications {
        notifications.finish().await;
    }
    outcome
}

/// The call, and again with the answer of the person at the client where it asks; a client holds no permit while it is asked.
async fn answered(
    shared: &Shared,
    registry: &Registry,
    call: ToolCall,
    given: Context,
    client: Client<'_>,
    permit: CallPermit,
) -> Outcome {
    if client.channel != Channel::Elicitation {
        let outcome = registry.call(call).context(given).await;
        return ask::unanswered(registry, outcome, client.channel);
    }
    let mut permit = permit;
    let mut outcome = registry.call(call.clone()).context(given.clone()).await;
    for _ in 0..ask::ROUNDS {
        let Some(request) = outcome.approval_request() else {
            break;
        };
        drop(permit);
        let asking = shared.questions.elicit(request, client.context, &given);
        let given = match asking.await {
            Elicited::Decided(decision) => given.clone().answer(request.answer(decision)),
            Elicited::NotAsked(why) => return ask::denied(registry, &outcome, why),
            Elicited::Unanswered(why) => {
                let given = given.answer(request.answer(Decision::Unanswered));
                let outcome = registry.call(call).context(given).await;
                return ask::without_answer(registry, outcome, &why);
            }
            Elicited::GivenUp => {
                // The registry says that it is over.
                registry.withdraw(request);
                given.clone()
            }
        };
        permit = shared.permits.acquire();
        outcome = registry.call(call.clone()).context(given).await;
    }
    ask::unanswered(registry, outcome, client.channel)
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
