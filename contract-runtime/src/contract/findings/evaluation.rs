//! Evaluates conditions over domains, in the three-valued logic of Kleene (Introduction to Metamathematics, 1952, section 64).

use super::domain::{
    Aspect, Choice, Domain, FINITE, Known, Range, Value, contains, ends_with, key, rounded, same,
    starts_with,
};
use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::type_kind::TypeKind;

/// What an evaluation knows besides the domains, and how long it may go on.
#[derive(Debug)]
pub(super) struct Evaluation<'a> {
    /// The values of constants and tests that the expressions name.
    pub(super) known: &'a [Known<'a>],
    /// A quantifier over a list is decided by the one item that has a domain: as good as any if it is the only quantifier.
    pub(super) exact: bool,
    /// How many comparisons may still be evaluated; afterwards nothing more is known.
    pub(super) effort: u32,
}

/// The domains, and the variables of the closures around an expression.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    /// What is inside an optional or a list follows it, under the same name.
    domains: &'s [Domain<'s>],
    variable: &'s str,
    index: Option<usize>,
    outer: Option<&'s Scope<'s>>,
}

impl<'s> Scope<'s> {
    pub(super) const fn of(domains: &'s [Domain<'s>]) -> Self {
        Self {
            domains,
            variable: "",
            index: None,
            outer: None,
        }
    }

    /// Where the domain of a parameter or a variable stands.
    const fn find(&self, of: &Expression) -> Option<usize> {
        match (of, self.outer) {
            (Expression::Parameter(name), _) => {
                let mut index = 0;
                while index < self.domains.len() {
                    if same(self.domains[index].name, name) {
                        return Some(index);
                    }
                    index += 1;
                }
                None
            }
            (Expression::Variable(name), _) if same(self.variable, name) => self.index,
            (Expression::Variable(_), Some(outer)) => outer.find(of),
            _ => None,
        }
    }

    const fn subject(&self, of: &Expression) -> Option<&'s Domain<'s>> {
        match self.find(of) {
            Some(index) => Some(&self.domains[index]),
            None => None,
        }
    }

    const fn aspect(&self, of: &Expression, aspect: Aspect) -> Option<Number> {
        let Some(index) = self.find(of) else {
            return None;
        };
        let domain = &self.domains[index];
        let kind = match (domain.kind, aspect) {
            (TypeKind::Integer { .. } | TypeKind::Float { .. }, Aspect::Value) => domain.kind,
            (TypeKind::Bool, Aspect::Value)
            | (TypeKind::Text | TypeKind::List(_), Aspect::Length)
            | (TypeKind::Text, Aspect::Characters) => TypeKind::Integer {
                low: 0,
                high: i64::MAX as i128,
            },
            _ => return None,
        };
        Some(Number {
            range: domain.aspect(aspect),
            nan: domain.nan,
            kind,
            is_constant: false,
            place: Some((index, aspect)),
        })
    }
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    pub(super) range: Range,
    pub(super) nan: bool,
    kind: TypeKind,
    is_constant: bool,
    /// Its domain, unless it is calculated.
    pub(super) place: Option<(usize, Aspect)>,
}

impl Number {
    const fn constant(value: Value<'_>) -> Option<Self> {
        const INTEGER: TypeKind = TypeKind::Integer {
            low: i128::MIN,
            high: i128::MAX,
        };
        const FLOAT: TypeKind = TypeKind::Float { single: false };
        let (range, nan, kind) = match value {
            Value::Bool(value) => (Range::only(value as i128), false, INTEGER),
            // The largest stands for every larger one as well.
            Value::Integer(value) if value < i128::MAX => (Range::only(value), false, INTEGER),
            Value::Float(value) if value.is_nan() => (Range::EMPTY, true, FLOAT),
            Value::Float(value) => (Range::only(key(value)), false, FLOAT),
            _ => return None,
        };
        Some(Self {
            range,
            nan,
            kind,
            is_constant: true,
            place: None,
        })
    }

