//! The path of a call by name: found, let in, run, concluded.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tracing::Instrument as _;
use tracing::level_filters::LevelFilter;

use super::blocking;
use super::body::{self, CallSetup, GateUse, Job};
use super::entry::Entry;
use super::inner::{CallPermit, Inner};
use crate::contract::history::CallEnd;
use crate::contract::observer::{self, CheckEvent};
use crate::contract::scope::{ContractScope, Inherited, Phase, Scope};
use crate::contract::violation::MASK;
use crate::schema::arguments::{Examined, InvalidArguments, escaped};
use crate::tool::call::Call;
use crate::tool::dynamic::Runs;
use crate::tool::failure::{Cause, Failure, FailureKind, Stopped};
use crate::tool::observe::{ObservedCall, process_observes_calls};
use crate::tool::outcome::{Effect, Ending, Notes, Outcome, OutputKind};
use crate::tool::reply::Reply;
use crate::tool::{Content, Status};

impl Inner {
    /// Makes the call of a tool that waits for nothing, or of an unknown one. It does nothing about any other.
    #[inline]
    pub(super) fn dispatch_now(&self, setup: &CallSetup<'_>) -> Option<Ending> {
        let waits = |entry: &Entry| entry.tool.runs != Runs::Here || entry.asks.any();
        let entry = setup.index.and_then(|index| self.entries.get(index));
        let passes_gate = setup.mode.gate_use != GateUse::None;
        if passes_gate
            || self.has_hooks(&setup.context)
            || entry.is_some_and(waits)
            || self.is_followed(setup)
        {
            return None;
        }
        let outer = ContractScope::inherited();
        Some(match self.admit(setup, outer.as_deref()) {
            Ok(index) => self.run_here(index, setup, outer.as_deref()),
            Err(refusal) => self.refused(refusal),
        })
    }

    /// Whether a call is made inside a span, or observers are told of it.
    #[inline]
    fn is_followed(&self, setup: &CallSetup<'_>) -> bool {
        self.is_observed(setup) || LevelFilter::current() >= LevelFilter::INFO
    }

    #[inline]
    fn is_observed(&self, setup: &CallSetup<'_>) -> bool {
        self.observer.observes_calls() || setup.context.observes_calls() || process_observes_calls()
    }

    #[inline]
    pub(super) async fn dispatch(self: &Arc<Self>, setup: &mut CallSetup<'_>) -> Ending {
        if self.is_followed(setup) {
            // Boxed, so that the future of every call stays small.
            return Box::pin(self.followed(setup)).await;
        }
        self.let_in(setup).await
    }

    #[cold]
    async fn followed(self: &Arc<Self>, setup: &mut CallSetup<'_>) -> Ending {
        let input = &setup.input;
        let span = tracing::info_span!(
            "execute_tool",
            // Both come from outside and could move the cursor of a terminal that shows the log.
            otel.name = format_args!("execute_tool {}", escaped(&input.name)),
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = %escaped(&input.name),
            gen_ai.tool.call.id = %escaped(&input.id),
            gen_ai.tool.r#type = "function",
            outcome = tracing::field::Empty,
            effect = tracing::field::Empty,
            error.r#type = tracing::field::Empty,
        );
        let followed = async {
            let entry = setup.index.map(|index| &self.entries[index]);
            let blocking = entry.is_some_and(|entry| entry.tool.runs == Runs::Blocking);
            let observed = (self.is_observed(setup) && setup.mode.is_a_call()).then(|| {
                let (call, context) = (setup.input.to_call(), &setup.context);
                let arguments =
                    entry.map_or_else(|| MASK.into(), |entry| entry.masked(&call.arguments));
                ObservedCall::begin(call, context, arguments, &self.observer, blocking)
            });
            let ending = self.let_in(setup).await;
            let Some(observed) = observed else {
                return ending;
            };
            let outcome = Outcome {
                id: setup.input.id.to_string(),
                tool: setup.input.name.to_string(),
                ending,
            };
            observed.end(&outcome);
            outcome.ending
        };
        let ending = followed.instrument(span.clone()).await;
        span.record("outcome", ending.status().name());
        span.record("effect", ending.effect.name());
        if !matches!(ending.status(), Status::Ok | Status::Asked) {
            span.record("error.type", ending.status().name());
        }
        ending
    }

    /// Refuses a call for reasons that do not depend on its tool; otherwise asks a person, if it must, and runs it.
    #[inline]
    async fn let_in(self: &Arc<Self>, setup: &mut CallSetup<'_>) -> Ending {
        let outer = ContractScope::inherited();
        if self.has_hooks(&setup.context)
            && setup.mode.is_a_call()
            && outer
                .as_ref()
                .is_none_or(|outer| outer.depth < self.limits.depth)
            && let has_passed = self.is_next_round(setup, outer.as_deref())
            && let Err(refusal) =
                Box::pin(self.ask_hooks(&setup.input, &setup.context, has_passed)).await
        {
            let ending = self.refused(refusal);
            // A caller that repeats a refused call without end can be dropped here, and other tasks can run.
            tokio::task::yield_now().await;
            return ending;
        }
        let index = match self.admit(setup, outer.as_deref()) {
            Ok(index) => index,
            Err(refusal) => return self.refused(refusal),
        };
        if self.entries[index].asks.any() && setup.mode.policy.is_none() {
            return Box::pin(self.ask_first(index, setup, outer)).await;
        }
        let _gate = self.pass_gate(setup.mode.gate_use).await;
        self.execute(index, setup, outer.as_deref()).await
    }

