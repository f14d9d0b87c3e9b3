//! Ranges of numbers as the digits that spell them.

use serde_json::Number;

use super::fraction::between;
use super::regular::Regular;
use crate::schema::Decimal;

/// The most digits of an integer that has no bound; every integer type of 64 bits holds them.
const DIGITS: u32 = 18;

/// What the bounds of a number leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Range {
    low: Option<Bound>,
    high: Option<Bound>,
    /// Single values inside that are refused.
    pub(super) refused: Vec<Number>,
}

#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) value: Decimal,
    pub(super) exclusive: bool,
}

impl Range {
    pub(super) fn at_least(&mut self, number: &Number, exclusive: bool) {
        let value = Decimal::of(number);
        let tighter = self
            .low
            .as_ref()
            .is_none_or(|own| own.value < value || (own.value == value && exclusive));
        if tighter {
            self.low = Some(Bound { value, exclusive });
        }
    }

    pub(super) fn at_most(&mut self, number: &Number, exclusive: bool) {
        let value = Decimal::of(number);
        let tighter = self
            .high
            .as_ref()
            .is_none_or(|own| own.value > value || (own.value == value && exclusive));
        if tighter {
            self.high = Some(Bound { value, exclusive });
        }
    }

    /// The integers of the range, as inclusive pieces between the refused values.
    pub(super) fn integers(&self) -> Vec<(i128, i128)> {
        let widest = 10_i128.pow(DIGITS) - 1;
        let low = self.low.as_ref().and_then(|bound| {
            let (floor, whole) = floor(&bound.value)?;
            Some(if whole && !bound.exclusive {
                floor
            } else {
                floor + 1
            })
        });
        let high = self.high.as_ref().and_then(|bound| {
            let (floor, whole) = floor(&bound.value)?;
            Some(if whole && bound.exclusive {
                floor - 1
            } else {
                floor
            })
        });
        let (low, high) = match (low, high) {
            (None, None) => (-widest, widest),
            (Some(low), None) => (low, widest.max(low.saturating_add(widest))),
            (None, Some(high)) => ((-widest).min(high.saturating_sub(widest)), high),
            (Some(low), Some(high)) => (low, high),
        };
        let mut refused: Vec<i128> = self
            .refused
            .iter()
            .filter_map(|number| floor(&Decimal::of(number)))
            .filter_map(|(floor, whole)| whole.then_some(floor))
            .filter(|value| (low..=high).contains(value))
            .collect();
        refused.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = low;
        for value in refused {
            pieces.push((from, value - 1));
            from = value + 1;
        }
        pieces.push((from, high));
        pieces.retain(|(low, high)| low <= high);
        pieces
    }

    /// The numbers of the range.
    pub(super) fn numbers(&self) -> Regular {
        let mut refused: Vec<Decimal> = self.refused.iter().map(Decimal::of).collect();
        refused.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = self.low.clone();
        for value in refused {
            let edge = Some(Bound {
                value,
                exclusive: true,
            });
            pieces.push(between(from.as_ref(), edge.as_ref()));
            from = edge;
        }
        pieces.push(between(from.as_ref(), self.high.as_ref()));
        Regular::either(pieces)
    }
}

/// The largest integer that is not above a number, and whether it is the number.
fn floor(value: &Decimal) -> Option<(i128, bool)> {
    let (negative, digits, exponent) = parts(value)?;
    let digits = i128::try_from(digits).ok()?;
    let sign = if negative { -1 } else { 1 };
    if exponent >= 0 {
        let power = 10_i128.checked_pow(u32::try_from(exponent).ok()?)?;
        // Room for what is added to it.
        let value = digits
            .checked_mul(power)
            .filter(|value| *value < i128::MAX / 4)?;
        return Some((sign * value, true));
    }
    let Some(power) = u32::try_from(-exponent)
        .ok()
        .and_then(|exponent| 10_i128.checked_pow(exponent))
    else {
        return Some((if negative { -1 } else { 0 }, false));
    };
    Some(((sign * digits).div_euclid(power), digits % power == 0))
}