    /// As a type has it; `None` where that is not known.
    const fn beside(&self, kind: TypeKind) -> Option<Range> {
        match (self.kind, kind) {
            (TypeKind::Float { .. }, TypeKind::Float { single }) => {
                Some(if single && self.is_constant && !self.nan {
                    single_precision(self.range.low)
                } else {
                    self.range
                })
            }
            // A literal that does not fit its type means another number.
            (TypeKind::Integer { .. }, TypeKind::Integer { low, high })
                if !self.is_constant || Range::new(low, high).holds(self.range) =>
            {
                Some(self.range)
            }
            _ => None,
        }
    }

    const fn compared(&self, comparison: Comparison, other: &Self) -> Option<bool> {
        if self.nan || other.nan {
            let never =
                (self.nan && self.range.is_empty()) || (other.nan && other.range.is_empty());
            return if never {
                Some(matches!(comparison, Comparison::NotEqual))
            } else {
                None
            };
        }
        let (one, right) = (self.range, other.range);
        let equal = match (self.place, other.place) {
            (Some((left, aspect)), Some((right, other)))
                if left == right && aspect as u8 == other as u8 =>
            {
                Some(true)
            }
            _ => one.equal(right),
        };
        let is_same = matches!(equal, Some(true));
        match comparison {
            Comparison::Equal => equal,
            Comparison::NotEqual => not(equal),
            Comparison::Less | Comparison::More if is_same => Some(false),
            Comparison::AtMost | Comparison::AtLeast if is_same => Some(true),
            Comparison::Less => one.less(right),
            Comparison::AtMost => not(right.less(one)),
            Comparison::More => right.less(one),
            Comparison::AtLeast => not(one.less(right)),
        }
    }

    /// Of constants, which do not overflow, and the remainder of anything by one: elsewhere the order of the steps decides.
    const fn calculated(self, operation: Operation, right: &Self) -> Option<Self> {
        let (TypeKind::Integer { low, high }, TypeKind::Integer { .. }) = (self.kind, right.kind)
        else {
            return None;
        };
        let (Some(by), true) = (right.range.single(), right.is_constant) else {
            return None;
        };
        let Range {
            low: first,
            high: last,
        } = self.range;
        let result = match (operation, self.is_constant) {
            (Operation::Remainder, false) if 0 < by && low <= by && by <= high => {
                let range = match self.range.single() {
                    Some(value) if value != i128::MAX => Range::only(value % by),
                    // It has the sign of the left side.
                    _ => Range::new(
                        if first < 0 { 1 - by } else { 0 },
                        if last > 0 { by - 1 } else { 0 },
                    ),
                };
                return Some(Self {
                    range,
                    place: None,
                    ..self
                });
            }
            (Operation::Add, true) => first.checked_add(by),
            (Operation::Subtract, true) => first.checked_sub(by),
            (Operation::Multiply, true) => first.checked_mul(by),
            _ => None,
        };
        match result {
            Some(result) => Self::constant(Value::Integer(result)),
            None => None,
        }
    }
}

/// What the literal of the `f64` of this key may mean as an `f32`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a key is 63 bits and a sign"
)]
const fn single_precision(key: i128) -> Range {
    let magnitude = f64::from_bits(key.unsigned_abs() as u64);
    rounded(if key < 0 { -magnitude } else { magnitude })
}

/// What is sought among the constants that conditions name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seek<'a> {
    kind: TypeKind,
    start: i128,
    /// The last number from `start` on which every constant compares alike with all in between.
    pub(super) end: i128,
    /// How many texts come before the one that is sought.
    skip: usize,
    pub(super) text: Option<&'a str>,
}

impl<'a> Seek<'a> {
    pub(super) const fn end(of: Range, kind: TypeKind) -> Self {
        Self {
            kind,
            start: of.low,
            end: match (kind, of.low) {
                // No constant is needed for `false` and `None`, and for a list without items.
                (TypeKind::Bool | TypeKind::Optional(_), _) | (TypeKind::List(_), 0) => of.low,
                _ => of.high,
            },
            skip: 0,
            text: None,
        }
    }

