//! Reports a condition that does not hold: to a person, the observers, the log and the caller.

use std::cell::Cell;
use std::slice;

use super::{ContractOf, FrameOf, Neighbours, Pass, Phase, Stop, Unmet};
use crate::contract::approval::{Asking, Question};
use crate::contract::bounds::Checked;
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::counts::Counts;
use crate::contract::details::{Details, Seen, Sentence};
use crate::contract::observer::{self, CheckEvent};
use crate::contract::panics::{guard, unless_fatal, unwind};
use crate::contract::policy::{Policy, PolicyOrigin, Resolved};
use crate::contract::question_text::QuestionText;
use crate::contract::scope::ContractScope;
use crate::contract::violation::{Blame, Detection, Location, Violation};

impl FrameOf<'_> {
    /// Reports a violation that was found elsewhere under the policy of this call.
    pub(crate) fn fail_with(&mut self, mut violation: Violation) -> Result<(), Stop> {
        if let Some(scope) = self.scope.get() {
            scope.hide_secrets(&mut violation, false);
        }
        self.scope = self.held();
        conclude(&self.scope, violation)
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
    pub(super) fn unanswered(&mut self, index: usize, why: String) -> Stop {
        self.ended(index, Detection::Unanswered, Some(why), &|_| {})
    }

    fn ended(
        &mut self,
        index: usize,
        detection: Detection,
        why: Option<String>,
        details: &dyn Fn(&mut Details<'_>),
    ) -> Stop {
        let always = Resolved {
            policy: Policy::Enforce,
            origin: PolicyOrigin::Condition,
        };
        let why = why.map(Box::new);
        self.scope = self.held();
        let seen = self.seen(details);
        let failed = self.failed(index, always, Unmet { detection, why }, seen);
        failed.err().unwrap_or(Stop::BeforeBody)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn fail_at(
        &mut self,
        first: usize,
        place: usize,
        unmet: Unmet,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        self.fail(first + place, unmet, &|seen| {
            conditions(&Pass::new(Some(place), place), Some(seen));
        })
    }

    /// Reports a condition that does not hold. It is one function for all conditions of a program; what differs is behind a pointer.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(
        &mut self,
        index: usize,
        unmet: Unmet,
        details: &dyn Fn(&mut Details<'_>),
    ) -> Result<(), Stop> {
        self.scope = self.held();
        let seen = self.seen(details);
        if unmet.detection == Detection::PredicateFalse && self.asks_at(index) {
            self.ask(index, unmet, seen);
            return Ok(());
        }
        let own = self.condition(index).and_then(Condition::policy);
        let failed = self.failed(index, self.policy.of_condition(own), unmet, seen);
        match failed {
            Err(stop) if !self.named => unless_fatal(&self.scope, stop),
            failed => failed,
        }
    }

    /// Collects the values and the message. `Display` and `Serialize` of a parameter are the author's code and may panic.
    fn seen(&self, details: &dyn Fn(&mut Details<'_>)) -> Seen {
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
        Unmet { detection, why }: Unmet,
        (values, message, _): Seen,
    ) -> Result<(), Stop> {
        let Some(condition) = self.condition(index) else {
            return Ok(());
        };
        let sentence = match why {
            Some(why) if detection == Detection::Unanswered => Sentence::without_values(*why),
            why => Sentence::of(condition, why.map(|why| *why), message),
        };
        let (line, column) = condition.position();
        let (name, kind) = (self.name_of(index, condition), condition.kind());
        let tool = match self.scope.get() {
            // The name by which the model knows the tool.
            Some(scope) if self.named => &*scope.tool,
            _ => self.contract.name,
        };
        let violation = Violation {
            id: condition.id().map(str::to_owned),
            template: sentence.template,
            message: sentence.message,
            location: Location {
                file: condition.file().unwrap_or(self.contract.file).to_owned(),
                line,
                column,
            },
            policy,
            origin,
            detection,
            blame: match kind {
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
            ..Violation::new(name, kind, tool, condition.predicate())
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

/// Collecting the questions for a person that must be answered before the body.
impl FrameOf<'_> {
    /// Adds the question of a tool that always asks.
    pub fn confirm(&mut self, write: impl FnOnce(&mut QuestionText)) {
        if !self.confirms() {
            return;
        }
        let mut text = QuestionText::default();
        // Formatting the values is the author's code and may panic.
        let written = self.scope.guard(|| write(&mut text));
        if let Some(open) = &mut self.open {
            open.confirmed = true;
            open.unwritten |= written.is_err();
        }
        self.open_question(self.confirmation(text));
    }

    fn confirmation(&self, text: QuestionText) -> Question {
        text.into_question(format!("{}.confirm", self.contract.name))
    }

    fn confirms(&self) -> bool {
        self.asking().is_some_and(|asking| asking.asks.confirm)
    }

    fn asking(&self) -> Option<&Asking> {
        self.open.as_ref()?;
        self.scope.get()?.asking.as_deref()
    }

    /// Returns whether the condition asks.
    pub(super) fn asks_at(&self, index: usize) -> bool {
        self.asking()
            .is_some_and(|asking| asking.asks.conditions.contains(&index))
    }

    /// Notes the question of a condition that does not hold.
    fn ask(&mut self, index: usize, unmet: Unmet, (_, message, question): Seen) {
        let Some(condition) = self.contract.conditions.get(index) else {
            return;
        };
        if let Some(open) = &mut self.open {
            open.unwritten |= condition.question().is_some() && question.is_none();
        }
        let text = question.unwrap_or_else(|| {
            let why = unmet.why.map(|why| *why);
            let sentence = Sentence::of(condition, why, message).message;
            let sentence = sentence.unwrap_or_else(|| condition.predicate().to_owned());
            QuestionText::of_sentence(&format!("{sentence}. Go on?"))
        });
        self.open_question(text.into_question(self.name_of(index, condition)));
    }

    fn open_question(&mut self, question: Question) {
        let approved = self
            .asking()
            .is_some_and(|asking| asking.is_approved(&question));
        match &mut self.open {
            _ if approved => self.counts.waived += 1,
            Some(open) => open.questions.push(question),
            None => {}
        }
    }

    /// Ends the execution if a question is open.
    #[cold]
    pub(super) fn ask_open(&mut self) -> Result<(), Stop> {
        let confirmed = self.open.as_ref().is_some_and(|open| open.confirmed);
        if self.confirms() && !confirmed {
            let tool = self.scope.get().map_or("", |scope| &scope.tool);
            let text = QuestionText::of_sentence(&format!("Run {tool}?"));
            self.open_question(self.confirmation(text));
        }
        match self.open.take() {
            Some(open) if open.unwritten => Err(Stop::Unasked),
            Some(open) if !open.questions.is_empty() => Err(Stop::Asked(open)),
            _ => Ok(()),
        }
    }
}

/// Counts a violation and tells the log and the observers. The error says that it ends the call.
///
/// A call that waited for a person judges its conditions again. A violation that was reported before the question is not reported
/// again.
fn conclude(scope: &ContractScope, mut violation: Violation) -> Result<(), Stop> {
    if let Some(scope) = scope.get() {
        if !scope.call_id.is_empty() {
            violation.call_id = Some(scope.call_id.clone());
        }
        let is_literal = violation.template.is_none() || violation.template == violation.message;
        scope.hide_secrets(&mut violation, is_literal);
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

/// Judges an assertion where it stands.
#[track_caller]
#[inline]
pub fn assert(
    condition: &'static Condition,
    file: &'static str,
    holds: impl Fn() -> Checked,
    details: impl FnOnce(&mut Details<'_>),
) {
    let details = Cell::new(Some(details));
    assert_of(condition, file, &|_, seen| match seen {
        None => holds(),
        Some(seen) => {
            if let Some(details) = details.take() {
                details(seen);
            }
            Checked::Holds
        }
    });
}

/// Judges an assertion as the only condition of a function that is called where it stands, under the name of the tool.
#[track_caller]
fn assert_of(condition: &'static Condition, file: &'static str, judge: Neighbours<'_>) {
    let scope = ContractScope::current();
    let contract = ContractOf {
        name: scope.get().map_or("", |scope| &*scope.tool),
        file,
        policy: None,
        conditions: slice::from_ref(condition),
        secrets: &[],
    };
    let frame = FrameOf::new(&contract, scope.policy(), false, Phase::Before);
    let mut frame = frame.within(scope.clone());
    let judged = frame.post(0, condition.policy(), judge);
    drop(frame);
    if let Err(stop) = judged {
        unwind(stop);
    }
}
