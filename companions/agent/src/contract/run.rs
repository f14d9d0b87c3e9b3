//! The lifecycle of a run: check the task, follow the inner agent, check its steps and its answer.

use std::collections::BTreeMap;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};

use contract_runtime::Policy;
use contract_runtime::approval::ApprovalRequest;
use contract_runtime::{Context, Effect, Outcome, Registry, Run, Status, ToolCall};

use super::call_log::CallEnd;
use super::clock::RunClock;
use super::event_queue::{EventQueue, QueuedEvent};
use super::recovery::{Attempts, Recovery};
use super::result::{Record, RunResult};
use super::select::{Input, Next, next_input, poll_inner, run_end};
use super::state::{IterationState, Progress};
use super::{ContractAgent, RunConfig};
use crate::event::{Event, RunError};
use crate::generator::{Emitter, Events, stream_with};
use crate::inner::{InnerAgent, Turn, Wanted};
use crate::message::Conversation;
use crate::run_log::{self, CallState, PlannedCall, RunLog, RunState};

/// Begins a run with a task, or without one where an earlier process left it.
pub(super) fn stream<A: InnerAgent>(
    agent: &ContractAgent<A>,
    mut state: RunState,
    context: Context,
    task: Option<String>,
) -> (Events<'_>, Record) {
    let (mut reply, mut known, mut answered) = (None, None, None);
    if task.is_some() {
        state.begin_task();
    } else if let Some(answer) = state.answer() {
        answered = Some(answer.to_owned());
    }
    let log = RunLog::new(state.clone());
    if task.is_none() && answered.is_none() {
        (reply, known) = state.take_reply().unzip();
    }
    let progress = state.progress;
    let conversation = Conversation::from_messages(state.into_messages());
    let record = Record::new(conversation.clone(), log);
    let is_resumed = task.is_none();
    let mut turn = Turn::new(task.unwrap_or_default(), conversation, context);
    if is_resumed {
        turn = turn.resumed(reply);
    }
    let events = stream_with({
        let record = record.clone();
        move |emitter| async move {
            let config = &agent.config;
            let queue = EventQueue::default();
            let clock = RunClock::start(progress.elapsed);
            let run = run_of(config, &turn.context, &record, is_resumed);
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
                out: Output {
                    emitter,
                    record,
                    verbose: config.verbose,
                },
                turn,
                queue,
                state: IterationState::resumed(progress),
                progress,
                known: known.unwrap_or_default(),
                attempts: Attempts::default(),
                clock,
                calls: Vec::new(),
                requests: Vec::new(),
                events: 0,
                withheld: Vec::new(),
            };
            let end = match answered {
                Some(text) => {
                    driver.note_spent();
                    driver.out.emit(Event::Answer { text }).await;
                    ControlFlow::Break(None)
                }
                None => driver.run(&agent.inner, is_resumed).await,
            };
            if let ControlFlow::Break(Some(error)) = end {
                driver.emit_remaining(&error).await;
                driver.out.emit(Event::Error { error }).await;
            }
        }
    });
    (events, record)
}

pub(super) async fn to_its_end((mut events, record): (Events<'_>, Record)) -> RunResult {
    while events.next().await.is_some() {}
    drop(events);
    record.finish()
}

/// The run as dispatch sees it, inside of the one that its context may have already.
fn run_of(config: &RunConfig, context: &Context, record: &Record, is_resumed: bool) -> Run {
    let mut run = Run::new().observe(config.observer.clone());
    if config.recovery == Recovery::Terminate {
        run = run.stop_after_violation();
    }
    if let Some(policy) = config.policy {
        run = run.policy(policy);
    }
    if let Some(approver) = config.approver.clone() {
        let record = record.clone();
        run = run.approver(move |request| {
            let (approver, record) = (approver.clone(), record.clone());
            async move { record.decide(request, &*approver).await }
        });
    }
    let log = record.log.clone();
    run = run.before_call(move |call, _| {
        let log = log.clone();
        async move { log.begin(&call).await.map_err(|error| error.to_string()) }
    });
    if is_resumed && !context.has_run() {
        run = run.with_earlier_calls();
    }
    run.within(context)
}

pub(super) struct Output {
    emitter: Emitter,
    pub(super) record: Record,
    verbose: bool,
}

impl Output {
    pub(super) async fn emit(&self, event: Event) {
        self.record.event(&event);
        if self.verbose
            && let Ok(line) = serde_json::to_string(&event)
        {
            eprintln!("{line}");
        }
        self.emitter.emit(event).await;
    }
}

/// The most events of one step; the longest replies have some ten thousand pieces.
const MOST_EVENTS: u64 = 100_000;

/// A call of a reply, and what has been reported of it.
struct OpenCall {
    call: ToolCall,
    has_action: bool,
    has_observation: bool,
    /// Whether the log has its end.
    has_record: bool,
}

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
    /// What the run had spent before the step.
    progress: Progress,
    /// What the log knows of the calls of the stored reply.
    known: BTreeMap<usize, CallState>,
    pub(super) attempts: Attempts,
    pub(super) clock: RunClock,
    /// The calls of the last reply.
    calls: Vec<OpenCall>,
    /// The requests of calls that ended as asked.
    requests: Vec<ApprovalRequest>,
    /// Since the step began.
    events: u64,
    /// The pieces of text of the last reply and its thought, until it is known whether they are part of an answer.
    pub(super) withheld: Vec<Event>,
}

