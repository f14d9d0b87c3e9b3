//! Shrinks a sequence that breaks a promise: as few calls as can be, then the simplest arguments.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::call::SequenceCall;
use super::player::{Break, Player};
use crate::json::walk;
use crate::shrink;

/// The most sequences that are made for it, and how long it may take.
const PLAYS: u32 = 1_500;
const TIME: Duration = Duration::from_secs(20);

/// How often all arguments are made simpler, because one that is simpler may be shared.
const ROUNDS: usize = 4;

struct Shrinker<'s, 'p, 'r> {
    player: &'s mut Player<'p, 'r>,
    /// The break that must stay.
    wanted: &'s Break,
    plays: u32,
    deadline: Instant,
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
        deadline: Instant::now() + TIME,
        best: Vec::new(),
        found: None,
    };
    if shrinker.breaks(calls) {
        shrinker.fewer();
        // Many calls leave little of the first allowance.
        (shrinker.plays, shrinker.deadline) = (0, Instant::now() + TIME);
        shrinker.simpler();
    }
    let best = shrinker.best;
    shrinker.found.map(|found| (best, found))
}

impl Shrinker<'_, '_, '_> {
    /// Whether these calls break the same promise; if so, they are kept.
    fn breaks(&mut self, mut calls: Vec<SequenceCall>) -> bool {
        if self.plays >= PLAYS || Instant::now() > self.deadline {
            return false;
        }
        self.plays += 1;
        let found = self.player.play(&mut calls);
        let Some(found) = found.filter(|found| found.is_like(self.wanted)) else {
            return false;
        };
        calls.truncate(found.place + 1);
        self.best = calls;
        self.found = Some(found);
        true
    }

    /// Without one call, until none can be left out.
    fn fewer(&mut self) {
        let mut place = self.best.len().saturating_sub(1);
        while place > 0 {
            place -= 1;
            if self.breaks(without(&self.best, place)) {
                place = self.best.len().saturating_sub(1);
            }
        }
    }

    /// First each number and text is made simpler in all calls that have it at once, then each call by itself.
    fn simpler(&mut self) {
        for _ in 0..ROUNDS {
            let before = self.calls();
            let mut scalars: Vec<Value> = Vec::new();
            walk(&before, "", &mut |_, part| {
                let is_scalar = part.is_number() || part.is_string();
                if is_scalar && !scalars.contains(part) {
                    scalars.push(part.clone());
                }
            });
            for one in scalars {
                let before = self.calls();
                shrink::smallest(one.clone(), |simpler| {
                    self.breaks_as(&replaced(&before, &one, simpler))
                });
            }
            shrink::smallest(self.calls(), |simpler| self.breaks_as(simpler));
            if self.calls() == before {
                break;
            }
        }
    }

    /// What can be simpler: the arguments, a turn that is shared, and values that an earlier call returned.
    fn calls(&self) -> Value {
        let call = |call: &SequenceCall| {
            let is_returned = !call.returned.is_empty();
            json!([call.arguments, call.same_turn, is_returned])
        };
        self.best.iter().map(call).collect()
    }

    fn breaks_as(&mut self, simpler: &Value) -> bool {
        let simpler = simpler.as_array().map_or(&[][..], Vec::as_slice);
        let mut calls = self.best.clone();
        for (place, call) in calls.iter_mut().enumerate() {
            let parts = simpler.get(place).and_then(Value::as_array);
            let Some(
                [
                    arguments @ Value::Object(_),
                    Value::Bool(same_turn),
                    Value::Bool(returned),
                ],
            ) = parts.map(Vec::as_slice)
            else {
                return false;
            };
            call.arguments.clone_from(arguments);
            call.same_turn = *same_turn;
            if !returned {
                call.returned.clear();
            }
        }
        simpler.len() == calls.len() && self.breaks(calls)
    }
}

/// The other calls; an argument that one took from the call that is left out stays as it was.
fn without(calls: &[SequenceCall], place: usize) -> Vec<SequenceCall> {
    let mut kept = calls.to_vec();
    let left_out = kept.remove(place);
    // It may have begun the turn of the next call.
    if let Some(next) = kept.get_mut(place) {
        next.same_turn &= left_out.same_turn;
    }
    for call in &mut kept {
        call.returned.retain(|from| from.call != place);
        for from in &mut call.returned {
            from.call -= usize::from(from.call > place);
        }
    }
    kept
}

/// Texts that hold the old text change as well, because what is wrong may be how they differ.
fn replaced(value: &Value, old: &Value, new: &Value) -> Value {
    match value {
        _ if value == old => new.clone(),
        Value::String(text) => match (old.as_str(), new.as_str()) {
            (Some(old), Some(new)) if !old.is_empty() => text.replace(old, new).into(),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| replaced(item, old, new)).collect(),
        Value::Object(members) => {
            let each = members.iter();
            each.map(|(name, member)| (name.clone(), replaced(member, old, new)))
                .collect()
        }
        other => other.clone(),
    }
}
