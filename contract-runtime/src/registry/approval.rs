//! Calls of tools that ask a person: a call runs up to its questions, and again with the answers.

use std::cell::OnceCell;
use std::collections::{HashMap, VecDeque};
use std::mem::take;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::Registry;
use super::body::{CallSetup, GateUse, before_body};
use super::entry::Entry;
use super::inner::{Inner, with_sent};
use crate::contract::approval::{
    Answer, ApprovalRequest, Approver, Asking, Decided, Decision, decide, digest, lasting_digest,
    new_id,
};
use crate::contract::observer::Questioning;
use crate::contract::panics::ignore_poison;
use crate::contract::policy::{Policy, Resolved};
use crate::contract::scope::{ContractScope, Inherited, PolicyLayer, Scope};
use crate::tool::CallInput;
use crate::tool::failure::FailureKind;
use crate::tool::outcome::Ending;
use crate::tool::{Context, Status, ToolCall};

/// How often one call asks, where each time something has changed when the answer comes.
const ROUNDS: usize = 3;

/// How many requests wait for their answers, and how many of one caller with a name. Behind that the oldest of this caller is
/// forgotten, or of the one with the most, and its call asks again.
const WAITING: usize = 1_000;
const WAITING_EACH: usize = 100;

#[derive(Default)]
pub(super) struct OpenRequests(Mutex<VecDeque<OpenRequest>>);

struct OpenRequest {
    request: ApprovalRequest,
    /// The digest of the call, as [`told_apart`] computes it.
    call: u128,
    /// Whether the hooks of this registry have let the call in.
    let_in: bool,
}

impl OpenRequests {
    fn put(&self, request: OpenRequest) {
        let mut open = ignore_poison(self.0.lock());
        let mut counts = HashMap::<_, usize>::new();
        for one in &*open {
            *counts.entry(one.request.caller.clone()).or_default() += 1;
        }
        let caller = &request.request.caller;
        let own = counts.get(caller).copied().unwrap_or_default();
        let full = if caller.is_some() && own >= WAITING_EACH {
            Some(caller.clone())
        } else if open.len() >= WAITING {
            let most = counts.into_iter().max_by_key(|(_, count)| *count);
            most.map(|(caller, _)| caller)
        } else {
            None
        };
        let is_of = |full| {
            open.iter()
                .position(|one: &OpenRequest| one.request.caller == full)
        };
        let oldest = full.and_then(is_of);
        if let Some(oldest) = oldest {
            open.remove(oldest);
        }
        open.push_back(request);
    }

    /// Takes out a request, so that it cannot be answered twice.
    fn take(&self, id: &str, is_meant: impl Fn(&OpenRequest) -> bool) -> Option<OpenRequest> {
        let mut open = ignore_poison(self.0.lock());
        let is_it = |one: &OpenRequest| one.request.id == id && is_meant(one);
        let place = open.iter().position(is_it)?;
        open.remove(place)
    }
}

impl Registry {
    /// Takes back a question that nobody will answer, such as one that was shown in a dialog that is gone; an answer to it answers
    /// nothing any more.
    ///
    /// A registry keeps a thousand open questions, and a hundred of each caller that
    /// [`Context::identified_as`](crate::Context::identified_as) names. So a program that no longer shows a question takes it back.
    pub fn withdraw(&self, request: &ApprovalRequest) {
        let _ = self.inner.open_requests.take(&request.id, |_| true);
    }

    /// Takes up a question about a call that a registry of another process asked, so that this call may bring its answer here.
    ///
    /// The call then goes on with [`Context::answer`](crate::Context::answer) as if this registry had asked: if its arguments, its
    /// caller, the sentences and the contract of its tool are the same. Otherwise it asks again. The context is that of the call.
    ///
    /// The hooks of [`Builder::before_call`](crate::Builder::before_call) are asked again. An answer is good for one call in each registry
    /// that takes the question up, so a program that keeps questions must also keep which of them were answered. The agent of
    /// `contract-agent` does so in the log of its run.
    ///
    /// ```
    /// use contract_runtime::approval::ApprovalRequest;
    /// use contract_runtime::prelude::*;
    ///
    /// /// Cancel an order.
    /// #[tool(confirm = "Cancel order {id}?")]
    /// fn cancel(id: u32) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let call = ToolCall::new("1", "cancel", r#"{"id":7}"#);
    /// let asked = Registry::builder().tool(cancel).build()?.call(&call).await;
    /// let kept = serde_json::to_string(asked.approval_request().unwrap())?;
    ///
    /// // Another process.
    /// let registry = Registry::builder().tool(cancel).build()?;
    /// let request: ApprovalRequest = serde_json::from_str(&kept)?;
    /// registry.reopen(&call, &Context::new(), &request);
    /// let outcome = registry.call(&call).context(Context::new().answer(request.approve())).await;
    /// assert!(outcome.is_ok());
    /// # Ok(()) }
    /// ```
    pub fn reopen(&self, call: &ToolCall, context: &Context, request: &ApprovalRequest) {
        let open_requests = &self.inner.open_requests;
        let Some((_, asking)) = self.asking_again(call, context, request) else {
            return;
        };
        // The registry that asked knows it already.
        let known = open_requests.take(&request.id, |_| true);
        open_requests.put(known.unwrap_or_else(|| OpenRequest {
            request: request.clone(),
            call: asking.call,
            let_in: false,
        }));
    }

