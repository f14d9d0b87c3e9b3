//! The lifecycle of a run: check the task, follow the inner agent, check its steps and its answer.

use std::ops::ControlFlow;
use std::pin::pin;

use contract_runtime::ApprovalRequest;
use contract_runtime::Policy;
use contract_runtime::{Context, Run, Status, ToolCall};

use super::answer_buffer::AnswerBuffer;
use super::call_log::CallEnd;
use super::clock::RunClock;
use super::event_queue::{EventQueue, QueuedEvent};
use super::loop_detection::LoopDetector;
use super::pending_calls::{self, PendingCalls};
use super::recovery::{Attempts, Recovery};
use super::result::Record;
use super::select::{Input, Peeked, next_input, run_end};
use super::state::IterationState;
use super::{ContractAgent, RunConfig};
use crate::event::{Event, RunError};
use crate::generator::{Emitter, Events, stream_with};
use crate::inner::{InnerAgent, Turn};
use crate::message::{Conversation, Message};

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
    let events = stream_with({
        let record = record.clone();
        move |emitter| async move {
            let config = &agent.config;
            let queue = EventQueue::default();
            let clock = RunClock::start();
            let run = run_of(config, &turn.context);
            let observer = record.calls.observer(&queue, &clock, &turn.conversation);
            turn.context = std::mem::take(&mut turn.context)
                .run(&run)
                .observe(observer)
                .log({
                    let queue = queue.clone();
                    move |record| queue.push_log(record)
                });
            let mut driver = RunDriver {
                config,
                policy: run.chosen_policy(),
                run,
                out: Output { emitter, record },
                turn,
                queue,
                state: IterationState::default(),
                loop_detector: LoopDetector::default(),
                attempts: Attempts::default(),
                clock,
                calls: PendingCalls::default(),
                requests: Vec::new(),
                events: 0,
                answer_buffer: AnswerBuffer::default(),
            };
            if let ControlFlow::Break(Some(error)) = driver.run(&agent.inner).await {
                driver.emit_remaining().await;
                driver.out.emit(Event::Error { error }).await;
            }
        }
    });
    (events, record)
}

/// The run as dispatch sees it, inside of the one that its context may have already.
fn run_of(config: &RunConfig, context: &Context) -> Run {
    let mut run = Run::new().observe(config.observer.clone());
    if config.recovery == Recovery::Terminate {
        run = run.stop_after_violation();
    }
    if let Some(policy) = config.policy {
        run = run.policy(policy);
    }
    if let Some(approver) = config.approver.clone() {
        run = run.approver(move |request| approver(request));
    }
    run.within(context)
}

pub(super) struct Output {
    emitter: Emitter,
    pub(super) record: Record,
}

impl Output {
    pub(super) async fn emit(&self, event: Event) {
        self.record.event(&event);
        self.emitter.emit(event).await;
    }
}

/// The most events of one step; the longest replies have some ten thousand pieces.
const MOST_EVENTS: u64 = 100_000;

/// Drives one run. `ControlFlow::Break` ends it, with the error that ended it or without.
pub(super) struct RunDriver<'a> {
    pub(super) config: &'a RunConfig,
    /// The agent's own, or that of the run around this one.
    pub(super) policy: Option<Policy>,
    pub(super) run: Run,
    pub(super) out: Output,
    pub(super) turn: Turn,
    queue: EventQueue,
    pub(super) state: IterationState,
    loop_detector: LoopDetector,
    pub(super) attempts: Attempts,
    pub(super) clock: RunClock,
    calls: PendingCalls,
    /// What calls have asked that nobody could answer.
    requests: Vec<ApprovalRequest>,
    /// Since the step began.
    events: u64,
    pub(super) answer_buffer: AnswerBuffer,
}

