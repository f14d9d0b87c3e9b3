//! Finds preconditions that no value of one parameter satisfies, and defaults that break one, while the compiler runs.
//!
//! Each condition narrows the one [`Domain`] of the parameter, again and again until nothing changes; of `||`, the domain gets what
//! either side leaves. An end of a range stays only if it satisfies every comparison with a constant, so no contradiction between
//! bounds of one integer is missed.

use std::slice;

use super::domain::{Aspect, Domain, Range, Value, same};
use super::narrow::Reading;
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::expression::{Comparison, Expression};
use crate::contract::policy::Policy;
use crate::contract::type_kind::TypeKind;

/// Tests for each function, of some hundred steps; the lint `long_running_const_eval` refuses two million.
const EFFORT: u32 = 3_000;

/// Conditions of one function, by their bits; those beyond the 64th are not looked at.
pub(crate) type Set = u64;

pub(crate) const fn reading(condition: &Condition) -> Option<&'static Expression> {
    match condition.kind() {
        ConditionKind::Pre => condition.expression(),
        _ => None,
    }
}

/// The preconditions that can be read, of these those that name a parameter if one is given.
pub(crate) const fn readable(conditions: &[Condition], parameter: Option<&str>) -> Set {
    let (mut rest, mut set, mut bit) = (conditions, 0, 1);
    while let Some((condition, others)) = rest.split_first() {
        let (mut names, mut is_named) = (condition.parameters(), parameter.is_none());
        while let (Some((name, more)), Some(parameter)) = (names.split_first(), parameter) {
            is_named |= super::same(name, parameter);
            names = more;
        }
        if is_named && reading(condition).is_some() {
            set |= bit;
        }
        bit <<= 1;
        rest = others;
    }
    set
}

/// What the compiler found in the preconditions of one function.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    conditions: &'static [Condition],
    /// Conditions that nothing satisfies. Taking away any of them makes them possible, as far as is known.
    found: Set,
    effort: Effort,
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

/// Ends the build where the condition of this index stands, if it is the last of those that nothing satisfies.
///
/// # Panics
///
/// That is how a constant ends a build.
#[track_caller]
pub const fn report(judged: &Judged, index: usize) {
    assert!(
        judged.found == 0 || judged.found.ilog2() as usize != index,
        "{}",
        contradiction(judged.conditions, judged.found).text()
    );
}

impl Judged {
    pub(crate) const fn new(conditions: &'static [Condition]) -> Self {
        Self {
            conditions,
            found: 0,
            effort: Effort(EFFORT),
        }
    }

    #[cfg(test)]
    pub(crate) const fn found(&self) -> Set {
        self.found
    }

    /// Judges them over one parameter more, whatever the others are.
    pub(crate) const fn over(&mut self, name: &str, kind: TypeKind) {
        let (of, mut set) = ((name, kind), readable(self.conditions, Some(name)));
        if matches!(kind, TypeKind::Opaque) || set == 0 || !self.impossible(of, set) {
            return;
        }
        // The last condition without which the others are possible is the one to be blamed.
        let mut bit = 1 << (Set::BITS - 1);
        while bit != 0 {
            if self.impossible(of, set & !bit) {
                set &= !bit;
            }
            bit >>= 1;
        }
        if self.found == 0 || set.leading_zeros() > self.found.leading_zeros() {
            self.found = set;
        }
    }

    /// Whether no value of one parameter satisfies those of a set. `false` proves nothing.
    const fn impossible(&mut self, (name, kind): (&str, TypeKind), set: Set) -> bool {
        let mut domain = Domain::of(name, kind);
        loop {
            let before = domain;
            let (mut rest, mut bit) = (self.conditions, 1);
            while let Some((condition, others)) = rest.split_first() {
                if let (true, Some(expression)) = (set & bit != 0, reading(condition)) {
                    domain = self.effort.narrowed(domain, (expression, true), "");
                }
                bit <<= 1;
                rest = others;
            }
            if domain.is_empty() || domain.equals(&before) || self.effort.0 == 0 {
                return domain.is_empty();
            }
        }
    }
}

/// How many tests may still be made; afterwards nothing is narrowed any more.
#[derive(Clone, Copy, Debug)]
struct Effort(u32);