    /// Lets the run of a context remember what was decided about a call in another process: an approval that reaches further than
    /// [`Once`](crate::approval::Approval::Once), a denial, or that there was no answer.
    ///
    /// An approval is not remembered if the contract of the tool has changed since.
    pub fn remember_decision(
        &self,
        call: &ToolCall,
        context: &Context,
        request: &ApprovalRequest,
        decision: &Decision,
    ) {
        let Some((index, mut asking)) = self.asking_again(call, context, request) else {
            return;
        };
        let contract = self.inner.contract_digest(index, asking.run.as_deref());
        if contract == request.contract_digest || !matches!(decision, Decision::Approved(_)) {
            // What it gives is for the call itself, which is not made here.
            let _ = asking.decide(decision.clone().into(), request);
        }
    }

    /// Returns the questions of a call of another process; `None` for an unknown tool.
    fn asking_again(
        &self,
        call: &ToolCall,
        context: &Context,
        request: &ApprovalRequest,
    ) -> Option<(usize, Asking)> {
        let mut input = CallInput::from(call);
        let index = self.inner.position(&input.name)?;
        self.inner.give_own_names(index, &mut input);
        let mut asking = self.inner.asking(index, &input, context, None);
        asking.caller = request.caller.as_deref().map(Arc::from);
        Some((index, asking))
    }
}

/// One call, with all rounds of questions.
struct Asked<'r, 'c> {
    inner: &'r Arc<Inner>,
    index: usize,
    setup: &'r mut CallSetup<'c>,
    outer: Option<Box<Inherited>>,
    asking: Asking,
    /// Whether the call waits for an answer. If it is dropped meanwhile, it is counted here.
    between_rounds: bool,
}

impl Drop for Asked<'_, '_> {
    fn drop(&mut self) {
        if self.between_rounds {
            self.inner.shards.count(Status::Cancelled);
        }
    }
}

