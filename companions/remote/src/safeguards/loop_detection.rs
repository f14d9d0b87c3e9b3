use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use super::{Safeguards, Tripped};
use crate::remote::toolbelt::shown;
use crate::tool::ToolCall;
use crate::tool::canonical::canonical;

/// The most characters of a name that a model made up.
const NAME: usize = 64;

/// The last calls of a run, as many as a pattern has.
#[derive(Debug, Default)]
pub(super) struct Repeats(VecDeque<Made>);

#[derive(Debug)]
struct Made {
    id: String,
    tool: String,
    /// Of the tool and its arguments: two calls are the same one if they have the same hash.
    what: u64,
    /// Of what came back, once it is known.
    answer: Option<u64>,
}

impl Made {
    fn repeats(&self, earlier: &Self) -> bool {
        let new = match (self.answer, earlier.answer) {
            (Some(answer), Some(before)) => answer != before,
            _ => false,
        };
        self.what == earlier.what && !new
    }
}

impl Repeats {
    /// Notes a call; `Some` if it completes a pattern.
    pub(super) fn note(&mut self, call: &ToolCall, safeguards: &Safeguards) -> Option<Tripped> {
        let rounds = safeguards.rounds()?;
        let longest = safeguards.longest_cycle();
        self.0.push_back(Made {
            id: shortened(&call.id),
            tool: shortened(&call.name),
            what: hash(&(&call.name, canonical(&call.arguments))),
            answer: None,
        });
        while self.0.len() > rounds.saturating_mul(longest) {
            self.0.pop_front();
        }
        let period = (1..=longest).find(|period| self.has_rounds(*period, rounds))?;
        let tools = self.0.range(self.0.len() - period..);
        let tools: Vec<_> = tools.map(|made| made.tool.clone()).collect();
        let times = u64::try_from(rounds).unwrap_or(u64::MAX);
        Some(match <[String; 1]>::try_from(tools) {
            Ok([tool]) => Tripped::EqualCalls { tool, times },
            Err(tools) => Tripped::Cycle { tools, times },
        })
    }

    /// What a call gave: one that gives something new goes somewhere.
    pub(super) fn answered(&mut self, id: &str, tool: &str, answer: &str) {
        let (id, tool) = (shortened(id), shortened(tool));
        // Equal ids are legal; the oldest call that has none is meant.
        let made = self
            .0
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
        let Some(first) = self.0.len().checked_sub(length) else {
            return false;
        };
        let later = self.0.range(first + period..);
        let mut pairs = later.zip(self.0.range(first..));
        pairs.all(|(later, earlier)| later.repeats(earlier))
    }
}

/// The model made it up, and a reason shows it.
fn shortened(text: &str) -> String {
    shown(&text.replace('\n', ""), NAME)
}

fn hash(what: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
