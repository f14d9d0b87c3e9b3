//! The lifecycle of a run: check the task, follow the inner agent, check its steps and its answer.

use std::collections::BTreeMap;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use contract_runtime::Policy;
use contract_runtime::approval::ApprovalRequest;
use contract_runtime::observe::Observer;
use contract_runtime::{Context, Effect, Outcome, Registry, Run, Status, ToolCall};
use tracing::{Instrument as _, Span, field};

use super::agent_run::RunEvents;
use super::calls::Stage;
use super::clock::RunClock;
use super::event_queue::{EventQueue, QueuedEvent};
use super::parent::{Parent, Report, SharedRun};
use super::recovery::Recovery;
use super::result::Record;
use super::select::{Input, Next, next_input, poll_inner, run_end};
use super::state::{IterationState, observation};
use super::typed::AnswerType;
use super::{ContractAgent, RunConfig};
use crate::event::{Event, RunError};
use crate::generator::{Emitter, stream_with};
use crate::inner::{InnerAgent, Turn, Wanted};
use crate::message::{Conversation, Message};
use crate::run_log::{self, CallEnd, CallState, PastCall, Progress, RunLog, RunState, StoreError};

/// Begins a run with a task, or without one where an earlier process left it.
pub(super) fn begin<A: InnerAgent>(
    agent: &ContractAgent<A>,
    mut state: RunState,
    context: Context,
    task: Option<String>,
    answer_type: Option<Result<AnswerType, RunError>>,
) -> RunEvents<'_> {
    let added = state.take_added();
    state.complete();
    // The ends of open calls that a new task is told belong into the log, behind what it has.
    if task.is_some() && !state.is_stored() {
        state.begin_task();
    }
    let conversation = Conversation::default();
    conversation.begin(state.messages());
    let record = Record::new(conversation.clone(), RunLog::new(state));
    let events = stream_with({
        let record = record.clone();
        move |emitter| async move {
            let config = &agent.config;
            let (answer_type, mut refused) = match answer_type {
                Some(Err(error)) => (None, Some(error)),
                typed => (typed.and_then(Result::ok), None),
            };
            // What an earlier run left in doubt is known before anything is made of the log.
            if let Err(error) = record.log.settle().await {
                refused = Some(store_error(&error));
            }
            let mut state = record.log.state();
            let (mut reply, mut known, mut ended) = (None, None, None);
            if task.is_some() {
                if state.is_stored() {
                    state.begin_task();
                }
            } else {
                ended = state.take_end();
                if ended.is_none() {
                    (reply, known) = state.take_reply().unzip();
                }
            }
            let (mut past, mut is_partial) = state.take_past();
            is_partial |= known
                .iter()
                .flat_map(BTreeMap::values)
                .any(CallState::is_lost);
            let form = task.is_none().then(|| state.form().to_owned());
            let (progress, history, decided) =
                (state.progress, state.history(), state.take_decided());
            conversation.begin(state.into_messages().into_iter().chain(added));
            let is_resumed = task.is_none();
            let mut turn = Turn::new(task.unwrap_or_default(), conversation, context);
            if is_resumed {
                turn = turn.resumed(reply);
            }
            let queue = EventQueue::default();
            let parent = Parent::of(&turn.context);
            let outer = parent.as_ref().map(|parent| &parent.run);
            let clock = RunClock::start(progress.elapsed, outer.map(|run| run.clock.clone()));
            let shared = shared(config, outer, &queue, &clock, &turn.context);
            let shows_values = shared.shows_values;
            let mut run = run_of(config, &shared, &turn.context, &record);
            let spent = IterationState::resumed(progress, &past);
            // In this process the calls may have been made in the same history, such as that of a run around both.
            let is_told = history.is_none() || history != run.history_id();
            if is_told && (is_partial || !past.is_empty() && run.has_other_calls()) {
                run = run.with_earlier_calls();
            }
            past.retain(|past| is_told && past.end.counts());
            record.log.set_history(run.history_id());
            let observer = record.calls.observer(&queue, &clock);
            let context = std::mem::take(&mut turn.context);
            turn.context = context_of_calls(context, shared, &run, observer);
            let mut driver = RunDriver {
                config,
                policy: run.chosen_policy(),
                run,
                out: Output {
                    emitter,
                    record,
                    parent,
                    verbose: config.verbose,
                },
                shows_values,
                turn,
                queue,
                state: spent,
                progress,
                past,
                is_told,
                known: known.unwrap_or_default(),
                made: (0, 0),
                decided,
                form: "",
                clock,
                answer_type,
                requests: Vec::new(),
                events: 0,
                withheld: Vec::new(),
            };
            driver
                .drive(&agent.inner, form.as_deref(), refused, ended)
                .await;
        }
    });
    RunEvents { events, record }
}

