//! What the log of a run knows of earlier steps: their calls, and the attempts of recovery.

use std::collections::BTreeMap;

use contract_runtime::ToolCall;
use serde::{Deserialize, Serialize};

use super::call::CallEnd;
use crate::message::written_call;

/// A call whose end the model was told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PastCall {
    /// The step of the last task, from 1; 0 for a call of an earlier task.
    pub(crate) step: u64,
    #[serde(deserialize_with = "written_call")]
    pub(crate) call: ToolCall,
    pub(crate) end: CallEnd,
}

/// How often the model has tried again in the last task.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Attempts {
    /// For each condition, how often, and in which step last.
    of: BTreeMap<String, (u32, u64)>,
    all: u32,
}

impl Attempts {
    /// Returns the number of the next attempt, if it is at most `each` for its condition and `in_total` for all. Two violations in one
    /// step are reported together, as one attempt.
    pub(crate) fn next(&self, contract: &str, step: u64, each: u32, in_total: u32) -> Option<u32> {
        match self.of.get(contract) {
            Some((tried, last)) if *last == step => Some(*tried),
            tried => {
                let tried = tried.map_or(0, |(tried, _)| *tried);
                (tried < each && self.all < in_total).then_some(tried + 1)
            }
        }
    }

    pub(super) fn note(&mut self, contract: String, step: u64) {
        let (tried, last) = self.of.entry(contract).or_default();
        if *last != step {
            *tried += 1;
            *last = step;
            self.all += 1;
        }
    }
}
