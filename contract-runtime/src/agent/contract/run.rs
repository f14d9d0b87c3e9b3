//! The life of a run: judge the task, follow the inner agent, judge its steps and its answer.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::task::Poll;

use futures_core::Stream as _;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::hooks::{Demand, Subject as _};
use super::recovery::{Recovery, Tries};
use super::result::{REFUSED, Record};
use super::state::IterationState;
use super::stuck::Repeats;
use super::told::{Inbox, Told};
use super::{ContractAgent, Terms};
use crate::agent::event::{Event, RunError};
use crate::agent::inner::{InnerAgent, Turn};
use crate::agent::live::{Emitter, Events, live};
use crate::agent::message::{Conversation, Message};
use crate::contract::handler;
use crate::contract::panics::guard;
use crate::contract::violation::Violation;
use crate::tool::{Context, Run, ToolCall};

pub(super) fn start(
    past: impl IntoIterator<Item = Message>,
    context: Context,
    task: String,
) -> Turn {
    let mut turn = Turn::new(task);
    turn.conversation = Conversation::from_messages(past);
    turn.context = context;
    turn
}

pub(super) fn stream<A: InnerAgent>(agent: &ContractAgent<A>, turn: Turn) -> (Events<'_>, Record) {
    let record = Record::new(turn.conversation.clone());
    let events = live({
        let record = record.clone();
        move |emitter| async move {
            let mut life = Life {
                terms: &agent.terms,
                out: Out { emitter, record },
                turn,
                inbox: Inbox::default(),
                state: IterationState::default(),
                repeats: Repeats::default(),
                tries: Tries::default(),
                began: Instant::now(),
                announced: VecDeque::new(),
                events: 0,
                deltas: Vec::new(),
            };
            if let ControlFlow::Break(Some(error)) = life.run(&agent.inner).await {
                life.out.emit(Event::Error { error }).await;
            }
        }
    });
    (events, record)
}

/// How a run goes on: not at all, with the error that ended it or without.
type Flow = ControlFlow<Option<RunError>>;

const ON: Flow = ControlFlow::Continue(());

struct Out {
    emitter: Emitter,
    record: Record,
}

impl Out {
    async fn emit(&self, event: Event) {
        self.record.event(&event);
        self.emitter.emit(event).await;
    }
}

/// A step that tells of more is not followed; the longest replies have some ten thousand pieces.
const MOST_EVENTS: u64 = 100_000;

struct Life<'a> {
    terms: &'a Terms,
    out: Out,
    turn: Turn,
    inbox: Inbox,
    state: IterationState,
    repeats: Repeats,
    tries: Tries,
    began: Instant,
    /// Calls whose preconditions are not judged yet.
    announced: VecDeque<ToolCall>,
    /// Since the step began.
    events: u64,
    /// Pieces of what may become an answer, kept back until it is known.
    deltas: Vec<Event>,
}

/// What the inner agent gave, while something that was told before is looked at.
enum Held {
    Nothing,
    Event(Event),
    End,
}

/// What comes next: something from dispatch, or an event of the inner agent.
enum Next {
    Over(RunError),
    Told(Told),
    Event(Option<Event>),
}

