//! One tool of sequences: the inputs that it takes, and what has led to it.

use std::collections::HashSet;

use serde_json::Value;

use super::known::{self, Known, is_related};
use crate::generate::{Generator, Rng, words};
use crate::subject::Subject;

/// The most inputs of one tool that others may take values of.
const SHOWN: usize = 12;

/// One tool, and the inputs that it accepts.
pub(super) struct Source<'s> {
    generator: Generator<'s>,
    pub(super) name: &'s str,
    /// The words of its conditions, among them the names of other tools.
    words: HashSet<String>,
    /// The names of what it takes, and of what it returns.
    takes: Vec<String>,
    gives: Vec<String>,
    /// Inputs that may be accepted after other calls, and those of them of which nothing is known that speaks against it.
    plausible: Vec<Value>,
    ready: Vec<Value>,
    /// How many of its calls have succeeded.
    pub(super) succeeded: u32,
}

impl<'s> Source<'s> {
    pub(super) fn new(
        subject: &Subject<'s>,
        [plausible, ready]: [Vec<Value>; 2],
        seed: u64,
    ) -> Self {
        let conditions = subject.info.conditions().iter();
        let predicates = conditions.map(|one| one.condition().predicate());
        let output = subject.info.output_schema();
        Self {
            generator: Generator::of(subject, seed),
            name: subject.name(),
            words: predicates.flat_map(words).map(str::to_owned).collect(),
            takes: known::names(subject.tried.types()),
            gives: output.map(known::names).unwrap_or_default(),
            plausible,
            ready,
            succeeded: 0,
        }
    }

    /// Arguments for one call.
    pub(super) fn arguments(&mut self, rng: &mut Rng) -> Value {
        let kept = match rng.pick(&self.ready) {
            Some(ready) if rng.one_in(2) => Some(ready),
            _ => rng.pick(&self.plausible),
        };
        match kept {
            Some(kept) if !rng.one_in(5) => kept.clone(),
            _ => self.generator.right(),
        }
    }

    /// Values that other tools may take too: those of the author's examples, and of inputs that are accepted.
    pub(super) fn shown(&self) -> impl Iterator<Item = Known> {
        let examples = self.generator.examples();
        let inputs = examples
            .into_iter()
            .chain(self.ready.iter().take(SHOWN).cloned());
        inputs.flat_map(|input| known::of(&input, false, &|_| None))
    }

    /// Whether a condition of this tool names the other one.
    pub(super) fn asks_for(&self, other: &Self) -> bool {
        self.words.contains(other.name)
    }

    /// Whether the other one takes or returns something of the name of what this one takes.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let others = || other.takes.iter().chain(&other.gives);
        let mut own = self.takes.iter();
        own.any(|own| others().any(|one| !one.is_empty() && is_related(one, own)))
    }
}