/// The context of the calls of a run.
fn context_of_calls(context: Context, shared: SharedRun, run: &Run, observer: Observer) -> Context {
    let queue = shared.queue.clone();
    context
        .log_of(&shared.log)
        .with(shared)
        .run(run)
        .observe(observer)
        .log(move |record| queue.push_log(record))
}

/// The span of a run, with the names of the `OpenTelemetry` conventions for generative AI.
fn span(config: &RunConfig) -> Span {
    let name = config.name.as_deref();
    tracing::info_span!(
        "invoke_agent",
        otel.name = name.map(|name| format!("invoke_agent {name}")),
        otel.kind = "internal",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = name,
        gen_ai.usage.input_tokens = field::Empty,
        gen_ai.usage.output_tokens = field::Empty,
        error.r#type = field::Empty,
    )
}

/// What a run shares with those that are nested in its calls: its own, or that of the run around it.
fn shared(
    config: &RunConfig,
    outer: Option<&SharedRun>,
    queue: &EventQueue,
    clock: &RunClock,
    context: &Context,
) -> SharedRun {
    let approver = config.approver.clone();
    SharedRun {
        queue: queue.clone(),
        clock: clock.clone(),
        approver: approver.or_else(|| outer?.approver.clone()),
        shows_values: config.shows_values && outer.is_none_or(|outer| outer.shows_values),
        log: Context::new().log_of(outer.map_or(context, |outer| &outer.log)),
    }
}

/// The run as dispatch sees it, inside of the one that its context may have already.
fn run_of(config: &RunConfig, shared: &SharedRun, context: &Context, record: &Record) -> Run {
    let mut run = Run::new().observe(config.observer.clone());
    if config.recovery == Recovery::Terminate {
        run = run.stop_after_violation();
    }
    if let Some(policy) = config.policy {
        run = run.policy(policy);
    }
    if let Some(approver) = shared.approver.clone() {
        let record = record.clone();
        run = run.approver(move |request| {
            let (approver, record) = (approver.clone(), record.clone());
            async move { record.decide(request, &*approver).await }
        });
    }
    let record = record.clone();
    run = run.before_call(move |call, _| {
        let record = record.clone();
        async move { record.begin(&call).await.map_err(|error| error.to_string()) }
    });
    run.within(context)
}

pub(super) struct Output {
    emitter: Emitter,
    pub(super) record: Record,
    parent: Option<Parent>,
    verbose: bool,
}

impl Output {
    /// Reports something to the run around this one, if there is one.
    pub(super) async fn report(&self, report: Report) {
        if let Some(parent) = &self.parent {
            parent.report(report).await;
        }
    }

    pub(super) async fn emit(&self, event: Event) {
        self.record.event(&event);
        if self.verbose
            && let Ok(line) = serde_json::to_string(&event)
        {
            eprintln!("{line}");
        }
        if let Some(parent) = &self.parent {
            parent.report_event(&event).await;
        }
        self.emitter.emit(event).await;
    }
}