impl Life<'_> {
    async fn run(&mut self, inner: &impl InnerAgent) -> Flow {
        let terms = self.terms;
        let task = self.turn.task.clone();
        let value = Map::from_iter([("task".to_owned(), Value::from(task.as_str()))]);
        for demand in &terms.tasks {
            if let Some(violation) = self.judge(demand, task.as_str(), || value.clone()).await {
                return self.ended(&violation);
            }
        }
        let inbox = self.inbox.clone();
        let mut run = Run::new().watch(move |watched| inbox.tell(watched));
        if terms.recovery == Recovery::Terminate {
            run = run.ending();
        }
        if let Some(policy) = terms.policy {
            run = run.policy(policy);
        }
        if let Some(handler) = terms.handler.clone() {
            run = run.on_violation(move |violation| handler(violation));
        }
        self.turn.context = std::mem::take(&mut self.turn.context).run(&run);
        let mut events = inner.stream(self.turn.clone());
        let mut held = Held::Nothing;
        let mut end = pin!(end_of(&self.turn.context));
        loop {
            match next(&self.inbox, &mut events, &mut held, end.as_mut()).await {
                Next::Told(told) => self.told(told).await?,
                Next::Event(Some(event)) => self.event(event).await?,
                Next::Over(error) => return ControlFlow::Break(Some(error)),
                Next::Event(None) => return ControlFlow::Break(Some(RunError::NoAnswer)),
            }
        }
    }

    /// Something happened inside a call.
    async fn told(&mut self, told: Told) -> Flow {
        match told {
            Told::Check(check) => self.out.emit(Event::ContractCheck { check }).await,
            Told::Violation(violation) => {
                let violation = Box::new(self.shown(&violation));
                self.out.emit(Event::ContractViolation { violation }).await;
            }
            Told::Entered { call_id } => {
                let place = self.announced.iter().position(|call| call.id == call_id);
                if let Some(call) = place.and_then(|place| self.announced.remove(place)) {
                    self.out.emit(Event::Action { call }).await;
                }
            }
            // The model reads the violation as the outcome of its call.
            Told::Ended(violation) => return self.recover(&violation, None).await,
        }
        ON
    }

    /// Something happened in the inner agent.
    async fn event(&mut self, event: Event) -> Flow {
        let begins = self.state.begins_step(&event);
        self.state.note(&event, self.began.elapsed());
        {
            let mut noted = self.out.record.locked();
            noted.iterations = self.state.iterations;
            noted.usage = self.state.usage;
        }
        self.events = if begins { 0 } else { self.events + 1 };
        if self.events > MOST_EVENTS {
            return ControlFlow::Break(Some(RunError::EndlessStep {
                events: MOST_EVENTS,
            }));
        }
        if begins {
            let most = self.terms.max_steps;
            if self.state.iterations > most {
                return ControlFlow::Break(Some(RunError::TooManySteps { most }));
            }
            self.judge_step().await?;
        }
        match event {
            Event::TextDelta { .. } if !self.terms.answers.is_empty() => self.deltas.push(event),
            Event::Thought { .. } => {
                for delta in std::mem::take(&mut self.deltas) {
                    self.out.emit(delta).await;
                }
                self.out.emit(event).await;
            }
            Event::Action { call } => {
                if let Some((pattern, repeated)) = self.repeats.note(self.terms.loops, &call) {
                    self.out
                        .emit(Event::LoopDetected { pattern, repeated })
                        .await;
                    return ControlFlow::Break(Some(RunError::Loop { pattern, repeated }));
                }
                self.judge_call().await?;
                self.announced.push_back(call);
            }
            Event::Observation { ref call_id, .. } => {
                // The call never got as far as its body.
                let place = self.announced.iter().position(|call| call.id == *call_id);
                if let Some(call) = place.and_then(|place| self.announced.remove(place)) {
                    self.out.emit(Event::Action { call }).await;
                }
                self.out.emit(event).await;
            }
            Event::Answer { text } => return self.answer(text).await,
            Event::Error { error } => return ControlFlow::Break(Some(error)),
            other => self.out.emit(other).await,
        }
        ON
    }

    async fn judge_step(&mut self) -> Flow {
        let terms = self.terms;
        for demand in &terms.invariants {
            let state = self.state.clone();
            if let Some(violation) = self.judge(demand, &state, || state.values()).await {
                // There is nothing that the model could do better.
                return self.ended(&violation);
            }
        }
        ON
    }

    /// Before a call: what can be used up by calls alone.
    async fn judge_call(&mut self) -> Flow {
        let terms = self.terms;
        for demand in terms.invariants.iter().filter(|demand| demand.at_calls) {
            let state = self.state.clone();
            if !demand.holds(&state)
                && let Some(violation) = self.judge(demand, &state, || state.values()).await
            {
                return self.ended(&violation);
            }
        }
        ON
    }

    async fn answer(&mut self, text: String) -> Flow {
        let terms = self.terms;
        // The answer is told as a whole.
        self.deltas.clear();
        let value = Map::from_iter([("answer".to_owned(), Value::from(text.as_str()))]);
        for demand in &terms.answers {
            if let Some(violation) = self.judge(demand, text.as_str(), || value.clone()).await {
                self.out.record.locked().rejected.push(text);
                let feedback = format!("{REFUSED}{violation}");
                return self.recover(&violation, Some(feedback)).await;
            }
        }
        self.out.emit(Event::Answer { text }).await;
        ControlFlow::Break(None)
    }

    /// Judges one condition of the run; the violation is one that ends something.
    async fn judge<T: ?Sized>(
        &self,
        demand: &Demand<T>,
        subject: &T,
        values: impl FnOnce() -> Map<String, Value>,
    ) -> Option<Violation> {
        let policy = demand.policy(self.terms.policy);
        if policy.0 == crate::contract::Policy::Ignore {
            self.out.record.locked().statistics.skipped += 1;
            return None;
        }
        let check = demand.check();
        self.out.emit(Event::ContractCheck { check }).await;
        let detection = demand.judge(subject)?;
        let violation = demand.violation(detection, policy, values());
        self.out
            .emit(Event::ContractViolation {
                violation: Box::new(self.shown(&violation)),
            })
            .await;
        if violation.policy.tells_the_handler() {
            handler::tell(self.terms.handler.as_ref(), &violation);
        }
        violation.policy.ends_the_call().then_some(violation)
    }

    /// Lets the model try again, if it may.
    async fn recover(&mut self, violation: &Violation, feedback: Option<String>) -> Flow {
        let step = self.state.iterations;
        let tries = &mut self.tries;
        let Some(attempt) = tries.next(self.terms.recovery, &violation.contract, step) else {
            return self.ended(violation);
        };
        let told = self.shown(violation).to_string();
        if let Some(feedback) = feedback {
            self.turn.tell(feedback);
        }
        self.out
            .emit(Event::Retry {
                contract: violation.contract.clone(),
                attempt,
                feedback: told,
            })
            .await;
        ON
    }
    fn ended(&self, violation: &Violation) -> Flow {
        ControlFlow::Break(Some(RunError::Contract {
            contract: violation.contract.clone(),
            message: self.shown(violation).to_string(),
        }))
    }

    /// A violation as others than the model may see it.
    fn shown(&self, violation: &Violation) -> Violation {
        if self.terms.shows_values {
            violation.clone()
        } else {
            violation.masked()
        }
    }
}

