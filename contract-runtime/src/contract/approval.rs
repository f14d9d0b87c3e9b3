//! What a person is asked before a call may go on, the answer, and what a run remembers of answers.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt::{self, Write as _};
use std::future::{Future, poll_fn};
use std::hash::BuildHasher as _;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::observer::Questioning;
use super::panics::{Panicked, discard, guard, ignore_poison};
use super::question_text::QuestionText;
use super::scope::{ContractScope, PolicyLayer, Scope};
use super::violation::{MASK, Violation};

/// One thing that a person is asked.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Remove a file.
/// #[tool(confirm = "Remove {path}?")]
/// fn remove(path: String) {}
///
/// let registry = Registry::builder().tool(remove).build()?;
/// let asked = registry.call(ToolCall::new("1", "remove", r#"{"path":"a draft"}"#)).blocking();
/// let question = &asked.approval_request().unwrap().questions[0];
/// assert_eq!(question.contract, "remove.confirm");
/// assert_eq!(question.text, r#"Remove "a draft"?"#);
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// What asks: a condition, such as `refund.pre[0]`, a tool that always asks, such as `refund.confirm`, or the body of a tool,
    /// such as `refund.body`.
    pub contract: String,
    /// The sentence to show, without control or bidirectional characters. A value of a model that is not a number, a boolean or an
    /// enum of units stands in quotation marks. A value of a model has 1,000 characters at most, and what the author's code computed
    /// 4,000; more is cut in the middle, with the number of characters left out, and an approval then reaches this one call.
    pub text: String,
    /// The sentence before it is cut and cleaned; an answer is good for this sentence only.
    #[serde(default)]
    pub(crate) exact: Exact,
}

/// The digest of a whole sentence, which is the same in every process.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Exact {
    digest: String,
    /// Whether the text is cut.
    is_cut: bool,
}

impl fmt::Debug for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// Two questions with the same text are equal, whatever was cut.
impl PartialEq for Exact {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Exact {}

/// What a person has to decide before a call may go on.
///
/// It can be written as JSON, shown anywhere, and answered later. The registry that asked knows it until it is answered; in another
/// process, [`Registry::reopen`](crate::Registry::reopen) makes it known to a registry.
///
/// ```
/// use contract_runtime::Status;
/// use contract_runtime::prelude::*;
///
/// /// Refund an order.
/// #[tool]
/// #[pre(cents <= 10_000, "refunds above 100 EUR need approval", ask = "Refund {cents} cents to {user}?")]
/// fn refund(user: String, cents: u32) -> String {
///     format!("refunded {cents} cents to {user}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(refund).build()?;
/// let call = || ToolCall::new("1", "refund", r#"{"user":"ada","cents":25000}"#);
/// let asked = registry.call(call()).await;
/// assert_eq!(asked.status(), Status::Asked);
///
/// let request = asked.approval_request().unwrap();
/// assert_eq!(request.questions[0].text, "Refund 25000 cents to \"ada\"?");
/// let outcome = registry.call(call()).context(Context::new().answer(request.approve())).await;
/// assert_eq!(outcome.output(), Some("refunded 25000 cents to ada"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// Names the request in an [`Answer`]; it cannot be guessed. It is empty in the outcome of a check, which cannot be answered.
    pub id: String,
    /// The caller's id of the call.
    pub call_id: String,
    /// The name by which the tool was called.
    pub tool: String,
    /// The name of the caller, if it has one; see [`Context::identified_as`](crate::Context::identified_as).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The digest of the tool's contract: its name, its schema, its conditions and the policy. It is the same in every process.
    #[serde(default)]
    pub contract_digest: String,
    /// The arguments as they were sent, those that are secret masked.
    pub arguments: Value,
    /// Everything that is open, in the order of the conditions.
    pub questions: Vec<Question>,
    /// What was approved for this call before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved: Vec<Question>,
}

impl ApprovalRequest {
    /// Creates a request without the names of its call, which are filled in later.
    pub(crate) fn about(questions: Vec<Question>) -> Self {
        Self {
            id: String::new(),
            call_id: String::new(),
            tool: String::new(),
            caller: None,
            contract_digest: String::new(),
            arguments: Value::Null,
            questions,
            approved: Vec::new(),
        }
    }

    /// The same request without its id, which an answer needs, and without the values of its call.
    pub(crate) fn masked(&self) -> Self {
        let mut masked = self.clone();
        masked.id.clear();
        masked.caller = None;
        masked.arguments = MASK.into();
        for question in masked.questions.iter_mut().chain(&mut masked.approved) {
            MASK.clone_into(&mut question.text);
            question.exact = Exact::default();
        }
        masked
    }