impl Inner {
    /// Waits until a call may pass the gate, which it has passed for as long as the result is held.
    pub(super) async fn pass_gate(&self, gate_use: GateUse) -> impl Sized + '_ {
        match gate_use {
            GateUse::None => (None, None),
            GateUse::Shared => (Some(self.gate.read().await), None),
            GateUse::Exclusive => (None, Some(self.gate.write().await)),
        }
    }

    /// Returns whether the call brings the answer to what the same call has asked, so that the hooks have let it in already.
    pub(super) fn is_next_round(&self, setup: &CallSetup<'_>, outer: Option<&Inherited>) -> bool {
        let (input, answers) = (&setup.input, setup.context.answers());
        let entry = setup.index.and_then(|index| self.entries.get(index));
        let Some(entry) = entry.filter(|entry| entry.asks.any() && !answers.is_empty()) else {
            return false;
        };
        if input.arguments.len() > self.limits.argument_bytes {
            return false;
        }
        let call = told_apart(entry, input, setup.context.coerces());
        let caller = caller(&setup.context, outer);
        let open = ignore_poison(self.open_requests.0.lock());
        open.iter().any(|open| {
            let is_answered = answers
                .iter()
                .any(|answer| answer.request == open.request.id);
            is_answered && open.let_in && open.is_of(call, caller.as_deref())
        })
    }

    fn asking(
        &self,
        index: usize,
        call: &CallInput<'_>,
        context: &Context,
        outer: Option<&Inherited>,
    ) -> Asking {
        let entry = &self.entries[index];
        Asking {
            asks: Arc::clone(&entry.asks),
            tool: call.name.to_string(),
            registry: self.id,
            call: told_apart(entry, call, context.coerces()),
            caller: caller(context, outer),
            approved: Vec::new(),
            decided: Vec::new(),
            told: Vec::new(),
            run: context.run_layer().or_else(|| outer?.run.clone()),
        }
    }

    /// Returns the digest of what a tool promises in a run, which is the same in every process.
    fn contract_digest(&self, index: usize, run: Option<&PolicyLayer>) -> String {
        let entry = &self.entries[index];
        let own = entry.policy.map(|own| own.policy);
        let process = self.shards.layer();
        let layers = [run, Some(&*process)];
        let of_layer = || layers.into_iter().flatten().find_map(|layer| layer.policy);
        let policy = own.or_else(of_layer);
        let policy = policy.unwrap_or_else(|| Resolved::process().policy);
        let conditions = entry.conditions().iter().map(|one| {
            json!([
                one.kind().name(),
                one.id(),
                one.predicate(),
                one.message(),
                one.question(),
                one.policy().map(Policy::name),
                one.asks(),
            ])
        });
        let conditions: Vec<_> = conditions.collect();
        let tool = &entry.tool;
        let contract = json!([
            tool.package,
            tool.contract_name(),
            tool.name,
            tool.hints,
            tool.spec().and_then(|spec| spec.confirm),
            entry.asks.confirm,
            entry.inputs.schema.json(),
            policy.name(),
            conditions,
        ]);
        lasting_digest(&contract.to_string())
    }

    pub(super) async fn ask_first(
        self: &Arc<Self>,
        index: usize,
        setup: &mut CallSetup<'_>,
        outer: Option<Box<Inherited>>,
    ) -> Ending {
        let asking = self.asking(index, &setup.input, &setup.context, outer.as_deref());
        let mut asked = Asked {
            inner: self,
            index,
            setup,
            outer,
            asking,
            between_rounds: false,
        };
        let mut ending = asked.run().await;
        asked.between_rounds = false;
        if !asked.asking.decided.is_empty() {
            ending.notes.get_or_insert_default().decisions = take(&mut asked.asking.decided);
        }
        ending
    }
}

impl OpenRequest {
    fn is_of(&self, call: u128, caller: Option<&str>) -> bool {
        self.call == call && self.request.caller.as_deref() == caller
    }
}

fn caller(context: &Context, outer: Option<&Inherited>) -> Option<Arc<str>> {
    let own = context.caller().map(Arc::from);
    own.or_else(|| outer?.caller.clone())
}

impl Asked<'_, '_> {
    async fn run(&mut self) -> Ending {
        let answers = self.setup.context.take_answers();
        if !self.setup.mode.only_check
            && let Err(reason) = self.answered(answers)
        {
            return self.denied(reason);
        }
        for _ in 0..ROUNDS {
            let mut outcome = self.round().await;
            self.between_rounds = true;
            let failure = outcome.end.as_mut().err();
            let Some(request) = failure.and_then(|failure| failure.approval_request_mut()) else {
                return outcome;
            };
            self.complete(request);
            if self.setup.mode.only_check {
                self.inner.shards.count(Status::Asked);
                return outcome;
            }
            if let Some(reason) = self.asking.denial(&request.questions) {
                return self.denied(reason);
            }
            let open = self.open(request);
            let Some(approver) = self.approver() else {
                if self.is_nested() {
                    return self.denied(NOBODY.to_owned());
                }
                return self.waiting(open, outcome);
            };
            let mut questioning = Questioning::begin(self.observed(), request);
            let decision = self.decision(&approver, request.clone()).await;
            match &decision {
                Ok(decision) => questioning.decided(decision),
                // The question is withdrawn without an answer.
                Err(FailureKind::Denied(reason)) => {
                    questioning.decided(&Decision::Denied(reason.clone()).into());
                }
                Err(_) => {}
            }
            drop(questioning);
            let notes = outcome.notes.as_ref();
            let observed = notes.map_or(&[][..], |notes| &notes.observed);
            self.asking.told.extend_from_slice(observed);
            match decision {
                Ok(decided) if decided.decision == Decision::Unanswered && self.is_nested() => {
                    return self.denied(NOBODY.to_owned());
                }
                Ok(decision) => match self.asking.decide(decision, &open.request) {
                    Ok(true) => {}
                    Ok(false) => return self.waiting(open, outcome),
                    Err(reason) => return self.denied(reason),
                },
                Err(end) => return self.inner.refused(end),
            }
        }
        self.denied(CHANGED.to_owned())
    }

    /// Ends the call with its question open.
    fn waiting(&self, open: OpenRequest, outcome: Ending) -> Ending {
        self.inner.open_requests.put(open);
        self.inner.shards.count(Status::Asked);
        outcome
    }

