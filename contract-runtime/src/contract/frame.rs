//! One execution of a contracted function: it judges the conditions and keeps counts and the policy.
//!
//! Code that is generic over a closure is compiled again for each condition. So neighbouring conditions are a few lines of one
//! closure that is passed as a pointer, and everything else is compiled once. The functions marked `inline` are small enough to be
//! inlined into the contracted function, where the pointer is known and the indirect call disappears.

mod report;

pub use report::assert;
pub(crate) use report::log;

use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::mem::{forget, replace, take};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::approval::OpenQuestions;
use super::bounds::Checked;
use super::condition::{Condition, ConditionKind, Contract, ContractOf};
use super::counts::Counts;
use super::details::Details;
use super::history::{CallPlace, Unanswered};
use super::observer::{self, CheckEvent};
use super::policy::{self, Policy, PolicyOrigin, Resolved};
use super::scope::{ContractScope, Phase as CallPhase, PhaseOnUnwind, Scope};
use super::thread::{self, Judging};
use super::violation::{Detection, Violation};

/// `--cfg contract_strip` removes every check and leaves the types checked.
const STRIPPED: bool = cfg!(contract_strip);

/// The policy where conditions are nested too deeply to be judged while a panic unwinds.
const NOT_JUDGED: Resolved = Resolved {
    policy: Policy::Ignore,
    origin: PolicyOrigin::Override,
};

/// Neighbouring conditions as one closure. Without details it judges those that the pass wants, and stops at the first that does
/// not hold. With details it fills in those of the condition that the pass has reached.
pub type Neighbours<'n> = &'n dyn Fn(&Pass, Option<&mut Details<'_>>) -> Checked;

/// Which of the neighbouring conditions are judged, and which one was reached last.
#[derive(Debug)]
pub struct Pass {
    /// The only one that is judged; `None` for all of them.
    only: Option<usize>,
    reached: Cell<usize>,
}

impl Pass {
    #[inline]
    const fn new(only: Option<usize>, reached: usize) -> Self {
        let reached = Cell::new(reached);
        Self { only, reached }
    }

    /// Goes on to the next condition. Returns false if the pass skips it.
    #[must_use]
    #[inline]
    pub fn reaches(&self, place: usize) -> bool {
        let is_wanted = self.only.is_none_or(|only| only == place);
        if is_wanted {
            self.reached.set(place);
        }
        is_wanted
    }

    /// Returns which condition was reached last.
    #[must_use]
    #[inline]
    pub fn place(&self) -> usize {
        self.reached.get()
    }
}

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

/// How a condition failed, and the sentence that it gave itself.
struct Unmet {
    detection: Detection,
    #[allow(clippy::box_collection, reason = "as the condition gave it")]
    why: Option<Box<String>>,
}

/// What a postcondition kept from before the body; `None` if the postcondition will not be judged.
#[derive(Debug)]
pub struct Kept<S>(Option<Result<S, Detection>>);

/// The state of one execution, held by the generated code.
pub type Frame = FrameOf<'static>;

/// The state of one execution under a contract that may live no longer than its tool.
#[derive(Debug)]
pub struct FrameOf<'c> {
    contract: &'c ContractOf<'c>,
    /// The scope around the function. It is empty outside of any call, and in a bare call by name until something is reported.
    scope: ContractScope,
    policy: Resolved,
    counts: Counts,
    /// The function was called by name, in a scope made for this call. Its conditions are limited by the depth of that scope; those
    /// of other functions count as nested.
    named: bool,
    only_check: bool,
    /// Whether conditions without a policy of their own are judged without an observer.
    is_quiet: bool,
    /// The open questions for a person; `None` if the tool never asks.
    open: Option<Box<OpenQuestions>>,
    phase: Phase,
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

impl Frame {
    /// A direct Rust call.
    #[must_use]
    #[inline]
    pub fn direct(contract: &'static Contract) -> Self {
        let judging = thread::begin();
        if judging && ContractScope::is_outermost() && policy::is_usual() {
            let policy = Resolved::USUAL.of_function(contract.policy);
            return Self::new(contract, policy, false, Phase::Counted);
        }
        Self::direct_otherwise(contract, judging)
    }

    /// Opens the frame of a direct call of an async function. It may wait before its body and continue on another thread, so each
    /// of its conditions is counted as nested by itself.
    #[must_use]
    pub fn direct_later(contract: &'static Contract) -> Self {
        let mut frame = Self::direct_otherwise(contract, true);
        frame.phase = Phase::Before;
        frame.is_quiet = false;
        frame
    }

    /// Opens the frame of a direct call inside of another call, in conditions nested too deeply, or under another process policy.
    #[inline(never)]
    fn direct_otherwise(contract: &'static Contract, judging: bool) -> Self {
        let scope = ContractScope::current();
        let (policy, phase) = if judging {
            let policy = scope.policy().of_function(contract.policy);
            (policy, Phase::Counted)
        } else {
            (NOT_JUDGED, Phase::Before)
        };
        Self::new(contract, policy, false, phase).within(scope)
    }
}

impl<'c> FrameOf<'c> {
    /// Opens the frame of a bare call by name, under the policy of its scope.
    #[inline]
    pub(crate) fn bare(contract: &'c ContractOf<'c>, policy: Resolved) -> Self {
        Self::new(contract, policy, true, Phase::Before)
    }

    /// Opens the frame of any other call by name. Its policy was resolved with its scope.
    pub(crate) fn named(contract: &'c ContractOf<'c>, only_check: bool) -> Self {
        let scope = ContractScope::current();
        let asks = scope.get().is_some_and(|scope| scope.asking.is_some());
        let mut frame = Self::bare(contract, scope.policy()).within(scope);
        frame.only_check = only_check;
        frame.open = asks.then(Box::default);
        frame
    }

    /// Creates a frame that reports nothing but violations.
    #[inline]
    fn new(contract: &'c ContractOf<'c>, policy: Resolved, named: bool, phase: Phase) -> Self {
        Self {
            contract,
            scope: ContractScope::EMPTY,
            policy,
            counts: Counts::default(),
            named,
            only_check: false,
            is_quiet: policy.policy != Policy::Ignore,
            open: None,
            phase,
        }
    }

    fn within(mut self, scope: ContractScope) -> Self {
        self.scope = scope;
        self.is_quiet &= !self.is_watched();
        self
    }
}

impl Drop for FrameOf<'_> {
    fn drop(&mut self) {
        self.close_otherwise();
    }
}

