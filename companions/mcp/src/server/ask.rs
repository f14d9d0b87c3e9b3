//! Asks the person at the client, where a call asks and nobody at the server decides.
//!
//! Up to revision 2025-11-25 the server sends `elicitation/create` and waits, and the call goes on. In 2026-07-28 the call ends
//! with an `InputRequiredResult`, and the client makes it again with the answer; its `requestState` is the id of the request,
//! which nobody can guess and the registry takes once, for the same call (Model Context Protocol, "Client Features:
//! Elicitation", 2025-11-25, and "Multi Round-Trip Requests", 2026-07-28).

use std::collections::BTreeMap;
use std::future::pending;
use std::time::Duration;

use contract_runtime::__family::escaped;
use contract_runtime::approval::{Answer, Approval, ApprovalRequest, Decision};
use contract_runtime::dynamic::CallError;
use contract_runtime::{CancellationToken, Context, Effect, Outcome, Registry, Status};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, EnumSchema, InputRequest, InputRequiredResult,
    PrimitiveSchemaDefinition, ServerRequest, StringSchema,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RequestHandle, RoleServer, ServiceError};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::open_questions::{Elicitations, Owner, SentQuestions};
use super::revision::Revision;

/// How often one call asks, where each time something has changed when the answer comes.
pub(super) const ROUNDS: usize = 3;

/// The longest arguments in a question, and the longest reason of a person, in characters.
const ARGUMENTS: usize = 2_000;
const REASON: usize = 500;

/// The key of the question among the input requests of a result.
const KEY: &str = "approval";
const DECISION: &str = "decision";
const APPROVE: &str = "approve";
const DENY: &str = "deny";

/// How the person at a client can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    /// Not at all.
    Closed,
    /// By a request of the server.
    Elicitation,
    /// By the result of the call, which the client then makes again.
    InputRequired,
}

/// What clients are asked.
#[derive(Default)]
pub(super) struct ClientQuestions {
    /// How long an answer is waited for; `None` if clients are not asked.
    patience: Option<Duration>,
    sent: SentQuestions,
    elicitations: Elicitations,
}

impl ClientQuestions {
    pub(super) fn new(patience: Option<Duration>) -> Self {
        Self {
            patience,
            ..Self::default()
        }
    }

    pub(super) fn channel(
        &self,
        context: &RequestContext<RoleServer>,
        revision: Revision,
    ) -> Channel {
        if self.patience.is_none() || !revision.has_elicitation() || !offers_forms(context) {
            Channel::Closed
        } else if revision >= Revision::July2026 {
            Channel::InputRequired
        } else {
            Channel::Elicitation
        }
    }

    /// The result that asks.
    pub(super) fn input_required(
        &self,
        registry: &Registry,
        request: &ApprovalRequest,
        owner: Owner,
    ) -> InputRequiredResult {
        let asked = InputRequest::Elicitation(ElicitRequest::new(form(request)));
        let id = request.id.clone();
        let mut kept = request.clone();
        kept.arguments = Value::Null;
        kept.questions = Vec::new();
        let until = Instant::now() + self.patience.unwrap_or_default();
        self.sent.put(registry, owner, kept, until);
        InputRequiredResult::new(Some(BTreeMap::from([(KEY.to_owned(), asked)])), Some(id))
    }

    /// The answer that a client brings with a call that it makes again; `None` if it brings none to a question of its own that is
    /// open.
    ///
    /// A state that no server of this kind has made is an error. One of a question that was forgotten, such as at a restart, or
    /// that somebody else was asked, does not count, and the call asks again.
    pub(super) fn answer(
        &self,
        call: &mut CallToolRequestParams,
        owner: &Owner,
    ) -> Result<Option<Answer>, ErrorData> {
        if let Some(state) = &call.request_state
            && !is_state(state)
        {
            let why = "`requestState` is not one that this server has sent";
            return Err(ErrorData::invalid_params(why, None));
        }
        Ok(self.answer_to(call, owner))
    }

    fn answer_to(&self, call: &mut CallToolRequestParams, owner: &Owner) -> Option<Answer> {
        let response = call.input_responses.take()?.remove(KEY)?;
        let state = call.request_state.take()?;
        let given: ElicitResult = serde_json::from_value(response).ok()?;
        let request = self.sent.take(&state, owner)?;
        Some(request.answer(decision(given)))
    }

    /// Asks, and waits for as long as the caller does.
    pub(super) async fn elicit(
        &self,
        request: &ApprovalRequest,
        context: &RequestContext<RoleServer>,
        call: &Context,
    ) -> Elicited {
        let patience = self.patience.unwrap_or_default();
        let owner = Owner::of(&context.extensions);
        let Some(_open) = self.elicitations.begin(owner) else {
            let why = "too many questions are open; try again later";
            return Elicited::NotAsked(why);
        };
        let elicitation = ServerRequest::ElicitRequest(ElicitRequest::new(form(request)));
        let sending = context
            .peer
            .send_cancellable_request(elicitation, PeerRequestOptions::no_options());
        let answered = async {
            match sending.await {
                Ok(handle) => Pending(Some(handle)).result().await,
                Err(error) => Err(error),
            }
        };
        tokio::select! {
            biased;
            answered = answered => match answered {
                Ok(ClientResult::ElicitResult(given)) => match decision(given) {
                    Decision::Unanswered => Elicited::Unanswered(NO_ANSWER.to_owned()),
                    decision => Elicited::Decided(decision),
                },
                Ok(_) => Elicited::Unanswered(NO_ANSWER.to_owned()),
                Err(_) => Elicited::NotAsked("the client could not ask"),
            },
            () = given_up(call.token(), call.deadline()) => Elicited::GivenUp,
            () = tokio::time::sleep(patience) => {
                let why = format!("the client gave no answer within {} s", patience.as_secs_f64());
                Elicited::Unanswered(why)
            }
        }
    }
}

