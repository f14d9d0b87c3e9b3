//! Collects the questions for a person that must be answered before the body.

use super::{FrameOf, Neighbours, Seen, Stop};
use crate::contract::approval::{Asking, Question, QuestionText};
use crate::contract::details::Sentence;
use crate::contract::policy::{Policy, PolicyOrigin, Resolved};

impl FrameOf<'_> {
    /// Judges a precondition that asks. No policy of an operator removes the question.
    #[inline(never)]
    pub fn pre_or_ask(
        &mut self,
        index: usize,
        own: Option<Policy>,
        condition: Neighbours<'_>,
    ) -> Result<(), Stop> {
        let resolved = self.unweakened(index, own);
        let judged = self.pre(index, 1, own, condition);
        self.policy = resolved;
        judged
    }

    /// Sets the policy of a condition that asks, and returns the policy of the call, which the caller restores.
    #[inline]
    pub(super) fn unweakened(&mut self, index: usize, own: Option<Policy>) -> Resolved {
        let resolved = self.policy;
        if self.asks_at(index) {
            self.policy = Resolved {
                policy: own.unwrap_or(Policy::Enforce),
                origin: PolicyOrigin::Condition,
            };
        }
        resolved
    }

    /// Adds the question of a tool that always asks.
    pub fn confirm(&mut self, write: impl FnOnce(&mut QuestionText)) {
        let confirms = self.asking().is_some_and(|asking| asking.asks.confirm);
        if !confirms {
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
    #[cold]
    pub(super) fn ask(&mut self, index: usize, why: Option<String>, seen: Seen) {
        let Some(condition) = self.contract.conditions.get(index) else {
            return;
        };
        let (_, message, question) = seen;
        if let Some(open) = &mut self.open {
            open.unwritten |= condition.question().is_some() && question.is_none();
        }
        let text = question.unwrap_or_else(|| {
            let sentence = match why {
                Some(why) => Sentence::computed(why),
                None => Sentence::of(condition, message),
            };
            let sentence = sentence.message;
            let sentence = sentence.unwrap_or_else(|| condition.predicate().to_owned());
            QuestionText::of_sentence(&format!("{sentence}. Go on?"))
        });
        let contract = self.name_of(index, condition);
        self.open_question(text.into_question(contract));
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
        let confirms = self.asking().is_some_and(|asking| asking.asks.confirm);
        let confirmed = self.open.as_ref().is_some_and(|open| open.confirmed);
        if confirms && !confirmed {
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