impl RunDriver<'_> {
    async fn run(&mut self, inner: &impl InnerAgent) -> ControlFlow<Option<RunError>> {
        self.judge_task().await?;
        let mut events = inner.stream(self.turn.clone());
        let mut peeked = Peeked::Nothing;
        let mut end = pin!(run_end(&self.turn.context));
        loop {
            match next_input(
                &self.queue,
                &mut events,
                &mut peeked,
                &self.turn,
                end.as_mut(),
            )
            .await
            {
                Input::Queued(event) => self.handle_queued(event).await?,
                Input::Request => {
                    self.end_where_asked()?;
                    self.judge_request().await?;
                }
                Input::Event(Some(event)) => self.event(event).await?,
                Input::End(error) => return ControlFlow::Break(Some(error)),
                Input::Event(None) => {
                    self.end_where_asked()?;
                    return ControlFlow::Break(Some(RunError::NoAnswer));
                }
            }
        }
    }

    /// Something happened inside a call.
    async fn handle_queued(&mut self, event: QueuedEvent) -> ControlFlow<Option<RunError>> {
        match event {
            QueuedEvent::Check(check) => self.out.emit(Event::ContractCheck { check }).await,
            QueuedEvent::Violation(violation) => {
                let violation = Box::new(self.redacted(&violation));
                self.out.emit(Event::ContractViolation { violation }).await;
            }
            QueuedEvent::Entered {
                call_id,
                tool,
                arguments,
            } => {
                if let Some(call) = self.calls.entered(&call_id, &tool, &arguments) {
                    self.out.emit(Event::Action { call }).await;
                }
            }
            QueuedEvent::Log {
                call_id,
                tool,
                level,
                message,
            } => {
                let event = Event::Log {
                    call_id,
                    tool,
                    level,
                    message,
                };
                self.out.emit(event).await;
            }
            QueuedEvent::Omitted {
                checks,
                violations,
                messages,
            } => {
                let event = Event::Omitted {
                    checks,
                    violations,
                    messages,
                };
                self.out.emit(event).await;
            }
            // The model reads the violation as the outcome of its call.
            QueuedEvent::Ended(violation) => return self.recover(&violation, None).await,
            // The model has read the outcome of the call, and can do nothing about what came after it.
            QueuedEvent::Late(violation) => return self.end_run(&violation),
            QueuedEvent::Asked(request) => {
                self.out.emit(Event::ApprovalRequested { request }).await;
            }
            QueuedEvent::Answered { request, decision } => {
                let event = Event::ApprovalAnswered {
                    request: request.id,
                    call_id: request.call_id,
                    decision,
                };
                self.out.emit(event).await;
            }
            QueuedEvent::Outcome(number) => {
                if let Some(request) = self.out.record.calls.request(number) {
                    self.requests.push(request.clone());
                    self.out.emit(Event::ApprovalRequested { request }).await;
                }
                if let Some((call, end)) = self.out.record.calls.outcome(number)
                    && let Some(outcome) = self.calls.over(&call)
                {
                    self.emit_outcome(outcome, observation(call, end)).await;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// There is nobody to ask, and every call that was made has its outcome.
    fn end_where_asked(&mut self) -> ControlFlow<Option<RunError>> {
        if self.requests.is_empty() {
            return ControlFlow::Continue(());
        }
        let requests = std::mem::take(&mut self.requests);
        ControlFlow::Break(Some(RunError::Asked { requests }))
    }

    async fn emit_outcome(&self, outcome: pending_calls::Outcome, observation: Event) {
        if let pending_calls::Outcome::WithAction(call) = outcome {
            self.out.emit(Event::Action { call }).await;
        }
        self.out.emit(observation).await;
    }

    /// Emits what had happened inside calls when the run ended. Calls that never reached their bodies are left out, and the
    /// outcome of one that broke a contract is its violation.
    async fn emit_remaining(&mut self) {
        for event in self.queue.drain() {
            match event {
                QueuedEvent::Ended(_) | QueuedEvent::Late(_) => {}
                QueuedEvent::Outcome(number) => {
                    if let Some((call, end)) = self.out.record.calls.outcome(number)
                        && end.status != Status::Violation
                        && let Some(pending_calls::Outcome::Alone) = self.calls.over(&call)
                    {
                        self.out.emit(observation(call, end)).await;
                    }
                }
                // None of what is left decides anything.
                event => {
                    let _ = self.handle_queued(event).await;
                }
            }
        }
    }

    /// Something happened in the inner agent.
    async fn event(&mut self, event: Event) -> ControlFlow<Option<RunError>> {
        let begins = self.state.begins_step(&event);
        if begins {
            // An inner agent of somebody's own may not say when it asks the model.
            self.end_where_asked()?;
        }
        self.state.note(&event, self.clock.elapsed());
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
            self.out.record.calls.begin_step();
            let most = self.config.max_steps;
            if self.state.replies() > most {
                return ControlFlow::Break(Some(RunError::TooManySteps { most }));
            }
            self.judge_step().await?;
        } else {
            // An inner agent of somebody's own may not say when it asks the model.
            self.state.estimated_prompt_chars = self.turn.conversation.characters();
        }
        match event {
            Event::TextDelta { .. } | Event::Thought { .. } if self.may_reject_an_answer() => {
                if self.answer_buffer.contains_thought() {
                    self.flush_answer_buffer().await;
                }
                self.answer_buffer.push(event);
            }
            Event::Action { call } => {
                self.flush_answer_buffer().await;
                let step = self.state.iterations;
                if let Some((pattern, repeated)) =
                    self.loop_detector.record(self.config.loops, &call, step)
                {
                    self.out
                        .emit(Event::LoopDetected { pattern, repeated })
                        .await;
                    return match self.state.answer_of_results() {
                        Some(text) if self.config.loops.answers => {
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
                self.flush_answer_buffer().await;
                if let Some(outcome) = self.calls.observed(call_id, tool) {
                    self.emit_outcome(outcome, event).await;
                }
            }
            Event::Answer { text } => return self.answer(text).await,
            Event::Error { error } => {
                if self.answer_buffer.contains_thought() {
                    self.flush_answer_buffer().await;
                }
                return ControlFlow::Break(Some(error));
            }
            Event::Retry { .. } => {
                // Pieces of a reply that was of no use.
                self.answer_buffer.clear();
                self.out.emit(event).await;
            }
            other => self.out.emit(other).await,
        }
        ControlFlow::Continue(())
    }

    /// What was kept back turned out to be no part of an answer.
    async fn flush_answer_buffer(&mut self) {
        for event in self.answer_buffer.drain() {
            self.out.emit(event).await;
        }
    }
}

fn observation(call: ToolCall, end: CallEnd) -> Event {
    Event::Observation {
        call_id: call.id,
        tool: call.name,
        status: end.status,
        effect: end.effect,
        text: end.text,
    }
}
