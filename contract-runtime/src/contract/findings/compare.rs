//! Compares numbers, texts and booleans.

use super::abstract_state::{AbstractState, Outer};
use super::constants::Value;
use super::domain::{Aspect, Domain};
use super::range::{Range, key, rounded};
use super::string_domain::{Test, Texts, same};
use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::type_kind::TypeKind;

/// A number of some value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantity {
    pub(super) index: usize,
    pub(super) aspect: Aspect,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    range: Range,
    pub(super) nan: bool,
    float: bool,
    single: bool,
    /// The range of its type; nothing for a constant.
    limits: Option<Range>,
    /// Where it can be narrowed.
    pub(super) place: Option<Quantity>,
}

impl Number {
    const fn constant(range: Range, nan: bool, float: bool) -> Self {
        Self {
            range,
            nan,
            float,
            single: false,
            limits: None,
            place: None,
        }
    }

    const fn of(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::constant(Range::only(value as i128), false, false)),
            // There all larger ones are kept.
            Value::Integer(i128::MAX) => None,
            Value::Integer(value) => Some(Self::constant(Range::only(value), false, false)),
            Value::Float(value) if value.is_nan() => {
                Some(Self::constant(Range::new(1, 0), true, true))
            }
            Value::Float(value) => Some(Self::constant(Range::only(key(value)), false, true)),
            _ => None,
        }
    }

    /// As the type of the other side has it; nothing where that is not known.
    const fn beside(self, other: &Self) -> Option<Self> {
        if self.float != other.float {
            return None;
        }
        match (self.limits, other.limits) {
            (None, Some(_)) if other.single && !self.nan => {
                let mut wider = self;
                wider.range = match self.range.single() {
                    Some(key) => rounded(float(key)),
                    None => return None,
                };
                Some(wider)
            }
            // A literal that does not fit its type means another number.
            (None, Some(limits)) if !self.float && !limits.holds(self.range) => None,
            _ => Some(self),
        }
    }
}

/// The float of a key.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a key is 63 bits and a sign"
)]
const fn float(key: i128) -> f64 {
    let magnitude = f64::from_bits(key.unsigned_abs() as u64);
    if key < 0 { -magnitude } else { magnitude }
}

/// Two numbers and what is taken to be true of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relation {
    pub(super) comparison: Comparison,
    pub(super) left: Number,
    pub(super) right: Number,
    /// It is true of no NaN.
    pub(super) ordered: bool,
}

impl<'a> AbstractState<'a> {
    pub(super) const fn relation(
        &self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
        holds: bool,
        outer: Outer<'_>,
    ) -> Option<Relation> {
        let (Some(left), Some(right)) = (self.number(left, outer), self.number(right, outer))
        else {
            return None;
        };
        let (Some(near), Some(far)) = (left.beside(&right), right.beside(&left)) else {
            return None;
        };
        let unequal = matches!(comparison, Comparison::NotEqual);
        Some(Relation {
            comparison: if holds {
                comparison
            } else {
                comparison.negated()
            },
            left: near,
            right: far,
            ordered: holds != unequal,
        })
    }

    const fn number(&self, of: &Expression, outer: Outer<'_>) -> Option<Number> {
        match of {
            Expression::Bool(value) => Number::of(Value::Bool(*value)),
            Expression::Integer(value) => Number::of(Value::Integer(*value)),
            Expression::Float(value) => Number::of(Value::Float(*value)),
            Expression::Named { text, .. } => Number::of(self.known(text)),
            Expression::Parameter(_) | Expression::Variable(_) => {
                self.aspect(of, Aspect::Value, outer)
            }
            Expression::Length(of) => self.aspect(of, Aspect::Length, outer),
            Expression::Characters(of) => self.aspect(of, Aspect::Characters, outer),
            Expression::Arithmetic(operation, left, right) => {
                match (self.number(left, outer), self.number(right, outer)) {
                    (Some(left), Some(right)) => calculated(*operation, &left, &right),
                    _ => None,
                }
            }
            Expression::Negative(of) => match self.number(of, outer) {
                Some(of) => calculated(Operation::Subtract, &ZERO, &of),
                None => None,
            },
            _ => None,
        }
    }

