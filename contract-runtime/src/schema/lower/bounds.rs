//! Lowers comparisons with constants: of numbers, of texts, and of the length of texts and lists.

use serde_json::Value;

use super::fragment::{Fragment, Keywords, distinct};
use super::normal::{COUNTS, float, integer};
use crate::contract::expression::Comparison;
use crate::schema::pattern;

/// From here on not every integer is a float, and a JSON integer is rounded before a predicate sees it.
pub(super) const INTEGRAL: f64 = 9_007_199_254_740_992.0; // 2^53

/// The integers of a type for which a comparison holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    /// The integers from the first to the second. An end that is the end of the type is `None`.
    Within(Option<i128>, Option<i128>),
    /// All integers but this one, which is not an end of the type.
    Except(i128),
    Nothing,
}

impl Span {
    /// Returns the integers from `low` to `high` for which the comparison with `constant` holds.
    fn of(comparison: Comparison, constant: i128, (low, high): (i128, i128)) -> Option<Self> {
        // The far end of `u128` is kept here too, so that it does not say which number was meant.
        if constant == i128::MAX {
            return None;
        }
        Some(match comparison {
            Comparison::Less => match constant.checked_sub(1) {
                Some(last) => Self::within(low, last, (low, high)),
                None => Self::Nothing,
            },
            Comparison::AtMost => Self::within(low, constant, (low, high)),
            Comparison::More => Self::within(constant + 1, high, (low, high)),
            Comparison::AtLeast => Self::within(constant, high, (low, high)),
            Comparison::Equal => Self::within(constant, constant, (low, high)),
            Comparison::NotEqual if constant < low || constant > high => Self::Within(None, None),
            Comparison::NotEqual if constant == low => Self::within(low + 1, high, (low, high)),
            Comparison::NotEqual if constant == high => Self::within(low, high - 1, (low, high)),
            Comparison::NotEqual => Self::Except(constant),
        })
    }

    fn within(first: i128, last: i128, (low, high): (i128, i128)) -> Self {
        if first.max(low) > last.min(high) {
            return Self::Nothing;
        }
        let first = Some(first).filter(|first| *first > low);
        Self::Within(first, Some(last).filter(|last| *last < high))
    }
}

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
        let order = 0.0_f64.partial_cmp(&constant);
        let holds = order.map_or(comparison == Comparison::NotEqual, |order| {
            comparison.holds(order)
        });
        return Some(Fragment::constant(holds));
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

/// The JSON numbers that are read as a constant, as less than it, and as more.
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
            // If no larger (or smaller) number exists, the condition holds for every number.
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

/// A char of UTF-8 has at most this many bytes.
const BYTES: i128 = 4;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Bytes,
    Characters,
    Items,
}

impl Count {
    const fn keywords(self) -> [&'static str; 2] {
        match self {
            Self::Bytes | Self::Characters => ["minLength", "maxLength"],
            Self::Items => ["minItems", "maxItems"],
        }
    }

    /// The count compared with a constant.
    ///
    /// `minLength` and `maxLength` count characters (JSON Schema Validation 2020-12, section 6.3), `str::len` bytes.
    pub(super) fn compared(self, comparison: Comparison, constant: i128) -> Option<Fragment> {
        match Span::of(comparison, constant, COUNTS)? {
            Span::Nothing => Some(Fragment::never()),
            Span::Except(_) if self == Self::Bytes => None,
            Span::Except(value) => Some(Fragment::not(self.within(Some(value), Some(value))?)),
            Span::Within(first, last) if self == Self::Bytes => {
                let fewest = first.map(|bytes| (bytes - 1) / BYTES + 1);
                let keywords = self.within(fewest, last)?;
                let exact =
                    first.is_none_or(|first| first <= 1) && last.is_none_or(|last| last == 0);
                let fragment = Fragment::new(keywords, true);
                Some(if exact { fragment } else { fragment.partial() })
            }
            Span::Within(first, last) => Some(Fragment::new(self.within(first, last)?, true)),
        }
    }

    fn within(self, first: Option<i128>, last: Option<i128>) -> Option<Keywords> {
        let mut keywords = Keywords::new();
        for (keyword, end) in self.keywords().into_iter().zip([first, last]) {
            if let Some(end) = end {
                keywords.insert(keyword.to_owned(), u64::try_from(end).ok()?.into());
            }
        }
        Some(keywords)
    }
}

/// One of these values, or none of them.
pub(super) fn listed(values: Vec<Value>, expected: bool) -> Fragment {
    let values = distinct(values);
    if expected {
        Fragment::among(values)
    } else {
        Fragment::except(values)
    }
}

/// Where a text must hold another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Affix {
    Start,
    End,
    Anywhere,
}

/// A text that holds another, or does not.
pub(super) fn holding(affix: Affix, text: &str, expected: bool) -> Option<Fragment> {
    if text.is_empty() {
        return Some(Fragment::constant(expected));
    }
    let literal = pattern::literal(text)?;
    let pattern = match affix {
        Affix::Start => format!("^{literal}"),
        Affix::End => format!("{literal}$"),
        Affix::Anywhere => literal,
    };
    Some(matching(pattern, expected))
}

/// A text that matches a pattern, or does not.
pub(super) fn matching(pattern: String, expected: bool) -> Fragment {
    let fragment = Fragment::one("pattern", Value::String(pattern));
    if expected {
        fragment
    } else {
        Fragment::not(fragment.keywords)
    }
}