    /// Lets the call go on, once.
    #[must_use]
    pub fn approve(&self) -> Answer {
        self.answer(Decision::Approved(Approval::Once))
    }

    /// Refuses the call, for a reason that the model is told.
    #[must_use]
    pub fn deny(&self, reason: impl Into<String>) -> Answer {
        self.answer(Decision::Denied(reason.into()))
    }

    /// Answers the request.
    #[must_use]
    pub fn answer(&self, decision: impl Into<Decided>) -> Answer {
        let Decided { decision, by } = decision.into();
        Answer {
            request: self.id.clone(),
            decision,
            by,
        }
    }
}

/// The questions, each on a line of its own.
impl fmt::Display for ApprovalRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.questions.iter().map(|one| one.text.as_str()).collect();
        f.write_str(&texts.join("\n"))
    }
}

/// What a person decided.
///
/// ```
/// use contract_runtime::approval::{Approval, Decision};
///
/// let yes = Decision::Approved(Approval::SameArguments);
/// let no = Decision::Denied("it has been sent".to_owned());
/// assert_eq!(serde_json::to_string(&yes)?, r#"{"approved":"same_arguments"}"#);
/// assert_eq!(serde_json::to_string(&no)?, r#"{"denied":"it has been sent"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// The call goes on.
    Approved(Approval),
    /// The call ends as [`denied`](crate::Status::Denied), for this reason.
    Denied(String),
    /// There is no answer, such as where a dialog was closed: the call ends as [`asked`](crate::Status::Asked) and may ask again.
    /// If this happens three times to one call in a [`Run`](crate::Run), the call is denied for the rest of the run.
    Unanswered,
}

impl Decision {
    /// Says who made the decision, which an audit reads from the outcome of the call.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::approval::{Approval, Decision};
    ///
    /// /// Close an account.
    /// #[tool(confirm = "Close account {id}?")]
    /// fn close(id: u32) {}
    ///
    /// let registry = Registry::builder()
    ///     .tool(close)
    ///     .approver(async |_| Decision::Approved(Approval::Once).by("ada"))
    ///     .build()?;
    /// let outcome = registry.call(("1", "close", r#"{"id":7}"#)).blocking();
    /// assert_eq!(outcome.decisions()[0].by.as_deref(), Some("ada"));
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn by(self, who: impl Into<String>) -> Decided {
        let by = Some(who.into());
        Decided { by, ..self.into() }
    }
}

/// A decision, and who made it. An approver may return a [`Decision`] alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decided {
    /// What was decided.
    pub decision: Decision,
    /// Who decided, if the approver says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl From<Decision> for Decided {
    fn from(decision: Decision) -> Self {
        Self { decision, by: None }
    }
}

impl From<Answer> for Decided {
    fn from(answer: Answer) -> Self {
        let Answer { decision, by, .. } = answer;
        Self { decision, by }
    }
}

/// How far an approval reaches. Outside of a [`Run`](crate::Run) each reaches no further than its call.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use contract_runtime::prelude::*;
/// use contract_runtime::approval::{Approval, Decision};
/// use contract_runtime::Run;
///
/// /// Water a plant.
/// #[tool(confirm = "Water the {plant}?")]
/// fn water(plant: String) {}
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let asked = Arc::new(AtomicU32::new(0));
/// let count = Arc::clone(&asked);
/// let run = Run::new().approver(move |_| {
///     count.fetch_add(1, Ordering::Relaxed);
///     async { Decision::Approved(Approval::SameArguments) }
/// });
/// let registry = Registry::builder().tool(water).build()?;
/// for plant in ["fern", "fern", "palm"] {
///     let call = ToolCall::new("1", "water", format!(r#"{{"plant": "{plant}"}}"#));
///     assert!(registry.call(call).context(Context::new().run(&run)).await.is_ok());
/// }
/// assert_eq!(asked.load(Ordering::Relaxed), 2, "the second fern needs no question");
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Approval {
    /// This call.
    #[default]
    Once,
    /// Every call of the run with the same arguments, as long as the question reads the same.
    SameArguments,
    /// Whatever the same conditions ask in the rest of the run.
    SameConditions,
}

