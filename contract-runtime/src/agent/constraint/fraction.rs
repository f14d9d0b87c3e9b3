//! Numbers with a fraction between bounds, in plain digits.
//!
//! An exclusive bound becomes the nearest inclusive one that no rounding takes away: `0.99999999999999999999` is below 1, and
//! every reader of `f64` makes 1 of it.

use super::number::{Bound, digit, naturals, off, parts, text};
use super::regular::Regular;

/// The most digits before and after the point of a number in a range.
const WHOLE: usize = 40;
const FRACTION: usize = 40;
/// Significant digits that every `f64` keeps apart.
const APART: usize = 15;

/// A number without a sign in plain digits: `12` and `5` for 12.5.
#[derive(Clone, Debug)]
struct Plain {
    whole: String,
    fraction: String,
}

impl Plain {
    fn zero() -> Self {
        Self {
            whole: "0".to_owned(),
            fraction: String::new(),
        }
    }

    fn of(digits: u128, exponent: i64) -> Self {
        let digits = digits.to_string();
        let far = usize::try_from(exponent.unsigned_abs())
            .unwrap_or(usize::MAX)
            .min(400);
        if exponent >= 0 {
            let whole = if digits == "0" {
                digits
            } else {
                digits + &"0".repeat(far)
            };
            return Self {
                whole,
                fraction: String::new(),
            };
        }
        let padded = format!(
            "{}{digits}",
            "0".repeat((far + 1).saturating_sub(digits.len()))
        );
        let (whole, fraction) = padded.split_at(padded.len() - far);
        Self {
            whole: whole.to_owned(),
            fraction: fraction.trim_end_matches('0').to_owned(),
        }
    }

    /// A number above or below that an `f64` tells from this one.
    fn beside(&self, above: bool) -> Option<Self> {
        let places = if self.whole == "0" && self.fraction.is_empty() {
            // The smallest that is not zero for an `f32` either.
            37
        } else {
            APART.saturating_sub(self.whole.len()).max(1)
        };
        let kept: String = self.fraction.chars().take(places).collect();
        // What is cut off lies above what is kept.
        let step = if above && kept.len() < self.fraction.len() {
            2
        } else {
            1
        };
        let scaled: u128 = format!("{}{kept:0<places$}", self.whole).parse().ok()?;
        let next = if above {
            scaled.checked_add(step)?
        } else {
            scaled.checked_sub(step)?
        };
        Some(Self::of(next, -i64::try_from(places).ok()?))
    }
}

/// A bound as a sign and an inclusive number in plain digits.
fn inclusive(bound: &Bound, upper: bool) -> Option<(bool, Plain)> {
    let (negative, digits, exponent) = parts(&bound.value)?;
    let plain = Plain::of(digits, exponent);
    if !bound.exclusive {
        return Some((negative, plain));
    }
    if digits == 0 {
        return Some((upper, plain.beside(true)?));
    }
    // Beyond 38 digits nothing is told apart.
    let beside = plain.beside(upper == negative);
    Some((negative, beside.unwrap_or(plain)))
}

pub(super) fn between(low: Option<&Bound>, high: Option<&Bound>) -> Regular {
    let low = low.and_then(|bound| inclusive(bound, false));
    let high = high.and_then(|bound| inclusive(bound, true));
    // The part below zero is the part above it of the mirrored bounds; `-0` stands where there are numbers below zero.
    let mirror = |bound: &Option<(bool, Plain)>| {
        bound
            .as_ref()
            .map(|(negative, plain)| (!negative, plain.clone()))
    };
    let below = positive(mirror(&high), mirror(&low));
    let below = Regular::sequence([Regular::text("-"), below]);
    Regular::either([positive(low, high), below])
}

/// The numbers without a sign.
fn positive(low: Option<(bool, Plain)>, high: Option<(bool, Plain)>) -> Regular {
    let low = match low {
        Some((false, plain)) => plain,
        _ => Plain::zero(),
    };
    let is_zero = low.whole == "0" && low.fraction.is_empty();
    match high {
        Some((true, _)) => Regular::never(),
        Some((false, plain)) => range(&low, &plain),
        // Below every largest number, and of a finite length.
        None if is_zero => Regular::sequence([
            Regular::either([
                Regular::text("0"),
                Regular::sequence([Regular::digits(1, 9), Regular::any_digits(0, Some(99))]),
            ]),
            Regular::sequence([Regular::text("."), Regular::any_digits(1, Some(FRACTION))])
                .optional(),
            Regular::sequence([
                Regular::class(&[('E', 'E'), ('e', 'e')]),
                Regular::class(&[('+', '+'), ('-', '-')]).optional(),
                Regular::any_digits(1, Some(2)),
            ])
            .optional(),
        ]),
        None => {
            let most = "9".repeat(low.whole.len().max(WHOLE));
            let beyond =
                next(&low.whole, true).map_or_else(Regular::never, |next| naturals(&next, &most));
            Regular::either([
                Regular::sequence([
                    Regular::text(&*low.whole),
                    fraction_from(low.fraction.as_bytes()),
                ]),
                Regular::sequence([beyond, any_fraction()]),
            ])
        }
    }
}

