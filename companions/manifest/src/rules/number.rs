//! Lowers comparisons of numbers.
//!
//! Of integers Rust computes in the operand's type, CEL in 64 bits. Where the two could differ, a guard stands before the comparison,
//! and out of its bounds the rule says `true`: the native code decides. The bounds are those of the type, where a result is needed
//! that may leave it, and plus and minus 2^53 - 1, where a value may have been rounded by a reader to whom every number of JSON is a
//! `double` (RFC 8259, section 6).
//!
//! Floats every engine evaluates alike as IEEE 754 doubles. An `f32` is the number of the arguments rounded to fewer digits, for which
//! CEL has no word: its bounds are moved outward to the neighbour that can no longer be rounded into them, and it is not computed with.

use contract_runtime::__family::{Comparison, Constant, Expression, Operation, TypeKind};

use super::Rules;
use super::cel::Cel;

/// The largest whole number that every reader of JSON keeps, with all its neighbours.
const EXACT: i128 = (1 << 53) - 1;

/// What a count is in Rust.
const COUNT: TypeKind = TypeKind::Integer {
    low: 0,
    high: usize::MAX as i128,
};

/// A whole number between two ends.
struct Whole {
    cel: Cel,
    low: i128,
    high: i128,
}

/// What must hold of the operands for CEL and Rust to compute the same.
#[derive(Default)]
struct Guards {
    /// Arguments that are perhaps beyond what every reader keeps.
    wide: Vec<Cel>,
    /// Results that are perhaps beyond their type.
    results: Vec<Cel>,
}

/// A literal of the kind `int`.
pub(super) fn literal(value: i128) -> Option<Cel> {
    (-EXACT..=EXACT)
        .contains(&value)
        .then(|| Cel::number(value.to_string()))
}

impl Rules<'_> {
    /// A comparison in the type that `kind` stands for.
    pub(super) fn compare_whole(
        &self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
        kind: TypeKind,
    ) -> Option<Cel> {
        if let Some(emptiness) = self.emptiness(comparison, left, right) {
            return Some(emptiness);
        }
        let mut guards = Guards::default();
        let (a, b) = (
            self.whole(left, kind, &mut guards)?,
            self.whole(right, kind, &mut guards)?,
        );
        // Rounding keeps the order to a number that it does not change.
        if is_constant(left) && is_place(right) || is_place(left) && is_constant(right) {
            guards.wide.clear();
        }
        let comparison = Cel::relation(comparison.operator(), &a.cel, &b.cel);
        Some(guards.before(&comparison))
    }

    /// `x in [1, 2]`, or nothing where that needs a guard.
    pub(super) fn among_whole(
        &self,
        of: &Expression,
        list: &[Expression],
        kind: TypeKind,
    ) -> Option<Cel> {
        if !is_place(of) || !list.iter().all(is_constant) {
            return None;
        }
        let mut guards = Guards::default();
        let value = self.whole(of, kind, &mut guards)?;
        let list: Option<Vec<Cel>> = list
            .iter()
            .map(|item| Some(self.whole(item, kind, &mut guards)?.cel))
            .collect();
        Some(Cel::relation("in", &value.cel, &Cel::list(&list?)))
    }

    /// An item of a list as a number to compare its items with.
    pub(super) fn whole_item(&self, item: &Expression, kind: TypeKind) -> Option<Cel> {
        let mut guards = Guards::default();
        let item = self.whole(item, kind, &mut guards)?;
        (guards.wide.is_empty() && guards.results.is_empty()).then_some(item.cel)
    }

    /// Whether a text is empty is the same in bytes as in characters.
    fn emptiness(
        &self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
    ) -> Option<Cel> {
        let (Expression::Length(of), Expression::Integer(0 | 1)) = (left, right) else {
            return None;
        };
        let zero = matches!(right, Expression::Integer(0));
        let apart = matches!(
            (comparison, zero),
            (
                Comparison::Equal | Comparison::NotEqual | Comparison::More | Comparison::AtMost,
                true
            ) | (Comparison::Less | Comparison::AtLeast, false)
        );
        let place = self.place(of).filter(|_| apart)?;
        let size = Cel::call("size", &place.value);
        let bound = Cel::number(if zero { "0" } else { "1" }.to_owned());
        (place.kind == TypeKind::Text).then(|| Cel::relation(comparison.operator(), &size, &bound))
    }

    fn whole(&self, expression: &Expression, kind: TypeKind, guards: &mut Guards) -> Option<Whole> {
        if is_constant(expression) {
            let Constant::Integer(value) = Constant::of(expression, kind)? else {
                return None;
            };
            return Some(Whole {
                cel: literal(value)?,
                low: value,
                high: value,
            });
        }
        match expression {
            Expression::Parameter(_) | Expression::Variable(_) => {
                // Of another type only where it was converted to this one without a loss.
                let place = self.place(expression)?;
                let (low, high) = integer_ends(place.kind)?;
                let (least, most) = integer_ends(kind)?;
                (least <= low && high <= most)
                    .then(|| guards.argument(Cel::call("int", &place.value), place.kind))
            }
            Expression::Length(of) => {
                let place = self.place(of)?;
                Some(Whole::count(match place.kind {
                    TypeKind::Text => Cel::call("size", &Cel::call("bytes", &place.value)),
                    TypeKind::List(_) => Cel::call("size", &place.value),
                    _ => return None,
                }))
            }
            Expression::Characters(of) => {
                let place = self
                    .place(of)
                    .filter(|place| place.kind == TypeKind::Text)?;
                Some(Whole::count(Cel::call("size", &place.value)))
            }
            Expression::Negative(of) => {
                let of = self.whole(of, kind, guards)?;
                let result = Whole {
                    cel: of.cel.negative(),
                    low: of.high.checked_neg()?,
                    high: of.low.checked_neg()?,
                };
                guards.result(result, kind)
            }
            Expression::Absolute(of) => {
                let result = self.whole(of, kind, guards)?.absolute()?;
                guards.result(result, kind)
            }
            Expression::UnsignedAbsolute(of) => {
                self.whole(of, kind_of(self, of)?, guards)?.absolute()
            }
            Expression::Widened(of, _) => self.whole(of, kind, guards),
            Expression::Arithmetic(operation, left, right) => {
                let left = self.whole(left, kind, guards)?;
                let right = self.whole(right, kind, guards)?;
                guards.result(left.combined(*operation, &right)?, kind)
            }
            _ => None,
        }
    }
}