impl Effort {
    /// The values of a domain for which a condition has an answer, and perhaps others. A closure calls the value `variable`.
    const fn narrowed<'d>(
        &mut self,
        domain: Domain<'d>,
        (what, expected): (&'static Expression, bool),
        variable: &'static str,
    ) -> Domain<'d> {
        match what {
            Expression::Not(of) => self.narrowed(domain, (of, !expected), variable),
            Expression::And(..) | Expression::Or(..) => {
                // Along the left side, where a chain grows, because a constant may not nest deeply.
                let every = matches!(what, Expression::And(..)) == expected;
                let mut found = if every { domain } else { Domain::EMPTY };
                let mut rest = Some(what);
                while let Some(part) = rest {
                    let last = match (what, part) {
                        (Expression::And(..), Expression::And(before, last))
                        | (Expression::Or(..), Expression::Or(before, last)) => {
                            rest = Some(before);
                            *last
                        }
                        (_, last) => {
                            rest = None;
                            last
                        }
                    };
                    found = if every {
                        self.narrowed(found, (last, expected), variable)
                    } else {
                        found.or(self.narrowed(domain, (last, expected), variable))
                    };
                }
                found
            }
            Expression::Among(of, list) => {
                let mut found = if expected { Domain::EMPTY } else { domain };
                let mut rest = *list;
                while let Some((item, others)) = rest.split_first() {
                    let equal = Expression::Compare(Comparison::Equal, of, item);
                    found = if expected {
                        found.or(self.tested(domain, (&equal, true), variable))
                    } else {
                        self.tested(found, (&equal, false), variable)
                    };
                    rest = others;
                }
                found
            }
            Expression::SomeAnd(of, name, body) | Expression::Any(of, name, body) => {
                self.inside(domain, of, (body, expected, expected), name)
            }
            Expression::NoneOr(of, name, body) | Expression::All(of, name, body) => {
                self.inside(domain, of, (body, expected, !expected), name)
            }
            test => self.tested(domain, (test, expected), variable),
        }
    }

    /// The same for a quantifier, whose body has an answer. If `filled`, there is a value or an item; no more is known of items.
    const fn inside<'d>(
        &mut self,
        mut domain: Domain<'d>,
        of: &Expression,
        (body, expected, filled): (&'static Expression, bool, bool),
        variable: &'static str,
    ) -> Domain<'d> {
        if !matches!(of, Expression::Parameter(name) if same(name, domain.name)) {
            return domain;
        }
        if domain.is_optional {
            let (whole, none) = (domain, domain.none && !filled);
            domain.none = false;
            domain = self.narrowed(domain, (body, expected), variable);
            if domain.is_empty() {
                domain = whole.without_value();
            }
            domain.none = none;
        } else if filled && matches!(domain.kind, TypeKind::List(_)) {
            let some = Range::new(1, i128::MAX);
            domain = domain.narrowed(Aspect::Length, some);
        }
        domain
    }

    const fn tested<'d>(
        &mut self,
        mut domain: Domain<'d>,
        (test, expected): (&Expression, bool),
        variable: &'static str,
    ) -> Domain<'d> {
        let Some(left) = self.0.checked_sub(1) else {
            return domain;
        };
        self.0 = left;
        let reading = Reading {
            known: &[],
            variables: &[(variable, 0)],
        };
        if reading.narrow(slice::from_mut(&mut domain), test, expected) {
            domain
        } else {
            Domain::EMPTY
        }
    }
}

/// Says which conditions nothing satisfies.
pub(crate) const fn contradiction(conditions: &[Condition], mut set: Set) -> Message {
    let is_one = set.is_power_of_two();
    let mut message = Message::new().add(if is_one {
        "no value of its type can satisfy "
    } else {
        "no value can satisfy "
    });
    let (mut rest, mut bit) = (conditions, 1);
    while let Some((condition, others)) = rest.split_first() {
        if set & bit != 0 {
            set &= !bit;
            message = message
                .code(condition.predicate())
                .add(match set.count_ones() {
                    0 => "",
                    1 => " and ",
                    _ => ", ",
                });
        }
        bit <<= 1;
        rest = others;
    }
    message.add(if is_one {
        "; weaken it"
    } else {
        "; weaken one of them"
    })
}

/// Whether it ends calls as far as its author says, where `policy` is that of the tool.
const fn ends_calls(condition: &Condition, policy: Option<Policy>) -> bool {
    let own = match condition.policy() {
        Some(own) => Some(own),
        None => policy,
    };
    !matches!(own, Some(Policy::Ignore | Policy::Observe))
}

/// The first precondition that a default breaks, whatever the other parameters are, as a sentence; `policy` is that of the tool.
pub(crate) const fn broken<'a>(
    (conditions, policy): (&'a [Condition], Option<Policy>),
    (name, kind): (&'a str, TypeKind),
    value: Value<'a>,
) -> Option<Message> {
    let mut effort = Effort(EFFORT);
    let domain = Domain::of(name, kind).given(value);
    let mut rest = conditions;
    while let Some((condition, others)) = rest.split_first() {
        if ends_calls(condition, policy)
            && let Some(expression) = reading(condition)
            && effort.narrowed(domain, (expression, true), "").is_empty()
            && !domain.is_empty()
        {
            let message = Message::new()
                .add("the default of ")
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
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; MOST],
            length: 0,
        }
    }

    /// With a text after what is there, as far as there is room; line breaks become spaces.
    pub(crate) const fn add(mut self, text: &str) -> Self {
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
    pub(crate) const fn code(self, text: &str) -> Self {
        self.add("`").add(text).add("`")
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
