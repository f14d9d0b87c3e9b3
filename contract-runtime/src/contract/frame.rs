//! One execution of a contracted function: it judges the conditions and keeps counts and the policy.

mod asking;
mod kept;
mod opened;
mod over_history;
mod pass;

pub use kept::{Kept, keep, look};
pub use pass::{Neighbours, Pass};

use std::any::Any;
use std::future::Future;
use std::mem::{forget, replace, take};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use super::approval::{OpenQuestions, QuestionText};
use super::condition::{Condition, ConditionKind, ContractOf};
use super::condition_result::Checked;
use super::counts::{Counts, Reached};
use super::details::{Details, Sentence};
use super::nesting::Judging;
use super::observer::{self, CheckEvent};
use super::panics::guard;
use super::policy::{Policy, PolicyOrigin, Resolved};
use super::scope::{ContractScope, Scope};
use super::unwind::unless_fatal;
use super::values::Values;
use super::violation::{Blame, Detection, Location, Violation};

/// `--cfg contract_strip` removes every check and leaves the types checked.
const STRIPPED: bool = cfg!(contract_strip);

/// Why a contracted function did not return a result.
#[derive(Debug)]
pub enum Stop {
    /// A condition that is enforced does not hold.
    Violation(Box<Violation>),
    /// Everything before the body holds, and the call was a check.
    BeforeBody,
    /// A person must be asked first.
    Asked(Box<OpenQuestions>),
    /// A person would have to be asked, and the question cannot be put into words.
    Unasked,
}

/// The condition cannot be judged: conditions are nested too deeply, and a panic unwinds already.
struct NotJudged;

/// The state of one execution, held by the generated code.
pub type Frame = FrameOf<'static>;

/// The state of one execution under a contract that may live no longer than its tool.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a state of its own")]
pub struct FrameOf<'c> {
    contract: &'c ContractOf<'c>,
    /// The scope around the function. It is empty in a bare call by name, whose scope is the current one.
    pub(super) scope: ContractScope,
    policy: Resolved,
    counts: Reached,
    /// The function was called by name, in a scope made for this call.
    named: bool,
    only_check: bool,
    /// Whether conditions without a policy of their own are judged without an observer.
    is_quiet: bool,
    /// Whether there is nothing to do but to judge the conditions: no scope is held, no question is open.
    is_plain: bool,
    /// The open questions for a person; `None` if the tool never asks.
    open: Option<Box<OpenQuestions>>,
    phase: Phase,
    /// Whether its conditions count as nested conditions; a call by name is limited by its depth instead.
    is_nested: bool,
}

/// How far an execution has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before the body.
    Before,
    /// Before the body, and counted as a nested condition.
    Counted,
    /// The body has begun.
    Entered,
}

impl Drop for FrameOf<'_> {
    fn drop(&mut self) {
        self.close_otherwise();
    }
}

impl FrameOf<'_> {
    /// Ends an execution in which everything holds.
    ///
    /// Dropping does the same, but is a function call even if there is nothing to do. So generated code calls this and forgets the frame.
    #[inline]
    pub fn close(&mut self) {
        let counts = self.named && self.counts != Reached::default();
        if counts || !self.is_plain {
            self.close_otherwise();
        }
    }

    #[inline(never)]
    fn close_otherwise(&mut self) {
        if self.phase != Phase::Entered {
            self.never_entered();
        }
        let counts = take(&mut self.counts).into();
        match replace(&mut self.scope, ContractScope::EMPTY).get() {
            Some(scope) => scope.count(counts),
            None if self.named => ContractScope::count_here(counts),
            None => {}
        }
        self.open = None;
    }

    /// Stores the current scope in a bare frame, before something is reported.
    #[cold]
    fn hold(&mut self) {
        if self.named && self.scope.get().is_none() {
            self.scope = ContractScope::current();
            self.is_plain = false;
        }
    }

    /// Returns how a condition that panicked failed, and takes its panic back from the scope: it is not a panic of the body.
    #[cold]
    fn retracted(&mut self, payload: Box<dyn Any + Send>) -> Detection {
        self.hold();
        self.scope.retracted(payload).detection()
    }
}