    async fn round(&mut self) -> Ending {
        let _gate = self.inner.pass_gate(self.setup.mode.gate_use).await;
        self.between_rounds = false;
        self.setup.mode.asking = Some(Arc::new(self.asking.clone()));
        let outer = self.outer.as_deref();
        self.inner.execute(self.index, self.setup, outer).await
    }

    fn observed(&self) -> Scope {
        let mut scope = Scope::below(ContractScope::current().get());
        scope.observers = self.setup.context.observers_inside(scope.observers);
        scope.registry = Some(self.inner.shards.layer());
        scope
    }

    fn is_nested(&self) -> bool {
        self.depth() > 0
    }

    fn depth(&self) -> usize {
        self.outer.as_ref().map_or(0, |outer| outer.depth)
    }

    /// Fills in which call a request is about.
    fn complete(&self, request: &mut ApprovalRequest) {
        let entry = &self.inner.entries[self.index];
        request.arguments = entry.secrets.masked(&self.setup.input.arguments);
        request.call_id = self.setup.input.id.to_string();
        request.tool = self.setup.input.name.to_string();
        request.caller = self.asking.caller.as_deref().map(str::to_owned);
        request.contract_digest = self.contract();
        request.approved.clone_from(&self.asking.approved);
    }

    fn contract(&self) -> String {
        let run = self.asking.run.as_deref();
        self.inner.contract_digest(self.index, run)
    }

    fn open(&self, request: &mut ApprovalRequest) -> OpenRequest {
        request.id = new_id();
        OpenRequest {
            request: request.clone(),
            call: self.asking.call,
            let_in: true,
        }
    }

    /// Takes the answer to this call, if there is one. Answers to other calls are left for those.
    fn answered(&mut self, answers: Vec<Answer>) -> Result<(), String> {
        let (open_requests, asking) = (&self.inner.open_requests, &self.asking);
        let contract = OnceCell::new();
        let is_meant = |open: &OpenRequest| {
            let contract = contract.get_or_init(|| self.contract());
            open.is_of(asking.call, asking.caller.as_deref())
                && open.request.contract_digest == *contract
        };
        // Of two answers to one question, a denial counts.
        let (denials, approvals): (Vec<_>, Vec<_>) = answers
            .into_iter()
            .partition(|answer| matches!(answer.decision, Decision::Denied(_)));
        let mut answers = denials.into_iter().chain(approvals);
        let found = answers.find_map(|answer| {
            let open = open_requests.take(&answer.request, is_meant)?;
            Some((Decided::from(answer), open))
        });
        let Some((decision, open)) = found else {
            return Ok(());
        };
        self.asking.decide(decision, &open.request).map(drop)
    }

    fn approver(&self) -> Option<Approver> {
        let of_call = self.setup.context.own_approver();
        let of_run = || self.asking.run.as_ref()?.approver.clone();
        of_call
            .or_else(of_run)
            .or_else(|| self.inner.shards.layer().approver.clone())
            .or_else(|| self.setup.context.last_approver())
    }

    /// Waits for a decision, as long as the caller waits; a call inside of another does not wait at all.
    async fn decision(
        &self,
        approver: &Approver,
        request: ApprovalRequest,
    ) -> Result<Decided, FailureKind> {
        let depth = self.depth() + 1;
        let decided = decide(approver, request, depth, self.setup.context.has_run());
        // A call that was not decided is not denied for the run, which may ask again.
        before_body(&self.setup.context, decided)
            .await?
            .map_err(|why| FailureKind::Denied(why.to_owned()))
    }

    fn denied(&self, reason: String) -> Ending {
        self.inner.refused(FailureKind::Denied(reason))
    }
}

const NOBODY: &str = "there is nobody to ask about a call that a tool makes";
const CHANGED: &str =
    "it was approved three times, and each time what had to be approved had changed";

/// Returns a digest of a call. It is equal for arguments that the tool reads alike, such as an omitted default and a written one,
/// and for no others.
fn told_apart(entry: &Entry, call: &CallInput<'_>, coerces: bool) -> u128 {
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself is not one for every lifetime"
    )]
    let effective = with_sent(entry, call, coerces, |sent| sent.effective());
    let mut parts = vec![&*call.name];
    match &effective {
        Some(all) => parts.extend(all.iter().flat_map(|(name, value)| [&**name, &**value])),
        None => parts.push(&call.arguments),
    }
    digest(&parts)
}