    /// Returns the index of the tool, or why the call is refused before its policy and its limits are looked at.
    #[inline]
    fn admit(
        &self,
        setup: &CallSetup<'_>,
        outer: Option<&Inherited>,
    ) -> Result<usize, FailureKind> {
        let CallSetup { input, context, .. } = setup;
        let (depth, most) = (outer.map_or(0, |outer| outer.depth), self.limits.depth);
        if depth >= most {
            return Err(nested_too_deep(&input.name, depth, most));
        }
        let hidden = |place| self.hides(place, context, depth) && !setup.mode.sees_all;
        let shown = |place: &usize| !hidden(*place);
        let Some(index) = setup.index.filter(shown) else {
            return Err(self.unknown(&input.name, context, depth));
        };
        let (limit, length) = (self.limits.argument_bytes, input.arguments.len());
        if length > limit {
            let invalid = InvalidArguments::too_large(limit, length);
            return Err(FailureKind::InvalidArguments(Box::new(invalid)));
        }
        if setup.mode.is_a_call()
            && let Some(history) = context.history()
            && let Err(reason) = history.take_turn(self.entries[index].tool.alone)
        {
            return Err(not_started(reason));
        }
        Ok(index)
    }

    /// Begins a call that was let in, unless its run is over, there is no room for it or it is too late.
    #[inline]
    fn begin<'c>(
        &'c self,
        index: usize,
        setup: &CallSetup<'_>,
        outer: Option<&Inherited>,
    ) -> Result<(Job, ContractScope, CallPermit<'c>), Ending> {
        let CallSetup { context, .. } = setup;
        if context.run_is_over() {
            return Err(self.refused(not_started("an earlier call of the run broke a contract")));
        }
        // Others of the batch may have run while this one waited for the gate.
        if setup
            .mode
            .gate
            .as_ref()
            .is_some_and(|gate| gate.is_broken.load(Ordering::Relaxed))
        {
            return Err(self.refused(not_started(TURN_IS_BROKEN)));
        }
        let Some(permit) = CallPermit::take(self) else {
            let limit = self.limits.calls.unwrap_or_default();
            return Err(self.refused(FailureKind::Overloaded(limit)));
        };
        let entry = &self.entries[index];
        let job = Job::new(entry, setup);
        let scope = self.scope(index, setup, outer);
        if let Some(late) = job.too_late(context) {
            return Err(self.conclude(entry, scope, Err(late), None, permit));
        }
        Ok((job, scope, permit))
    }

    #[inline]
    fn run_here(&self, index: usize, setup: &CallSetup<'_>, outer: Option<&Inherited>) -> Ending {
        let (job, mut scope, permit) = match self.begin(index, setup, outer) {
            Ok(begun) => begun,
            Err(ending) => return ending,
        };
        let entry = &self.entries[index];
        let request = job.request(self, entry, &setup.input.arguments, &setup.context);
        let start = || entry.tool.shim.call(Call::new(&request));
        let ran = body::inline(&mut scope, start);
        self.conclude(entry, scope, ran, job.conclude(), permit)
    }

    #[inline]
    pub(super) async fn execute(
        self: &Arc<Self>,
        index: usize,
        setup: &CallSetup<'_>,
        outer: Option<&Inherited>,
    ) -> Ending {
        let entry = &self.entries[index];
        if entry.tool.runs == Runs::Here {
            return self.run_here(index, setup, outer);
        }
        let CallSetup { input, context, .. } = setup;
        let (job, mut scope, permit) = match self.begin(index, setup, outer) {
            Ok(begun) => begun,
            Err(ending) => return ending,
        };
        if entry.tool.runs == Runs::Blocking {
            let handle = scope.clone();
            let thread = blocking::off_the_async_threads(self, index, job, context, scope);
            let (ran, examined) = Box::pin(thread).await;
            return self.conclude(entry, handle, ran, examined, permit);
        }
        let request = job.request(self, entry, &input.arguments, context);
        let start = || entry.tool.shim.call(Call::new(&request));
        let (token, deadline) = (context.token(), job.deadline);
        let ran = match body::later(&mut scope, start) {
            Err(ran) => ran,
            Ok(body) if token.is_none() && deadline.is_none() => body.await,
            Ok(body) => Box::pin(body::until(body, token, deadline))
                .await
                .unwrap_or_else(Err),
        };
        self.conclude(entry, scope, ran, job.conclude(), permit)
    }

    /// Turns the end of a body into the end of its call, and counts it.
    #[inline]
    fn conclude(
        &self,
        entry: &Entry,
        scope: ContractScope,
        ran: Reply,
        examined: Option<Box<Examined>>,
        permit: CallPermit<'_>,
    ) -> Ending {
        let place = scope.get().and_then(|scope| {
            scope.conclude();
            scope.place.as_deref()
        });
        let phase = match &ran {
            Err(FailureKind::Checked) => Phase::BeforeBody,
            _ => scope.phase(),
        };
        let limit = self.limits.output_chars;
        let is_clean = scope.get().is_none_or(Scope::is_clean) && examined.is_none();
        let (end, notes) = match ran {
            Ok(mut output) if is_clean => {
                cap(&mut output, limit);
                (Ok(output), None)
            }
            ran => recorded(entry, &scope, ran, limit, examined),
        };
        let effect = match &end {
            Ok(_) if phase == Phase::BeforeBody => Effect::None,
            Ok(_) => Effect::Complete,
            Err(failure) => failure.kind.effect(phase),
        };
        if let Some(place) = place {
            place.end(match (&end, effect) {
                (_, Effect::None) => CallEnd::Refused,
                (Ok(_), _) => CallEnd::Succeeded,
                (Err(_), _) => CallEnd::MayHaveRun,
            });
        }
        // The history counts bodies that were entered, also those of tools that have no effect.
        let counted = effect != Effect::None;
        let effect = if entry.read_only {
            Effect::None
        } else {
            effect
        };
        let ending = Ending {
            end,
            effect,
            counted,
            notes,
        };
        permit.conclude(ending.status());
        scope.release();
        ending
    }

    /// Counts and returns the end of a call that has not begun.
    #[cold]
    pub(super) fn refused(&self, kind: FailureKind) -> Ending {
        self.shards.count(kind.status());
        Ending::failed(kind, Phase::BeforeBody)
    }
}

