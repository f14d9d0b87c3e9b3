//! Calls of tools that ask a person: a call runs up to its questions, and again with the answers.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use super::Registry;
use super::body::{CallSetup, GateUse, before_body};
use super::entry::Entry;
use super::inner::{Inner, with_sent};
use crate::contract::approval::{
    Answer, Approval, ApprovalRequest, Approver, Asking, Decision, Question, decide, digest, new_id,
};
use crate::contract::observer::Questioning;
use crate::contract::panics::{discard, ignore_poison};
use crate::contract::scope::{ContractScope, Inherited, Scope};
use crate::tool::CallInput;
use crate::tool::failure::FailureKind;
use crate::tool::outcome::Ending;
use crate::tool::{Context, Status};

/// How often one call asks, where each time something has changed when the answer comes.
const ROUNDS: usize = 3;

/// How many requests wait for their answers, and how many of one caller with a name. Behind that the oldest of this caller is
/// forgotten, or of the one with the most, and its call asks again.
const WAITING: usize = 1_000;
const WAITING_EACH: usize = 100;

/// The requests that have no answer yet.
#[derive(Default)]
pub(super) struct OpenRequests(Mutex<VecDeque<OpenRequest>>);

struct OpenRequest {
    id: String,
    /// The digest of the call, as [`told_apart`] computes it.
    call: u128,
    caller: Option<Arc<str>>,
    questions: Vec<Question>,
    /// The digests of what was approved in earlier rounds.
    approved: Vec<u128>,
}

impl OpenRequests {
    fn put(&self, request: OpenRequest) {
        let mut open = ignore_poison(self.0.lock());
        let mut counts = HashMap::<_, usize>::new();
        for one in &*open {
            *counts.entry(one.caller.clone()).or_default() += 1;
        }
        let own = counts.get(&request.caller).copied().unwrap_or_default();
        let full = if request.caller.is_some() && own >= WAITING_EACH {
            Some(request.caller.clone())
        } else if open.len() >= WAITING {
            let most = counts.into_iter().max_by_key(|(_, count)| *count);
            most.map(|(caller, _)| caller)
        } else {
            None
        };
        let oldest = full.and_then(|full| open.iter().position(|one| one.caller == full));
        if let Some(oldest) = oldest {
            open.remove(oldest);
        }
        open.push_back(request);
    }

    /// Takes out a request, so that it cannot be answered twice.
    fn take(&self, id: &str, is_meant: impl Fn(&OpenRequest) -> bool) -> Option<OpenRequest> {
        let mut open = ignore_poison(self.0.lock());
        let place = open.iter().position(|one| one.id == id && is_meant(one))?;
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
}

/// One call, with all rounds of questions.
struct Asked<'r> {
    inner: &'r Arc<Inner>,
    index: usize,
    setup: CallSetup<'r>,
    outer: Option<Box<Inherited>>,
    asking: Asking,
    /// Whether the call waits for an answer. If it is dropped meanwhile, it is counted here.
    between_rounds: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.between_rounds {
            self.inner.shards.count(Status::Cancelled);
        }
        discard(std::mem::take(&mut self.setup.context));
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
            let is_answered = answers.iter().any(|answer| answer.request == open.id);
            is_answered && open.call == call && open.caller == caller
        })
    }

    /// Makes the call of a tool that asks, after the hooks.
    pub(super) async fn ask_first(
        self: &Arc<Self>,
        index: usize,
        setup: &CallSetup<'_>,
        outer: Option<Box<Inherited>>,
    ) -> Ending {
        let entry = &self.entries[index];
        let (call, context) = (&setup.input, &setup.context);
        let asking = Asking {
            asks: Arc::clone(&entry.asks),
            tool: call.name.to_string(),
            registry: self.id,
            call: told_apart(entry, call, context.coerces()),
            caller: caller(context, outer.as_deref()),
            approved: Vec::new(),
            told: Vec::new(),
            run: context.run_layer().or_else(|| outer.as_ref()?.run.clone()),
        };
        let mut asked = Asked {
            inner: self,
            index,
            setup: CallSetup {
                index: setup.index,
                input: (&*call.id, &*call.name, &*call.arguments).into(),
                context: context.clone(),
                mode: setup.mode.clone(),
            },
            outer,
            asking,
            between_rounds: false,
        };
        let outcome = asked.run().await;
        asked.between_rounds = false;
        outcome
    }
}

/// The caller of a call, or that of the call around it.
fn caller(context: &Context, outer: Option<&Inherited>) -> Option<Arc<str>> {
    let own = context.caller().map(Arc::from);
    own.or_else(|| outer?.caller.clone())
}