/// The answer to one [`ApprovalRequest`], for [`Context::answer`](crate::Context::answer).
///
/// It is good for one call, which must be the same: the same tool, the same arguments and, for each condition, the same
/// sentence. A call that differs asks again.
///
/// ```
/// use contract_runtime::approval::{Approval, Decision};
/// use contract_runtime::Status;
/// use contract_runtime::prelude::*;
///
/// /// Cancel an order.
/// #[tool(confirm = "Cancel order {order_id}?")]
/// fn cancel(order_id: String) -> String {
///     format!("cancelled {order_id}")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let registry = Registry::builder().tool(cancel).build()?;
/// let call = || ToolCall::new("1", "cancel", r#"{"order_id": "W1"}"#);
/// let asked = registry.call(call()).await;
/// assert_eq!(asked.status(), Status::Asked);
/// let request = asked.approval_request().unwrap();
/// assert_eq!(request.questions[0].text, "Cancel order \"W1\"?");
///
/// let answer = request.answer(Decision::Approved(Approval::Once));
/// let outcome = registry.call(call()).context(Context::new().answer(answer)).await;
/// assert_eq!(outcome.output(), Some("cancelled W1"));
/// # Ok::<(), BuildError>(())
/// # })?;
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// The [`id`](ApprovalRequest::id) of the request.
    pub request: String,
    /// What was decided.
    pub decision: Decision,
    /// Who decided; see [`Answer::by`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Answer {
    /// Says who made the decision, as [`Decision::by`] does.
    #[must_use]
    pub fn by(mut self, who: impl Into<String>) -> Self {
        self.by = Some(who.into());
        self
    }
}

/// The questions of one execution, collected before its body.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct OpenQuestions {
    pub(crate) questions: Vec<Question>,
    /// Whether the question of the tool itself is among them.
    pub(crate) confirmed: bool,
    /// Whether writing a question panicked.
    pub(crate) unwritten: bool,
}

impl QuestionText {
    pub(crate) fn into_question(self, contract: String) -> Question {
        Question {
            contract,
            exact: Exact {
                digest: lasting_digest(&self.exact),
                is_cut: self.is_cut,
            },
            text: self.shown,
        }
    }
}

/// What the program says about a call, for which it may wait.
pub(crate) type Answering<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The host's function that decides on requests. It may wait for a person.
#[derive(Clone)]
pub(crate) struct Approver(Arc<dyn Fn(ApprovalRequest) -> Answering<Decided> + Send + Sync>);

impl Approver {
    pub(crate) fn new<F>(approve: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output: Into<Decided>> + Send + 'static,
    {
        Self(Arc::new(move |request| {
            let deciding = approve(request);
            Box::pin(async move { deciding.await.into() })
        }))
    }

    pub(crate) fn decide(&self, request: ApprovalRequest) -> Answering<Decided> {
        (self.0)(request)
    }
}

impl fmt::Debug for Approver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approver").finish_non_exhaustive()
    }
}

/// Which conditions of a tool ask, by its author and the operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asks {
    /// The indices of the conditions.
    pub(crate) conditions: Vec<usize>,
    pub(crate) confirm: bool,
}

impl Asks {
    pub(crate) fn any(&self) -> bool {
        self.confirm || !self.conditions.is_empty()
    }
}

/// The questions of one call, and the approvals that it already has.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pub(crate) asks: Arc<Asks>,
    pub(crate) tool: String,
    /// The number of the registry, which no other has.
    pub(crate) registry: u64,
    /// The name of the caller, if its context has one.
    pub(crate) caller: Option<Arc<str>>,
    /// The digest of the call, which only calls with the same arguments have.
    pub(crate) call: u128,
    /// The questions that are approved for this call.
    pub(crate) approved: Vec<Question>,
    /// What was decided about this call.
    pub(crate) decided: Vec<Decided>,
    /// The violations that were observed in earlier rounds of this call.
    pub(crate) told: Vec<Violation>,
    pub(crate) run: Option<Arc<PolicyLayer>>,
}

impl Asking {
    /// Returns whether this question is already approved.
    pub(crate) fn is_approved(&self, question: &Question) -> bool {
        // A denial of this very question wins over a wider approval.
        if self.denial(std::slice::from_ref(question)).is_some() {
            return false;
        }
        let is_it = |one: &Question| {
            one.contract == question.contract && one.exact.digest == question.exact.digest
        };
        self.approved.iter().any(is_it)
            || [Approval::SameArguments, Approval::SameConditions]
                .iter()
                .map(|reach| self.key(question, *reach))
                .any(|key| self.runs().any(|run| run.answers.is_approved(key)))
    }