impl FrameOf<'_> {
    fn policy_of(&self, index: usize) -> Resolved {
        let own = self
            .contract
            .conditions
            .get(index)
            .and_then(Condition::policy);
        self.policy.of_condition(own)
    }

    #[inline]
    fn active(&self, own: Option<Policy>) -> bool {
        !STRIPPED && self.policy.of_condition(own).policy != Policy::Ignore
    }

    /// Returns whether an observer is told of each condition.
    #[inline]
    fn is_watched(&self) -> bool {
        observer::is_watched(self.scope.get())
    }

    /// Returns whether the caller still waits, so that what the call did may be made lasting.
    #[must_use]
    #[inline]
    pub fn is_awaited(&self) -> bool {
        let abandoned = |scope: &Scope| scope.abandoned.load(Ordering::Acquire);
        !self.named || !self.scope.get().is_some_and(abandoned)
    }

    /// Begins to judge one condition, which counts as nested.
    #[inline]
    fn judge_one(&self) -> Result<Option<Judging>, NotJudged> {
        if !self.is_nested {
            return Ok(None);
        }
        match Judging::begin() {
            None => Err(NotJudged),
            judging => Ok(judging),
        }
    }

    /// Evaluates what a postcondition needs from before the body, if it will be judged.
    #[inline]
    pub fn keep<S>(&mut self, own: Option<Policy>, keep: impl FnOnce() -> S) -> Kept<S> {
        if !self.active(own) {
            return Kept(None);
        }
        let Ok(_judging) = self.judge_one() else {
            return Kept(None);
        };
        let kept = catch_unwind(AssertUnwindSafe(keep));
        Kept(Some(kept.map_err(|payload| self.retracted(payload))))
    }

    #[inline]
    pub(super) fn reach(&mut self, index: usize, own: Option<Policy>) -> bool {
        if STRIPPED {
            return false;
        }
        if own.is_none() && self.is_quiet {
            self.counts.evaluated += 1;
            return true;
        }
        self.reach_as(index, self.active(own))
    }

    #[cold]
    fn reach_as(&mut self, index: usize, active: bool) -> bool {
        if active {
            self.counts.evaluated += 1;
            if self.is_watched() {
                self.tell_of_check(index);
            }
        } else {
            self.counts.skipped += 1;
        }
        active
    }

    /// Counts this many conditions as evaluated.
    #[inline]
    fn evaluate(&mut self, count: usize) {
        self.counts.evaluated += u32::try_from(count).unwrap_or_default();
    }

    #[cold]
    fn tell_of_check(&self, index: usize) {
        let Some(condition) = self.contract.conditions.get(index) else {
            return;
        };
        let name = self.name_of(index, condition);
        observer::tell_of_check(self.scope.get(), name, condition);
    }

    #[cold]
    fn tell_of_body(&self) {
        if let Some(scope) = self.scope.get().filter(|scope| self.named && scope.of_run) {
            let entered = CheckEvent::Entered {
                call_id: &scope.call_id,
                tool: &scope.tool,
                arguments: &scope.arguments,
            };
            observer::tell(Some(scope), &entered);
        }
    }

    /// Returns the id of a condition, such as `divide.pre[0]`.
    fn name_of(&self, index: usize, condition: &Condition) -> String {
        format!(
            "{}.{}[{index}]",
            self.contract.name,
            condition.kind().name()
        )
    }

    /// Reports a violation that was found elsewhere under the policy of this call.
    pub(crate) fn fail_with(&mut self, mut violation: Violation) -> Result<(), Stop> {
        if let Some(scope) = self.scope.get() {
            scope.hide_secrets(&mut violation, false);
        }
        self.hold();
        conclude(&self.scope, violation)
    }

    /// Counts a lookup that ends the call where it finds nothing.
    #[inline]
    pub fn look_up(&mut self, index: usize) {
        self.counts.evaluated += 1;
        if self.is_watched() {
            self.tell_of_check(index);
        }
    }

    /// Ends the call because a lookup found nothing. No policy changes that, because the body cannot go on without the value.
    #[cold]
    pub fn absent(
        &mut self,
        index: usize,
        why: Option<String>,
        details: impl Fn(&mut Details<'_>),
    ) -> Stop {
        self.ended(index, Detection::PredicateFalse, why, &details)
    }

    #[cold]
    fn ended(
        &mut self,
        index: usize,
        detection: Detection,
        why: Option<String>,
        details: &dyn Fn(&mut Details<'_>),
    ) -> Stop {
        const ALWAYS: Resolved = Resolved {
            policy: Policy::Enforce,
            origin: PolicyOrigin::Condition,
        };
        self.hold();
        let (values, message, _) = self.details(details);
        let seen = (values, message);
        match self.failed(index, ALWAYS, detection, why, seen) {
            Err(stop) => stop,
            Ok(()) => Stop::BeforeBody,
        }
    }

    /// Reports a condition that does not hold. It is one function for all conditions of a program; what differs is behind a pointer.
    #[cold]
    #[inline(never)]
    #[allow(clippy::box_collection, reason = "as the condition gave it")]
    pub(super) fn fail(
        &mut self,
        index: usize,
        why: Option<Box<String>>,
        details: &dyn Fn(&mut Details<'_>),
    ) -> Result<(), Stop> {
        let why = why.map(|why| *why);
        self.fail_by(index, Detection::PredicateFalse, why, details)
    }

    /// Reports a condition that panicked.
    #[cold]
    #[inline(never)]
    pub(super) fn fail_by_panic(
        &mut self,
        index: usize,
        payload: Box<dyn Any + Send>,
        details: &dyn Fn(&mut Details<'_>),
    ) -> Result<(), Stop> {
        let detection = self.retracted(payload);
        self.fail_by(index, detection, None, details)
    }

    #[cold]
    fn fail_by(
        &mut self,
        index: usize,
        detection: Detection,
        why: Option<String>,
        details: &dyn Fn(&mut Details<'_>),
    ) -> Result<(), Stop> {
        self.hold();
        let seen = self.details(details);
        if detection == Detection::PredicateFalse && self.asks_at(index) {
            self.ask(index, why, seen);
            return Ok(());
        }
        let (values, message, _) = seen;
        let failed = self.failed(
            index,
            self.policy_of(index),
            detection,
            why,
            (values, message),
        );
        if self.named {
            return failed;
        }
        failed.or_else(|stop| unless_fatal(&self.scope, stop))
    }

    /// Collects the values and the message. `Display` and `Serialize` of a parameter are the author's code and may panic.
    fn details(&self, details: &dyn Fn(&mut Details<'_>)) -> Seen {
        let mut seen = Details::new(self.scope.get().filter(|_| self.named));
        if self.scope.guard(|| details(&mut seen)).is_err() {
            seen.leave_out_message();
        }
        seen.into_parts()
    }

    fn failed(
        &mut self,
        index: usize,
        Resolved { policy, origin }: Resolved,
        detection: Detection,
        why: Option<String>,
        (values, message): (Values, Option<String>),
    ) -> Result<(), Stop> {
        let Some(condition) = self.contract.conditions.get(index) else {
            return Ok(());
        };
        let sentence = match why {
            Some(why) if detection == Detection::Unanswered => Sentence::without_values(why),
            Some(why) => Sentence::computed(why),
            None => Sentence::of(condition, message),
        };
        let (line, column) = condition.position();
        let violation = Violation {
            contract: self.name_of(index, condition),
            id: condition.id().map(str::to_owned),
            kind: condition.kind(),
            tool: match self.scope.get() {
                // The name by which the model knows the tool.
                Some(scope) if self.named => scope.tool.clone().into_owned(),
                _ => self.contract.name.to_owned(),
            },
            predicate: condition.predicate().to_owned(),
            template: sentence.template,
            demand: None,
            message: sentence.message,
            location: Location {
                file: condition.file().unwrap_or(self.contract.file).to_owned(),
                line,
                column,
            },
            policy,
            origin,
            detection,
            blame: match condition.kind() {
                // Neither the arguments nor the body can make up for a missing history.
                _ if detection == Detection::Unanswered => match self.place() {
                    Some(place) if place.is_misnamed() => Blame::Callee,
                    _ => Blame::Caller,
                },
                ConditionKind::Pre | ConditionKind::Given if self.named => Blame::Model,
                ConditionKind::Pre | ConditionKind::Given => Blame::Caller,
                _ => Blame::Callee,
            },
            values,
            call_id: None,
        };
        let concluded = conclude(&self.scope, violation);
        if let (true, Err(Stop::Violation(violation)), Some(scope)) =
            (self.named, &concluded, self.scope.get())
        {
            // The violation ends the call even if dropping the result panics.
            scope.record((**violation).clone());
        }
        concluded
    }
}

/// The values, the message, and the question of a condition that asks.
pub(super) type Seen = (Values, Option<String>, Option<QuestionText>);

/// Counts a violation and tells the log and the observers. The error says that it ends the call.
///
/// A call that waited for a person judges its conditions again. A violation that was reported before the question is not reported
/// again.
pub(crate) fn conclude(scope: &ContractScope, mut violation: Violation) -> Result<(), Stop> {
    if let Some(scope) = scope.get().filter(|scope| !scope.call_id.is_empty()) {
        violation.call_id = Some(scope.call_id.clone());
    }
    if let Some(scope) = scope.get() {
        let Violation {
            template, message, ..
        } = &violation;
        let is_literal = template.is_none() || template == message;
        scope.hide_secrets(&mut violation, is_literal);
    }
    if let Some(scope) = scope.get() {
        let asking = scope.asking.as_deref();
        if asking.is_some_and(|asking| asking.told.contains(&violation)) {
            scope.observe(violation);
            return Ok(());
        }
        scope.count(Counts {
            violated: 1,
            ..Counts::default()
        });
    }
    log(&violation);
    if violation.policy.tells_observers() {
        observer::tell(scope.get(), &CheckEvent::Violation(&violation));
    }
    if violation.policy.ends_the_call() {
        return Err(Stop::Violation(Box::new(violation)));
    }
    if let Some(scope) = scope.get() {
        scope.observe(violation);
    }
    Ok(())
}

/// Logs a violation without any value. A subscriber that panics changes nothing.
pub(crate) fn log(violation: &Violation) {
    let _ = guard(|| {
        tracing::warn!(
            contract = %violation.contract,
            predicate = %violation.predicate,
            policy = violation.policy.name(),
            origin = violation.origin.name(),
            location = %violation.location,
            "contract violation: {}",
            violation.masked(),
        );
    });
}

/// Forgets a frame that was closed, so that it is not dropped.
#[inline]
pub fn end(frame: Frame) {
    forget(frame);
}

/// Runs the body of a contracted function, so that its `return` and `?` end only the body.
#[inline]
pub fn run<T>(body: impl FnOnce() -> T) -> T {
    body()
}

/// Returns the body as it is. It states the result type of an async body, which `?` needs.
#[inline]
pub fn run_async<T, F: Future<Output = T>>(body: F) -> F {
    body
}
