//! Lowers integer comparisons to ranges.

use crate::contract::expression::Comparison;

/// What a comparison leaves of all integers of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// Those from one to another; an end that is the type's own is left out.
    Within(Option<i128>, Option<i128>),
    /// All but one, which is not an end.
    Except(i128),
    Nothing,
}

impl Span {
    /// Of the integers from `low` to `high`, those that compare so with `constant`.
    pub(super) fn of(
        comparison: Comparison,
        constant: i128,
        (low, high): (i128, i128),
    ) -> Option<Self> {
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