impl Whole {
    const fn count(cel: Cel) -> Self {
        Self {
            cel,
            low: 0,
            high: EXACT,
        }
    }

    /// Without its sign.
    fn absolute(&self) -> Option<Self> {
        let (low, high) = (self.low.checked_abs()?, self.high.checked_abs()?);
        let around_zero = self.low <= 0 && self.high >= 0;
        Some(Self {
            cel: self.cel.absolute("0"),
            low: if around_zero { 0 } else { low.min(high) },
            high: low.max(high),
        })
    }

    fn combined(&self, operation: Operation, other: &Self) -> Option<Self> {
        let ends = |ends: [Option<i128>; 4]| {
            let ends: Option<Vec<i128>> = ends.into_iter().collect();
            let ends = ends?;
            Some((*ends.iter().min()?, *ends.iter().max()?))
        };
        let each = |apply: fn(i128, i128) -> Option<i128>| {
            ends([
                apply(self.low, other.low),
                apply(self.low, other.high),
                apply(self.high, other.low),
                apply(self.high, other.high),
            ])
        };
        let (operator, (low, high)) = match operation {
            Operation::Add => ("+", each(i128::checked_add)?),
            Operation::Subtract => ("-", each(i128::checked_sub)?),
            Operation::Multiply => ("*", each(i128::checked_mul)?),
            Operation::Remainder => ("%", self.remainder(other)?),
        };
        let mut cel = Cel::arithmetic(operator, &self.cel, &other.cel);
        cel.fails |= operation == Operation::Remainder && other.low <= 0 && other.high >= 0;
        Some(Self { cel, low, high })
    }

    /// With the sign of the left side; nothing where the right side is always zero.
    fn remainder(&self, by: &Self) -> Option<(i128, i128)> {
        let most = by.low.checked_abs()?.max(by.high.checked_abs()?);
        let most = most.checked_sub(1).filter(|most| *most >= 0)?;
        Some((self.low.clamp(-most, 0), self.high.clamp(0, most)))
    }
}

impl Guards {
    /// An argument of the type that `kind` stands for.
    fn argument(&mut self, cel: Cel, kind: TypeKind) -> Whole {
        let (low, high) = ends(kind);
        if (low < -EXACT || high > EXACT) && !self.wide.contains(&cel) {
            self.wide.push(cel.clone());
        }
        Whole {
            cel,
            low: low.clamp(-EXACT, EXACT),
            high: high.clamp(-EXACT, EXACT),
        }
    }

