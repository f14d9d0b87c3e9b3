//! Shrinks a sequence that breaks a promise: as few calls as can be, then the simplest arguments.

use std::time::Duration;

use serde_json::Value;

use super::call::SequenceCall;
use super::player::{Break, Clock, Player};
use crate::shrink;

/// The most sequences that are made for it, and how long it may take.
const PLAYS: u32 = 1_500;
const TIME: Duration = Duration::from_secs(20);

/// How often all arguments are made simpler, because one that is simpler may be shared.
const ROUNDS: usize = 4;

/// Of as many calls every choice is tried.
const CHOSEN: usize = 10;

struct Shrinker<'s, 'p, 'r> {
    player: &'s mut Player<'p, 'r>,
    /// The break that must stay.
    wanted: &'s Break,
    plays: u32,
    clock: Clock,
    /// The shortest so far, and its break.
    best: Vec<SequenceCall>,
    found: Option<Break>,
}

/// Returns the smallest sequence that was found, and its break, if these calls break the promise again.
pub(super) fn smallest(
    player: &mut Player<'_, '_>,
    calls: Vec<SequenceCall>,
    wanted: &Break,
) -> Option<(Vec<SequenceCall>, Break)> {
    let mut shrinker = Shrinker {
        player,
        wanted,
        plays: 0,
        clock: Clock::new(TIME),
        best: calls,
        found: None,
    };
    if shrinker.best.len() > CHOSEN {
        shrinker.one_less();
    }
    shrinker.fewer();
    if shrinker.found.is_some() {
        // Many calls leave little of the first allowance.
        (shrinker.plays, shrinker.clock) = (0, Clock::new(TIME));
        shrinker.plainer();
        shrinker.simpler();
        shrinker.plainer();
    }
    let best = shrinker.best;
    shrinker.found.map(|found| (best, found))
}

impl Shrinker<'_, '_, '_> {
    /// Whether these calls break the same promise; if so, they are kept.
    fn breaks(&mut self, mut calls: Vec<SequenceCall>) -> bool {
        if self.plays >= PLAYS || self.clock.is_over() {
            return false;
        }
        self.plays += 1;
        let Some(found) = self.player.play(&mut calls) else {
            return false;
        };
        if !found.is_like(self.wanted) {
            return false;
        }
        calls.truncate(found.place + 1);
        self.best = calls;
        self.found = Some(found);
        true
    }

    /// Without one call after the other.
    fn one_less(&mut self) {
        let mut place = self.best.len().saturating_sub(1);
        while place > 0 {
            place -= 1;
            let kept: Vec<usize> = (0..self.best.len()).filter(|one| *one != place).collect();
            self.breaks(chosen(&self.best, &kept));
            place = place.min(self.best.len().saturating_sub(1));
        }
    }

    /// Every choice among the calls before the last, the fewest first.
    fn fewer(&mut self) {
        let before = self.best.len().saturating_sub(1);
        let mut choices: Vec<u32> = (0..1_u32 << before.min(CHOSEN)).collect();
        choices.sort_by_key(|choice| choice.count_ones());
        let all = self.best.clone();
        for choice in choices {
            let is_kept = |place: &usize| *place >= before.min(CHOSEN) || choice >> place & 1 == 1;
            let kept = (0..all.len()).filter(is_kept);
            if self.breaks(chosen(&all, &kept.collect::<Vec<_>>())) {
                return;
            }
        }
    }

    /// Each call a turn of its own, and nothing that an earlier call returned, where that makes no difference.
    fn plainer(&mut self) {
        for place in 0..self.best.len() {
            let mut apart = self.best.clone();
            let Some(call) = apart.get_mut(place).filter(|call| call.same_turn) else {
                continue;
            };
            call.same_turn = false;
            self.breaks(apart);
        }
        let mut fixed = self.best.clone();
        if fixed.iter().any(|call| !call.returned.is_empty()) {
            for call in &mut fixed {
                call.returned.clear();
            }
            self.breaks(fixed);
        }
    }

    /// Simpler arguments: first each number and text, in all calls that have it at once.
    fn simpler(&mut self) {
        for _ in 0..ROUNDS {
            let before = self.arguments();
            let mut all = Vec::new();
            scalars(&before, &mut all);
            for one in all {
                let before = self.arguments();
                shrink::smallest(one.clone(), |simpler| {
                    let mut changed = arguments_with(&before, &one, simpler);
                    self.breaks_with(&mut changed)
                });
            }
            shrink::smallest(self.arguments(), |simpler| {
                self.breaks_with(&mut simpler.clone())
            });
            if self.arguments() == before {
                break;
            }
        }
    }

    fn arguments(&self) -> Value {
        self.best
            .iter()
            .map(|call| call.arguments.clone())
            .collect()
    }

    fn breaks_with(&mut self, arguments: &mut Value) -> bool {
        let Some(arguments) = arguments.as_array_mut() else {
            return false;
        };
        if arguments.len() != self.best.len() || !arguments.iter().all(Value::is_object) {
            return false;
        }
        let mut calls = self.best.clone();
        for (call, arguments) in calls.iter_mut().zip(arguments) {
            call.arguments = arguments.take();
        }
        self.breaks(calls)
    }
}

/// The calls in these places; what a call took from one that is left out stays as it was, and turns stay apart.
fn chosen(all: &[SequenceCall], places: &[usize]) -> Vec<SequenceCall> {
    let mut calls = Vec::with_capacity(places.len());
    let mut before = None;
    for place in places {
        let Some(call) = all.get(*place) else {
            continue;
        };
        let mut call = call.clone();
        call.returned.retain_mut(|from| {
            let now = places.iter().position(|place| *place == from.call);
            from.call = now.unwrap_or_default();
            now.is_some()
        });
        let turn = turn(all, *place);
        call.same_turn = before == Some(turn);
        before = Some(turn);
        calls.push(call);
    }
    calls
}

/// The number of the turn of a call.
fn turn(all: &[SequenceCall], place: usize) -> usize {
    let begins = all.iter().take(place + 1).filter(|call| !call.same_turn);
    begins.count()
}

/// Each number and text once.
fn scalars(value: &Value, into: &mut Vec<Value>) {
    match value {
        Value::Number(_) | Value::String(_) if !into.contains(value) => into.push(value.clone()),
        Value::Array(items) => items.iter().for_each(|item| scalars(item, into)),
        Value::Object(members) => members.values().for_each(|member| scalars(member, into)),
        _ => {}
    }
}

/// Texts that hold the old text change as well, because what is wrong may be how they differ.
fn arguments_with(arguments: &Value, old: &Value, new: &Value) -> Value {
    match arguments {
        _ if arguments == old => new.clone(),
        Value::String(text) => match (old.as_str(), new.as_str()) {
            (Some(old), Some(new)) if !old.is_empty() => text.replace(old, new).into(),
            _ => arguments.clone(),
        },
        Value::Array(items) => items
            .iter()
            .map(|item| arguments_with(item, old, new))
            .collect(),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, member)| (name.clone(), arguments_with(member, old, new)));
            members.collect()
        }
        other => other.clone(),
    }
}
