//! Evaluates the conditions of a run on its task, steps, calls and answer, and handles violations.

use std::ops::ControlFlow;

use contract_runtime::Policy;
use contract_runtime::Violation;
use serde_json::{Map, Value};

use super::hooks::RunCondition;
use super::parent::Report;
use super::recovery::Recovery;
use super::run::RunDriver;
use super::state::IterationState;
use crate::event::{Event, RunError};
use crate::run_log::{REFUSED, Record, Rejected};

impl RunDriver<'_> {
    pub(super) async fn judge_task(&self) -> ControlFlow<Option<RunError>> {
        let task = self.turn.task.as_str();
        for condition in &self.config.tasks {
            let values = || Map::from_iter([("task".to_owned(), Value::from(task))]);
            if let Some(violation) = self.judge(condition, task, values).await {
                return self.end_run(&violation);
            }
        }
        ControlFlow::Continue(())
    }

    pub(super) async fn judge_step(&self) -> ControlFlow<Option<RunError>> {
        self.judge_invariants(&self.state, |_| true).await
    }

    /// Judges some of the invariants. One that does not hold ends the run: there is nothing that the model could do better.
    async fn judge_invariants(
        &self,
        state: &IterationState,
        applies: impl Fn(&RunCondition<IterationState>) -> bool + Send,
    ) -> ControlFlow<Option<RunError>> {
        for condition in self.config.invariants.iter().filter(|one| applies(one)) {
            if let Some(violation) = self.judge(condition, state, || state.values()).await {
                return self.end_run(&violation);
            }
        }
        ControlFlow::Continue(())
    }

    /// Before the model is asked: what is used up already, or would be by one more step.
    pub(super) async fn judge_request(&mut self) -> ControlFlow<Option<RunError>> {
        self.state.estimated_prompt_chars = self.turn.conversation.characters();
        let most = self.config.max_steps;
        if self.state.replies() >= most {
            return ControlFlow::Break(Some(RunError::TooManySteps { most }));
        }
        let mut ahead = self.state.clone();
        ahead.iterations += 1;
        self.judge_ahead(ahead).await
    }

    /// Before the model of a nested run is asked.
    pub(super) async fn judge_nested_request(&mut self) -> ControlFlow<Option<RunError>> {
        self.state.nested_requests += 1;
        self.judge_ahead(self.state.clone()).await
    }

    /// Judges the state that a request would lead to, here and then in the run around this one.
    async fn judge_ahead(&self, mut ahead: IterationState) -> ControlFlow<Option<RunError>> {
        ahead.elapsed = self.clock.elapsed();
        // A condition that is only observed is reported when the step begins, and one that holds is not reported here.
        let policy = self.policy;
        let is_broken = |condition: &RunCondition<_>| {
            condition.at_requests
                && condition.policy(policy).0.ends_the_call()
                && condition.judge(&ahead).is_some()
        };
        self.judge_invariants(&ahead, is_broken).await?;
        self.out.report(Report::Request).await;
        ControlFlow::Continue(())
    }

    /// Whether a condition on the answer exists, so that it is withheld until judged.
    pub(super) fn may_reject_an_answer(&self) -> bool {
        let mut answers = self.config.answers.iter();
        self.answer_type.is_some()
            || answers.any(|condition| condition.policy(self.policy).0.ends_the_call())
    }

    /// Before a call, of this run or of a nested one: what can be used up by calls alone.
    pub(super) async fn judge_call(&self) -> ControlFlow<Option<RunError>> {
        let state = &self.state;
        let is_broken =
            |condition: &RunCondition<_>| condition.at_calls && condition.judge(state).is_some();
        self.judge_invariants(state, is_broken).await?;
        self.out.report(Report::Call).await;
        ControlFlow::Continue(())
    }

    pub(super) async fn answer(&mut self, text: String) -> ControlFlow<Option<RunError>> {
        let message = self.turn.take_answer();
        if let Some((violation, told)) = self.judge_answer(&text).await {
            self.withheld.clear();
            let feedback = format!("{REFUSED}{told}");
            // Behind the reply itself, which is judged again if the process ends in between.
            self.record_messages().await?;
            let conversation = &self.turn.conversation;
            let rejected = Rejected {
                answer: text,
                feedback: feedback.clone(),
                place: message.map(|place| conversation.place_in_log(place)),
                past: conversation.place_in_log(conversation.past()),
            };
            self.append(Record::Rejected { rejected }).await?;
            return self.recover(&violation, Some(feedback)).await;
        }
        // The pieces of text are the answer itself.
        for event in std::mem::take(&mut self.withheld) {
            if matches!(event, Event::Thought { .. }) {
                self.out.emit(event).await;
            }
        }
        self.record_messages().await?;
        self.answered(text).await
    }

    async fn answered(&self, text: String) -> ControlFlow<Option<RunError>> {
        let (answer, progress) = (text.clone(), self.state.progress());
        self.append(Record::Answered { answer, progress }).await?;
        self.out.emit(Event::Answer { text }).await;
        ControlFlow::Break(None)
    }

    /// An answer that is made of what tools gave, because the model is stuck.
    pub(super) async fn answer_without_the_model(
        &mut self,
        text: String,
    ) -> ControlFlow<Option<RunError>> {
        if let Some((violation, _)) = self.judge_answer(&text).await {
            return self.end_run(&violation);
        }
        self.answered(text).await
    }

    /// Gives the answer of a run that has ended again.
    pub(super) async fn answered_before(&self, text: String) -> ControlFlow<Option<RunError>> {
        if let Some((violation, _)) = self.judge_type(&text).await {
            return self.end_run(&violation);
        }
        self.out.emit(Event::Answer { text }).await;
        ControlFlow::Break(None)
    }

    /// Judges whether an answer has the type that it must have. Returns the violation and what the model is told.
    async fn judge_type(&self, text: &str) -> Option<(Violation, String)> {
        let answer_type = self.answer_type.as_ref()?;
        let mismatch = answer_type.mismatch(text);
        let condition = answer_type.condition(mismatch.as_ref());
        let violation = self.judge(&condition, text, || values(text)).await?;
        Some((violation, mismatch?.told))
    }

    /// Judges an answer. Returns the violation that keeps it back and what the model is told.
    async fn judge_answer(&self, text: &str) -> Option<(Violation, String)> {
        let mismatch = self.judge_type(text).await;
        if mismatch.is_some() {
            return mismatch;
        }
        for condition in &self.config.answers {
            if let Some(violation) = self.judge(condition, text, || values(text)).await {
                let told = violation.to_string();
                return Some((violation, told));
            }
        }
        None
    }

    /// Judges one condition of the run; the violation is one that ends something.
    async fn judge<T: ?Sized>(
        &self,
        condition: &RunCondition<T>,
        subject: &T,
        values: impl FnOnce() -> Map<String, Value>,
    ) -> Option<Violation> {
        let policy = condition.policy(self.policy);
        if policy.0 == Policy::Ignore {
            self.out.record.locked().statistics.skipped += 1;
            return None;
        }
        let check = condition.check();
        self.out.emit(Event::ContractCheck { check }).await;
        let detection = condition.judge(subject)?;
        let violation = condition.violation(detection, policy, values());
        self.emit_violation(&violation).await;
        self.run.report(&violation);
        violation.policy.ends_the_call().then_some(violation)
    }

    pub(super) async fn emit_violation(&self, violation: &Violation) {
        let violation = Box::new(self.redacted(violation));
        self.out.emit(Event::ContractViolation { violation }).await;
    }

    /// Lets the model try again, if it may.
    pub(super) async fn recover(
        &mut self,
        violation: &Violation,
        feedback: Option<String>,
    ) -> ControlFlow<Option<RunError>> {
        let Recovery::Retry { attempts, in_total } = self.config.recovery else {
            return self.ended_by(violation, true);
        };
        let (contract, step) = (violation.contract.clone(), self.state.iterations);
        let used = self.out.record.log.attempts();
        let Some(attempt) = used.next(&contract, step, attempts, in_total) else {
            return self.ended_by(violation, false);
        };
        self.append(Record::Attempt { contract, step }).await?;
        let told = self.redacted(violation).to_string();
        if let Some(feedback) = feedback {
            self.turn.add_feedback(feedback);
        }
        self.out
            .emit(Event::Retry {
                contract: violation.contract.clone(),
                attempt,
                feedback: told,
            })
            .await;
        ControlFlow::Continue(())
    }

    pub(super) fn end_run(&self, violation: &Violation) -> ControlFlow<Option<RunError>> {
        self.ended_by(violation, false)
    }

    fn ended_by(&self, violation: &Violation, terminated: bool) -> ControlFlow<Option<RunError>> {
        ControlFlow::Break(Some(RunError::Contract {
            contract: violation.contract.clone(),
            message: self.redacted(violation).to_string(),
            terminated,
        }))
    }

    /// A violation as others than the model may see it.
    fn redacted(&self, violation: &Violation) -> Violation {
        if self.shows_values {
            violation.clone()
        } else {
            violation.masked()
        }
    }
}

/// The values of a violation by an answer.
fn values(answer: &str) -> Map<String, Value> {
    Map::from_iter([("answer".to_owned(), Value::from(answer))])
}