    /// A result that is of the type that `kind` stands for, or else wraps or panics.
    ///
    /// Beyond 64 bits CEL gives no result either (language definition, "Overflow").
    fn result(&mut self, of: Whole, kind: TypeKind) -> Option<Whole> {
        let Whole {
            mut cel,
            mut low,
            mut high,
        } = of;
        cel.fails |= low < i64::MIN.into() || high > i64::MAX.into();
        let (least, most) = ends(kind);
        let mut within = |operator: &str, end: i128| {
            let end = Cel::number(end.to_string());
            self.results.push(Cel::relation(operator, &cel, &end));
        };
        if low < least && least > i64::MIN.into() {
            within(">=", least);
        }
        if high > most && most < i64::MAX.into() {
            within("<=", most);
        }
        low = low.max(least.max(i64::MIN.into()));
        high = high.min(most.min(i64::MAX.into()));
        Some(Whole { cel, low, high }).filter(|whole| whole.low <= whole.high)
    }

    fn before(self, comparison: &Cel) -> Cel {
        let all = wide(&self.wide)
            .into_iter()
            .chain(self.results)
            .fold(Cel::bool(true), Cel::and);
        all.choose(comparison, &Cel::bool(true))
    }
}

/// That no reader has rounded these.
fn wide(numbers: &[Cel]) -> Option<Cel> {
    let exact = |number: &Cel| {
        let (low, high) = (
            Cel::number((-EXACT).to_string()),
            Cel::number(EXACT.to_string()),
        );
        Cel::relation("<=", &low, number).and(Cel::relation("<=", number, &high))
    };
    match numbers {
        [] => None,
        [one] => Some(exact(one)),
        several => {
            let name = "number";
            Some(Cel::list(several).each("all", name, &exact(&Cel::primary(name))))
        }
    }
}

fn integer_ends(kind: TypeKind) -> Option<(i128, i128)> {
    matches!(kind, TypeKind::Integer { .. }).then(|| ends(kind))
}

fn ends(kind: TypeKind) -> (i128, i128) {
    match kind {
        TypeKind::Integer { low, high } => (low, high),
        _ => (i128::MIN, i128::MAX),
    }
}

/// Whether no argument is in it.
pub(super) fn is_constant(expression: &Expression) -> bool {
    match expression {
        Expression::Bool(_)
        | Expression::Integer(_)
        | Expression::Float(_)
        | Expression::Text(_)
        | Expression::Named { .. } => true,
        Expression::Negative(of) => is_constant(of),
        Expression::Arithmetic(_, left, right) => is_constant(left) && is_constant(right),
        _ => false,
    }
}

fn is_place(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::Parameter(_) | Expression::Variable(_)
    )
}

/// The type in which an expression is computed, as far as its arguments tell.
pub(super) fn kind_of(rules: &Rules<'_>, expression: &Expression) -> Option<TypeKind> {
    match expression {
        Expression::Parameter(_) | Expression::Variable(_) => Some(rules.place(expression)?.kind),
        Expression::Length(_) | Expression::Characters(_) => Some(COUNT),
        Expression::Negative(of) | Expression::Absolute(of) => kind_of(rules, of),
        Expression::Widened(_, kind) => Some(**kind),
        Expression::UnsignedAbsolute(of) => match kind_of(rules, of)? {
            TypeKind::Integer { low, high } => Some(TypeKind::Integer {
                low: 0,
                high: high.max(low.checked_neg()?),
            }),
            _ => None,
        },
        Expression::Arithmetic(_, left, right) => {
            kind_of(rules, left).or_else(|| kind_of(rules, right))
        }
        Expression::Bool(_)
        | Expression::Integer(_)
        | Expression::Float(_)
        | Expression::Text(_)
        | Expression::Named { .. }
        | Expression::Opaque(_) => None,
        _ => Some(TypeKind::Bool),
    }
}

const DOUBLE: TypeKind = TypeKind::Float { single: false };