    const fn aspect(&self, of: &Expression, aspect: Aspect, outer: Outer<'_>) -> Option<Number> {
        let Some(index) = self.subject(of, outer) else {
            return None;
        };
        let domain = &self.domains[index];
        match (domain.kind, aspect) {
            (TypeKind::Bool | TypeKind::Integer { .. } | TypeKind::Float { .. }, Aspect::Value)
            | (TypeKind::Text | TypeKind::List(_), Aspect::Length)
            | (TypeKind::Text, Aspect::Characters) => {}
            _ => return None,
        }
        let is_value = matches!(aspect, Aspect::Value);
        Some(Number {
            range: domain.aspect(aspect),
            nan: is_value && domain.nan,
            float: is_value && matches!(domain.kind, TypeKind::Float { .. }),
            single: is_value && matches!(domain.kind, TypeKind::Float { single: true }),
            limits: Some(Domain::of(domain.kind).aspect(aspect)),
            place: Some(Quantity { index, aspect }),
        })
    }

    pub(super) const fn compare(
        &mut self,
        comparison: Comparison,
        left: &'static Expression,
        right: &'static Expression,
        holds: bool,
        outer: Outer<'_>,
    ) {
        if self.is_out_of_budget(0) {
            return;
        }
        if let Some(relation) = self.relation(comparison, left, right, holds, outer) {
            self.narrow(&relation);
            return;
        }
        let equal = match comparison {
            Comparison::Equal => holds,
            Comparison::NotEqual => !holds,
            _ => return,
        };
        match (self.truth(left), self.truth(right)) {
            (Some(value), None) => self.assume(right, value == equal, outer),
            (None, Some(value)) => self.assume(left, value == equal, outer),
            _ => self.texts(left, right, equal, outer),
        }
    }

