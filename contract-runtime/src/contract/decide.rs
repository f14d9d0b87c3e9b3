//! Asks an approver about a request, outside of the scope of the call.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use serde_json::Value;

use super::approval::{Answering, ApprovalRequest, Approver, Decision, QuestionText, digest};
use super::observer::Questioning;
use super::panics::{Panicked, discard, guard};
use super::scope::{ContractScope, Scope};
use super::secrets::Secrets;
use super::violation::MASK;

const NOT_AT_ONCE: &str = "a call that a tool makes cannot wait for an answer";
const PANICKED: &str = "the program that asks about it failed";

/// Waits for the decision on a request about a call at this depth, or says why there is none. A call inside of another does not
/// wait at all.
pub(crate) async fn decide(
    approver: &Approver,
    request: ApprovalRequest,
    depth: usize,
) -> Result<Decision, &'static str> {
    let mut scope = Scope::aside(ContractScope::current().get());
    scope.depth = depth;
    let mut deciding = pin!(answer(ContractScope::new(scope), || approver.decide(request)));
    poll_fn(|task| match deciding.as_mut().poll(task) {
        Poll::Pending if depth > 1 => Poll::Ready(Err(NOT_AT_ONCE)),
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
    request.arguments = masked(scope);
    let mut questioning = Questioning::begin(Scope::below(Some(scope)), &request);
    let decided = decide(approver, request.clone(), scope.depth).await;
    let decision = decided.unwrap_or_else(|why| Decision::Denied(why.to_owned()));
    questioning.decided(&decision);
    Some(decision)
}

/// The arguments of a call as they were sent, those that are secret masked.
fn masked(scope: &Scope) -> Value {
    let sent = serde_json::from_str(&scope.arguments);
    let mut sent = sent.unwrap_or_else(|_| Value::from(&*scope.arguments));
    let is_secret = |name: &str| match &scope.secrets {
        Secrets::Declared(names) => names.contains(&name),
        Secrets::Said(names) => names.iter().any(|secret| secret == name),
    };
    for (name, value) in sent.as_object_mut().into_iter().flatten() {
        if is_secret(name) {
            *value = MASK.into();
        }
    }
    sent
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
