//! Asks the person at the client, where a call asks and nobody at the server decides.
//!
//! Up to revision 2025-11-25 the server sends `elicitation/create` and waits, and the call goes on. In 2026-07-28 the call ends
//! with an `InputRequiredResult`, and the client makes it again with the answer; its `requestState` is the id of the request,
//! which cannot be guessed and which the registry takes once, for the same call and caller (Model Context Protocol, "Client Features:
//! Elicitation", 2025-11-25, and "Multi Round-Trip Requests", 2026-07-28).

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use contract_runtime::__family::escaped;
use contract_runtime::approval::{Answer, Approval, ApprovalRequest, Decided, Decision};
use contract_runtime::dynamic::CallError;
use contract_runtime::{CancellationToken, Context, Effect, Outcome, Registry, Status};
use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, EnumSchema, InputRequest, InputRequiredResult,
    PrimitiveSchemaDefinition, ServerRequest, StringSchema,
};
use rmcp::service::{
    Peer, PeerRequestOptions, RequestContext, RequestHandle, RoleServer, ServiceError,
};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::limits::CallPermits;
use super::revision::Revision;

/// How many questions of either kind are open, of one principal or session, and of all clients that are not told apart or, for
/// elicitations, of all clients together.
const OPEN_EACH: usize = 100;
const OPEN: usize = 400;

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
    /// The questions that were sent as results of calls, the oldest first.
    sent: Mutex<VecDeque<SentQuestion>>,
    /// Who was asked each elicitation that is waited for: a principal, or the session where principals are not known.
    elicited: Arc<Mutex<Vec<Option<Arc<str>>>>>,
}

/// A question that was sent as the result of a call; the registry that asks keeps the rest of it.
struct SentQuestion {
    request: ApprovalRequest,
    /// Until when its answer is taken.
    until: Instant,
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

    /// Returns the result that asks.
    pub(super) fn input_required(&self, request: &ApprovalRequest) -> InputRequiredResult {
        let now = Instant::now();
        let mut sent = self.sent.lock();
        sent.retain(|one| now < one.until);
        let is_own = |one: &SentQuestion| one.request.caller == request.caller;
        let limit = if request.caller.is_some() {
            OPEN_EACH
        } else {
            OPEN
        };
        if sent.iter().filter(|one| is_own(one)).count() >= limit
            && let Some(oldest) = sent.iter().position(is_own)
        {
            sent.remove(oldest);
        }
        let mut kept = request.clone();
        kept.arguments = Value::Null;
        kept.questions = Vec::new();
        sent.push_back(SentQuestion {
            request: kept,
            until: now + self.patience.unwrap_or_default(),
        });
        let asked = InputRequest::Elicitation(ElicitRequest::new(form(request)));
        let asked = BTreeMap::from([(KEY.to_owned(), asked)]);
        InputRequiredResult::new(Some(asked), Some(request.id.clone()))
    }

    /// The answer that a client brings with a call that it makes again; `None` if it brings none to a question of its own that is
    /// open.
    ///
    /// A state that no server of this kind has made is an error. One of a question that was forgotten, such as at a restart, or
    /// that somebody else was asked, does not count, and the call asks again.
    pub(super) fn answer(
        &self,
        call: &mut CallToolRequestParams,
        principal: Option<&str>,
    ) -> Result<Option<Answer>, ErrorData> {
        if let Some(state) = &call.request_state
            && !is_state(state)
        {
            let why = "`requestState` is not one that this server has sent";
            return Err(ErrorData::invalid_params(why, None));
        }
        Ok(self.answer_to(call, principal))
    }

    fn answer_to(
        &self,
        call: &mut CallToolRequestParams,
        principal: Option<&str>,
    ) -> Option<Answer> {
        let response = call.input_responses.take()?.remove(KEY)?;
        let state = call.request_state.take()?;
        let given: ElicitResult = serde_json::from_value(response).ok()?;
        let mut sent = self.sent.lock();
        let is_meant = |one: &SentQuestion| {
            one.request.id == state && one.request.caller.as_deref() == principal
        };
        let place = sent.iter().position(is_meant)?;
        let question = sent.remove(place)?;
        let in_time = Instant::now() < question.until;
        let decided = of_caller(decision(given), &question.request);
        in_time.then(|| question.request.answer(decided))
    }