    const fn truth(&self, of: &Expression) -> Option<bool> {
        match of {
            Expression::Bool(value) => Some(*value),
            Expression::Named { text, .. } => match self.known(text) {
                Value::Bool(value) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }

    const fn narrow(&mut self, relation: &Relation) {
        let Relation { left, right, .. } = *relation;
        let (mut low, mut high) = (left.range, right.range);
        let (left_nan, right_nan) = if relation.ordered {
            (false, false)
        } else {
            (left.nan, right.nan)
        };
        // Where the one may be NaN, the relation says nothing of the other.
        if !right_nan {
            low = narrowed(relation.comparison, left.range, right.range);
        }
        if !left_nan {
            high = narrowed(relation.comparison.mirrored(), right.range, left.range);
        }
        if (low.is_empty() && !left_nan) || (high.is_empty() && !right_nan) {
            self.none = true;
            return;
        }
        self.put(left.place, low, left_nan);
        self.put(right.place, high, right_nan);
    }

    const fn put(&mut self, place: Option<Quantity>, range: Range, nan: bool) {
        if let Some(Quantity { index, aspect }) = place {
            let domain = &mut self.domains[index];
            if matches!(aspect, Aspect::Value) {
                domain.nan = nan;
            }
            // Both sides may be of one place.
            let range = range.meet(domain.aspect(aspect));
            domain.set(aspect, range);
            self.changed(index);
        }
    }

    /// The text of a constant.
    pub(super) const fn text(&self, of: &Expression) -> Option<&'a str> {
        match of {
            Expression::Text(text) => Some(text),
            Expression::Named { text, .. } => match self.known(text) {
                Value::Text(text) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    const fn texts(
        &mut self,
        left: &Expression,
        right: &Expression,
        equal: bool,
        outer: Outer<'_>,
    ) {
        match (self.text(left), self.text(right)) {
            (Some(one), Some(other)) => self.decided(same(one, other) == equal),
            (Some(text), None) => self.spelled(right, text, equal, outer),
            (None, Some(text)) => self.spelled(left, text, equal, outer),
            (None, None) => {}
        }
    }

    pub(super) const fn spelled(
        &mut self,
        of: &Expression,
        text: &'a str,
        equal: bool,
        outer: Outer<'_>,
    ) {
        let Some(index) = self.subject(of, outer) else {
            return;
        };
        if self.is_out_of_budget(text.len()) {
            return;
        }
        let domain = &mut self.domains[index];
        if !matches!(domain.kind, TypeKind::Text | TypeKind::Character) {
            return;
        }
        if !equal {
            domain.texts.keep(&Test::Is(text), false);
        } else if domain.texts.are_few() {
            domain.texts.keep(&Test::Is(text), true);
        } else {
            let (prefix, suffix) = (domain.prefix, domain.suffix);
            domain.texts = Texts::only(text);
            domain.texts.keep(&Test::Starts(prefix), true);
            domain.texts.keep(&Test::Ends(suffix), true);
        }
        domain.settle();
        self.changed(index);
    }

    /// `[a, b].contains(&of)`
    #[inline(never)]
    pub(super) const fn among(
        &mut self,
        of: &'static Expression,
        list: &'static [Expression],
        holds: bool,
        outer: Outer<'_>,
    ) {
        let mut rest = list;
        if !holds {
            while let Some((item, others)) = rest.split_first() {
                self.compare(Comparison::Equal, of, item, false, outer);
                rest = others;
            }
            return;
        }
        let index = match (self.number(of, outer), self.subject(of, outer)) {
            (
                Some(Number {
                    place: Some(place), ..
                }),
                _,
            ) => place.index,
            (_, Some(index)) => index,
            _ => return,
        };
        if !constants(list) {
            return;
        }
        let before = *self;
        self.none = true;
        while let Some((item, others)) = rest.split_first() {
            let mut branch = before;
            branch.effort = self.effort;
            branch.compare(Comparison::Equal, of, item, true, outer);
            self.effort = branch.effort;
            // Beside constants nothing else is narrowed.
            self.join_one(index, &branch);
            rest = others;
        }
    }
}

const fn constants(list: &[Expression]) -> bool {
    let mut rest = list;
    while let Some((item, others)) = rest.split_first() {
        match item {
            Expression::Bool(_)
            | Expression::Integer(_)
            | Expression::Float(_)
            | Expression::Text(_)
            | Expression::Named { .. } => rest = others,
            _ => return false,
        }
    }
    true
}

const ZERO: Number = Number {
    range: Range::only(0),
    nan: false,
    float: false,
    single: false,
    limits: None,
    place: None,
};

/// What is left of one side.
const fn narrowed(comparison: Comparison, of: Range, other: Range) -> Range {
    match comparison {
        Comparison::Equal => of.meet(other),
        Comparison::NotEqual => of.without(other),
        Comparison::Less => of.below(other),
        Comparison::AtMost => of.up_to(other),
        Comparison::More => of.above(other),
        Comparison::AtLeast => of.from(other),
    }
}

/// Of constants, which do not overflow, and the remainder of anything by one: elsewhere the order of the steps decides.
const fn calculated(operation: Operation, left: &Number, right: &Number) -> Option<Number> {
    let Some(by) = right.range.single() else {
        return None;
    };
    if left.float || right.float || right.limits.is_some() {
        return None;
    }
    if let (Operation::Remainder, Some(limits), 1..) = (operation, left.limits, by) {
        if !limits.holds(Range::only(by)) {
            return None;
        }
        return Some(Number {
            range: remainder(left.range, by),
            place: None,
            ..*left
        });
    }
    let (None, Some(of)) = (left.limits, left.range.single()) else {
        return None;
    };
    let result = match operation {
        Operation::Add => of.checked_add(by),
        Operation::Subtract => of.checked_sub(by),
        Operation::Multiply => of.checked_mul(by),
        // A sum that wraps has another remainder.
        Operation::Remainder => None,
    };
    match result {
        Some(result) => Number::of(Value::Integer(result)),
        None => None,
    }
}

/// What `of % by` can be, with the sign of `of`.
const fn remainder(of: Range, by: i128) -> Range {
    match of.single() {
        Some(value) => Range::only(value % by),
        None => Range::new(
            if of.low < 0 { 1 - by } else { 0 },
            if of.high > 0 { by - 1 } else { 0 },
        ),
    }
}
