//! What calls have shown of conditions, of any function.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contract_runtime::ConditionKind;
use contract_runtime::observe::{CheckEvent, Observer};
use parking_lot::Mutex;

/// What calls have shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Coverage {
    /// The conditions that were evaluated.
    judged: BTreeSet<String>,
    /// How often each precondition was evaluated, and how often it was false.
    preconditions: BTreeMap<String, (u32, u32)>,
    /// How often the body of each tool was entered.
    entered: BTreeMap<String, u32>,
}

impl Coverage {
    /// An observer that counts here.
    pub(super) fn observer(coverage: &Arc<Mutex<Self>>) -> Observer {
        let coverage = Arc::clone(coverage);
        Observer::new().events(move |event| coverage.lock().note(&event))
    }

    fn note(&mut self, event: &CheckEvent<'_>) {
        match event {
            CheckEvent::Check(check) => {
                if check.kind == ConditionKind::Pre {
                    self.count(&check.contract, 1, 0);
                }
                self.judged.insert(check.contract.clone());
            }
            CheckEvent::Violation(violation) if violation.kind == ConditionKind::Pre => {
                self.count(&violation.contract, 0, 1);
            }
            CheckEvent::Entered { tool, .. } => {
                *self.entered.entry((*tool).to_owned()).or_default() += 1;
            }
            _ => {}
        }
    }

    /// Counts evaluations of a precondition.
    pub(super) fn count(&mut self, id: &str, evaluated: u32, failed: u32) {
        let counts = self.preconditions.entry(id.to_owned()).or_default();
        counts.0 = counts.0.saturating_add(evaluated);
        counts.1 = counts.1.saturating_add(failed);
    }

    pub(super) fn is_judged(&self, id: &str) -> bool {
        self.judged.contains(id)
    }

    pub(super) fn has_held(&self, id: &str) -> bool {
        let counts = self.preconditions.get(id);
        counts.is_some_and(|(evaluated, failed)| evaluated > failed)
    }

    pub(super) fn has_failed(&self, id: &str) -> bool {
        self.preconditions
            .get(id)
            .is_some_and(|(_, failed)| *failed > 0)
    }

    pub(super) fn entered(&self, tool: &str) -> u32 {
        self.entered.get(tool).copied().unwrap_or_default()
    }
}