    /// Takes a decision on a request. Returns false if the request stays open; the error is the reason why the call is denied.
    pub(crate) fn decide(
        &mut self,
        decided: Decided,
        request: &ApprovalRequest,
    ) -> Result<bool, String> {
        let questions = &request.questions;
        self.decided.push(decided.clone());
        let reason = match decided.decision {
            Decision::Approved(approval) => {
                self.keep(approval, questions);
                self.approved.clone_from(&request.approved);
                self.approved.extend_from_slice(questions);
                return Ok(true);
            }
            Decision::Unanswered if !self.is_given_up(questions) => return Ok(false),
            Decision::Unanswered => GIVEN_UP.to_owned(),
            Decision::Denied(reason) => reason,
        };
        let lasting = match &self.run {
            Some(_) => format!("{reason} (for the rest of the run)"),
            None => reason,
        };
        self.deny(&lasting, questions);
        Err(lasting)
    }

    /// Keeps an approval for as long as it reaches.
    fn keep(&self, approval: Approval, questions: &[Question]) {
        let Some(run) = &self.run else { return };
        if approval != Approval::Once {
            for question in questions.iter().filter(|one| !one.exact.is_cut) {
                let key = self.key(question, approval);
                run.answers.remember(key, Remembered::Approved);
            }
        }
    }

    /// Returns why one of these questions was denied in this run, if it was.
    pub(crate) fn denial(&self, questions: &[Question]) -> Option<String> {
        let mut keys = questions
            .iter()
            .map(|question| self.key(question, Approval::SameArguments));
        keys.find_map(|key| self.runs().find_map(|run| run.answers.denial(key)))
    }

    fn deny(&self, reason: &str, questions: &[Question]) {
        if let Some(run) = &self.run {
            for question in questions {
                let key = self.key(question, Approval::SameArguments);
                run.answers
                    .remember(key, Remembered::Denied(reason.to_owned()));
            }
        }
    }

    /// Notes that these questions had no answer. Returns true at the third time in the run.
    fn is_given_up(&self, questions: &[Question]) -> bool {
        let Some(run) = &self.run else { return false };
        let counts = questions.iter().map(|one| {
            run.answers
                .unanswered(self.key(one, Approval::SameArguments))
        });
        counts.max() >= Some(UNANSWERED)
    }

    fn runs(&self) -> impl Iterator<Item = &PolicyLayer> {
        std::iter::successors(self.run.as_deref(), |run| run.outer.as_deref())
    }

    /// Returns the digest of a question, as far as an approval of it reaches: to calls with the same arguments, or to whatever the
    /// condition asks.
    ///
    /// Includes the registry and the caller: a tool of another registry may have the same name and ask the same, and an answer is good
    /// for one caller only.
    fn key(&self, question: &Question, reach: Approval) -> u128 {
        let [registry, call] = [self.registry.into(), self.call].map(|one: u128| one.to_string());
        let (is_known, caller) = match &self.caller {
            Some(caller) => ("by", &**caller),
            None => ("", ""),
        };
        let mut parts = vec![&registry, &*self.tool, is_known, caller, &question.contract];
        if reach != Approval::SameConditions {
            parts.extend([&*question.exact.digest, &call]);
        }
        digest(&parts)
    }
}

/// How often one call may stay without an answer in a run.
const UNANSWERED: u32 = 3;
const GIVEN_UP: &str = "it was asked three times, and there was no answer";

/// How many answers a run remembers; beyond that it asks again.
const REMEMBERED: usize = 10_000;

/// The answers of a run, by the keys of their questions.
#[derive(Default)]
pub(crate) struct RunAnswers(Mutex<HashMap<u128, Remembered>>);

enum Remembered {
    Approved,
    /// With the reason. It wins over an approval.
    Denied(String),
    /// How often there was no answer.
    Unanswered(u32),
}

impl RunAnswers {
    fn is_approved(&self, key: u128) -> bool {
        let all = ignore_poison(self.0.lock());
        matches!(all.get(&key), Some(Remembered::Approved))
    }

    fn denial(&self, key: u128) -> Option<String> {
        match ignore_poison(self.0.lock()).get(&key)? {
            Remembered::Denied(reason) => Some(reason.clone()),
            _ => None,
        }
    }

    fn remember(&self, key: u128, answer: Remembered) {
        let mut all = ignore_poison(self.0.lock());
        let is_kept = match all.get(&key) {
            None => all.len() < REMEMBERED,
            Some(Remembered::Denied(_)) => matches!(answer, Remembered::Denied(_)),
            Some(_) => true,
        };
        if is_kept {
            all.insert(key, answer);
        }
    }

