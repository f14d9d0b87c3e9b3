//! Invents the next call of a sequence: of any of the tools, often with values that earlier calls sent or returned.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::call::{Returned, SequenceCall};
use crate::generate::{Generator, Rng};
use crate::subject::{Subject, below};

/// The most values of one result that later calls may take.
const MOST: usize = 40;

/// How deep in its arguments a call takes values of earlier ones.
const DEPTH: usize = 4;

/// The most sequences that are kept for each tool, and the most calls of one.
const PATHS: usize = 4;
const LONGEST_PATH: usize = 5;

/// One tool, and the inputs that it accepts.
pub(super) struct Source<'s> {
    generator: Generator<'s>,
    name: &'s str,
    plausible: Vec<Value>,
    /// How many of its calls have succeeded.
    succeeded: u32,
    /// Some sequences that end with such a call, to be gone on with.
    paths: Vec<Vec<SequenceCall>>,
}

impl<'s> Source<'s> {
    pub(super) fn new(subject: &Subject<'s>, plausible: Vec<Value>, seed: u64) -> Self {
        Self {
            generator: Generator::of(subject, seed),
            name: subject.name(),
            plausible,
            succeeded: 0,
            paths: Vec::new(),
        }
    }
}

/// A value that an earlier call sent or returned.
struct Known {
    /// The name of the argument or of the member; empty for a whole result.
    name: String,
    value: Value,
    /// It is of the last call that succeeded.
    is_last: bool,
    /// The call that returned it, and where.
    returned: Option<(usize, String)>,
}

/// Invents calls.
pub(super) struct Inventor<'s> {
    sources: Vec<Source<'s>>,
    /// Those of this sequence: several of few tools lead further than one of each.
    chosen: Vec<usize>,
    rng: Rng,
}

impl<'s> Inventor<'s> {
    pub(super) fn new(sources: Vec<Source<'s>>, seed: u64) -> Self {
        Self {
            chosen: Vec::new(),
            sources,
            rng: Rng::new(seed, "sequences"),
        }
    }

    /// Begins a sequence: returns how many calls it has, at most this many, and the first of them.
    pub(super) fn begin(&mut self, most: usize) -> (usize, VecDeque<SequenceCall>) {
        let all = 0..self.sources.len();
        self.chosen = all.clone().filter(|_| self.rng.one_in(2)).collect();
        if self.chosen.is_empty() {
            self.chosen = all.collect();
        }
        let path = if self.rng.one_in(2) {
            self.path()
        } else {
            VecDeque::new()
        };
        let more = 1 + self.rng.below(most - path.len().max(1));
        ((path.len() + more).max(2), path)
    }

    /// What has led to one of the tools before, mostly to the one that is reached least.
    fn path(&mut self) -> VecDeque<SequenceCall> {
        let place = if self.rng.one_in(2) {
            Some(self.rng.below(self.sources.len()))
        } else {
            self.rarest(&(0..self.sources.len()).collect::<Vec<_>>())
        };
        let Some((place, source)) = place.and_then(|place| Some((place, self.sources.get(place)?)))
        else {
            return VecDeque::new();
        };
        if !self.chosen.contains(&place) {
            self.chosen.push(place);
        }
        let path = self.rng.pick(&source.paths).cloned();
        path.unwrap_or_default().into()
    }

    /// Of these tools the one that has succeeded least.
    fn rarest(&self, places: &[usize]) -> Option<usize> {
        let succeeded = |place: &&usize| self.sources.get(**place).map(|one| one.succeeded);
        places.iter().min_by_key(succeeded).copied()
    }

    /// Notes that the last of these calls has succeeded, as the others have.
    pub(super) fn succeeded(&mut self, calls: &[SequenceCall]) {
        let Some(last) = calls.last() else { return };
        let place = self.rng.below(PATHS);
        let mut sources = self.sources.iter_mut();
        let Some(source) = sources.find(|source| source.name == last.tool) else {
            return;
        };
        source.succeeded = source.succeeded.saturating_add(1);
        if calls.len() > LONGEST_PATH {
            return;
        }
        match source.paths.get_mut(place) {
            Some(path) => *path = calls.to_vec(),
            None => source.paths.push(calls.to_vec()),
        }
    }

    /// Invents the call after these, which returned these results.
    pub(super) fn next(
        &mut self,
        earlier: &[SequenceCall],
        results: &[Option<Value>],
    ) -> SequenceCall {
        if self.rng.one_in(5) {
            let last = earlier.last().filter(|_| self.rng.one_in(2));
            if let Some(call) = last.or_else(|| self.rng.pick(earlier)) {
                return SequenceCall {
                    same_turn: false,
                    ..call.clone()
                };
            }
        }
        // Mostly the one that has succeeded least.
        let place = if self.rng.one_in(2) {
            self.rng.pick(&self.chosen).copied()
        } else {
            self.rarest(&self.chosen)
        };
        let place = place.unwrap_or_default();
        let Some(source) = self.sources.get_mut(place) else {
            return SequenceCall::default();
        };
        let kept = self.rng.pick(&source.plausible).cloned();
        let arguments = match kept {
            Some(kept) if !self.rng.one_in(5) => kept,
            _ => source.generator.right(),
        };
        let arguments = match arguments {
            Value::Object(members) => Value::Object(members),
            // As a call without arguments may be written.
            _ => json!({}),
        };
        let mut call = SequenceCall {
            tool: source.name.to_owned(),
            arguments,
            same_turn: !earlier.is_empty() && self.rng.one_in(8),
            returned: Vec::new(),
        };
        let known = known(earlier, results);
        if !known.is_empty() {
            let mut arguments = std::mem::take(&mut call.arguments);
            self.reuse(&mut arguments, "", "", DEPTH, &known, &mut call.returned);
            call.arguments = arguments;
        }
        call
    }

