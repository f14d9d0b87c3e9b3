//! Finds preconditions that no value of one parameter satisfies, and values that break one, while the compiler runs.

use super::domain::{Domain, Known, Value};
use super::evaluation::{Evaluation, Scope};
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::expression::Expression;
use crate::contract::policy::Policy;
use crate::contract::type_kind::TypeKind;

/// How deep a type is looked into, and one for what is inside.
const DEPTH: usize = 4;

/// Comparisons for each function, of some hundred steps; the lint `long_running_const_eval` refuses two million.
const EFFORT: u32 = 1_000;

/// Conditions of one function, by their bits; those beyond the 64th are not looked at.
pub(crate) type Set = u64;

pub(crate) const fn reading(condition: &Condition) -> Option<&'static Expression> {
    match condition.kind() {
        ConditionKind::Pre => condition.expression(),
        _ => None,
    }
}

/// What the compiler found in the preconditions of one function.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    conditions: &'static [Condition],
    found: Option<Contradiction>,
    effort: u32,
}

/// Preconditions of a function that nothing satisfies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contradiction {
    /// Taking away any of them makes them possible, as far as is known.
    pub(crate) set: Set,
    /// The ends of the type, if it is only they that the one condition contradicts.
    pub(crate) ends: Option<(i128, i128)>,
}

/// Judges the preconditions of a function over parameters of these types.
#[must_use]
pub const fn judge(
    conditions: &'static [Condition],
    parameters: &[(&'static str, TypeKind)],
) -> Judged {
    let mut judged = Judged::new(conditions);
    let mut rest = parameters;
    while let Some(((name, kind), others)) = rest.split_first() {
        judged.over(name, *kind);
        rest = others;
    }
    judged
}

/// Ends the build where the condition of this index stands, if it is the one to be blamed.
///
/// # Panics
///
/// That is how a constant ends a build.
#[track_caller]
pub const fn report(judged: &Judged, index: usize) {
    if let Some(found) = judged.found
        && found.last() == index
    {
        panic!("{}", found.message(judged.conditions).text());
    }
}

impl Judged {
    pub(crate) const fn new(conditions: &'static [Condition]) -> Self {
        Self {
            conditions,
            found: None,
            effort: EFFORT,
        }
    }

    #[cfg(test)]
    pub(super) const fn found(&self) -> Option<Contradiction> {
        self.found
    }

    /// Judges them over one parameter more, whatever the others are.
    pub(crate) const fn over(&mut self, name: &str, kind: TypeKind) {
        let (of, mut set) = ((name, kind), self.naming(name));
        if matches!(kind, TypeKind::Opaque) || set == 0 || !self.impossible(of, set) {
            return;
        }
        // The last condition without which the others are possible is the one to be blamed.
        let mut left = set;
        while left != 0 {
            let bit = 1 << left.ilog2();
            if self.impossible(of, set & !bit) {
                set &= !bit;
            }
            left &= !bit;
        }
        let ends = match self.conditions.split_at(set.trailing_zeros() as usize).1 {
            [only, ..] if set.is_power_of_two() => match reading(only) {
                Some(condition) => ends(&[], condition, name, kind),
                None => None,
            },
            _ => None,
        };
        let found = Contradiction { set, ends };
        match self.found {
            Some(other) if other.last() <= found.last() => {}
            _ => self.found = Some(found),
        }
    }

    /// The preconditions that can be read and name a parameter.
    const fn naming(&self, name: &str) -> Set {
        let (mut rest, mut set) = (self.conditions, 0);
        let mut bit = 1;
        while let Some((condition, others)) = rest.split_first() {
            let mut names = condition.parameters();
            while let (Some((one, more)), Some(_)) = (names.split_first(), reading(condition)) {
                if super::same(one, name) {
                    set |= bit;
                }
                names = more;
            }
            bit <<= 1;
            rest = others;
        }
        set
    }

    /// Whether no value of one parameter satisfies those of a set. `false` proves nothing.
    const fn impossible(&mut self, (name, kind): (&str, TypeKind), set: Set) -> bool {
        let mut list = [&Expression::Bool(true); 64];
        let (mut rest, mut count) = (self.conditions, 0);
        let mut bit = 1;
        while let Some((condition, others)) = rest.split_first() {
            if let (true, Some(expression)) = (set & bit != 0, reading(condition)) {
                list[count] = expression;
                count += 1;
            }
            bit <<= 1;
            rest = others;
        }
        let mut evaluation = Evaluation::new(&[], self.effort);
        let domains = domains(name, kind, Value::Unknown);
        let possible = possible(&mut evaluation, domains, list.split_at(count).0);
        self.effort = evaluation.effort;
        !possible
    }
}

/// The values of a parameter, and of what is inside them; behind them stand others under no name.
pub(super) const fn domains<'a>(
    name: &'a str,
    mut kind: TypeKind,
    given: Value<'a>,
) -> [Domain<'a>; DEPTH] {
    let mut all = [Domain::of("", TypeKind::Opaque); DEPTH];
    let mut index = 0;
    while index < DEPTH {
        all[index] = Domain::of(name, kind);
        if !matches!(given, Value::Unknown) {
            all[index] = all[index].given(given);
        }
        kind = match (kind, given) {
            (TypeKind::Optional(inner), _) | (TypeKind::List(inner), Value::Unknown) => *inner,
            _ => return all,
        };
        index += 1;
    }
    all
}

/// The ends of a type, if it is only they that a condition contradicts.
pub(super) const fn ends<'a>(
    known: &'a [Known<'a>],
    condition: &'static Expression,
    name: &'a str,
    kind: TypeKind,
) -> Option<(i128, i128)> {
    let TypeKind::Integer { low, high } = kind else {
        return None;
    };
    let endless = TypeKind::Integer {
        low: i128::MIN,
        high: i128::MAX,
    };
    let mut evaluation = Evaluation::new(known, EFFORT);
    let domains = domains(name, endless, Value::Unknown);
    if high < i128::MAX && possible(&mut evaluation, domains, &[condition]) {
        Some((low, high))
    } else {
        None
    }
}

