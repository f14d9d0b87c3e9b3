//! A quick proof that preconditions can be met: most compare a parameter with numbers that its type has room for.
//!
//! Propagating them takes the compiler thousands of steps for each function, so it is done only where two facts can meet.

use super::abstract_state::AbstractState;
use super::domain::Aspect;
use super::range::{FINITE, Range, key};
use super::string_domain::same;
use crate::contract::condition::Condition;
use crate::contract::expression::{Comparison, Expression};
use crate::contract::type_kind::TypeKind;

/// More parameters than this are left to the propagation.
const MOST: usize = 8;

/// What is asked of the numbers of some parameters, all of it together.
struct Bounds {
    names: [&'static str; MOST],
    aspects: [Aspect; MOST],
    ranges: [Range; MOST],
    /// Those of `f32`: between two numbers there may be none of them.
    singles: [bool; MOST],
    count: usize,
}

/// Whether each of these conditions only asks numbers to lie in ranges, and none of those is empty. `false` proves nothing.
pub(super) const fn are_met(facts: &AbstractState<'_>, conditions: &[Condition]) -> bool {
    let mut bounds = Bounds {
        names: [""; MOST],
        aspects: [Aspect::Value; MOST],
        ranges: [Range::ALL; MOST],
        singles: [false; MOST],
        count: 0,
    };
    let mut rest = conditions;
    while let Some((condition, others)) = rest.split_first() {
        if let Some(expression) = super::judge::reading(condition)
            && !bounds.add(facts, expression, true)
        {
            return false;
        }
        rest = others;
    }
    let mut index = 0;
    while index < bounds.count {
        if bounds.ranges[index].is_empty() {
            return false;
        }
        index += 1;
    }
    true
}

impl Bounds {
    /// Adds what must hold; false where it is of another form.
    const fn add(&mut self, facts: &AbstractState<'_>, what: &Expression, holds: bool) -> bool {
        match what {
            Expression::Parameter(name) => {
                let range = Range::only(holds as i128);
                self.meet(facts, name, Aspect::Value, range)
            }
            Expression::Not(of) => self.add(facts, of, !holds),
            Expression::And(left, right) if holds => {
                self.add(facts, left, holds) && self.add(facts, right, holds)
            }
            // Where the one can be met, so can both.
            Expression::Or(left, _) if holds => self.add(facts, left, holds),
            Expression::Compare(comparison, left, right) => {
                let comparison = if holds {
                    *comparison
                } else {
                    comparison.negated()
                };
                self.relate(facts, comparison, left, right)
            }
            Expression::IsFinite(Expression::Parameter(name)) if holds => {
                self.meet(facts, name, Aspect::Value, FINITE)
            }
            // Met by a value that is not there, and by a list of nothing.
            Expression::NoneOr(Expression::Parameter(name), ..)
            | Expression::All(Expression::Parameter(name), ..)
                if holds =>
            {
                self.meet(facts, name, Aspect::Value, Range::ALL)
            }
            // Nothing is concluded from what cannot be read.
            Expression::Opaque(_) => true,
            _ => false,
        }
    }

    const fn relate(
        &mut self,
        facts: &AbstractState<'_>,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
    ) -> bool {
        match (left, right) {
            (Expression::Opaque(_), _) | (_, Expression::Opaque(_)) => true,
            (subject, Expression::Integer(value)) => {
                self.compare(facts, subject, comparison, *value)
            }
            (Expression::Integer(value), subject) => {
                self.compare(facts, subject, comparison.mirrored(), *value)
            }
            (Expression::Parameter(name), Expression::Float(value)) => {
                self.float(facts, comparison, name, *value)
            }
            (Expression::Float(value), Expression::Parameter(name)) => {
                self.float(facts, comparison.mirrored(), name, *value)
            }
            _ => false,
        }
    }

    const fn compare(
        &mut self,
        facts: &AbstractState<'_>,
        subject: &Expression,
        comparison: Comparison,
        value: i128,
    ) -> bool {
        let (name, aspect) = match subject {
            Expression::Parameter(name) => (*name, Aspect::Value),
            Expression::Length(Expression::Parameter(name)) => (*name, Aspect::Length),
            Expression::Characters(Expression::Parameter(name)) => (*name, Aspect::Characters),
            _ => return false,
        };
        // Of the natural numbers that is the same.
        let is_counted = !matches!(aspect, Aspect::Value);
        let comparison = match comparison {
            Comparison::NotEqual if value == 0 && is_counted => Comparison::More,
            other => other,
        };
        let Some(range) = beside(comparison, value) else {
            return false;
        };
        self.meet(facts, name, aspect, range)
    }

    const fn float(
        &mut self,
        facts: &AbstractState<'_>,
        comparison: Comparison,
        name: &'static str,
        value: f64,
    ) -> bool {
        // Far from the ends of either type, so that there are others on both sides.
        let has_room = value.abs() < 1e30;
        if !has_room {
            return false;
        }
        match beside(comparison, key(value)) {
            Some(range) => self.meet(facts, name, Aspect::Value, range),
            None => false,
        }
    }

    const fn meet(
        &mut self,
        facts: &AbstractState<'_>,
        name: &'static str,
        aspect: Aspect,
        range: Range,
    ) -> bool {
        let mut index = 0;
        while index < self.count {
            if same(self.names[index], name) {
                let is_same = self.aspects[index] as u8 == aspect as u8;
                self.ranges[index] = self.ranges[index].meet(range);
                return is_same && !self.singles[index];
            }
            index += 1;
        }
        if self.count == MOST {
            return false;
        }
        let Some(place) = facts.find(name) else {
            return false;
        };
        let domain = &facts.domains[place];
        let is_single = matches!(domain.kind, TypeKind::Float { single: true });
        let is_known = match aspect {
            Aspect::Value => match domain.kind {
                TypeKind::Integer { .. } | TypeKind::Bool | TypeKind::Float { .. } => true,
                TypeKind::Optional(_) | TypeKind::List(_) => range.same(Range::ALL),
                _ => false,
            },
            Aspect::Length => matches!(domain.kind, TypeKind::Text | TypeKind::List(_)),
            Aspect::Characters => matches!(domain.kind, TypeKind::Text),
        };
        self.names[self.count] = name;
        self.aspects[self.count] = aspect;
        self.ranges[self.count] = domain.aspect(aspect).meet(range);
        self.singles[self.count] = is_single;
        self.count += 1;
        is_known
    }
}

/// The numbers that compare so with this one; nothing where they are not one range.
const fn beside(comparison: Comparison, value: i128) -> Option<Range> {
    let range = match comparison {
        Comparison::Equal => Range::only(value),
        Comparison::Less if value > i128::MIN => Range::new(i128::MIN, value - 1),
        Comparison::AtMost => Range::new(i128::MIN, value),
        Comparison::More if value < i128::MAX => Range::new(value + 1, i128::MAX),
        Comparison::AtLeast => Range::new(value, i128::MAX),
        _ => return None,
    };
    Some(range)
}