    pub(super) const fn text(skip: usize) -> Self {
        Self {
            skip,
            ..Self::end(Range::EMPTY, TypeKind::Opaque)
        }
    }

    const fn constant(&mut self, value: Value<'a>) {
        match (value, self.skip) {
            (Value::Text(text), 0) if self.text.is_none() => self.text = Some(text),
            (Value::Text(_), 1..) => self.skip -= 1,
            _ => match Number::constant(value) {
                Some(number) if !number.nan => match number.beside(self.kind) {
                    Some(range) => self.cut(range),
                    None => self.cut(number.range),
                },
                _ => {}
            },
        }
    }

    const fn cut(&mut self, at: Range) {
        if self.start < at.low && at.low <= self.end {
            self.end = at.low - 1;
        } else if self.start <= at.high && at.high < self.end {
            self.end = at.high;
        }
    }
}

impl<'a> Evaluation<'a> {
    pub(super) const fn new(known: &'a [Known<'a>], effort: u32) -> Self {
        Self {
            known,
            exact: false,
            effort,
        }
    }

    /// Whether a condition holds of all values in the domains (`Some(true)`), or of none.
    pub(super) const fn holds(
        &mut self,
        what: &'static Expression,
        at: &Scope<'_>,
    ) -> Option<bool> {
        match what {
            Expression::Bool(_) | Expression::Named { .. } => match self.value(what) {
                Value::Bool(value) => Some(value),
                _ => None,
            },
            Expression::Not(of) => not(self.holds(of, at)),
            Expression::And(..) => self.chain(what, true, at),
            Expression::Or(..) => self.chain(what, false, at),
            Expression::Compare(comparison, left, right) => {
                self.compare(*comparison, left, right, at)
            }
            Expression::Among(of, list) => {
                let (mut rest, mut answer) = (*list, Some(false));
                while let Some((item, others)) = rest.split_first() {
                    match self.compare(Comparison::Equal, of, item, at) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => answer = None,
                    }
                    rest = others;
                }
                answer
            }
            Expression::Parameter(_) | Expression::Variable(_) => match at.subject(what) {
                Some(of) if matches!(of.kind, TypeKind::Bool) => filled(of),
                _ => None,
            },
            Expression::IsSome(of) => match at.subject(of) {
                Some(of) => filled(of),
                None => None,
            },
            Expression::SomeAnd(of, name, body) | Expression::Any(of, name, body) => {
                self.any(of, name, (body, true), at)
            }
            Expression::NoneOr(of, name, body) | Expression::All(of, name, body) => {
                not(self.any(of, name, (body, false), at))
            }
            Expression::StartsWith(of, part)
            | Expression::EndsWith(of, part)
            | Expression::Contains(of, part) => affixed(what, at.subject(of), self.value(part)),
            Expression::IsFinite(of) => match self.number(of, at) {
                Some(of) if FINITE.holds(of.range) && !of.nan => Some(true),
                Some(of) if FINITE.meet(of.range).is_empty() => Some(false),
                _ => None,
            },
            Expression::Native { parameter, .. } => {
                match (
                    self.value(what),
                    at.subject(&Expression::Parameter(parameter)),
                ) {
                    (Value::Values { holding, failing }, Some(of)) => {
                        match (of.values & !holding, of.values & !failing) {
                            (0, _) => Some(true),
                            (_, 0) => Some(false),
                            _ => None,
                        }
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `a && b && ..`, or `a || b || ..`; along the left side, where a chain grows, because a constant may not nest deeply.
    const fn chain(
        &mut self,
        mut rest: &'static Expression,
        is_and: bool,
        at: &Scope<'_>,
    ) -> Option<bool> {
        let mut answer = Some(is_and);
        loop {
            let (others, last) = match rest {
                Expression::And(others, last) if is_and => (Some(*others), *last),
                Expression::Or(others, last) if !is_and => (Some(*others), *last),
                last => (None, last),
            };
            match self.holds(last, at) {
                Some(holds) if holds != is_and => return Some(holds),
                Some(_) => {}
                None => answer = None,
            }
            match others {
                Some(others) => rest = others,
                None => return answer,
            }
        }
    }

    /// Whether the body evaluates to `wanted` for some value inside.
    const fn any(
        &mut self,
        of: &Expression,
        name: &'static str,
        (body, wanted): (&'static Expression, bool),
        at: &Scope<'_>,
    ) -> Option<bool> {
        let Some(index) = at.find(of) else {
            return None;
        };
        let container = &at.domains[index];
        let filled = filled(container);
        if matches!(filled, Some(false)) {
            return filled;
        }
        let exact = self.exact || matches!(container.kind, TypeKind::Optional(_));
        let next = index + 1;
        let has_inside = next < at.domains.len() && same(at.domains[next].name, container.name);
        let inside = Scope {
            domains: at.domains,
            variable: name,
            index: if has_inside { Some(next) } else { None },
            outer: Some(at),
        };
        match (filled, self.holds(body, &inside)) {
            (Some(true), Some(holds)) if holds == wanted => Some(true),
            (_, Some(holds)) if holds != wanted && exact => Some(false),
            _ => None,
        }
    }

    const fn compare(
        &mut self,
        comparison: Comparison,
        left: &'static Expression,
        right: &'static Expression,
        at: &Scope<'_>,
    ) -> Option<bool> {
        if self.effort == 0 {
            return None;
        }
        self.effort -= 1;
        let unequal = matches!(comparison, Comparison::NotEqual);
        if let Some((left, right)) = self.numbers(left, right, at) {
            return left.compared(comparison, &right);
        }
        if !unequal && !matches!(comparison, Comparison::Equal) {
            return None;
        }
        let equal = match (self.value(left), self.value(right)) {
            (Value::Text(one), Value::Text(other)) => Some(same(one, other)),
            (Value::Text(text), _) => is(at.subject(right), text),
            (_, Value::Text(text)) => is(at.subject(left), text),
            _ => match (self.holds(left, at), self.holds(right, at)) {
                (Some(one), Some(other)) => Some(one == other),
                _ => None,
            },
        };
        if unequal { not(equal) } else { equal }
    }

    /// Both sides of a comparison of numbers.
    pub(super) const fn numbers(
        &self,
        left: &Expression,
        right: &Expression,
        at: &Scope<'_>,
    ) -> Option<(Number, Number)> {
        let (Some(left), Some(right)) = (self.number(left, at), self.number(right, at)) else {
            return None;
        };
        let (Some(low), Some(high)) = (left.beside(right.kind), right.beside(left.kind)) else {
            return None;
        };
        Some((
            Number { range: low, ..left },
            Number {
                range: high,
                ..right
            },
        ))
    }

    const fn number(&self, of: &Expression, at: &Scope<'_>) -> Option<Number> {
        match of {
            Expression::Parameter(_) | Expression::Variable(_) => at.aspect(of, Aspect::Value),
            Expression::Length(of) => at.aspect(of, Aspect::Length),
            Expression::Characters(of) => at.aspect(of, Aspect::Characters),
            Expression::Arithmetic(operation, left, right) => {
                match (self.number(left, at), self.number(right, at)) {
                    (Some(left), Some(right)) => left.calculated(*operation, &right),
                    _ => None,
                }
            }
            Expression::Negative(of) => {
                match (self.number(of, at), Number::constant(Value::Integer(0))) {
                    (Some(of), Some(zero)) => zero.calculated(Operation::Subtract, &of),
                    _ => None,
                }
            }
            constant => Number::constant(self.value(constant)),
        }
    }

    /// The value of a constant, or what is known of a test.
    const fn value(&self, of: &Expression) -> Value<'a> {
        match of {
            Expression::Bool(value) => Value::Bool(*value),
            Expression::Integer(value) => Value::Integer(*value),
            Expression::Float(value) => Value::Float(*value),
            Expression::Text(text) => Value::Text(text),
            Expression::Named { text, .. } | Expression::Native { text, .. } => {
                let mut rest = self.known;
                while let Some((one, others)) = rest.split_first() {
                    if same(one.text, text) {
                        return one.value;
                    }
                    rest = others;
                }
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }

    pub(super) const fn seek(
        &mut self,
        conditions: &[&'static Expression],
        mut seek: Seek<'a>,
    ) -> Seek<'a> {
        let mut rest = conditions;
        while let Some((condition, others)) = rest.split_first() {
            self.among(condition, &mut seek);
            rest = others;
        }
        seek
    }

    const fn among(&mut self, what: &'static Expression, seek: &mut Seek<'a>) {
        let mut rest = Some(what);
        while let Some(what) = rest {
            self.effort = self.effort.saturating_sub(1);
            match (what, self.value(what)) {
                // A sum of constants.
                (Expression::Arithmetic(..) | Expression::Negative(_), _) => {
                    if let Some(sum) = self.number(what, &Scope::of(&[])) {
                        seek.constant(Value::Integer(sum.range.low));
                    }
                }
                (Expression::IsFinite(_), _) => seek.cut(FINITE),
                (_, Value::Unknown) => {}
                (_, value) => seek.constant(value),
            }
            let (first, second, mut list) = what.operands();
            if let Some(second) = second {
                self.among(second, seek);
            }
            while let Some((item, others)) = list.split_first() {
                self.among(item, seek);
                list = others;
            }
            rest = first;
        }
    }
}

const fn not(answer: Option<bool>) -> Option<bool> {
    match answer {
        Some(answer) => Some(!answer),
        None => None,
    }
}

/// Whether a bool is `true`, an optional is `Some`, or a list has items.
const fn filled(domain: &Domain<'_>) -> Option<bool> {
    match domain.kind {
        TypeKind::Bool | TypeKind::Optional(_) => {
            domain.aspect(Aspect::Value).equal(Range::only(1))
        }
        TypeKind::List(_) => Range::only(0).less(domain.aspect(Aspect::Length)),
        _ => None,
    }
}

const fn is(of: Option<&Domain<'_>>, text: &str) -> Option<bool> {
    match of {
        Some(Domain {
            kind: TypeKind::Text | TypeKind::Character,
            choices: [whole, ..],
            ..
        }) => match whole {
            Choice::Is(other) => Some(same(other, text)),
            Choice::Other => Some(false),
            Choice::Open(_) => None,
        },
        _ => None,
    }
}

const fn affixed(what: &Expression, of: Option<&Domain<'_>>, part: Value<'_>) -> Option<bool> {
    let Some(domain) = of else {
        return None;
    };
    let part = match (domain.kind, part) {
        (TypeKind::Text, Value::Text(part)) => part,
        // An empty list contains nothing.
        (TypeKind::List(_), _) if domain.aspect(Aspect::Length).high == 0 => {
            return Some(false);
        }
        _ => return None,
    };
    let [whole, start, end] = domain.choices;
    match (what, whole, start, end) {
        _ if part.is_empty() => Some(true),
        (Expression::StartsWith(..), _, Choice::Is(text), _) => Some(starts_with(text, part)),
        (Expression::EndsWith(..), _, _, Choice::Is(text)) => Some(ends_with(text, part)),
        (Expression::StartsWith(..), _, Choice::Other, _)
        | (Expression::EndsWith(..), _, _, Choice::Other) => Some(false),
        (Expression::Contains(..), Choice::Is(text), _, _) => Some(contains(text, part)),
        _ if domain.containing(part).is_empty() => Some(false),
        _ => None,
    }
}