/// Whether a text is of the form of the ids of questions.
fn is_state(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// What an elicitation came to.
pub(super) enum Elicited {
    Decided(Decision),
    /// The question could not be put, for this reason; the same call may ask again.
    NotAsked(&'static str),
    /// The question was put and has no answer, for this reason. The run counts how often.
    Unanswered(String),
    /// The caller does not wait any more.
    GivenUp,
}

const NO_ANSWER: &str = "the client's answer does not say whether it is approved";

/// Waits until the call is cancelled, or its time is over.
async fn given_up(token: Option<&CancellationToken>, deadline: Option<std::time::Instant>) {
    let over = async {
        match deadline {
            Some(deadline) => {
                tokio::time::sleep_until(deadline.into()).await;
            }
            None => pending().await,
        }
    };
    let cancelled = async {
        match token {
            Some(token) => token.cancelled().await,
            None => pending().await,
        }
    };
    tokio::select! {
        () = over => {}
        () = cancelled => {}
    }
}

/// A request to the client; if it is dropped before its response, the client is told that nobody waits any more.
struct Pending(Option<RequestHandle<RoleServer>>);

impl Pending {
    async fn result(mut self) -> Result<ClientResult, ServiceError> {
        let Some(handle) = &mut self.0 else {
            return Err(ServiceError::TransportClosed);
        };
        let answered = (&mut handle.rx).await;
        self.0 = None;
        answered.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            let reason = "the call no longer waits for the answer".to_owned();
            // If the client has disconnected, there is nothing to take back.
            runtime.spawn(async move { handle.cancel(Some(reason)).await });
        }
    }
}

/// A capability without modes is that of forms, which came first.
fn offers_forms(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    let elicitation = capabilities.and_then(|all| all.elicitation);
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// The form that a person fills in.
fn form(request: &ApprovalRequest) -> ElicitRequestParams {
    let decision = vec![APPROVE.to_owned(), DENY.to_owned()];
    let decision = EnumSchema::builder(decision)
        .untitled()
        .title("Decision")
        .build();
    let reason = StringSchema::new()
        .title("Reason")
        .description("Why it is denied; the model is told");
    let schema = ElicitationSchema::builder()
        .required_enum_schema(DECISION, decision)
        .property("reason", PrimitiveSchemaDefinition::String(reason));
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(request),
        requested_schema: schema.build_unchecked(),
    }
}

/// The questions, and the call that they are about: on one line, so that nothing in it looks like a question.
fn message(request: &ApprovalRequest) -> String {
    let arguments = escaped(&request.arguments.to_string());
    let mut letters = arguments.chars();
    let mut shown: String = letters.by_ref().take(ARGUMENTS).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    format!("{request}\n\nTool: {}\nArguments: {shown}", request.tool)
}

/// What a person decided. Only the words of the form approve or deny.
fn decision(given: ElicitResult) -> Decision {
    let content = match given.content {
        Some(Value::Object(content)) => content,
        _ => Map::new(),
    };
    let text = |name: &str| content.get(name).and_then(Value::as_str);
    let denied = |why: &str| {
        let reason = text("reason").map(str::trim).filter(|one| !one.is_empty());
        let reason = reason
            .unwrap_or(why)
            .chars()
            .take(REASON)
            .collect::<String>();
        Decision::Denied(escaped(&reason))
    };
    match (given.action, text(DECISION)) {
        (ElicitationAction::Accept, Some(APPROVE)) => Decision::Approved(Approval::Once),
        (ElicitationAction::Accept, Some(DENY)) | (ElicitationAction::Decline, _) => {
            denied("the user said no")
        }
        _ => Decision::Unanswered,
    }
}

/// A call that still asks when nobody can be asked any more has been denied.
pub(super) fn unanswered(registry: &Registry, outcome: Outcome, channel: Channel) -> Outcome {
    let Some(request) = outcome.approval_request() else {
        return outcome;
    };
    let why = match channel {
        Channel::InputRequired => return outcome,
        Channel::Closed => "a person must be asked first, and there is nobody to ask",
        Channel::Elicitation => {
            "it was asked three times, and each time what has to be approved had changed"
        }
    };
    let questions = request.to_string().replace('\n', " ");
    denied(registry, &outcome, &format!("{why}: {questions}"))
}

/// The outcome of a call that asked and that nobody decided on.
pub(super) fn denied(registry: &Registry, asked: &Outcome, why: &str) -> Outcome {
    let error = format!("not started, because it was denied: {why}");
    ended(registry, asked, Status::Denied, error)
}

/// The outcome of a call whose question has no answer: it may be made again, unless it has been denied by now.
pub(super) fn without_answer(registry: &Registry, outcome: Outcome, why: &str) -> Outcome {
    let Some(request) = outcome.approval_request() else {
        return outcome;
    };
    let questions = request.to_string().replace('\n', " ");
    let error =
        format!("not started, because a person must be asked first, and {why}: {questions}");
    ended(registry, &outcome, Status::Asked, error)
}

fn ended(registry: &Registry, asked: &Outcome, status: Status, error: String) -> Outcome {
    if let Some(request) = asked.approval_request() {
        registry.withdraw(request);
    }
    let error = CallError::Ended {
        status,
        error,
        effect: Effect::None,
        may_still_run: false,
    };
    Outcome::new(asked.id(), asked.tool(), Err(error))
}