/// The course of an execution.
impl FrameOf<'_> {
    /// Enters the body: asks open questions, ends a check, and tells observers.
    ///
    /// # Errors
    ///
    /// [`Stop::Asked`] or [`Stop::Unasked`] for an open question, [`Stop::BeforeBody`] for a check.
    #[inline]
    pub fn enter(&mut self) -> Result<(), Stop> {
        if self.scope.get().is_some() {
            self.enter_otherwise()?;
        }
        if self.phase == Phase::Counted {
            thread::end();
        }
        self.phase = Phase::Entered;
        Ok(())
    }

    #[cold]
    fn enter_otherwise(&mut self) -> Result<(), Stop> {
        if self.open.is_some() {
            self.ask_open()?;
        }
        if self.only_check {
            return Err(Stop::BeforeBody);
        }
        if let Some(scope) = self.scope.get().filter(|_| self.named) {
            if scope.of_run && self.is_watched() {
                let entered = CheckEvent::Entered {
                    call_id: &scope.call_id,
                    tool: &scope.tool,
                    arguments: &scope.arguments,
                };
                observer::tell(Some(scope), &entered);
            }
            if let Some(place) = &scope.place {
                place.enter();
            }
        }
        Ok(())
    }

    /// Ends an execution in which everything holds.
    ///
    /// Dropping does the same, but is a function call even if there is nothing to do. So generated code calls this and forgets the frame.
    #[inline]
    pub fn close(&mut self) {
        if self.scope.get().is_some() || (self.named && self.counts != Counts::default()) {
            self.close_otherwise();
        }
    }

    #[inline(never)]
    fn close_otherwise(&mut self) {
        if self.phase == Phase::Counted {
            thread::end();
        }
        if self.phase != Phase::Entered && self.named {
            drop(PhaseOnUnwind(CallPhase::BeforeBody));
        }
        let counts = take(&mut self.counts);
        match replace(&mut self.scope, ContractScope::EMPTY).get() {
            Some(scope) => scope.count(counts),
            None if self.named => ContractScope::count_here(counts),
            None => {}
        }
    }

    /// Returns whether the caller still waits, so that what the call did may be made lasting.
    #[must_use]
    #[inline]
    pub fn is_awaited(&self) -> bool {
        let abandoned = |scope: &Scope| scope.abandoned.load(Ordering::Acquire);
        !self.named || !self.scope.get().is_some_and(abandoned)
    }

    /// Returns the place of a call by name in the history of its run.
    #[inline]
    pub(crate) fn place(&self) -> Option<&CallPlace> {
        self.scope.get().filter(|_| self.named)?.place.as_deref()
    }

    /// Returns the scope of the call, which a bare frame does not hold.
    #[cold]
    fn held(&self) -> ContractScope {
        if self.named && self.scope.get().is_none() {
            return ContractScope::current();
        }
        self.scope.clone()
    }
}

