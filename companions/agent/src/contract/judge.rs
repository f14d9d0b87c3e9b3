//! Judging a run: its task, its steps, its calls and its answer, and what follows a violation.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::hooks::{Demand, Subject as _};
use super::result::{REFUSED, Rejected};
use super::run::{Flow, Life, ON};
use crate::agent::event::{Event, RunError};
use crate::contract::handler;
use crate::contract::policy::Policy;
use crate::contract::violation::Violation;

impl Life<'_> {
    pub(super) async fn judge_task(&self) -> Flow {
        let task = self.turn.task.as_str();
        for demand in &self.terms.tasks {
            let values = || Map::from_iter([("task".to_owned(), Value::from(task))]);
            if let Some(violation) = self.judge(demand, task, values).await {
                return self.ended(&violation);
            }
        }
        ON
    }

    pub(super) async fn judge_step(&self) -> Flow {
        for demand in &self.terms.invariants {
            let values = || self.state.values();
            if let Some(violation) = self.judge(demand, &self.state, values).await {
                // There is nothing that the model could do better.
                return self.ended(&violation);
            }
        }
        ON
    }

    /// Before a call: what can be used up by calls alone.
    pub(super) async fn judge_call(&self) -> Flow {
        let of_calls = |demand: &&Demand<_>| demand.at_calls;
        for demand in self.terms.invariants.iter().filter(of_calls) {
            let values = || self.state.values();
            if !demand.holds(&self.state)
                && let Some(violation) = self.judge(demand, &self.state, values).await
            {
                return self.ended(&violation);
            }
        }
        ON
    }

    pub(super) async fn answer(&mut self, text: String) -> Flow {
        let message = self.turn.take_answer();
        if let Some(violation) = self.judge_answer(&text).await {
            self.kept.forget();
            let feedback = format!("{REFUSED}{violation}");
            self.out.record.locked().rejected.push(Rejected {
                answer: text,
                feedback: feedback.clone(),
                message,
            });
            return self.recover(&violation, Some(feedback)).await;
        }
        for thought in self.kept.thoughts() {
            self.out.emit(thought).await;
        }
        self.out.emit(Event::Answer { text }).await;
        ControlFlow::Break(None)
    }

    /// An answer that is made of what tools gave, because the model is stuck.
    pub(super) async fn answer_without_the_model(&mut self, text: String) -> Flow {
        if let Some(violation) = self.judge_answer(&text).await {
            return self.ended(&violation);
        }
        self.out.emit(Event::Answer { text }).await;
        ControlFlow::Break(None)
    }

    /// The violation that keeps an answer back.
    async fn judge_answer(&self, text: &str) -> Option<Violation> {
        for demand in &self.terms.answers {
            let values = || Map::from_iter([("answer".to_owned(), Value::from(text))]);
            let violation = self.judge(demand, text, values).await;
            if violation.is_some() {
                return violation;
            }
        }
        None
    }

    /// Judges one condition of the run; the violation is one that ends something.
    async fn judge<T: ?Sized>(
        &self,
        demand: &Demand<T>,
        subject: &T,
        values: impl FnOnce() -> Map<String, Value>,
    ) -> Option<Violation> {
        let policy = demand.policy(self.policy);
        if policy.0 == Policy::Ignore {
            self.out.record.locked().statistics.skipped += 1;
            return None;
        }
        let check = demand.check();
        self.out.emit(Event::ContractCheck { check }).await;
        let detection = demand.judge(subject)?;
        let violation = demand.violation(detection, policy, values());
        self.out
            .emit(Event::ContractViolation {
                violation: Box::new(self.shown(&violation)),
            })
            .await;
        if violation.policy.tells_the_handler() {
            handler::tell(self.handler.as_ref(), &violation);
        }
        violation.policy.ends_the_call().then_some(violation)
    }

    /// Lets the model try again, if it may.
    pub(super) async fn recover(
        &mut self,
        violation: &Violation,
        feedback: Option<String>,
    ) -> Flow {
        let step = self.state.iterations;
        let tries = &mut self.tries;
        let Some(attempt) = tries.next(self.terms.recovery, &violation.contract, step) else {
            return self.ended(violation);
        };
        let told = self.shown(violation).to_string();
        if let Some(feedback) = feedback {
            self.turn.tell(feedback);
        }
        self.out
            .emit(Event::Retry {
                contract: violation.contract.clone(),
                attempt,
                feedback: told,
            })
            .await;
        ON
    }

    pub(super) fn ended(&self, violation: &Violation) -> Flow {
        ControlFlow::Break(Some(RunError::Contract {
            contract: violation.contract.clone(),
            message: self.shown(violation).to_string(),
        }))
    }

    /// A violation as others than the model may see it.
    pub(super) fn shown(&self, violation: &Violation) -> Violation {
        if self.terms.shows_values {
            violation.clone()
        } else {
            violation.masked()
        }
    }
}