pub(super) const TURN_IS_BROKEN: &str = "an earlier call of the same turn broke a contract";

pub(super) fn not_started(reason: &'static str) -> FailureKind {
    FailureKind::GivenUp(Cause::Cancelled(reason), Stopped::NotStarted)
}

/// The refusal of a tool that calls tools without end.
#[cold]
fn nested_too_deep(tool: &str, depth: usize, limit: usize) -> FailureKind {
    FailureKind::Failed(format!(
        "`{}` was not started, because {depth} calls are nested around it and the limit is {limit}; tools that call each other must come to an end",
        escaped(tool)
    ))
}

#[cold]
fn recorded(
    entry: &Entry,
    scope: &ContractScope,
    ran: Reply,
    limit: usize,
    examined: Option<Box<Examined>>,
) -> (Result<Content, Box<Failure>>, Option<Box<Notes>>) {
    let mut end = match (scope.get().and_then(Scope::recorded), ran) {
        // A recorded violation ended the call, even if code between caught its panic and returned something else.
        (Some(violation), _) => Err(FailureKind::Violation(Box::new(violation))),
        (None, Err(FailureKind::Checked)) => Ok(Content::default()),
        (None, ran) => ran,
    };
    match &mut end {
        Ok(output) => cap(output, limit),
        Err(FailureKind::InvalidArguments(invalid)) => entry.name_bounds(invalid),
        Err(FailureKind::Violation(violation)) => entry.name_demand(violation),
        Err(FailureKind::Failed(error) | FailureKind::Reported { error, .. }) => {
            cut(error, limit);
        }
        // The call was given up before its body, while a given or a question was awaited.
        Err(FailureKind::GivenUp(_, stopped @ Stopped::CutOff))
            if scope.phase() == Phase::BeforeBody =>
        {
            *stopped = Stopped::BeforeBody;
        }
        _ => {}
    }
    let observed = scope.get().map(Scope::observed).unwrap_or_default();
    if let Err(FailureKind::Violation(violation)) = &end {
        let of_run = scope.get().filter(|scope| scope.of_run);
        if let Some(scope) = of_run {
            scope.end_run();
        }
        observer::tell(of_run, &CheckEvent::Ended(violation));
    }
    let coercions = examined.map_or_else(Vec::new, |examined| examined.coercions);
    let any = !(observed.is_empty() && coercions.is_empty());
    let notes = Notes {
        observed,
        coercions,
        ..Notes::default()
    };
    (end.map_err(Into::into), any.then(|| Box::new(notes)))
}

fn cap(output: &mut Content, limit: usize) {
    // A text has at most as many characters as bytes. Most are far below the limit.
    if output.text.len() > limit && cut(&mut output.text, limit) {
        output.kind = OutputKind::Text;
    }
}

/// Keeps the head and the tail of a text that is too long, whole characters only. Returns whether it was too long.
fn cut(text: &mut String, limit: usize) -> bool {
    let total = text.chars().count();
    if total <= limit {
        return false;
    }
    let head = limit - limit / 2;
    let tail = limit / 2;
    let mut places = text.char_indices().map(|(place, _)| place);
    let behind_head = places.nth(head).unwrap_or(text.len());
    // From the end, so that what is left out is only counted.
    let before_tail = tail.checked_sub(1).and_then(|last| places.nth_back(last));
    let left_out = total - head - tail;
    *text = format!(
        "{}\n[{left_out} of {total} characters left out]\n{}",
        &text[..behind_head],
        &text[before_tail.unwrap_or(text.len())..]
    );
    true
}