impl RunDriver<'_> {
    async fn run(
        &mut self,
        inner: &impl InnerAgent,
        is_resumed: bool,
    ) -> ControlFlow<Option<RunError>> {
        if !is_resumed {
            self.judge_task().await?;
        } else if self.out.record.log.messages() == 0 {
            return not_resumable("it has no task yet; begin it with `run_after`");
        }
        let mut events = inner.stream(self.turn.clone());
        let mut end = pin!(run_end(&self.turn.context));
        loop {
            let (queue, turn) = (&self.queue, &self.turn);
            let next = next_input(queue, end.as_mut(), |task| {
                poll_inner(&mut events, turn, task)
            });
            match next.await {
                Input::Queued(event) => self.handle_queued(event).await?,
                Input::End(error) | Input::Ready(Err(error)) => {
                    return ControlFlow::Break(Some(error));
                }
                Input::Ready(Ok(Next::Event(event))) => self.event(event).await?,
                Input::Ready(Ok(Next::Wants(wanted, give))) => {
                    let outcomes = match wanted {
                        Wanted::Request => {
                            self.end_where_asked()?;
                            self.progress = self.state.progress();
                            self.record_messages().await?;
                            self.judge_request().await?;
                            Vec::new()
                        }
                        Wanted::Calls(registry, calls) => {
                            self.make(&registry, calls, end.as_mut()).await?
                        }
                    };
                    // An error says that the asker was dropped.
                    let _ = give.send(outcomes);
                }
                Input::Ready(Ok(Next::Over)) => {
                    self.end_where_asked()?;
                    return ControlFlow::Break(Some(RunError::NoAnswer));
                }
            }
        }
    }

    /// Makes the calls of a reply, and reports each when it reaches its body and when it ends.
    async fn make(
        &mut self,
        registry: &Registry,
        calls: Vec<ToolCall>,
        mut end: Pin<&mut impl Future<Output = RunError>>,
    ) -> ControlFlow<Option<RunError>, Vec<Outcome>> {
        self.record_messages().await?;
        for call in &calls {
            let call = call.clone();
            self.event(Event::Action { call }).await?;
        }
        let open = |call: &ToolCall| OpenCall {
            call: call.clone(),
            has_action: false,
            has_observation: false,
            has_record: false,
        };
        self.calls = calls.iter().map(open).collect();
        let mut outcomes: BTreeMap<usize, Outcome> = BTreeMap::new();
        let mut planned = Vec::new();
        let known = std::mem::take(&mut self.known);
        for (index, call) in calls.into_iter().enumerate() {
            let hints = registry
                .tool(&call.name)
                .map(|tool| tool.hints())
                .unwrap_or_default();
            let idempotent = hints.idempotent == Some(true);
            let end = known
                .get(&index)
                .and_then(|known| known.told(&call, idempotent));
            let Some(end) = end else {
                planned.push(PlannedCall {
                    index,
                    call,
                    read_only: hints.read_only == Some(true),
                    idempotent,
                });
                continue;
            };
            self.record_end(index, &end).await?;
            outcomes.insert(index, end.outcome(&call));
            self.out.record.calls.add_ended(
                index,
                call.clone(),
                end.clone(),
                self.turn.conversation.messages().len(),
            );
            let event = observation(call, end);
            self.note(&event);
            self.emit_observation(index, event).await;
        }
        let calls: Vec<_> = planned.iter().map(|planned| planned.call.clone()).collect();
        let indexes: Vec<_> = planned.iter().map(|planned| planned.index).collect();
        self.out.record.log.plan(planned);
        let context = self.turn.context.clone();
        let mut made = pin!(registry.call_all(calls).context(context));
        let made = loop {
            match next_input(&self.queue, end.as_mut(), |task| made.as_mut().poll(task)).await {
                Input::Queued(event) => self.handle_queued(event).await?,
                Input::End(error) => return ControlFlow::Break(Some(error)),
                Input::Ready(outcomes) => break outcomes,
            }
        };
        while let Some(event) = self.queue.next() {
            self.handle_queued(event).await?;
        }
        for (index, outcome) in indexes.into_iter().zip(made) {
            let end = CallEnd::of(&outcome);
            self.record_end(index, &end).await?;
            let call = ToolCall::new(outcome.id(), outcome.tool(), "");
            let event = observation(call, end);
            self.note(&event);
            // One that was never begun, because another call of the reply ended the run.
            self.emit_observation(index, event).await;
            outcomes.insert(index, outcome);
        }
        ControlFlow::Continue(outcomes.into_values().collect())
    }

    /// Appends to the log what the conversation has beyond it.
    pub(super) async fn record_messages(&self) -> ControlFlow<Option<RunError>> {
        let messages = self.turn.conversation.since(self.out.record.log.messages());
        if messages.is_empty() {
            return ControlFlow::Continue(());
        }
        let progress = self.progress;
        self.append(run_log::Record::Messages { messages, progress })
            .await
    }

    /// Appends the end of an open call to the log, once.
    async fn record_end(&mut self, index: usize, end: &CallEnd) -> ControlFlow<Option<RunError>> {
        let Some(open) = self.calls.get_mut(index).filter(|open| !open.has_record) else {
            return ControlFlow::Continue(());
        };
        open.has_record = true;
        let (call, end) = (open.call.clone(), end.clone());
        self.append(run_log::Record::Ended { index, call, end })
            .await
    }

    pub(super) async fn append(&self, record: run_log::Record) -> ControlFlow<Option<RunError>> {
        match self.out.record.log.append(record).await {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(Some(RunError::Store {
                message: error.to_string(),
            })),
        }
    }

    /// Emits the observation of an open call, and before it the action of one that never reached its body.
    async fn emit_observation(&mut self, place: usize, observation: Event) {
        let Some(open) = self.calls.get_mut(place) else {
            return;
        };
        if std::mem::replace(&mut open.has_observation, true) {
            return;
        }
        if !std::mem::replace(&mut open.has_action, true) {
            let call = open.call.clone();
            self.out.emit(Event::Action { call }).await;
        }
        self.out.emit(observation).await;
    }

    /// The open call that dispatch reports to have ended. Calls that are equal in everything need not be told apart.
    fn ended(&self, call: &ToolCall) -> Option<usize> {
        let found = |has_action| {
            let is_it = |open: &OpenCall| {
                !open.has_observation && open.has_action == has_action && open.call == *call
            };
            self.calls.iter().position(is_it)
        };
        found(true).or_else(|| found(false))
    }

    /// Something happened inside a call.
    async fn handle_queued(&mut self, event: QueuedEvent) -> ControlFlow<Option<RunError>> {
        match event {
            QueuedEvent::Event(Event::ContractViolation { violation }) => {
                self.emit_violation(&violation).await;
            }
            QueuedEvent::Event(event) => self.out.emit(event).await,
            QueuedEvent::Entered(call) => {
                let is_it = |open: &&mut OpenCall| !open.has_action && open.call == call;
                if let Some(open) = self.calls.iter_mut().find(is_it) {
                    open.has_action = true;
                    self.out.emit(Event::Action { call }).await;
                }
            }
            // The model reads the violation as the outcome of its call.
            QueuedEvent::Ended(violation) => return self.recover(&violation, None).await,
            // The model has read the outcome of the call, and can do nothing about what came after it.
            QueuedEvent::Late(violation) => return self.end_run(&violation),
            QueuedEvent::Outcome(call, end, asked) => {
                if let Some(request) = asked {
                    self.requests.push(request.clone());
                    self.out.emit(Event::ApprovalRequested { request }).await;
                }
                if let Some(place) = self.ended(&call) {
                    self.record_end(place, &end).await?;
                    self.emit_observation(place, observation(call, end)).await;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Ends the run if a call has asked and there is no approver. Every call that was made has its outcome by now.
    fn end_where_asked(&mut self) -> ControlFlow<Option<RunError>> {
        if self.requests.is_empty() {
            return ControlFlow::Continue(());
        }
        let requests = std::mem::take(&mut self.requests);
        ControlFlow::Break(Some(RunError::Asked { requests }))
    }

    /// Emits what had happened inside calls when the run ended. Calls that never reached their bodies are left out, and the
    /// outcome of one that broke a contract is its violation.
    async fn emit_remaining(&mut self, error: &RunError) {
        while let Some(event) = self.queue.next() {
            let is_told = match &event {
                QueuedEvent::Event(_) | QueuedEvent::Entered(_) => true,
                QueuedEvent::Ended(_) | QueuedEvent::Late(_) => false,
                QueuedEvent::Outcome(call, end, _) => {
                    let place = self.ended(call);
                    if let Some(place) = place {
                        let _ = self.record_end(place, end).await;
                    }
                    let open = place.and_then(|place| self.calls.get(place));
                    end.status != Status::Violation && open.is_some_and(|open| open.has_action)
                }
            };
            if is_told {
                // None of these decides anything.
                let _ = self.handle_queued(event).await;
            }
        }
        let is_late = *error == RunError::TimedOut;
        for logged in self.out.record.calls.all() {
            let end = logged.end(is_late);
            let is_it = |open: &OpenCall| !open.has_record && logged.is(&open.call);
            // A call that has not begun is made when the run goes on.
            if end.effect != Effect::None
                && let Some(place) = self.calls.iter().position(is_it)
            {
                let _ = self.record_end(place, &end).await;
            }
        }
        // A call that asks is made again when the run goes on, and the model reads the outcome of that one.
        if !matches!(error, RunError::Asked { .. }) {
            let _ = self.record_messages().await;
        }
    }

    /// Something happened in the inner agent.
    async fn event(&mut self, event: Event) -> ControlFlow<Option<RunError>> {
        let begins = self.state.begins_step(&event);
        if begins {
            // Another implementation of an inner agent may not announce its requests.
            self.end_where_asked()?;
            self.progress = self.state.progress();
            if self.turn.has_stored_reply() {
                return not_resumable(
                    "its inner agent asked the model instead of taking the stored reply; it has to call `Turn::stored_reply`",
                );
            }
        }
        self.note(&event);
        self.events = if begins { 0 } else { self.events + 1 };
        if self.events > MOST_EVENTS {
            return ControlFlow::Break(Some(RunError::EndlessStep {
                events: MOST_EVENTS,
            }));
        }
        if begins {
            self.out.record.calls.begin_step();
            let most = self.config.max_steps;
            if self.state.replies() > most {
                return ControlFlow::Break(Some(RunError::TooManySteps { most }));
            }
            self.judge_step().await?;
        } else {
            // Another implementation of an inner agent may not announce its requests.
            self.state.estimated_prompt_chars = self.turn.conversation.characters();
        }
        match event {
            Event::TextDelta { .. } | Event::Thought { .. } if self.may_reject_an_answer() => {
                self.emit_withheld_reply().await;
                self.withheld.push(event);
            }
            Event::Action { .. } => {
                self.emit_withheld().await;
                if let Some((pattern, repeated)) = self.config.loops.found(&self.state) {
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
            }
            // An inner agent makes no calls of its own.
            Event::Observation { .. } => {}
            Event::Answer { text } => return self.answer(text).await,
            Event::Error { error } => {
                self.emit_withheld_reply().await;
                return ControlFlow::Break(Some(error));
            }
            Event::Retry { .. } => {
                // Pieces of a reply that was of no use.
                self.withheld.clear();
                self.out.emit(event).await;
            }
            other => self.out.emit(other).await,
        }
        ControlFlow::Continue(())
    }

    fn note(&mut self, event: &Event) {
        self.state.note(event, self.clock.elapsed());
        self.note_spent();
    }

    fn note_spent(&self) {
        let mut noted = self.out.record.locked();
        noted.iterations = self.state.iterations;
        noted.usage = self.state.usage;
    }

    /// Emits what was withheld: it was not part of an answer.
    async fn emit_withheld(&mut self) {
        for event in std::mem::take(&mut self.withheld) {
            self.out.emit(event).await;
        }
    }

    /// Emits what was withheld if it is a whole reply, which its thought ends.
    async fn emit_withheld_reply(&mut self) {
        let is_thought = |event: &Event| matches!(event, Event::Thought { .. });
        if self.withheld.iter().any(is_thought) {
            self.emit_withheld().await;
        }
    }
}

fn not_resumable<T>(reason: &str) -> ControlFlow<Option<RunError>, T> {
    let reason = reason.to_owned();
    ControlFlow::Break(Some(RunError::NotResumable { reason }))
}

fn observation(call: ToolCall, end: CallEnd) -> Event {
    Event::Observation {
        call_id: call.id,
        tool: call.name,
        status: end.status,
        effect: end.effect,
        text: end.text,
        value: end.value,
    }
}
