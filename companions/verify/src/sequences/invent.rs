//! Invents the next call of a sequence: of any of the tools, often with values that earlier calls sent or returned.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::call::{Returned, SequenceCall};
use super::known::{self, Known, is_related};
use super::source::Source;
use crate::generate::Rng;
use crate::json::walk;

/// The most numbers and texts of a call in whose place values of earlier ones are put.
const PLACES: usize = 64;

/// The tools of a sequence whose tools have to do with each other.
const GROUP: usize = 4;

/// The most calls that are put off until others have been made.
const PUT_OFF: usize = 6;

/// Invents calls.
pub(super) struct Inventor<'s> {
    sources: Vec<Source<'s>>,
    /// Those of this sequence: several of few tools lead further than one of each.
    chosen: Vec<usize>,
    /// Calls that are to be made next.
    next: VecDeque<SequenceCall>,
    /// What examples of all tools hold, and inputs that they take.
    shown: Vec<Known>,
    rng: Rng,
}

/// Which values are put in the place of arguments.
#[derive(Clone, Copy)]
enum Fill<'k> {
    /// Some of those that earlier calls sent or returned, and some that tools show.
    Some(&'k [Known]),
    /// Mostly all of those of a call that was refused.
    Refused(&'k [Known]),
}

impl<'s> Inventor<'s> {
    pub(super) fn new(sources: Vec<Source<'s>>, seed: u64) -> Self {
        Self {
            chosen: Vec::new(),
            next: VecDeque::new(),
            shown: sources.iter().flat_map(Source::shown).collect(),
            sources,
            rng: Rng::new(seed, "sequences"),
        }
    }

    /// Begins a sequence: returns how many calls it has, at most this many.
    pub(super) fn begin(&mut self, most: usize) -> usize {
        let all = 0..self.sources.len();
        self.chosen = if all.len() > GROUP && !self.rng.one_in(3) {
            self.group()
        } else {
            all.clone().filter(|_| self.rng.one_in(2)).collect()
        };
        if self.chosen.is_empty() {
            self.chosen = all.collect();
        }
        self.next.clear();
        2 + self.rng.below(most - 1)
    }

    /// A tool, and some that have to do with it: of many tools most have nothing to do with each other.
    fn group(&mut self) -> Vec<usize> {
        let first = self.rng.below(self.sources.len());
        let leads =
            |one: &Source<'_>, other: &Source<'_>| one.asks_for(other) || one.is_like(other);
        let mut near = self.others(first, |one, other| leads(one, other) || leads(other, one));
        let mut group = vec![first];
        while group.len() < GROUP && !near.is_empty() {
            group.push(near.swap_remove(self.rng.below(near.len())));
        }
        group
    }

    /// The other tools that are related to one in this way.
    fn others(
        &self,
        own: usize,
        is_related: impl Fn(&Source<'s>, &Source<'s>) -> bool,
    ) -> Vec<usize> {
        let Some(source) = self.sources.get(own) else {
            return Vec::new();
        };
        let others = self.sources.iter().enumerate();
        let others = others.filter(|(place, other)| *place != own && is_related(source, other));
        others.map(|(place, _)| place).collect()
    }

    /// Notes that a call of this tool has succeeded.
    pub(super) fn succeeded(&mut self, tool: &str) {
        let mut sources = self.sources.iter_mut();
        if let Some(source) = sources.find(|source| source.name == tool) {
            source.succeeded = source.succeeded.saturating_add(1);
        }
    }

    /// Notes that a call was refused after these: maybe another must come first, such as one that makes what it speaks of.
    pub(super) fn refused(
        &mut self,
        call: &SequenceCall,
        earlier: &[SequenceCall],
        results: &[Option<Value>],
    ) {
        if self.next.len() >= PUT_OFF || self.rng.one_in(2) {
            return;
        }
        let mut sources = self.sources.iter();
        let Some(own) = sources.position(|source| source.name == call.tool) else {
            return;
        };
        let Some(mut first) = self.leading(own).and_then(|place| self.fresh(place)) else {
            return;
        };
        self.fill(&mut first, Fill::Some(&known::of_calls(earlier, results)));
        let sent = known::of_call(call, false);
        self.fill(&mut first, Fill::Refused(&sent));
        self.next.push_front(SequenceCall {
            same_turn: false,
            ..call.clone()
        });
        self.next.push_front(first);
    }

    /// Another tool that may have to be called before this one: that a condition names, or that takes something of the same name.
    fn leading(&mut self, own: usize) -> Option<usize> {
        let mut places = self.others(own, |_, _| true);
        let alike = self.others(own, Source::is_like);
        if !alike.is_empty() && !self.rng.one_in(4) {
            places = alike;
        }
        let named = self.others(own, Source::asks_for);
        if !named.is_empty() && !self.rng.one_in(3) {
            places = named;
        }
        self.rng.pick(&places).copied()
    }

    /// Invents the call after these, which returned these results.
    pub(super) fn next(
        &mut self,
        earlier: &[SequenceCall],
        results: &[Option<Value>],
    ) -> SequenceCall {
        if let Some(call) = self.next.pop_front() {
            return call;
        }
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
            let succeeded = |place: &&usize| self.sources.get(**place).map(|one| one.succeeded);
            self.chosen.iter().min_by_key(succeeded).copied()
        };
        let Some(mut call) = self.fresh(place.unwrap_or_default()) else {
            return SequenceCall::default();
        };
        call.same_turn = !earlier.is_empty() && self.rng.one_in(8);
        self.fill(&mut call, Fill::Some(&known::of_calls(earlier, results)));
        call
    }

    /// A call of this tool, whatever came before.
    fn fresh(&mut self, place: usize) -> Option<SequenceCall> {
        let source = self.sources.get_mut(place)?;
        let arguments = match source.arguments(&mut self.rng) {
            Value::Object(members) => Value::Object(members),
            // As a call without arguments may be written.
            _ => json!({}),
        };
        Some(SequenceCall {
            tool: source.name.to_owned(),
            arguments,
            same_turn: false,
            returned: Vec::new(),
        })
    }

    /// Puts known values in the place of some of the arguments.
    fn fill(&mut self, call: &mut SequenceCall, fill: Fill<'_>) {
        let mut places = Vec::new();
        walk(&call.arguments, "", &mut |at, part| {
            if (part.is_number() || part.is_string()) && places.len() < PLACES {
                places.push(at.to_owned());
            }
        });
        for at in places {
            let Some(value) = call.arguments.pointer_mut(&at) else {
                continue;
            };
            let name = known::name(&at);
            let one = match fill {
                Fill::Refused(known) => self.same(value, name, known),
                Fill::Some(known) => self.fitting(value, name, known),
            };
            if let Some(one) = one {
                value.clone_from(&one.value);
                call.returned.retain(|from| from.argument != at);
                let returned = one.returned.clone().map(|(from, place)| Returned {
                    argument: at,
                    call: from,
                    place,
                });
                call.returned.extend(returned);
            } else if let Fill::Some(known) = fill {
                self.show(value, name, known.is_empty());
            }
        }
    }

    /// Puts what tools show in the place of some values.
    fn show(&mut self, value: &mut Value, name: &str, is_first: bool) {
        // What is bounded by a state is mostly bounded by a small number.
        if !is_first && value.as_i64().is_some_and(|number| number > 100) && self.rng.one_in(2) {
            *value = (self.rng.below(4) + 1).into();
            return;
        }
        let often = if value.is_string() { 3 } else { 6 };
        if !self.rng.one_in(often) {
            return;
        }
        let of_type = self.shown.iter().filter(|one| is_alike(&one.value, value));
        let (related, others): (Vec<&Known>, Vec<&Known>) =
            of_type.partition(|one| is_related(&one.name, name));
        // A text of another name may be meant too: one account pays, and another is paid.
        let others = if value.is_string() && (related.is_empty() || self.rng.one_in(4)) {
            others
        } else {
            related
        };
        if let Some(one) = self.rng.pick(&others) {
            value.clone_from(&one.value);
        }
    }

    /// A known value of the same type, mostly one of the same name.
    fn fitting<'k>(&mut self, value: &Value, name: &str, known: &'k [Known]) -> Option<&'k Known> {
        let alike = |one: &&Known| is_alike(&one.value, value);
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

    /// Mostly the known value of that name.
    fn same<'k>(&mut self, value: &Value, name: &str, known: &'k [Known]) -> Option<&'k Known> {
        if self.rng.one_in(6) {
            return None;
        }
        let alike = |one: &&Known| is_alike(&one.value, value);
        let of_type: Vec<&Known> = known.iter().filter(alike).collect();
        let named = of_type.iter().find(|one| one.name == name);
        let related = || of_type.iter().find(|one| is_related(&one.name, name));
        named.or_else(related).copied()
    }
}

fn is_alike(one: &Value, other: &Value) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}