/// Judging.
impl FrameOf<'_> {
    /// Judges `count` neighbouring preconditions, beginning with the one at `first`.
    ///
    /// # Errors
    ///
    /// The violation of one that is enforced.
    #[inline]
    pub fn pre(
        &mut self,
        first: usize,
        count: usize,
        own: Option<Policy>,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        if STRIPPED {
            return Ok(());
        }
        if own.is_some() || !self.is_quiet {
            return self.pre_each(0, first, count, own, conditions);
        }
        let pass = Pass::new(None, 0);
        match self.judged(&pass, conditions) {
            Ok(()) => {
                self.counted(count);
                Ok(())
            }
            Err(unmet) => self.unmet(first, count, pass.place(), unmet, conditions),
        }
    }

    /// Reports the condition that does not hold. If that does not end the call, judges the later conditions, too.
    #[cold]
    #[inline(never)]
    fn unmet(
        &mut self,
        first: usize,
        count: usize,
        place: usize,
        unmet: Unmet,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        let next = place + 1;
        self.counted(next);
        self.fail_at(first, place, unmet, conditions)?;
        self.pre_each(next, first, count, None, conditions)
    }

    /// Judges each condition by itself, beginning with the one at `next`: because an observer is told of each, or because of its policy.
    #[cold]
    #[inline(never)]
    fn pre_each(
        &mut self,
        next: usize,
        first: usize,
        count: usize,
        own: Option<Policy>,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        (next..count).try_for_each(|place| self.evaluate(first, place, own, conditions))
    }

    /// Judges a precondition that asks a person or the history. No policy of an operator removes the question to a person.
    #[inline(never)]
    pub fn pre_or_ask(
        &mut self,
        index: usize,
        own: Option<Policy>,
        condition: Neighbours<'_>,
    ) -> Result<(), Stop> {
        let of_call = self.policy;
        if self.asks_at(index) {
            self.policy = Resolved {
                policy: own.unwrap_or(Policy::Enforce),
                origin: PolicyOrigin::Condition,
            };
        }
        let judged = if self.condition(index).is_some_and(Condition::asks_history) {
            self.evaluate_over_history(index, own, condition)
        } else {
            self.evaluate(index, 0, own, condition)
        };
        self.policy = of_call;
        judged
    }

    /// Judges a postcondition that looks at the result alone.
    ///
    /// # Errors
    ///
    /// The violation, where the condition is enforced.
    #[inline]
    pub fn post(
        &mut self,
        index: usize,
        own: Option<Policy>,
        condition: Neighbours<'_>,
    ) -> Result<(), Stop> {
        self.evaluate(index, 0, own, condition)
    }

    /// Evaluates what a postcondition needs from before the body, if it will be judged.
    #[inline]
    pub fn keep<S>(&mut self, own: Option<Policy>, keep: impl FnOnce() -> S) -> Kept<S> {
        if !self.is_active(own) {
            return Kept(None);
        }
        let Some(_judging) = self.judging() else {
            return Kept(None);
        };
        let kept = catch_unwind(AssertUnwindSafe(keep));
        Kept(Some(kept.map_err(|payload| self.retracted(payload))))
    }

    /// Returns what a postcondition kept from before the body, if it is to be judged.
    ///
    /// # Errors
    ///
    /// The violation of a condition that is enforced and could not keep what it needs.
    #[inline]
    pub fn kept<S>(
        &mut self,
        index: usize,
        own: Option<Policy>,
        kept: Kept<S>,
    ) -> Result<Option<S>, Stop> {
        if !self.reach(index, own) {
            return Ok(None);
        }
        match kept.0 {
            Some(Err(detection)) => {
                let unmet = Unmet {
                    detection,
                    why: None,
                };
                self.fail(index, unmet, &|_| {}).map(|()| None)
            }
            Some(Ok(kept)) => Ok(Some(kept)),
            None => Ok(None),
        }
    }

    /// Judges a postcondition that has what it kept.
    ///
    /// # Errors
    ///
    /// The violation, where the condition is enforced.
    #[inline]
    pub fn post_of_kept(&mut self, index: usize, condition: Neighbours<'_>) -> Result<(), Stop> {
        self.judge(index, 0, condition)
    }

    /// Counts a lookup that ends the call where it finds nothing.
    #[inline]
    pub fn look_up(&mut self, index: usize) {
        self.reach_as(index, true);
    }

    /// Begins a given that asks the history. It is an error if there is no history.
    #[inline(never)]
    pub fn ask_history(&mut self, index: usize) -> Result<(), Stop> {
        if let Some(place) = self.place() {
            place.ask();
            return Ok(());
        }
        let why = self.no_history().to_string();
        Err(self.unanswered(index, why))
    }

    /// Ends a given that asked the history. It is an error if a question had no answer.
    #[inline(never)]
    pub fn history_asked(&mut self, index: usize) -> Result<(), Stop> {
        let asked = self.place().map_or(Ok(()), CallPlace::asked);
        asked.map_err(|why| self.unanswered(index, why))
    }

    /// Evaluates one of the neighbouring conditions, unless its policy ignores it.
    #[inline]
    fn evaluate(
        &mut self,
        first: usize,
        place: usize,
        own: Option<Policy>,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        if !self.reach(first + place, own) {
            return Ok(());
        }
        self.judge(first, place, conditions)
    }

    #[allow(clippy::inline_always, reason = "else 30 instructions more")]
    #[inline(always)]
    fn judge(
        &mut self,
        first: usize,
        place: usize,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        let Some(_judging) = self.judging() else {
            return Ok(());
        };
        match self.judged(&Pass::new(Some(place), place), conditions) {
            Ok(()) => Ok(()),
            Err(unmet) => self.fail_at(first, place, unmet, conditions),
        }
    }

    /// Evaluates a precondition over the history. A question without an answer is a violation, whatever the condition returns.
    fn evaluate_over_history(
        &mut self,
        index: usize,
        own: Option<Policy>,
        condition: Neighbours<'_>,
    ) -> Result<(), Stop> {
        if !self.reach(index, own) {
            return Ok(());
        }
        // Where the call has no place in a history, a scope like its own in which no question has an answer.
        let mut nowhere = ContractScope::EMPTY;
        if self.place().is_none() {
            let mut scope = Scope::below(self.held().get());
            scope.place = Some(Arc::new(CallPlace::nowhere(self.no_history())));
            nowhere = ContractScope::new(scope);
        }
        let pass = Pass::new(Some(0), 0);
        let asking = nowhere.clone();
        let scope = nowhere.get().or(self.scope.get());
        let place = scope.and_then(|scope| scope.place.as_deref());
        if let Some(place) = place {
            place.ask();
        }
        let mut judged = asking.enter(|| self.judged(&pass, condition));
        if let Some(Err(why)) = place.map(CallPlace::asked) {
            judged = Err(Unmet {
                detection: Detection::Unanswered,
                why: Some(Box::new(why)),
            });
        }
        judged.or_else(|unmet| self.fail_at(index, 0, unmet, condition))
    }

    /// Why no question to a history has an answer in this call.
    fn no_history(&self) -> Unanswered {
        match self.held().get() {
            Some(scope) if self.named => Unanswered::NoRun {
                tool: scope.tool.to_string(),
            },
            _ => Unanswered::Direct {
                tool: self.contract.name.to_owned(),
            },
        }
    }

    /// Evaluates the conditions and catches a panic.
    #[inline]
    fn judged(&self, pass: &Pass, conditions: Neighbours<'_>) -> Result<(), Unmet> {
        let (detection, why) = match catch_unwind(AssertUnwindSafe(|| conditions(pass, None))) {
            Ok(Checked::Holds) => return Ok(()),
            Ok(Checked::Fails(why)) => (Detection::PredicateFalse, why),
            Err(payload) => (self.retracted(payload), None),
        };
        Err(Unmet { detection, why })
    }

    /// Returns how a condition that panicked failed, and takes its panic back from the scope: it is not a panic of the body.
    #[cold]
    fn retracted(&self, payload: Box<dyn Any + Send>) -> Detection {
        self.held().retracted(payload).detection()
    }

    /// Begins to judge one condition; `None` if conditions are nested too deeply while a panic unwinds already.
    #[inline]
    fn judging(&self) -> Option<Judging> {
        let is_nested = !self.named && self.phase != Phase::Counted;
        Judging::begin(is_nested)
    }

    fn condition(&self, index: usize) -> Option<&Condition> {
        self.contract.conditions.get(index)
    }

    #[inline]
    fn is_active(&self, own: Option<Policy>) -> bool {
        !STRIPPED && self.policy.of_condition(own).policy != Policy::Ignore
    }

    /// Returns whether an observer is told of each condition.
    #[inline]
    fn is_watched(&self) -> bool {
        observer::is_watched(self.scope.get())
    }

    /// Counts a condition, and returns whether its policy is to judge it.
    #[inline]
    fn reach(&mut self, index: usize, own: Option<Policy>) -> bool {
        if STRIPPED {
            return false;
        }
        if own.is_none() && self.is_quiet {
            self.counts.evaluated += 1;
            return true;
        }
        self.reach_as(index, self.is_active(own))
    }

    #[cold]
    fn reach_as(&mut self, index: usize, active: bool) -> bool {
        if !active {
            self.counts.skipped += 1;
            return false;
        }
        self.counts.evaluated += 1;
        if self.is_watched()
            && let Some(condition) = self.condition(index)
        {
            let name = self.name_of(index, condition);
            observer::tell_of_check(self.scope.get(), name, condition);
        }
        true
    }

    /// Counts this many conditions as evaluated.
    #[inline]
    fn counted(&mut self, count: usize) {
        self.counts.evaluated += u64::try_from(count).unwrap_or_default();
    }

    /// Returns the id of a condition, such as `divide.pre[0]` or `divide.assert@src/tools.rs:7:5`.
    fn name_of(&self, index: usize, condition: &Condition) -> String {
        let ContractOf { name, file, .. } = self.contract;
        let dot = if name.is_empty() { "" } else { "." };
        match condition.kind() {
            ConditionKind::Assert => {
                let (line, column) = condition.position();
                format!("{name}{dot}assert@{file}:{line}:{column}")
            }
            kind => format!("{name}{dot}{}[{index}]", kind.name()),
        }
    }
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