fn range(low: &Plain, high: &Plain) -> Regular {
    let order = (low.whole.len(), &low.whole).cmp(&(high.whole.len(), &high.whole));
    if order.is_gt() {
        return Regular::never();
    }
    let after = |whole: &str, fraction| Regular::sequence([Regular::text(whole), fraction]);
    if order.is_eq() {
        return after(
            &low.whole,
            fraction_between(low.fraction.as_bytes(), high.fraction.as_bytes()),
        );
    }
    let mut options = vec![after(&low.whole, fraction_from(low.fraction.as_bytes()))];
    if let (Some(first), Some(last)) = (next(&low.whole, true), next(&high.whole, false)) {
        options.push(Regular::sequence([naturals(&first, &last), any_fraction()]));
    }
    options.push(after(&high.whole, fraction_to(high.fraction.as_bytes())));
    Regular::either(options)
}

/// The natural number after or before one.
fn next(whole: &str, after: bool) -> Option<String> {
    let mut digits: Vec<u8> = whole.bytes().collect();
    let (full, empty) = if after { (b'9', b'0') } else { (b'0', b'9') };
    let place = digits.iter().rposition(|byte| *byte != full);
    match place {
        Some(place) => {
            for byte in digits.iter_mut().skip(place + 1) {
                *byte = empty;
            }
            if let Some(byte) = digits.get_mut(place) {
                *byte = if after { *byte + 1 } else { *byte - 1 };
            }
        }
        None if after => digits = format!("1{}", "0".repeat(whole.len())).into_bytes(),
        None => return None,
    }
    let text = String::from_utf8(digits).ok()?;
    let trimmed = text.trim_start_matches('0');
    Some(if trimmed.is_empty() {
        "0".to_owned()
    } else {
        trimmed.to_owned()
    })
}

fn any_fraction() -> Regular {
    Regular::sequence([Regular::text("."), Regular::any_digits(1, Some(FRACTION))]).optional()
}

fn fraction_from(low: &[u8]) -> Regular {
    if low.is_empty() {
        return any_fraction();
    }
    Regular::sequence([Regular::text("."), at_least(low)])
}

fn fraction_to(high: &[u8]) -> Regular {
    Regular::sequence([Regular::text("."), some_at_most(high)]).optional()
}

fn fraction_between(low: &[u8], high: &[u8]) -> Regular {
    if low.is_empty() {
        return fraction_to(high);
    }
    Regular::sequence([Regular::text("."), digits_between(low, high)])
}

/// Digits with how often each stands in a row, and what stands before it.
fn runs(digits: &[u8]) -> impl Iterator<Item = (Regular, u8, usize)> + '_ {
    let mut start = 0;
    digits.chunk_by(u8::eq).map(move |run| {
        let before = text(digits, start);
        start += run.len();
        (before, run.first().copied().unwrap_or(b'0'), run.len())
    })
}

fn any_rest() -> Regular {
    Regular::any_digits(0, Some(FRACTION))
}

fn at_least(low: &[u8]) -> Regular {
    let above = runs(low).map(|(before, byte, times)| {
        let some = Regular::text(char::from(byte)).repeat(0, Some(times - 1));
        Regular::sequence([before, some, off(byte, true), any_rest()])
    });
    let equal = Regular::sequence([text(low, low.len()), any_rest()]);
    Regular::either(above.chain([equal]))
}

/// At least one digit, and not above.
fn some_at_most(high: &[u8]) -> Regular {
    let zeros = Regular::text("0").repeat(1, Some(FRACTION));
    let below = runs(high).flat_map(|(before, byte, times)| {
        let same = Regular::text(char::from(byte));
        let fewer = same.clone().repeat(0, Some(times - 1));
        [
            Regular::sequence([before.clone(), fewer, off(byte, false), any_rest()]),
            Regular::sequence([before, same.repeat(1, Some(times))]),
        ]
    });
    let equal = Regular::sequence([text(high, high.len()), zeros]);
    Regular::either(below.chain([equal]))
}

fn digits_between(low: &[u8], high: &[u8]) -> Regular {
    let shared = low
        .iter()
        .zip(high)
        .take_while(|(low, high)| low == high)
        .count();
    let same = text(low, shared);
    let (low, high) = (
        low.get(shared..).unwrap_or_default(),
        high.get(shared..).unwrap_or_default(),
    );
    let Some((&first, low)) = low.split_first() else {
        return Regular::sequence([same, some_at_most(high).optional()]);
    };
    let Some((&last, high)) = high.split_first().filter(|(last, _)| **last > first) else {
        return Regular::never();
    };
    let after = |first: u8, rest| Regular::sequence([Regular::text(char::from(first)), rest]);
    let inner = Regular::digits(digit(first) + 1, digit(last).saturating_sub(1));
    let options = [
        after(first, at_least(low)),
        Regular::sequence([inner, any_rest()]),
        after(last, some_at_most(high).optional()),
    ];
    Regular::sequence([same, Regular::either(options)])
}