impl Rules<'_> {
    /// A comparison that is as expected, of two numbers of this precision.
    pub(super) fn compare_floats(
        &self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
        (single, expected): (bool, bool),
    ) -> Option<Cel> {
        let (computed_left, computed_right) = (is_computed(left), is_computed(right));
        if !computed_left && !computed_right {
            // Numbers of JSON are ordered: there is no NaN among them.
            let comparison = comparison.expecting(expected);
            // How `x.is_nan()` is read.
            if !is_constant(left) && self.float(left)? == self.float(right)? {
                let same = !matches!(
                    comparison,
                    Comparison::NotEqual | Comparison::Less | Comparison::More
                );
                return Some(Cel::bool(same));
            }
            return if single {
                self.compare_singles(comparison, left, right)
            } else {
                self.relation(comparison, left, right)
            };
        }
        let ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        // To cel-python one NaN equals another.
        if single || (computed_left && computed_right && !ordered) {
            return None;
        }
        let mut relation = self.relation(comparison, left, right)?;
        // The `cel` of Rust refuses to order a NaN.
        relation.fails = true;
        Some(if expected { relation } else { relation.not() })
    }

    /// Whether a number is finite: all of JSON are.
    pub(super) fn is_finite(&self, of: &Expression, single: bool, expected: bool) -> Option<Cel> {
        let value = self.float(of)?;
        if !is_computed(of) {
            // But one may be too large for an `f32`.
            return (expected || !single).then(|| Cel::bool(expected));
        }
        let (low, high) = (Cel::float(f64::MIN)?, Cel::float(f64::MAX)?);
        let mut finite = Cel::relation("<=", &low, &value).and(Cel::relation("<=", &value, &high));
        finite.fails = true;
        let finite = (!single).then_some(finite)?;
        Some(if expected { finite } else { finite.not() })
    }

    fn relation(
        &self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
    ) -> Option<Cel> {
        let (left, right) = (self.float(left)?, self.float(right)?);
        Some(Cel::relation(comparison.operator(), &left, &right))
    }

    /// A comparison of an `f32`, or a weaker one.
    fn compare_singles(
        &self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
    ) -> Option<Cel> {
        if is_constant(left) {
            return self.compare_singles(comparison.mirrored(), right, left);
        }
        if !is_constant(right) {
            // Rounding keeps the order of two numbers, but may make them equal.
            let strict = matches!(
                comparison,
                Comparison::Less | Comparison::More | Comparison::NotEqual
            );
            return strict.then(|| self.relation(comparison, left, right))?;
        }
        let (value, bound) = (self.float(left)?, single(right)?);
        let beyond = |operator, bound: f32| {
            Some(Cel::relation(operator, &value, &Cel::float(bound.into())?))
        };
        match comparison {
            Comparison::Less | Comparison::More | Comparison::NotEqual => {
                beyond(comparison.operator(), bound)
            }
            Comparison::AtMost => beyond("<", bound.next_up()),
            Comparison::AtLeast => beyond(">", bound.next_down()),
            Comparison::Equal => {
                Some(beyond(">", bound.next_down())?.and(beyond("<", bound.next_up())?))
            }
        }
    }

    pub(super) fn float(&self, expression: &Expression) -> Option<Cel> {
        if is_constant(expression) {
            return Cel::float(constant(expression, DOUBLE)?);
        }
        match expression {
            Expression::Parameter(_) | Expression::Variable(_) => {
                let place = self.place(expression)?;
                matches!(place.kind, TypeKind::Float { .. })
                    .then(|| Cel::call("double", &place.value))
            }
            Expression::Negative(of) => Some(self.float(of)?.negative()),
            Expression::Absolute(of) => Some(self.float(of)?.absolute("0.0")),
            Expression::Arithmetic(operation, left, right) => {
                let operator = match operation {
                    Operation::Add => "+",
                    Operation::Subtract => "-",
                    Operation::Multiply => "*",
                    // CEL has it for whole numbers alone.
                    Operation::Remainder => return None,
                };
                Some(Cel::arithmetic(
                    operator,
                    &self.float(left)?,
                    &self.float(right)?,
                ))
            }
            _ => None,
        }
    }
}

/// Whether it may be what no JSON can say: infinite, or no number.
fn is_computed(expression: &Expression) -> bool {
    matches!(expression, Expression::Arithmetic(..)) && !is_constant(expression)
        || matches!(expression, Expression::Negative(of) | Expression::Absolute(of) if is_computed(of))
}

fn constant(expression: &Expression, kind: TypeKind) -> Option<f64> {
    match Constant::of(expression, kind)? {
        Constant::Float(value) => Some(value),
        _ => None,
    }
}

/// A constant as the `f32` it is in Rust.
///
/// The tree holds it as `f64`. What lies halfway between two `f32` there was perhaps on one side of it in the source.
fn single(expression: &Expression) -> Option<f32> {
    let value = constant(expression, TypeKind::Float { single: true })?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounded to the nearest, as the compiler rounds the literal"
    )]
    let nearest = value as f32;
    let halfway = |neighbour: f32| f64::from(nearest).midpoint(neighbour.into());
    #[allow(clippy::float_cmp, reason = "a number halfway between two is exact")]
    let ambiguous = value == halfway(nearest.next_up()) || value == halfway(nearest.next_down());
    (nearest.is_finite() && !ambiguous).then_some(nearest)
}