    /// Puts known values in the place of some of the arguments.
    fn reuse(
        &mut self,
        value: &mut Value,
        name: &str,
        at: &str,
        depth: usize,
        known: &[Known],
        returned: &mut Vec<Returned>,
    ) {
        match value {
            Value::Object(members) if depth > 0 => {
                for (name, member) in members {
                    self.reuse(member, name, &below(at, name), depth - 1, known, returned);
                }
            }
            Value::Array(items) if depth > 0 => {
                for (place, item) in items.iter_mut().enumerate().take(4) {
                    self.reuse(
                        item,
                        name,
                        &format!("{at}/{place}"),
                        depth - 1,
                        known,
                        returned,
                    );
                }
            }
            Value::Number(_) | Value::String(_) => {
                let Some(one) = self.fitting(value, name, known) else {
                    // What is bounded by a state is mostly bounded by a small number.
                    if value.as_i64().is_some_and(|number| number > 100) && self.rng.one_in(2) {
                        *value = (self.rng.below(4) + 1).into();
                    }
                    return;
                };
                *value = one.value.clone();
                if let Some((call, place)) = one.returned.clone() {
                    let argument = at.to_owned();
                    returned.push(Returned {
                        argument,
                        call,
                        place,
                    });
                }
            }
            _ => {}
        }
    }

    /// A known value of the same type, mostly one of the same name.
    fn fitting<'k>(&mut self, value: &Value, name: &str, known: &'k [Known]) -> Option<&'k Known> {
        let alike =
            |one: &&Known| std::mem::discriminant(&one.value) == std::mem::discriminant(value);
        let of_type: Vec<&Known> = known.iter().filter(alike).collect();
        let of_name: Vec<&Known> = of_type
            .iter()
            .copied()
            .filter(|one| is_related(&one.name, name))
            .collect();
        let often = if value.is_string() { 4 } else { 2 };
        if self.rng.one_in(often) {
            return None;
        }
        if of_name.is_empty() || self.rng.one_in(5) {
            // A value of another name is seldom meant.
            let any = self.rng.pick(&of_type).copied();
            return any.filter(|_| self.rng.one_in(2));
        }
        let last: Vec<&Known> = of_name.iter().copied().filter(|one| one.is_last).collect();
        let of_last = self.rng.pick(&last).copied();
        let any = self.rng.pick(&of_name).copied();
        of_last.filter(|_| !self.rng.one_in(3)).or(any)
    }
}

/// `id` of a result may be `order_id` of an argument; a result that is a value has no name.
fn is_related(one: &str, other: &str) -> bool {
    one.is_empty() || one.ends_with(other) || other.ends_with(one)
}

/// The values of calls that succeeded: others have left nothing behind that is worth meeting.
fn known(earlier: &[SequenceCall], results: &[Option<Value>]) -> Vec<Known> {
    let mut known = Vec::new();
    let last = results.iter().rposition(Option::is_some);
    let succeeded = earlier.iter().zip(results).enumerate();
    for (place, (call, _)) in succeeded.filter(|(_, (_, result))| result.is_some()) {
        collect(&call.arguments, "", &mut |name, at, value| {
            let from = call.returned.iter().find(|one| one.argument == at);
            known.push(Known {
                name: name.to_owned(),
                value: value.clone(),
                is_last: Some(place) == last,
                returned: from.map(|from| (from.call, from.place.clone())),
            });
        });
    }
    for (place, result) in results.iter().enumerate() {
        let mut left = MOST;
        collect(
            result.as_ref().unwrap_or(&Value::Null),
            "",
            &mut |name, at, value| {
                if left > 0 {
                    left -= 1;
                    let returned = Some((place, at.to_owned()));
                    known.push(Known {
                        name: name.to_owned(),
                        value: value.clone(),
                        is_last: Some(place) == last,
                        returned,
                    });
                }
            },
        );
    }
    known
}

/// Visits every number and text, with its name and its place.
fn collect(value: &Value, name: &str, visit: &mut dyn FnMut(&str, &str, &Value)) {
    fn walk(value: &Value, name: &str, at: &str, visit: &mut dyn FnMut(&str, &str, &Value)) {
        match value {
            Value::Number(_) | Value::String(_) => visit(name, at, value),
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    walk(item, name, &format!("{at}/{place}"), visit);
                }
            }
            Value::Object(members) => members_of(members, at, visit),
            Value::Null | Value::Bool(_) => {}
        }
    }
    fn members_of(
        members: &Map<String, Value>,
        at: &str,
        visit: &mut dyn FnMut(&str, &str, &Value),
    ) {
        for (name, member) in members {
            walk(member, name, &below(at, name), visit);
        }
    }
    walk(value, name, "", visit);
}