const fn possible<'a>(
    evaluation: &mut Evaluation<'a>,
    mut domains: [Domain<'a>; DEPTH],
    conditions: &[&'static Expression],
) -> bool {
    loop {
        let (mut rest, mut open) = (conditions, false);
        while let Some((condition, others)) = rest.split_first() {
            match evaluation.holds(condition, &Scope::of(&domains)) {
                Some(true) => {}
                Some(false) => return false,
                None => open = true,
            }
            rest = others;
        }
        if !open || evaluation.effort == 0 {
            return true;
        }
        let mut index = 0;
        let (first, others) = loop {
            if index == DEPTH {
                return true;
            }
            if let Some(parts) = domains[index].split(evaluation, conditions) {
                break parts;
            }
            index += 1;
        };
        if !first.is_empty() {
            domains[index] = first;
            if possible(evaluation, domains, conditions) {
                return true;
            }
        }
        if others.is_empty() {
            return false;
        }
        domains[index] = others;
    }
}

impl Contradiction {
    /// The last of the conditions.
    pub(crate) const fn last(&self) -> usize {
        self.set.ilog2() as usize
    }

    pub(crate) const fn message(&self, conditions: &[Condition]) -> Message {
        let mut message = Message::new();
        let last = conditions.split_at(self.last()).1.split_first();
        if let (Some((low, high)), Some((condition, _))) = (self.ends, last)
            && let [name] = condition.parameters()
        {
            return message
                .code(condition.predicate())
                .add(" holds for no value of ")
                .code(name)
                .add(", whose type goes from ")
                .number(low)
                .add(" to ")
                .number(high)
                .add("; move the bound into that range");
        }
        message = message.add("no value can satisfy ");
        let mut rest = conditions;
        let mut left = self.set;
        let mut bit = 1;
        while let Some((condition, others)) = rest.split_first() {
            if left & bit != 0 {
                left &= !bit;
                message = message
                    .code(condition.predicate())
                    .add(match left.count_ones() {
                        0 => "",
                        1 => " and ",
                        _ => ", ",
                    });
            }
            bit <<= 1;
            rest = others;
        }
        message.add(if self.set.is_power_of_two() {
            ", which contradicts itself; weaken one part of it"
        } else {
            "; weaken one of them"
        })
    }
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
pub(crate) const fn broken(
    (conditions, policy): (&[Condition], Option<Policy>),
    what: &str,
    (name, kind): (&str, TypeKind),
    value: Value<'_>,
) -> Option<Message> {
    let domains = domains(name, kind, value);
    let mut evaluation = Evaluation::new(&[], EFFORT);
    let mut rest = conditions;
    while let Some((condition, others)) = rest.split_first() {
        if ends_calls(condition, policy)
            && let Some(expression) = reading(condition)
            && matches!(
                evaluation.holds(expression, &Scope::of(&domains)),
                Some(false)
            )
        {
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
        rest = others;
    }
    None
}

/// As many bytes as a sentence may have; what is longer is cut.
const MOST: usize = 600;

/// A text of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    bytes: [u8; MOST],
    length: usize,
}

impl Message {
    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; MOST],
            length: 0,
        }
    }

    /// With a text after what is there, as far as there is room; line breaks become spaces.
    pub(super) const fn add(mut self, text: &str) -> Self {
        let mut end = MOST - self.length;
        while end < text.len() && !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut rest = text.as_bytes();
        while let (1.., Some((byte, others))) = (end, rest.split_first()) {
            self.bytes[self.length] = match *byte {
                b'\n' | b'\r' | b'\t' => b' ',
                byte => byte,
            };
            self.length += 1;
            end -= 1;
            rest = others;
        }
        self
    }

    /// With a text between backticks.
    pub(super) const fn code(self, text: &str) -> Self {
        self.add("`").add(text).add("`")
    }

    pub(super) const fn number(self, number: i128) -> Self {
        const DIGITS: &str = "0123456789";
        let (rest, digit) = (number / 10, (number % 10).unsigned_abs() as usize);
        let before = match (rest, number) {
            (0, ..0) => self.add("-"),
            (0, _) => self,
            _ => self.number(rest),
        };
        before.add(DIGITS.split_at(digit).1.split_at(1).0)
    }

    pub(crate) const fn text(&self) -> &str {
        match str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 7, -7, 10, i128::MAX, i128::MIN] {
            let message = Message::new().add("a ").number(number);
            assert_eq!(message.text(), format!("a {number}"));
        }
    }

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        for start in 0..4 {
            let long = format!("{}{}", "a".repeat(start), "ä€😀".repeat(200));
            let message = Message::new().code("b\nc").code(&long).add("; more");
            let text = message.text();
            assert!(
                text.starts_with("`b c``") && text.len() > MOST - 4,
                "{text}"
            );
        }
    }
}