    fn unanswered(&self, key: u128) -> u32 {
        let mut all = ignore_poison(self.0.lock());
        if all.len() >= REMEMBERED && !all.contains_key(&key) {
            return UNANSWERED;
        }
        match all.entry(key).or_insert(Remembered::Unanswered(0)) {
            Remembered::Unanswered(count) => {
                *count += 1;
                *count
            }
            _ => 0,
        }
    }
}

/// Random keys of this process, so that digests cannot be forged.
static KEYS: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);

/// Returns a digest that is the same in every process and with every compiler.
pub(crate) fn lasting_digest(text: &str) -> String {
    let digest = hmac_sha256::Hash::hash(text.as_bytes());
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns a keyed digest of the texts, which is good in this process.
pub(crate) fn digest(parts: &[&str]) -> u128 {
    KEYS.iter().fold(0, |digest, keys| {
        (digest << 64) | u128::from(keys.hash_one(parts))
    })
}

const NOT_AT_ONCE: &str = "a call that a tool makes cannot wait for an answer";
const PANICKED: &str = "the program that asks about it failed";

/// Waits for the decision on a request about a call at this depth, or says why there is none. A call inside of another waits only if it
/// is one of a run, whose host can wait.
pub(crate) async fn decide(
    approver: &Approver,
    request: ApprovalRequest,
    depth: usize,
    is_of_run: bool,
) -> Result<Decided, &'static str> {
    let mut scope = Scope::aside(ContractScope::current().get());
    scope.depth = depth;
    let mut deciding = pin!(answer(ContractScope::new(scope), || approver.decide(request)));
    poll_fn(|task| match deciding.as_mut().poll(task) {
        Poll::Pending if depth > 1 && !is_of_run => Poll::Ready(Err(NOT_AT_ONCE)),
        decision => decision.map(|decision| decision.map_err(|_| PANICKED)),
    })
    .await
}

/// Asks about something that came up in the body of a call. Returns `None` if there is no approver.
pub(crate) async fn during_call(
    scope: &Scope,
    of_call: Option<&Approver>,
    question: &str,
) -> Option<Decision> {
    let layers = [scope.run.as_deref(), scope.registry.as_deref()];
    let of_layer = || {
        let mut layers = layers.into_iter().flatten();
        layers.find_map(|layer| layer.approver.as_ref())
    };
    let approver = of_call.or_else(of_layer)?;
    let contract = format!("{}.body", scope.tool);
    let question = QuestionText::of_sentence(question).into_question(contract);
    let mut request = ApprovalRequest::about(vec![question]);
    request.id = new_id();
    request.call_id.clone_from(&scope.call_id);
    scope.tool.as_ref().clone_into(&mut request.tool);
    request.arguments = scope.secrets.masked(&scope.arguments);
    let mut questioning = Questioning::begin(Scope::below(Some(scope)), &request);
    let decided = decide(approver, request.clone(), scope.depth, scope.of_run).await;
    let decided = decided.unwrap_or_else(|why| Decision::Denied(why.to_owned()).into());
    questioning.decided(&decided);
    Some(decided.decision)
}

/// Waits for what the program says about a call. All of it runs in this scope, and the error is a panic of it.
pub(crate) async fn answer<T>(
    scope: ContractScope,
    begin: impl FnOnce() -> Answering<T>,
) -> Result<T, Panicked> {
    let future = Some(scope.clone().enter(|| guard(begin))?);
    let mut answering = InScope { scope, future };
    poll_fn(|task| match answering.poll(task) {
        Ok(answer) => answer.map(Ok),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

/// A future that is polled and dropped in a scope, and may panic in either.
struct InScope<T> {
    scope: ContractScope,
    /// `None` when it is dropped.
    future: Option<Answering<T>>,
}

impl<T> InScope<T> {
    fn poll(&mut self, task: &mut Context<'_>) -> Result<Poll<T>, Panicked> {
        let Some(future) = &mut self.future else {
            return Ok(Poll::Pending);
        };
        let scope = self.scope.clone();
        scope.enter(|| guard(|| future.as_mut().poll(task)))
    }
}

impl<T> Drop for InScope<T> {
    fn drop(&mut self) {
        let future = self.future.take();
        self.scope.clone().enter(|| discard(future));
    }
}

/// Returns an id that cannot be guessed and that no other request of this process has.
pub(crate) fn new_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:032x}", digest(&["request", &count.to_string()]))
}