impl Asked<'_> {
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
                Err(FailureKind::Denied { reason }) => {
                    questioning.decided(&Decision::Denied(reason.clone()));
                }
                Err(_) => {}
            }
            drop(questioning);
            let observed = outcome
                .notes
                .as_ref()
                .map_or(&[][..], |notes| &notes.observed);
            self.asking.told.extend_from_slice(observed);
            match decision {
                Ok(Decision::Unanswered) if self.is_nested() => {
                    return self.denied(NOBODY.to_owned());
                }
                Ok(decision) => match self.decided(decision, open) {
                    Ok(None) => {}
                    Ok(Some(open)) => return self.waiting(open, outcome),
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

    /// Runs the call up to its end or to a question.
    async fn round(&mut self) -> Ending {
        let _gate = self.inner.pass_gate(self.setup.mode.gate_use).await;
        self.between_rounds = false;
        self.setup.mode.asking = Some(Arc::new(self.asking.clone()));
        let outer = self.outer.as_deref();
        self.inner.execute(self.index, &self.setup, outer).await
    }

    /// Returns a scope with the observers of the call.
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
    }

    fn open(&self, request: &mut ApprovalRequest) -> OpenRequest {
        request.id = new_id();
        OpenRequest {
            id: request.id.clone(),
            call: self.asking.call,
            caller: self.asking.caller.clone(),
            questions: request.questions.clone(),
            approved: self.asking.approved.clone(),
        }
    }

    /// Takes the answer to this call, if there is one. Answers to other calls are left for those.
    fn answered(&mut self, answers: Vec<Answer>) -> Result<(), String> {
        let (open_requests, asking) = (&self.inner.open_requests, &self.asking);
        let is_meant =
            |open: &OpenRequest| open.call == asking.call && open.caller == asking.caller;
        // Of two answers to one question, a denial counts.
        let (denials, approvals): (Vec<_>, Vec<_>) = answers
            .into_iter()
            .partition(|answer| matches!(answer.decision, Decision::Denied(_)));
        let mut answers = denials.into_iter().chain(approvals);
        let found = answers.find_map(|answer| {
            let open = open_requests.take(&answer.request, is_meant)?;
            Some((answer.decision, open))
        });
        let Some((decision, open)) = found else {
            return Ok(());
        };
        self.decided(decision, open).map(drop)
    }

    /// Keeps an approval. Returns a question that stays open; the error is the reason why the call was denied.
    fn decided(
        &mut self,
        decision: Decision,
        open: OpenRequest,
    ) -> Result<Option<OpenRequest>, String> {
        match decision {
            Decision::Approved(approval) => {
                self.asking.keep(approval, &open.questions);
                let key = |one| self.asking.key(one, Approval::Once);
                let approved = open.questions.iter().map(key);
                let approved = open.approved.into_iter().chain(approved).collect();
                self.asking.approved = approved;
                Ok(None)
            }
            Decision::Unanswered if !self.asking.is_given_up(&open.questions) => Ok(Some(open)),
            Decision::Unanswered => Err(self.deny(GIVEN_UP, &open.questions)),
            Decision::Denied(reason) => Err(self.deny(&reason, &open.questions)),
        }
    }

    /// Remembers a denial, and returns the reason that the model is told.
    fn deny(&self, reason: &str, questions: &[Question]) -> String {
        let lasting = match &self.asking.run {
            Some(_) => format!("{reason} (for the rest of the run)"),
            None => reason.to_owned(),
        };
        self.asking.deny(&lasting, questions);
        lasting
    }

    fn approver(&self) -> Option<Approver> {
        let of_call = self.setup.context.own_approver();
        let of_run = || self.asking.run.as_ref()?.approver.clone();
        of_call
            .or_else(of_run)
            .or_else(|| self.inner.shards.layer().approver.clone())
    }

    /// Waits for a decision, as long as the caller waits; a call inside of another does not wait at all.
    async fn decision(
        &self,
        approver: &Approver,
        request: ApprovalRequest,
    ) -> Result<Decision, FailureKind> {
        let depth = self.depth() + 1;
        let decided = decide(approver, request, depth, self.setup.context.has_run());
        // A call that was not decided is not denied for the run, which may ask again.
        before_body(&self.setup.context, decided)
            .await?
            .map_err(|why| FailureKind::Denied {
                reason: why.to_owned(),
            })
    }

    fn denied(&self, reason: String) -> Ending {
        self.inner.refused(FailureKind::Denied { reason })
    }
}

const NOBODY: &str = "there is nobody to ask about a call that a tool makes";
const GIVEN_UP: &str = "it was asked three times, and there was no answer";
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
