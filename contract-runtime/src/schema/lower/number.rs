//! Lowers conditions on numbers.

use serde_json::Value;

use super::constant::{Constant, float, integer};
use super::fragment::{Fragment, Keywords};
use super::span::Span;
use crate::contract::expression::Comparison;

/// From here on not every integer is a float, and a JSON integer is rounded before a predicate sees it.
const INTEGRAL: f64 = 9_007_199_254_740_992.0; // 2^53

/// An integer of a type with these ends, compared with a constant.
pub(super) fn integers(
    comparison: Comparison,
    constant: i128,
    (low, high): (i128, i128),
) -> Option<Fragment> {
    Some(match Span::of(comparison, constant, (low, high))? {
        Span::Nothing => Fragment::never(),
        Span::Except(value) => Fragment::except(vec![integer(value)?]),
        Span::Within(..) if comparison == Comparison::Equal => {
            Fragment::among(vec![integer(constant)?])
        }
        Span::Within(first, last) => {
            let mut keywords = Keywords::new();
            for (keyword, end) in [("minimum", first), ("maximum", last)] {
                if let Some(end) = end {
                    keywords.insert(keyword.to_owned(), integer(end)?);
                }
            }
            Fragment::new(keywords, true)
        }
    })
}

/// `x % step == rest`, or `!=`.
pub(super) fn remainder(
    comparison: Comparison,
    step: i128,
    rest: i128,
    (low, _): (i128, i128),
) -> Option<Fragment> {
    let mut divides = match comparison {
        Comparison::Equal => true,
        Comparison::NotEqual => false,
        _ => return None,
    };
    // `x % 0` panics, and so does the least integer `% -1`.
    let size = step.checked_abs().filter(|_| step != 0 && step != -1)?;
    match rest {
        0 => {}
        1 if size == 2 && low >= 0 => divides = !divides,
        _ => return None,
    }
    let multiple = if size == 1 {
        Fragment::always()
    } else {
        // Beyond, a reader that divides doubles would refuse the step itself.
        Fragment::one("multipleOf", integer(size).filter(|_| size <= 1 << 53)?)
    };
    Some(match (divides, size) {
        (true, _) => multiple,
        (false, 1) => Fragment::never(),
        (false, _) => Fragment::not(multiple.keywords),
    })
}

/// A float compared with a constant. No JSON text is read as one that is not finite.
pub(super) fn floats(comparison: Comparison, constant: f64, single: bool) -> Option<Fragment> {
    if !constant.is_finite() {
        return Some(if compare(comparison, 0.0, constant) {
            Fragment::always()
        } else {
            Fragment::never()
        });
    }
    let ends = if single {
        Ends::single(constant)?
    } else {
        Ends::double(constant)
    };
    ends.fragment(comparison)
}

/// `x.abs() <= k` as `x <= k && x >= -k`, and `x.abs() > k` as `x > k || x < -k`; `limit` is `-k`.
pub(super) fn magnitude<N: Copy + std::ops::Neg<Output = N>>(
    comparison: Comparison,
    limit: N,
    compared: impl Fn(Comparison, N) -> Option<Fragment>,
) -> Option<Fragment> {
    let (above, below) = (
        compared(comparison, -limit)?,
        compared(comparison.mirrored(), limit)?,
    );
    Some(match comparison {
        Comparison::Less | Comparison::AtMost | Comparison::NotEqual => above.and(below),
        Comparison::More | Comparison::AtLeast | Comparison::Equal => above.or(below),
    })
}

fn compare(comparison: Comparison, left: f64, right: f64) -> bool {
    #[expect(clippy::float_cmp, reason = "it is the author's comparison")]
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Less => left < right,
        Comparison::AtMost => left <= right,
        Comparison::More => left > right,
        Comparison::AtLeast => left >= right,
    }
}

/// Which JSON numbers may be read as a constant, as less and as more than it.
struct Ends {
    /// Nothing below is read as the constant or as more; there is no such number where it is the least.
    least: Option<f64>,
    /// Everything below is read as less.
    low: f64,
    /// Everything above is read as more.
    high: f64,
    /// Nothing above is read as the constant or as less.
    most: Option<f64>,
    /// Whether all four are one number.
    exact: bool,
}

impl Ends {
    fn double(constant: f64) -> Self {
        let exact = constant.abs() < INTEGRAL;
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        Self {
            least: if exact {
                Some(constant)
            } else {
                finite(constant.next_down())
            },
            low: constant,
            high: constant,
            most: if exact {
                Some(constant)
            } else {
                finite(constant.next_up())
            },
            exact,
        }
    }

    /// Numbers are rounded to `f32` before they are compared, and the constant has been already.
    ///
    /// Its digits were rounded once by the compiler and twice on their way here, which differs where an `f64` lies
    /// half-way between two `f32`.
    fn single(constant: f64) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is what `f32` makes of it"
        )]
        let nearest = constant as f32;
        if !nearest.is_finite() {
            return None;
        }
        let half_way = |other: f32| {
            other.is_finite()
                && f64::midpoint(nearest.into(), other.into()).to_bits() == constant.to_bits()
        };
        let (below, above) = (nearest.next_down(), nearest.next_up());
        let low = if half_way(below) { below } else { nearest };
        let high = if half_way(above) { above } else { nearest };
        Some(Self {
            least: Some(low.next_down())
                .filter(|end| end.is_finite())
                .and_then(shortest),
            low: shortest(low)?,
            high: shortest(high)?,
            most: Some(high.next_up())
                .filter(|end| end.is_finite())
                .and_then(shortest),
            exact: false,
        })
    }

    fn fragment(&self, comparison: Comparison) -> Option<Fragment> {
        let one = |keyword, end: Option<f64>| match end {
            Some(end) => Some(Fragment::one(keyword, float(end)?)),
            None => Some(Fragment::always()),
        };
        let fragment = match comparison {
            Comparison::Less => one("exclusiveMaximum", Some(self.high))?,
            Comparison::More => one("exclusiveMinimum", Some(self.low))?,
            // Without a further number the condition holds of all.
            Comparison::AtMost if self.most.is_none() => return Some(Fragment::always()),
            Comparison::AtLeast if self.least.is_none() => return Some(Fragment::always()),
            Comparison::AtMost => one("maximum", self.most)?,
            Comparison::AtLeast => one("minimum", self.least)?,
            Comparison::Equal if self.exact => Fragment::among(vec![float(self.low)?]),
            Comparison::Equal => one("minimum", self.least)?.and(one("maximum", self.most)?),
            Comparison::NotEqual if self.low.to_bits() == self.high.to_bits() => {
                Fragment::except(vec![float(self.low)?])
            }
            Comparison::NotEqual => return None,
        };
        Some(if self.exact {
            fragment
        } else {
            fragment.partial()
        })
    }
}

/// The shortest decimal that is read as this `f32`, which lies between the halves towards its neighbours.
fn shortest(value: f32) -> Option<f64> {
    value.to_string().parse().ok()
}

/// One of several constants, or none of them.
pub(super) fn among(constants: &[Constant], expected: bool, single: bool) -> Option<Fragment> {
    let values: Option<Vec<Value>> = constants
        .iter()
        .map(|constant| match constant {
            Constant::Integer(value) => integer(*value),
            Constant::Float(value) if !single && value.abs() < INTEGRAL => float(*value),
            _ => None,
        })
        .collect();
    Some(super::text::listed(values?, expected))
}