const STOPPED: &str = "an earlier call of the same turn broke a contract";

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
    pub(super) shows_values: bool,
    queue: EventQueue,
    pub(super) state: IterationState,
    /// What the run had spent before the step.
    progress: Progress,
    /// The earlier calls that the history of the run does not have yet.
    past: Vec<PastCall>,
    /// Whether the history of the run is told of calls that the log has.
    is_told: bool,
    /// What the log knows of the calls of the stored reply.
    known: BTreeMap<usize, CallState>,
    /// How many messages the log had with the last reply, and how many calls of it were made.
    made: (usize, usize),
    /// What was decided in earlier processes, until the run remembers it.
    decided: Vec<CallState>,
    /// The form in which the inner agent reads replies.
    form: &'static str,
    pub(super) clock: RunClock,
    pub(super) answer_type: Option<AnswerType>,
    /// The requests of calls that ended as asked.
    requests: Vec<ApprovalRequest>,
    /// Since the step began.
    events: u64,
    /// The pieces of text of the last reply and its thought, until it is known whether they are part of an answer.
    pub(super) withheld: Vec<Event>,
}

impl RunDriver<'_> {
    /// Drives the run to its end, inside of its span.
    async fn drive<A: InnerAgent>(
        &mut self,
        inner: &A,
        form: Option<&str>,
        refused: Option<RunError>,
        ended: Option<Result<String, RunError>>,
    ) {
        self.note_spent();
        let span = span(self.config);
        let has_ended = ended.is_some();
        let end = match (refused, ended) {
            (Some(error), _) | (None, Some(Err(error))) => ControlFlow::Break(Some(error)),
            (None, Some(Ok(text))) => self.answered_before(text).await,
            (None, None) => self.run(inner, form).instrument(span.clone()).await,
        };
        if let ControlFlow::Break(Some(error)) = end {
            if !has_ended {
                self.emit_remaining(&error).await;
            }
            span.record("error.type", error.kind().as_deref());
            self.out.emit(Event::Error { error }).await;
        }
        let usage = self.state.usage;
        span.record("gen_ai.usage.input_tokens", usage.input_tokens);
        span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    }

    async fn run(
        &mut self,
        inner: &impl InnerAgent,
        resumed: Option<&str>,
    ) -> ControlFlow<Option<RunError>> {
        let form = inner.form();
        match resumed {
            None => self.judge_task().await?,
            Some(_) if self.out.record.log.messages() == 0 => {
                return not_resumable("it has no task yet; begin it with `run_after`");
            }
            Some(began) if !began.is_empty() && began != form => {
                return not_resumable(&format!(
                    "its replies were read as `{began}`, and this agent reads `{form}`; resume it with an agent like the one that began it"
                ));
            }
            Some(_) => {}
        }
        self.form = form;
        if let Some(answer_type) = &self.answer_type {
            self.turn.answer_schema = answer_type.of_object().cloned().map(Arc::new);
            self.turn.task.push_str(&answer_type.instruction());
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
        let step = self.out.record.calls.clone();
        step.begin(registry, &calls, self.turn.conversation.messages().len());
        let reply = self.out.record.log.messages();
        let first = if self.made.0 == reply { self.made.1 } else { 0 };
        self.made = (reply, first + calls.len());
        let known = std::mem::take(&mut self.known);
        for PastCall { call, end, .. } in std::mem::take(&mut self.past) {
            registry.remember(&call, &self.turn.context, end.status == Status::Ok);
        }
        let (known, context) = self.take_answers(registry, known).await?;
        // The model has not read the ends of calls of the same reply.
        let context = context.run(&self.run.turn());
        let mut ends: BTreeMap<usize, CallEnd> = BTreeMap::new();
        let mut outcomes: BTreeMap<usize, Outcome> = BTreeMap::new();
        let (mut made_indexes, mut made_calls) = (Vec::new(), Vec::new());
        for (index, call) in calls.into_iter().enumerate() {
            let known = known.get(&index);
            let told = known.and_then(|known| known.told(&call, step.repeatable(index).as_deref()));
            // Behind a call that broke a contract a batch starts nothing.
            let is_stopped = ends.values().any(|end| end.status == Status::Violation);
            let stopped = is_stopped.then(|| CallEnd::not_started_because(STOPPED));
            let Some(end) = told.or(stopped) else {
                made_indexes.push(index);
                let key = self.out.record.log.idempotency_key(first + index, &call);
                let context = key.map(|key| Context::new().idempotency_key(key));
                made_calls.push((call, context.unwrap_or_default()));
                continue;
            };
            outcomes.insert(index, end.outcome(&call));
            step.set_end(index, end.clone());
            if self.is_told && end.counts() {
                registry.remember(&call, &context, end.status == Status::Ok);
            }
            ends.insert(index, end);
        }
        for (index, end) in &ends {
            self.report_end(*index, end.clone()).await?;
        }
        let mut made = pin!(registry.call_all(made_calls).context(context));
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
        for (index, outcome) in made_indexes.into_iter().zip(made) {
            // One that was never begun, because another call of the reply ended the run, has no observation yet.
            let end = CallEnd::of(&outcome);
            self.report_end(index, end.clone()).await?;
            ends.insert(index, end);
            outcomes.insert(index, outcome);
        }
        // In the order of the reply, also where some of its calls had ended before.
        for (index, end) in ends {
            if let Some(call) = step.call(index) {
                self.note(&observation(call, end));
            }
        }
        ControlFlow::Continue(outcomes.into_values().collect())
    }

    /// Records the answers to what the calls of the stored reply ask, and returns the context in which the answered calls go on.
    async fn take_answers(
        &mut self,
        registry: &Registry,
        mut known: BTreeMap<usize, CallState>,
    ) -> ControlFlow<Option<RunError>, (BTreeMap<usize, CallState>, Context)> {
        let mut context = self.turn.context.clone();
        for call in std::mem::take(&mut self.decided) {
            if let Some((request, Some(decided))) = call.asked() {
                registry.remember_decision(&call.call, &context, request, &decided.decision);
            }
        }
        for (&index, call) in &mut known {
            if let Some(decided) = call.answer_in(self.turn.context.answers()) {
                call.decision = Some(decided.clone());
                self.append(run_log::Record::Decided { index, decided })
                    .await?;
            }
            if let Some((request, Some(decided))) = call.asked() {
                registry.reopen(&call.call, &context, request);
                context = context.answer(request.answer(decided.clone()));
            }
        }
        ControlFlow::Continue((known, context))
    }

    /// Appends to the log what the conversation has beyond it.
    pub(super) async fn record_messages(&self) -> ControlFlow<Option<RunError>> {
        if let Err(error) = self.out.record.log.settle().await {
            return ControlFlow::Break(Some(store_error(&error)));
        }
        let messages = self.turn.conversation.since(self.out.record.log.messages());
        if messages.is_empty() {
            return ControlFlow::Continue(());
        }
        let is_in_step = matches!(messages.last(), Some(Message::Assistant { .. }));
        let progress = if is_in_step {
            self.progress
        } else {
            self.state.progress()
        };
        let form = self.form.to_owned();
        let at = UNIX_EPOCH.elapsed().unwrap_or_default().as_millis();
        self.append(run_log::Record::Messages {
            messages,
            progress,
            form,
            at: u64::try_from(at).unwrap_or_default(),
        })
        .await
    }

    /// Records the end of a call, and emits its observation, once.
    async fn report_end(&self, index: usize, end: CallEnd) -> ControlFlow<Option<RunError>> {
        if let Some(record) = self.ending(index, end.clone()) {
            self.append(record).await?;
        }
        self.emit_observation(index, end).await;
        ControlFlow::Continue(())
    }

    /// Returns the record of the end of a call, if the log does not have it.
    fn ending(&self, index: usize, end: CallEnd) -> Option<run_log::Record> {
        let is_whole = !self.run.has_other_calls();
        self.out.record.calls.ending(index, end, is_whole)
    }

    pub(super) async fn append(&self, record: run_log::Record) -> ControlFlow<Option<RunError>> {
        match self.out.record.log.append(record).await {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(Some(store_error(&error))),
        }
    }

    /// Emits the observation of a call, once, and before it the action of one that never reached its body.
    async fn emit_observation(&self, index: usize, end: CallEnd) {
        let Some((call, before)) = self.out.record.calls.report(index, Stage::End) else {
            return;
        };
        if before == Stage::Nothing {
            let call = call.clone();
            self.out.emit(Event::Action { call }).await;
        }
        self.out.emit(observation(call, end)).await;
    }

    /// Something happened inside a call.
    async fn handle_queued(&mut self, event: QueuedEvent) -> ControlFlow<Option<RunError>> {
        match event {
            QueuedEvent::Event(Event::ContractViolation { violation }) => {
                self.emit_violation(&violation).await;
            }
            QueuedEvent::Event(event) => self.out.emit(event).await,
            QueuedEvent::Entered(index) => {
                let report = self.out.record.calls.report(index, Stage::Beginning);
                if let Some((call, _)) = report {
                    self.out.emit(Event::Action { call }).await;
                }
            }
            // The model reads the violation as the outcome of its call.
            QueuedEvent::Ended(violation) => return self.recover(&violation, None).await,
            // The model has read the outcome of the call, and can do nothing about what came after it.
            QueuedEvent::Late(violation) => return self.end_run(&violation),
            QueuedEvent::Outcome(index, asked) => {
                if let Some(message) = self.out.record.calls.unrecorded(index) {
                    return ControlFlow::Break(Some(RunError::Store { message }));
                }
                if let Some(request) = asked {
                    self.requests.push(request.clone());
                    let asked = run_log::Record::Asked {
                        index,
                        request: request.clone(),
                    };
                    self.out.emit(Event::ApprovalRequested { request }).await;
                    self.append(asked).await?;
                }
                if let Some(end) = self.out.record.calls.end(index) {
                    self.report_end(index, end).await?;
                }
            }
            QueuedEvent::Nested(report, _handled) => match report {
                Report::Request => return self.judge_nested_request().await,
                Report::Call => {
                    self.state.tool_calls += 1;
                    return self.judge_call().await;
                }
                Report::Event(event) => {
                    self.state.note_nested(&event);
                    self.note_spent();
                    self.out.emit(*event).await;
                }
            },
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
                QueuedEvent::Event(_)
                | QueuedEvent::Entered(_)
                | QueuedEvent::Nested(Report::Event(_), _) => true,
                QueuedEvent::Ended(_) | QueuedEvent::Late(_) | QueuedEvent::Nested(..) => false,
                QueuedEvent::Outcome(index, _) => {
                    let calls = &self.out.record.calls;
                    let end = calls.end(*index);
                    let is_violation = end.is_some_and(|end| end.status == Status::Violation);
                    !is_violation && calls.is_reported(*index)
                }
            };
            if is_told {
                // None of these decides anything.
                let _ = self.handle_queued(event).await;
            }
        }
        let is_late = *error == RunError::TimedOut;
        let mut ends = Vec::new();
        for (index, call) in self.out.record.calls.made() {
            let end = call.end(is_late);
            // A call that has not begun is made when the run is resumed.
            if call.has_ended() || end.effect != Effect::None {
                ends.extend(self.ending(index, end));
            }
        }
        if error.is_final() {
            let _ = self.record_messages().await;
            let (error, progress) = (error.clone(), self.state.progress());
            // One record: a run whose log has the end of a call, and not that it ended the run, would go on.
            let failed = run_log::Record::Failed {
                error,
                progress,
                ends,
            };
            let _ = self.append(failed).await;
            return;
        }
        for end in ends {
            let _ = self.append(end).await;
        }
        // A call that asks is made again when the run is resumed, and the model reads the outcome of the second call.
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
            self.out.record.calls.clear();
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
            Event::TextDelta { .. } | Event::Reasoning { .. } | Event::Thought { .. }
                if self.may_reject_an_answer() =>
            {
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

    pub(super) fn note_spent(&self) {
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

impl Drop for RunDriver<'_> {
    fn drop(&mut self) {
        self.queue.close();
    }
}

fn store_error(error: &StoreError) -> RunError {
    RunError::Store {
        message: error.to_string(),
    }
}

fn not_resumable<T>(reason: &str) -> ControlFlow<Option<RunError>, T> {
    let reason = reason.to_owned();
    ControlFlow::Break(Some(RunError::NotResumable { reason }))
}
