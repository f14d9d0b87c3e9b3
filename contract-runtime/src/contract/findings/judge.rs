//! Finds preconditions that cannot be satisfied, alone or together.

use super::abstract_state::AbstractState;
use super::apart::are_met;
use super::constants::Value;
use super::message::Message;
use super::order::Order;
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::expression::Expression;
use crate::contract::policy::Policy;
use crate::contract::type_kind::TypeKind;

/// How often the conditions are gone through again, each time knowing more.
const ROUNDS: u8 = 5;

/// Conditions of one function, by their bits; those beyond the 64th are not looked at.
pub(crate) type Set = u64;

/// The preconditions that are data.
pub(crate) const fn readable(conditions: &[Condition]) -> Set {
    let mut rest = conditions;
    let (mut set, mut bit) = (0, 1_u64);
    while let Some((condition, others)) = rest.split_first() {
        if reading(condition).is_some() {
            set |= bit;
        }
        bit <<= 1;
        rest = others;
    }
    set
}

pub(super) const fn reading(condition: &Condition) -> Option<&'static Expression> {
    match condition.kind() {
        ConditionKind::Pre => condition.expression(),
        _ => None,
    }
}

/// Whether no arguments satisfy those of `holding` and break those of `broken`. `false` proves nothing.
pub(crate) const fn impossible(
    mut facts: AbstractState<'_>,
    conditions: &[Condition],
    holding: Set,
    broken: Set,
) -> bool {
    let mut round = 0;
    while round < ROUNDS {
        let before = facts;
        let mut order = Order::new();
        let mut rest = conditions;
        let mut bit = 1_u64;
        while let Some((condition, others)) = rest.split_first() {
            if (holding | broken) & bit != 0
                && let Some(expression) = reading(condition)
            {
                let holds = holding & bit != 0;
                facts.assume(expression, holds, None);
                order.add(&facts, expression, holds);
            }
            bit <<= 1;
            rest = others;
        }
        if facts.none || order.is_impossible() {
            return true;
        }
        if facts.same(&before) {
            return false;
        }
        round += 1;
    }
    false
}

/// The first preconditions of a function that nothing satisfies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contradiction {
    /// The last of them, without which the ones before could be met.
    pub(crate) later: usize,
    /// All of them; taking away any makes them possible, as far as is known.
    pub(crate) set: Set,
    /// The ends of the type, if it is only they that the one condition contradicts.
    ends: Option<(i128, i128)>,
}

/// Looks for preconditions that contradict each other or the types of their parameters.
pub(crate) const fn contradiction(
    facts: &AbstractState<'_>,
    conditions: &[Condition],
) -> Option<Contradiction> {
    let all = readable(conditions);
    if all == 0 || are_met(facts, conditions) || !impossible(*facts, conditions, all, 0) {
        return None;
    }
    let mut later = 0;
    while later < 63 && !impossible(*facts, conditions, all & up_to(later), 0) {
        later += 1;
    }
    let last = 1 << later;
    let set = least(facts, conditions, all & up_to(later), 0);
    let ends = if set == last && !impossible(facts.without_ends(), conditions, set, 0) {
        ends(facts, conditions, later)
    } else {
        None
    };
    Some(Contradiction { later, set, ends })
}

/// Those of a set that alone are impossible beside the broken ones; the later ones are kept.
pub(crate) const fn least(
    facts: &AbstractState<'_>,
    conditions: &[Condition],
    mut set: Set,
    broken: Set,
) -> Set {
    let mut bit = 1;
    while bit != 0 && bit <= set {
        let without = set & !bit;
        if without != set && impossible(*facts, conditions, without, broken) {
            set = without;
        }
        bit <<= 1;
    }
    set
}

/// Every bit up to this one.
const fn up_to(index: usize) -> Set {
    u64::MAX >> (63 - index)
}

const fn ends(
    facts: &AbstractState<'_>,
    conditions: &[Condition],
    index: usize,
) -> Option<(i128, i128)> {
    let Some((condition, _)) = conditions.split_at(index).1.split_first() else {
        return None;
    };
    let [name] = condition.parameters() else {
        return None;
    };
    match facts.find(name) {
        Some(index) => match facts.domains[index].kind {
            TypeKind::Integer { low, high } if high < i128::MAX => Some((low, high)),
            _ => None,
        },
        None => None,
    }
}

impl Contradiction {
    pub(crate) const fn message(&self, conditions: &[Condition]) -> Message {
        if let (Some((low, high)), Some((condition, _))) =
            (self.ends, conditions.split_at(self.later).1.split_first())
            && let [name] = condition.parameters()
        {
            return Message::new()
                .code(condition.predicate())
                .add(" holds for no value of ")
                .code(name)
                .add(", whose type goes from ")
                .number(low)
                .add(" to ")
                .number(high)
                .add("; move the bound into that range");
        }
        let message = Message::new().add("no value can satisfy ");
        let message = listed(message, conditions, self.set);
        if self.set.is_power_of_two() {
            message.add(", which contradicts itself; weaken one part of it")
        } else {
            message.add("; weaken one of them")
        }
    }
}

/// `a`, `b` and `c`
pub(super) const fn listed(mut message: Message, conditions: &[Condition], set: Set) -> Message {
    let mut rest = conditions;
    let mut bit = 1_u64;
    let mut left = set.count_ones();
    while let Some((condition, others)) = rest.split_first() {
        if set & bit != 0 {
            message = message.code(condition.predicate());
            left -= 1;
            message = match left {
                0 => message,
                1 => message.add(" and "),
                _ => message.add(", "),
            };
        }
        bit <<= 1;
        rest = others;
    }
    message
}

/// Whether it ends calls as far as its author says, where `policy` is that of the tool.
const fn ends_calls(condition: &Condition, policy: Option<Policy>) -> bool {
    let own = match condition.policy() {
        Some(own) => Some(own),
        None => policy,
    };
    !matches!(own, Some(Policy::Ignore | Policy::Observe))
}

/// The first precondition that a value of one parameter breaks, whatever the others are, as a sentence; `policy` is that of
/// the tool.
pub(crate) const fn broken<'a>(
    facts: &AbstractState<'a>,
    (conditions, policy): (&[Condition], Option<Policy>),
    what: &str,
    name: &str,
    value: Value<'a>,
) -> Option<Message> {
    let mut given = *facts;
    given.given(name, value);
    let mut rest = conditions;
    let mut bit = 1_u64;
    while let Some((condition, others)) = rest.split_first() {
        let never = ends_calls(condition, policy) && impossible(given, conditions, bit, 0);
        if never && !impossible(*facts, conditions, bit, 0) {
            let message = Message::new()
                .add("the ")
                .add(what)
                .add(" of ")
                .code(name)
                .add(" breaks ")
                .code(condition.predicate())
                .add("; change one of them");
            return Some(message);
        }
        bit <<= 1;
        rest = others;
    }
    None
}

/// Whether values of several parameters break a condition that others could keep.
pub(crate) fn broken_by<'a>(
    facts: &AbstractState<'a>,
    conditions: &[Condition],
    index: usize,
    values: impl Iterator<Item = (&'a str, Value<'a>)>,
) -> bool {
    let mut given = *facts;
    for (name, value) in values {
        given.given(name, value);
    }
    let bit = 1 << index;
    impossible(given, conditions, bit, 0) && !impossible(*facts, conditions, bit, 0)
}