/// When the context of a run says that it is over, and why.
fn end_of(context: &Context) -> impl Future<Output = RunError> + Send + use<> {
    let token = context.token().cloned();
    let deadline = context.deadline();
    async move {
        let cancelled = async {
            match token {
                Some(token) => token.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let late = async {
            match deadline {
                Some(deadline) if tokio::runtime::Handle::try_current().is_ok() => {
                    tokio::time::sleep_until(deadline.into()).await;
                    RunError::TimedOut
                }
                // There is no timer.
                Some(_) => RunError::NoTimer,
                None => std::future::pending().await,
            }
        };
        let (mut cancelled, mut late) = (pin!(cancelled), pin!(late));
        poll_fn(|task| {
            if cancelled.as_mut().poll(task).is_ready() {
                return Poll::Ready(RunError::Cancelled);
            }
            late.as_mut().poll(task)
        })
        .await
    }
}

/// What dispatch has told comes before the event that the inner agent made of it.
async fn next(
    inbox: &Inbox,
    events: &mut Events<'_>,
    held: &mut Held,
    mut end: Pin<&mut impl Future<Output = RunError>>,
) -> Next {
    poll_fn(|task| {
        if let Poll::Ready(error) = end.as_mut().poll(task) {
            return Poll::Ready(Next::Over(error));
        }
        if let Some(told) = inbox.next(task) {
            return Poll::Ready(Next::Told(told));
        }
        if matches!(held, Held::Nothing) {
            // A model or an inner agent that panics ends the run, and not the program.
            match guard(|| Pin::new(&mut *events).poll_next(task)) {
                Ok(Poll::Ready(Some(event))) => *held = Held::Event(event),
                Ok(Poll::Ready(None)) => *held = Held::End,
                Ok(Poll::Pending) => {}
                Err(_) => return Poll::Ready(Next::Over(RunError::Panicked)),
            }
        }
        if let Some(told) = inbox.next(task) {
            return Poll::Ready(Next::Told(told));
        }
        match std::mem::replace(held, Held::Nothing) {
            Held::Nothing => Poll::Pending,
            Held::Event(event) => Poll::Ready(Next::Event(Some(event))),
            Held::End => Poll::Ready(Next::Event(None)),
        }
    })
    .await
}
