//! Compares numbers without rounding.

use std::cmp::Ordering;

use serde_json::Number;

use super::lexer::EXACT;

/// Digits a `u128` always holds; the rest of a longer number becomes one sticky digit.
const DIGITS: usize = 37;

/// A finite number as digits and a power of ten, so that neither `2^53 + 1` nor `0.1` is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i64,
    /// False when the number had more digits than are kept: order stays right, the digits do not.
    exact: bool,
}

impl Decimal {
    pub(crate) const ZERO: Self = Self {
        negative: false,
        digits: 0,
        exponent: 0,
        exact: true,
    };

    /// Reads the number syntax of JSON (RFC 8259, section 6), and nothing else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match rest.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, parse_power(power)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !plain(whole) || !plain(fraction) {
            return None;
        }
        if whole.len() > 1 && whole.starts_with('0') {
            return None;
        }
        Some(Self::collect(negative, whole, fraction, power))
    }

    fn collect(negative: bool, whole: &str, fraction: &str, power: i64) -> Self {
        let width = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        let mut exponent = power.saturating_sub(width(fraction.len()));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let trimmed = significant.trim_end_matches('0');
        exponent = exponent.saturating_add(width(significant.len() - trimmed.len()));
        let (kept, exact) = if trimmed.len() > DIGITS + 1 {
            exponent = exponent.saturating_add(width(trimmed.len() - DIGITS - 1));
            (format!("{}1", &trimmed[..DIGITS]), false)
        } else {
            (trimmed.to_owned(), true)
        };
        let digits = kept.parse().unwrap_or(0);
        if digits == 0 {
            return Self::ZERO;
        }
        Self {
            negative,
            digits,
            exponent,
            exact,
        }
    }

    /// Reads a number from its shortest text.
    #[must_use]
    pub fn of(number: &Number) -> Self {
        match integer(number) {
            Some(integer) => Self::of_integer(integer),
            None => Self::of_float(number.as_f64().unwrap_or(0.0)),
        }
    }

    pub(crate) fn of_integer(integer: i128) -> Self {
        let (mut digits, mut exponent) = (integer.unsigned_abs(), 0);
        while digits != 0 && digits.is_multiple_of(10) {
            digits /= 10;
            exponent += 1;
        }
        Self {
            negative: integer < 0,
            digits,
            exponent,
            exact: true,
        }
    }

    /// Returns the shortest decimal that reads back as `float`, which must be finite.
    #[must_use]
    pub fn of_float(float: f64) -> Self {
        if float.fract() == 0.0 && float.abs() < EXACT {
            #[expect(clippy::cast_possible_truncation, reason = "an integer below 2^53")]
            return Self::of_integer(float as i128);
        }
        Self::parse(&format!("{float:e}")).unwrap_or(Self {
            exact: false,
            ..Self::ZERO
        })
    }

    /// Whether the number has no fraction.
    #[must_use]
    pub fn is_integral(&self) -> bool {
        self.exponent >= 0
    }

    /// Writes the number in plain digits, if it is integral and no digit was lost.
    #[must_use]
    pub fn integer_text(&self) -> Option<String> {
        // No integer type reaches 40 digits; without a limit `1e999999` would be a megabyte of zeros.
        if !self.exact || !(0..40).contains(&self.exponent) {
            return None;
        }
        let zeros = "0".repeat(usize::try_from(self.exponent).ok()?);
        let sign = if self.negative { "-" } else { "" };
        Some(format!("{sign}{}{zeros}", self.digits))
    }

    /// Whether no digit of the number was lost.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }

    /// Returns one text per value: equal numbers have equal keys.
    #[must_use]
    pub fn key(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}e{}", self.digits, self.exponent)
    }

    /// Whether this number is a whole multiple of `step`; numbers too far apart fall back to `f64`.
    #[must_use]
    pub fn is_multiple_of(&self, step: &Self) -> bool {
        if self.digits == 0 {
            return true;
        }
        if step.digits == 0 {
            return false;
        }
        let common = self.exponent.min(step.exponent);
        match (scaled(self, common), scaled(step, common)) {
            (Some(value), Some(step)) => value % step == 0,
            // A value far above an integral step: reduce the power of ten instead of writing it out.
            (None, Some(step)) => {
                let power = power_mod(self.exponent - common, step);
                mul_mod(self.digits % step, power, step) == 0
            }
            _ => false,
        }
    }

    fn size(&self, other: &Self) -> Ordering {
        if self.exponent == other.exponent || self.digits == 0 || other.digits == 0 {
            return self.digits.cmp(&other.digits);
        }
        let reach = |number: &Self| {
            number
                .exponent
                .saturating_add(i64::from(number.digits.ilog10()))
        };
        reach(self).cmp(&reach(other)).then_with(|| {
            // Of equal reach, so the exponents differ by at most the digits of one number.
            let common = self.exponent.min(other.exponent);
            match (scaled(self, common), scaled(other, common)) {
                (Some(left), Some(right)) => left.cmp(&right),
                _ => Ordering::Equal,
            }
        })
    }
}

/// The value of a number that is written as an integer of 64 bits.
pub(crate) fn integer(number: &Number) -> Option<i128> {
    let signed = number.as_i64().map(i128::from);
    signed.or_else(|| number.as_u64().map(i128::from))
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.size(other),
            (true, true) => other.size(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

fn parse_power(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let power = digits
        .parse::<i64>()
        .unwrap_or(i64::MAX / 4)
        .min(i64::MAX / 4);
    Some(if negative { -power } else { power })
}

fn scaled(number: &Decimal, exponent: i64) -> Option<u128> {
    let zeros = u32::try_from(number.exponent - exponent).ok()?;
    10_u128.checked_pow(zeros)?.checked_mul(number.digits)
}

fn power_mod(mut power: i64, modulus: u128) -> u128 {
    let (mut result, mut base) = (1 % modulus, 10 % modulus);
    while power > 0 {
        if power % 2 == 1 {
            result = mul_mod(result, base, modulus);
        }
        base = mul_mod(base, base, modulus);
        power /= 2;
    }
    result
}

/// `left * right % modulus` without overflow: both are below `modulus`.
fn mul_mod(mut left: u128, mut right: u128, modulus: u128) -> u128 {
    let add = |a: u128, b: u128| {
        if a >= modulus - b {
            a - (modulus - b)
        } else {
            a + b
        }
    };
    let mut result = 0;
    while right > 0 {
        if right % 2 == 1 {
            result = add(result, left);
        }
        left = add(left, left);
        right /= 2;
    }
    result
}
