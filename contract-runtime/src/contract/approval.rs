//! What a person is asked before a call may go on, the answer, and what a run remembers of answers.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::Future;
use std::hash::BuildHasher as _;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::panics::ignore_poison;
use super::scope::PolicyLayer;
use super::violation::{MASK, Violation};

mod question_text;

pub(crate) use question_text::QuestionText;

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
    /// The digest of the sentence before it is cut and cleaned; an answer is good for this digest only.
    #[serde(skip)]
    pub(crate) exact: Exact,
}

/// The digest of a whole question. A copy that was read from JSON has none.
#[derive(Clone, Copy, Default)]
pub(crate) struct Exact {
    digest: u128,
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
/// It can be written as JSON, shown anywhere, and answered later, in this process.
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
    /// The arguments as they were sent, those that are secret masked.
    pub arguments: Value,
    /// Everything that is open, in the order of the conditions.
    pub questions: Vec<Question>,
}

impl ApprovalRequest {
    /// Creates a request without the names of its call, which are filled in later.
    pub(crate) fn about(questions: Vec<Question>) -> Self {
        Self {
            id: String::new(),
            call_id: String::new(),
            tool: String::new(),
            arguments: Value::Null,
            questions,
        }
    }

    /// The same request without its id, which an answer needs, and without the values of its call.
    pub(crate) fn masked(&self) -> Self {
        let mut masked = self.clone();
        masked.id.clear();
        masked.arguments = MASK.into();
        for question in &mut masked.questions {
            MASK.clone_into(&mut question.text);
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
    pub fn answer(&self, decision: Decision) -> Answer {
        Answer {
            request: self.id.clone(),
            decision,
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

/// What the program says about a call, for which it may wait.
pub(crate) type Answering<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The host's function that decides on requests. It may wait for a person.
#[derive(Clone)]
pub(crate) struct Approver(Arc<dyn Fn(ApprovalRequest) -> Answering<Decision> + Send + Sync>);

impl Approver {
    pub(crate) fn new<F>(approve: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Decision> + Send + 'static,
    {
        Self(Arc::new(move |request| Box::pin(approve(request))))
    }

    pub(crate) fn decide(&self, request: ApprovalRequest) -> Answering<Decision> {
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
    /// The digests of the questions that are approved for this call.
    pub(crate) approved: Vec<u128>,
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
        self.approved.contains(&self.sentence(question))
            || [self.repeated(question), self.condition(question)]
                .iter()
                .any(|key| self.runs().any(|run| run.answers.approved(key)))
    }

    /// Keeps an approval for as long as it reaches.
    pub(crate) fn keep(&self, approval: Approval, questions: &[Question]) {
        let Some(run) = &self.run else { return };
        for question in questions.iter().filter(|one| !one.exact.is_cut) {
            match approval {
                Approval::Once => {}
                Approval::SameArguments => run.answers.approve(self.repeated(question)),
                Approval::SameConditions => run.answers.approve(self.condition(question)),
            }
        }
    }

    /// Returns why one of these questions was denied in this run, if it was.
    pub(crate) fn denial(&self, questions: &[Question]) -> Option<String> {
        let mut keys = questions.iter().map(|question| self.repeated(question));
        keys.find_map(|key| self.runs().find_map(|run| run.answers.denial(&key)))
    }

    pub(crate) fn deny(&self, reason: &str, questions: &[Question]) {
        if let Some(run) = &self.run {
            for question in questions {
                run.answers.deny(self.repeated(question), reason);
            }
        }
    }

    /// Notes that these questions had no answer. Returns true at the third time in the run.
    pub(crate) fn is_given_up(&self, questions: &[Question]) -> bool {
        let Some(run) = &self.run else { return false };
        let counts = questions
            .iter()
            .map(|one| run.answers.unanswered(self.repeated(one)));
        counts.max() >= Some(UNANSWERED)
    }

    fn runs(&self) -> impl Iterator<Item = &PolicyLayer> {
        std::iter::successors(self.run.as_deref(), |run| run.outer.as_deref())
    }

    /// Returns the digest of a question to this call.
    pub(crate) fn sentence(&self, question: &Question) -> u128 {
        self.key(&[&question.contract, &question.exact.digest.to_string()])
    }

    /// Returns the digest of a question to any call with these arguments.
    fn repeated(&self, question: &Question) -> u128 {
        let call = self.call.to_string();
        self.key(&[
            &question.contract,
            &question.exact.digest.to_string(),
            &call,
        ])
    }

    /// Returns the digest of a condition, whatever it asks.
    fn condition(&self, question: &Question) -> u128 {
        self.key(&[&question.contract])
    }

    /// Includes the registry and the caller: a tool of another registry may have the same name and ask the same, and an answer is good
    /// for one caller only.
    fn key(&self, parts: &[&str]) -> u128 {
        let registry = self.registry.to_string();
        let caller = self.caller.as_deref();
        let is_known = if caller.is_some() { "by" } else { "" };
        let of_tool = [&registry, &*self.tool, is_known, caller.unwrap_or_default()];
        digest(&[&of_tool, parts].concat())
    }
}

/// How often one call may stay without an answer in a run.
const UNANSWERED: u32 = 3;

/// How many answers a run remembers; beyond that it asks again.
const REMEMBERED: usize = 10_000;

/// The answers of a run.
#[derive(Default)]
pub(crate) struct RunAnswers(Mutex<Option<Box<Remembered>>>);

#[derive(Default)]
struct Remembered {
    approved: HashSet<u128>,
    denied: HashMap<u128, String>,
    /// How often there was no answer.
    unanswered: HashMap<u128, u32>,
}

impl RunAnswers {
    fn approved(&self, key: &u128) -> bool {
        let remembered = ignore_poison(self.0.lock());
        remembered
            .as_ref()
            .is_some_and(|all| all.approved.contains(key))
    }

    fn denial(&self, key: &u128) -> Option<String> {
        ignore_poison(self.0.lock())
            .as_ref()?
            .denied
            .get(key)
            .cloned()
    }

    fn approve(&self, key: u128) {
        let mut remembered = ignore_poison(self.0.lock());
        let all = remembered.get_or_insert_default();
        if all.approved.len() < REMEMBERED {
            all.approved.insert(key);
        }
    }

    fn unanswered(&self, key: u128) -> u32 {
        let mut remembered = ignore_poison(self.0.lock());
        let all = remembered.get_or_insert_default();
        if all.unanswered.len() >= REMEMBERED && !all.unanswered.contains_key(&key) {
            return UNANSWERED;
        }
        let count = all.unanswered.entry(key).or_default();
        *count += 1;
        *count
    }

    fn deny(&self, key: u128, reason: &str) {
        let mut remembered = ignore_poison(self.0.lock());
        let all = remembered.get_or_insert_default();
        if all.denied.len() < REMEMBERED {
            all.denied.insert(key, reason.to_owned());
        }
    }
}

/// Random keys of this process, so that digests cannot be forged.
static KEYS: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);

/// Returns a keyed digest of the texts.
pub(crate) fn digest(parts: &[&str]) -> u128 {
    KEYS.iter().fold(0, |digest, keys| {
        (digest << 64) | u128::from(keys.hash_one(parts))
    })
}
