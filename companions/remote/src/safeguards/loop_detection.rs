//! Detects repeated calls and short cycles of calls.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher as _};

use contract_runtime::__family::canonical;
use contract_runtime::ToolCall;

use super::{Safeguards, Tripped};
use crate::toolbelt::sanitize;

/// The most characters of a name, which may be the model's invention.
const NAME: usize = 64;

/// The calls of a run that a later call may repeat.
#[derive(Debug, Default)]
pub(super) struct LoopDetector {
    /// The last ones, as many as the longest pattern has.
    last: VecDeque<RecordedCall>,
    /// How often each was made, where equal calls count anywhere.
    counts: HashMap<u64, usize>,
}

#[derive(Debug)]
struct RecordedCall {
    id: String,
    tool: String,
    /// A hash of the tool and its arguments: two calls are the same if they have the same hash.
    what: u64,
    /// A hash of the answer, once it is known.
    answer: Option<u64>,
}

impl RecordedCall {
    fn repeats(&self, earlier: &Self) -> bool {
        let new = match (self.answer, earlier.answer) {
            (Some(answer), Some(before)) => answer != before,
            _ => false,
        };
        self.what == earlier.what && !new
    }
}

impl LoopDetector {
    /// Records a call; `Some` if it completes a pattern.
    pub(super) fn record(&mut self, call: &ToolCall, safeguards: &Safeguards) -> Option<Tripped> {
        let rounds = safeguards.rounds()?;
        let longest = safeguards.longest_cycle();
        let tool = shortened(&call.name);
        let what = hash(&(&call.name, canonical(&call.arguments)));
        let times = u64::try_from(rounds).unwrap_or(u64::MAX);
        if safeguards.anywhere {
            let count = self.counts.entry(what).or_default();
            *count += 1;
            if *count >= rounds {
                return Some(Tripped::EqualCalls { tool, times });
            }
        }
        self.last.push_back(RecordedCall {
            id: shortened(&call.id),
            tool,
            what,
            answer: None,
        });
        while self.last.len() > rounds.saturating_mul(longest) {
            self.last.pop_front();
        }
        let period = (1..=longest).find(|period| self.has_rounds(*period, rounds))?;
        let tools = self.last.range(self.last.len() - period..);
        let tools: Vec<_> = tools.map(|made| made.tool.clone()).collect();
        Some(match <[String; 1]>::try_from(tools) {
            Ok([tool]) => Tripped::EqualCalls { tool, times },
            Err(tools) => Tripped::Cycle { tools, times },
        })
    }

    /// Records the answer of a call: a new answer is progress.
    pub(super) fn record_answer(&mut self, id: &str, tool: &str, answer: &str) {
        let (id, tool) = (shortened(id), shortened(tool));
        // Equal ids are legal; the oldest call without an answer is meant.
        let made = self
            .last
            .iter_mut()
            .find(|made| made.answer.is_none() && made.id == id && made.tool == tool);
        if let Some(made) = made {
            made.answer = Some(hash(answer));
        }
    }

    fn has_rounds(&self, period: usize, rounds: usize) -> bool {
        let Some(length) = period.checked_mul(rounds) else {
            return false;
        };
        let Some(first) = self.last.len().checked_sub(length) else {
            return false;
        };
        let later = self.last.range(first + period..);
        let mut pairs = later.zip(self.last.range(first..));
        pairs.all(|(later, earlier)| later.repeats(earlier))
    }
}

/// Sanitises and shortens a name that the model may have invented.
fn shortened(text: &str) -> String {
    sanitize(&text.replace('\n', ""), NAME)
}

fn hash(what: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