    /// Returns the context of a call in which the client is asked where no approver of the server decides. The call holds no permit
    /// while it waits.
    pub(super) fn elicit(
        &self,
        call: Context,
        context: &RequestContext<RoleServer>,
        owner: Option<Arc<str>>,
        permits: &CallPermits,
        token: &CancellationToken,
        unasked: &Unasked,
    ) -> Context {
        let patience = self.patience.unwrap_or_default();
        let elicited = Arc::clone(&self.elicited);
        let (peer, permits) = (context.peer.clone(), permits.clone());
        let (token, unasked) = (token.clone(), unasked.clone());
        call.fallback_approver(move |request| {
            let open = OpenElicitation::begin(&elicited, owner.clone());
            let (peer, token, unasked) = (peer.clone(), token.clone(), unasked.clone());
            let lent = permits.lend();
            async move {
                let _lent = lent;
                let why = match open {
                    None => Unanswered::NotAsked("too many questions are open; try again later"),
                    Some(_open) => {
                        match tokio::time::timeout(patience, elicited_by(&peer, &request)).await {
                            Ok(Ok(Decision::Unanswered)) => {
                                Unanswered::NoAnswer(NO_ANSWER.to_owned())
                            }
                            Ok(Ok(decision)) => return of_caller(decision, &request),
                            Ok(Err(_)) => Unanswered::NotAsked("the client could not ask"),
                            Err(_) => Unanswered::NoAnswer(format!(
                                "the client gave no answer within {} s",
                                patience.as_secs_f64()
                            )),
                        }
                    }
                };
                let was_asked = matches!(why, Unanswered::NoAnswer(_));
                *unasked.0.lock() = Some(why);
                if !was_asked {
                    // The run must not count a question that was not put, so the call ends here.
                    token.cancel();
                    pending::<()>().await;
                }
                Decision::Unanswered.into()
            }
        })
    }
}

/// An elicitation that is waited for.
struct OpenElicitation {
    owner: Option<Arc<str>>,
    all: Arc<Mutex<Vec<Option<Arc<str>>>>>,
}

impl OpenElicitation {
    /// Counts one more; `None` if too many are open.
    fn begin(all: &Arc<Mutex<Vec<Option<Arc<str>>>>>, owner: Option<Arc<str>>) -> Option<Self> {
        let mut open = all.lock();
        let own = open.iter().filter(|one| **one == owner).count();
        if open.len() >= OPEN || (owner.is_some() && own >= OPEN_EACH) {
            return None;
        }
        open.push(owner.clone());
        Some(Self {
            owner,
            all: Arc::clone(all),
        })
    }
}

impl Drop for OpenElicitation {
    fn drop(&mut self) {
        let mut open = self.all.lock();
        if let Some(place) = open.iter().position(|one| *one == self.owner) {
            open.swap_remove(place);
        }
    }
}

/// Says that the caller of a call has decided, where it has a name.
fn of_caller(decision: Decision, request: &ApprovalRequest) -> Decided {
    match &request.caller {
        Some(caller) => decision.by(caller),
        None => decision.into(),
    }
}

/// Asks a client, and waits for what the person there decides.
async fn elicited_by(
    peer: &Peer<RoleServer>,
    request: &ApprovalRequest,
) -> Result<Decision, ServiceError> {
    let elicitation = ServerRequest::ElicitRequest(ElicitRequest::new(form(request)));
    let options = PeerRequestOptions::no_options();
    let handle = peer.send_cancellable_request(elicitation, options).await?;
    Ok(match Pending(Some(handle)).result().await? {
        ClientResult::ElicitResult(given) => decision(given),
        _ => Decision::Unanswered,
    })
}

/// Why the client of a call has not decided on what it asked; empty if it has, or was not asked.
#[derive(Clone, Default)]
pub(super) struct Unasked(Arc<Mutex<Option<Unanswered>>>);

enum Unanswered {
    /// The question could not be put, for this reason; the same call may ask again.
    NotAsked(&'static str),
    /// The question was put and has no answer, for this reason. The run counts how often.
    NoAnswer(String),
}

impl Unasked {
    /// Says in the outcome of a call why it was not decided on.
    pub(super) fn apply(&self, registry: &Registry, outcome: Outcome) -> Outcome {
        let request = outcome.approval_request();
        let questions = request.map(|request| request.to_string().replace('\n', " "));
        let (status, error) = match (self.0.lock().take(), questions) {
            (Some(Unanswered::NotAsked(why)), _) if outcome.status() == Status::Cancelled => (
                Status::Denied,
                format!("not started, because it was denied: {why}"),
            ),
            (Some(Unanswered::NoAnswer(why)), Some(questions)) => {
                let why = format!("a person must be asked first, and {why}: {questions}");
                (Status::Asked, format!("not started, because {why}"))
            }
            (_, Some(questions)) => {
                let why = "a person must be asked first, and there is nobody to ask";
                (
                    Status::Denied,
                    format!("not started, because it was denied: {why}: {questions}"),
                )
            }
            (_, None) => return outcome,
        };
        if let Some(request) = request {
            registry.withdraw(request);
        }
        let error = CallError::Ended {
            status,
            error,
            effect: Effect::None,
            may_still_run: false,
        };
        Outcome::new(outcome.id(), outcome.tool(), Err(error))
    }
}

/// Whether a text is of the form of the ids of questions.
fn is_state(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

const NO_ANSWER: &str = "the client's answer does not say whether it is approved";

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