/// Sign, digits and power of ten.
pub(super) fn parts(value: &Decimal) -> Option<(bool, u128, i64)> {
    let key = value.key();
    let (negative, rest) = match key.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, &*key),
    };
    let (digits, exponent) = rest.split_once('e')?;
    Some((negative, digits.parse().ok()?, exponent.parse().ok()?))
}

/// The integers from one to another.
pub(super) fn integers(low: i128, high: i128) -> Regular {
    let mut options = Vec::new();
    if low < 0 {
        let (least, most) = ((-high).max(1), -low);
        options.push(Regular::sequence([
            Regular::text("-"),
            naturals(&least.to_string(), &most.to_string()),
        ]));
    }
    if high >= 0 {
        options.push(naturals(&low.max(0).to_string(), &high.to_string()));
    }
    Regular::either(options)
}

/// The numbers without a sign from one to another, both as digits without leading zeros.
pub(super) fn naturals(low: &str, high: &str) -> Regular {
    if (low.len(), low) > (high.len(), high) {
        return Regular::never();
    }
    if low.len() == high.len() {
        return same_length(low.as_bytes(), high.as_bytes());
    }
    let nines = "9".repeat(low.len());
    let mut options = vec![same_length(low.as_bytes(), nines.as_bytes())];
    let (from, to) = (low.len() + 1, high.len() - 1);
    if from <= to {
        options.push(Regular::sequence([
            Regular::digits(1, 9),
            Regular::any_digits(from - 1, Some(to - 1)),
        ]));
    }
    let round = format!("1{}", "0".repeat(high.len() - 1));
    options.push(same_length(round.as_bytes(), high.as_bytes()));
    Regular::either(options)
}

pub(super) fn digit(byte: u8) -> u8 {
    byte.saturating_sub(b'0')
}

/// One alternative for each place where the digits part from a bound: nothing is nested.
fn same_length(low: &[u8], high: &[u8]) -> Regular {
    let shared = low
        .iter()
        .zip(high)
        .take_while(|(low, high)| low == high)
        .count();
    let (same, low, high) = (text(low, shared), low.get(shared..), high.get(shared..));
    let (Some((&first, low)), Some((&last, high))) = (
        low.and_then(<[u8]>::split_first),
        high.and_then(<[u8]>::split_first),
    ) else {
        return same;
    };
    let rest = low.len();
    if low.iter().all(|byte| *byte == b'0') && high.iter().all(|byte| *byte == b'9') {
        let first = Regular::digits(digit(first), digit(last));
        return Regular::sequence([same, first, Regular::any_digits(rest, Some(rest))]);
    }
    let after = |first: u8, rest| Regular::sequence([Regular::text(char::from(first)), rest]);
    let inner = Regular::digits(digit(first) + 1, digit(last).saturating_sub(1));
    let options = [
        after(first, beyond(low, true)),
        Regular::sequence([inner, Regular::any_digits(rest, Some(rest))]),
        after(last, beyond(high, false)),
    ];
    Regular::sequence([same, Regular::either(options)])
}

/// So many first digits.
pub(super) fn text(digits: &[u8], count: usize) -> Regular {
    Regular::text(
        digits
            .iter()
            .take(count)
            .copied()
            .map(char::from)
            .collect::<String>(),
    )
}

/// As many digits as the bound has, and not below it, or not above.
fn beyond(bound: &[u8], above: bool) -> Regular {
    let free = if above { b'0' } else { b'9' };
    let fixed = bound
        .iter()
        .rposition(|byte| *byte != free)
        .map_or(0, |place| place + 1);
    let mut options = Vec::new();
    for (place, &byte) in bound.iter().enumerate().take(fixed) {
        let rest = bound.len() - place - 1;
        options.push(Regular::sequence([
            text(bound, place),
            off(byte, above),
            Regular::any_digits(rest, Some(rest)),
        ]));
    }
    let rest = bound.len() - fixed;
    options.push(Regular::sequence([
        text(bound, fixed),
        Regular::any_digits(rest, Some(rest)),
    ]));
    Regular::either(options)
}

/// A digit above or below one.
pub(super) fn off(byte: u8, above: bool) -> Regular {
    match (above, digit(byte).checked_sub(1)) {
        (true, _) => Regular::digits(digit(byte) + 1, 9),
        (false, Some(most)) => Regular::digits(0, most),
        (false, None) => Regular::never(),
    }
}
