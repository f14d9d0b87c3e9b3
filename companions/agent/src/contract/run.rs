//! The life of a run: judge the task, follow the inner agent, judge its steps and its answer.

use std::ops::ControlFlow;
use std::pin::pin;

use tokio::time::Instant;

use super::calls::Calls;
use super::following::{Held, Next, end_of, next};
use super::kept_back::KeptBack;
use super::recovery::{Recovery, Tries};
use super::result::Record;
use super::state::IterationState;
use super::stuck::Repeats;
use super::told::{Inbox, Told};
use super::{ContractAgent, Terms};
use crate::agent::event::{Event, RunError};
use crate::agent::inner::{InnerAgent, Turn};
use crate::agent::live::{Emitter, Events, live};
use crate::agent::message::{Conversation, Message};
use crate::contract::handler::Handler;
use crate::contract::policy::Policy;
use crate::tool::{Context, Run};

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

pub(super) fn stream<A: InnerAgent>(
    agent: &ContractAgent<A>,
    mut turn: Turn,
) -> (Events<'_>, Record) {
    let record = Record::new(turn.conversation.clone());
    let events = live({
        let record = record.clone();
        move |emitter| async move {
            let terms = &agent.terms;
            let inbox = Inbox::default();
            let run = run_of(terms, inbox.clone(), &turn.context);
            let (policy, handler) = run.terms();
            turn.context = std::mem::take(&mut turn.context).run(&run);
            let mut life = Life {
                terms,
                policy,
                handler,
                out: Out { emitter, record },
                turn,
                inbox,
                state: IterationState::default(),
                repeats: Repeats::default(),
                tries: Tries::default(),
                began: Instant::now(),
                calls: Calls::default(),
                events: 0,
                kept: KeptBack::default(),
            };
            if let ControlFlow::Break(Some(error)) = life.run(&agent.inner).await {
                life.out.emit(Event::Error { error }).await;
            }
        }
    });
    (events, record)
}

/// The run as dispatch sees it, inside of the one that its context may have already.
fn run_of(terms: &Terms, inbox: Inbox, context: &Context) -> Run {
    let mut run = Run::new().watch_calls(move |watched, arguments| inbox.tell(watched, arguments));
    if terms.recovery == Recovery::Terminate {
        run = run.ending();
    }
    if let Some(policy) = terms.policy {
        run = run.policy(policy);
    }
    if let Some(handler) = terms.handler.clone() {
        run = run.on_violation(move |violation| handler(violation));
    }
    run.within(context)
}

/// How a run goes on: not at all, with the error that ended it or without.
pub(super) type Flow = ControlFlow<Option<RunError>>;

pub(super) const ON: Flow = ControlFlow::Continue(());

pub(super) struct Out {
    emitter: Emitter,
    pub(super) record: Record,
}

impl Out {
    pub(super) async fn emit(&self, event: Event) {
        self.record.event(&event);
        self.emitter.emit(event).await;
    }
}

/// A step that tells of more is not followed; the longest replies have some ten thousand pieces.
const MOST_EVENTS: u64 = 100_000;

pub(super) struct Life<'a> {
    pub(super) terms: &'a Terms,
    /// The agent's own, or that of the run around this one.
    pub(super) policy: Option<Policy>,
    pub(super) handler: Option<Handler>,
    pub(super) out: Out,
    pub(super) turn: Turn,
    inbox: Inbox,
    pub(super) state: IterationState,
    repeats: Repeats,
    pub(super) tries: Tries,
    began: Instant,
    calls: Calls,
    /// Since the step began.
    events: u64,
    pub(super) kept: KeptBack,
}

impl Life<'_> {
    async fn run(&mut self, inner: &impl InnerAgent) -> Flow {
        self.judge_task().await?;
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
            Told::Entered {
                call_id,
                tool,
                arguments,
            } => {
                if let Some(call) = self.calls.entered(&call_id, &tool, &arguments) {
                    self.out.emit(Event::Action { call }).await;
                }
            }
            Told::Omitted { checks, violations } => {
                self.out.emit(Event::Omitted { checks, violations }).await;
            }
            // The model reads the violation as the outcome of its call.
            Told::Ended(violation) => return self.recover(&violation, None).await,
            // The model has read the outcome of the call, and can do nothing about what came after it.
            Told::Late(violation) => return self.ended(&violation),
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
            self.calls.begin_step();
            let most = self.terms.max_steps;
            if self.state.iterations > most {
                return ControlFlow::Break(Some(RunError::TooManySteps { most }));
            }
            self.judge_step().await?;
        }
        match event {
            Event::TextDelta { .. } | Event::Thought { .. } if !self.terms.answers.is_empty() => {
                if self.kept.holds_a_thought() {
                    self.tell_all_that_is_kept().await;
                }
                self.kept.keep(event);
            }
            Event::Action { call } => {
                self.tell_all_that_is_kept().await;
                let step = self.state.iterations;
                if let Some((pattern, repeated)) = self.repeats.note(self.terms.loops, &call, step)
                {
                    self.out
                        .emit(Event::LoopDetected { pattern, repeated })
                        .await;
                    return match self.state.answer_of_results() {
                        Some(text) if self.terms.loops.answers => {
                            self.answer_without_the_model(text).await
                        }
                        _ => ControlFlow::Break(Some(RunError::Loop { pattern, repeated })),
                    };
                }
                self.judge_call().await?;
                self.calls.announce(call);
            }
            Event::Observation {
                ref call_id,
                ref tool,
                ..
            } => {
                self.tell_all_that_is_kept().await;
                // The call never got as far as its body.
                if let Some(call) = self.calls.observed(call_id, tool) {
                    self.out.emit(Event::Action { call }).await;
                }
                self.out.emit(event).await;
            }
            Event::Answer { text } => return self.answer(text).await,
            Event::Error { error } => {
                if self.kept.holds_a_thought() {
                    self.tell_all_that_is_kept().await;
                }
                return ControlFlow::Break(Some(error));
            }
            Event::Retry { .. } => {
                // Pieces of a reply that was of no use.
                self.kept.forget();
                self.out.emit(event).await;
            }
            other => self.out.emit(other).await,
        }
        ON
    }

    /// What was kept back turned out to be no part of an answer.
    async fn tell_all_that_is_kept(&mut self) {
        for event in self.kept.all() {
            self.out.emit(event).await;
        }
    }
}
