//! The tokens of a JSON text, read in place.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde_json::Number as JsonNumber;

use super::Decimal;

/// What is looked for does not plainly stand there; a parser may read it all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread;

/// A string of the text: what stands between its quotes.
#[derive(Clone, Copy)]
pub struct Quoted<'t> {
    pub raw: &'t str,
    pub is_escaped: bool,
    /// Where the text goes on behind the closing quote.
    pub end: usize,
}

impl<'t> Quoted<'t> {
    /// What the string stands for.
    #[inline]
    pub fn text(&self) -> Result<Cow<'t, str>, Unread> {
        if self.is_escaped {
            return unescaped(self.raw).map(Cow::Owned);
        }
        Ok(Cow::Borrowed(self.raw))
    }
}

#[cold]
fn unescaped(raw: &str) -> Result<String, Unread> {
    serde_json::from_str(&format!("\"{raw}\"")).map_err(|_| Unread)
}

/// A number of the text.
#[derive(Clone, Copy)]
pub enum Number<'t> {
    /// One that a Rust integer of 64 bits holds.
    Integer(i128),
    /// Any other, as written.
    Literal { digits: &'t str, is_integral: bool },
}

/// Floats of at most this many characters below `2^53` read back as they were written.
const SHORT: usize = 15;

/// Integers up to here are floats without rounding.
pub(crate) const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53

impl Number<'_> {
    /// Whether it is an integer by its own digits, not only after rounding.
    pub fn is_integral(&self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Literal { is_integral, .. } => *is_integral,
        }
    }

    /// The value: its own digits when they make an integer, else what an `f64` makes of it.
    pub fn exact(&self) -> Decimal {
        match self {
            Self::Integer(value) => Decimal::of_integer(*value),
            Self::Literal {
                digits,
                is_integral: true,
            } => Decimal::parse(digits).unwrap_or(Decimal::ZERO),
            Self::Literal { digits, .. } => finite(digits).map_or(Decimal::ZERO, Decimal::of_float),
        }
    }

    /// The float that has this value, unless the digits of an integer count.
    pub fn float(&self) -> Option<f64> {
        match self {
            Self::Integer(_) => None,
            Self::Literal {
                digits,
                is_integral,
            } => finite(digits)
                .filter(|float| !is_integral || (digits.len() <= SHORT && float.abs() < EXACT)),
        }
    }

    /// The number as others write it, or its digits where they would write it in another way.
    pub fn shown(&self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Literal { digits, .. } => {
                // A number too close to zero for a float reads as zero, and differs from it.
                let is_exact = |float: &f64| {
                    let rounds_to_zero = *float == 0.0 && !self.is_integral();
                    digits.len() <= SHORT && float.abs() < EXACT && !rounds_to_zero
                };
                let float = finite(digits).filter(is_exact);
                let number = float.and_then(JsonNumber::from_f64);
                number.map_or_else(|| (*digits).to_owned(), |number| number.to_string())
            }
        }
    }

    /// Whether a [`JsonNumber`] is not the same value.
    pub fn is_rounded(&self) -> bool {
        match self {
            Self::Literal { digits, .. } => {
                let number = serde_json::from_str::<JsonNumber>(digits);
                !number.is_ok_and(|number| Decimal::of(&number) == self.exact())
            }
            Self::Integer(_) => false,
        }
    }
}

/// Integers of at most so many digits fit 64 bits without a look at their value.
const DIGITS: usize = 19;

#[derive(Clone, Copy)]
pub struct Lexer<'t> {
    text: &'t str,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text }
    }

    /// The byte that stands here; behind the end a zero, which JSON has nowhere.
    #[inline]
    pub fn byte(&self, at: usize) -> u8 {
        match self.text.as_bytes().get(at) {
            Some(byte) => *byte,
            None => 0,
        }
    }

    /// Whether nothing follows but white space.
    #[inline]
    pub fn ends(&self, at: usize) -> bool {
        self.behind_space(at) == self.text.len()
    }

    /// The place behind the white space that stands here (RFC 8259, section 2).
    #[inline]
    pub fn behind_space(&self, mut at: usize) -> usize {
        // Most bytes are more than a space.
        while self.byte(at) <= b' ' && matches!(self.byte(at), b' ' | b'\t' | b'\n' | b'\r') {
            at += 1;
        }
        at
    }

    /// The place behind this byte, which must come next.
    #[inline]
    pub fn behind(&self, at: usize, byte: u8) -> Result<usize, Unread> {
        // Compact text has no white space.
        let at = if self.byte(at) == byte {
            at
        } else {
            self.behind_space(at)
        };
        if self.byte(at) == byte {
            return Ok(at + 1);
        }
        Err(Unread)
    }

    /// The first item or key of the array or object that begins here, or the place behind one that is empty.
    #[inline]
    pub fn first(&self, at: usize, close: u8) -> ControlFlow<usize, usize> {
        let at = self.behind_space(at + 1);
        if self.byte(at) == close {
            return ControlFlow::Break(at + 1);
        }
        ControlFlow::Continue(at)
    }

    /// The item or key that follows the value which ends here, or the place behind their array or object.
    #[inline]
    pub fn next(&self, at: usize, close: u8) -> Result<ControlFlow<usize, usize>, Unread> {
        let at = self.behind_space(at);
        match self.byte(at) {
            b',' => Ok(ControlFlow::Continue(self.behind_space(at + 1))),
            byte if byte == close => Ok(ControlFlow::Break(at + 1)),
            _ => Err(Unread),
        }
    }

    /// The text from here on.
    pub fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    /// The text between two places.
    pub fn between(&self, span: std::ops::Range<usize>) -> &'t str {
        self.text.get(span).unwrap_or_default()
    }

    /// The place behind `word`, if it stands here.
    #[inline]
    pub fn literal(&self, at: usize, word: &str) -> Result<usize, Unread> {
        match self.text.as_bytes().get(at..at + word.len()) {
            Some(found) if found == word.as_bytes() => Ok(at + word.len()),
            _ => Err(Unread),
        }
    }

    /// The place of the value whose key stands here, if that is `name` and is written as most programs write it.
    #[inline]
    pub fn behind_key(&self, at: usize, name: &str) -> Option<usize> {
        let [b'"', key @ ..] = self.text.as_bytes().get(at..)? else {
            return None;
        };
        let value = at + name.len() + 3;
        match key.strip_prefix(name.as_bytes())? {
            [b'"', b':', b' ', first, ..] if *first > b' ' => Some(value + 1),
            [b'"', b':', first, ..] if *first > b' ' => Some(value),
            _ => None,
        }
    }

    /// The string whose opening quote stands here.
    #[inline]
    pub fn string(&self, quote: usize) -> Result<Quoted<'t>, Unread> {
        let start = quote + 1;
        let end = behind_plain(self.text.as_bytes(), start);
        match self.text.get(start..end) {
            Some(raw) if self.byte(end) == b'"' => Ok(Quoted {
                raw,
                is_escaped: false,
                end: end + 1,
            }),
            _ => self.escaped(start, end),
        }
    }

    /// Reads the string that begins at `start` and has its first escape at `at`.
    #[inline(never)]
    fn escaped(&self, start: usize, mut at: usize) -> Result<Quoted<'t>, Unread> {
        while self.byte(at) == b'\\' {
            at = behind_plain(self.text.as_bytes(), at + 2);
        }
        if self.byte(at) != b'"' {
            return Err(Unread);
        }
        let raw = self.text.get(start..at).ok_or(Unread)?;
        // A parser knows which escapes stand for a character: half of a surrogate pair alone does not.
        unescaped(raw)?;
        Ok(Quoted {
            raw,
            is_escaped: true,
            end: at + 1,
        })
    }

    /// The number that begins here, and the place behind it.
    #[inline]
    pub fn number(&self, start: usize) -> Result<(Number<'t>, usize), Unread> {
        let is_negative = self.byte(start) == b'-';
        let first = start + usize::from(is_negative);
        let mut at = first;
        let mut magnitude = 0_u64;
        while let digit @ b'0'..=b'9' = self.byte(at) {
            // Where it wraps, it is read once more below.
            magnitude = magnitude
                .wrapping_mul(10)
                .wrapping_add(u64::from(digit - b'0'));
            at += 1;
        }
        let digits = at - first;
        if digits == 0 || (digits > 1 && self.byte(first) == b'0') {
            return Err(Unread);
        }
        if let b'.' | b'e' | b'E' = self.byte(at) {
            return self.float(start, at);
        }
        if digits > DIGITS {
            match self.text.get(first..at).map(str::parse) {
                Some(Ok(written)) => magnitude = written,
                _ => return self.float(start, at),
            }
        }
        let value = i128::from(magnitude);
        let value = if is_negative { -value } else { value };
        // Parsers make a float of an integer with more than 64 bits, and of `-0`.
        if value < i128::from(i64::MIN) || (is_negative && value == 0) {
            return self.float(start, at);
        }
        Ok((Number::Integer(value), at))
    }

    /// The number that begins at `start`, and goes on behind its first digits at `at`.
    fn float(&self, start: usize, mut at: usize) -> Result<(Number<'t>, usize), Unread> {
        let mut is_integral = true;
        if self.byte(at) == b'.' {
            let (end, any) = self.behind_digits(at + 1)?;
            (at, is_integral) = (end, !any);
        }
        let has_power = matches!(self.byte(at), b'e' | b'E');
        if has_power {
            let sign = matches!(self.byte(at + 1), b'+' | b'-');
            (at, _) = self.behind_digits(at + 1 + usize::from(sign))?;
        }
        let digits = self.text.get(start..at).ok_or(Unread)?;
        // Parsers refuse a number that no float holds. One without a power needs more than 300 digits for that.
        if (has_power || digits.len() > 300) && finite(digits).is_none() {
            return Err(Unread);
        }
        if has_power {
            is_integral = Decimal::parse(digits).is_some_and(|written| written.is_integral());
        }
        let number = Number::Literal {
            digits,
            is_integral,
        };
        Ok((number, at))
    }

    /// The place behind one or more digits, and whether one of them is not zero.
    fn behind_digits(&self, start: usize) -> Result<(usize, bool), Unread> {
        let (mut at, mut any) = (start, false);
        while let digit @ b'0'..=b'9' = self.byte(at) {
            any |= digit != b'0';
            at += 1;
        }
        if at == start {
            return Err(Unread);
        }
        Ok((at, any))
    }
}

/// The float nearest to a literal.
pub fn finite(literal: &str) -> Option<f64> {
    let float: f64 = literal.parse().ok()?;
    float.is_finite().then_some(float)
}

/// The first place from here on with a quote, a backslash or a control character; without one, the end.
#[inline]
fn behind_plain(bytes: &[u8], mut at: usize) -> usize {
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let found = special(u64::from_le_bytes(*eight));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes
        .get(at)
        .is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20))
    {
        at += 1;
    }
    at
}

/// Marks, by their highest bits, bytes that end the plain part of a string: a quote, a backslash, a control character.
///
/// A subtraction borrows from the next byte, so of several marks only the lowest is certain (Henry S. Warren, "Hacker's
/// Delight", section 6-1).
#[inline]
fn special(eight: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let quote = eight ^ (ONES * 0x22);
    let backslash = eight ^ (ONES * 0x5C);
    (below(eight, 0x20) | below(quote, 1) | below(backslash, 1)) & HIGHEST
}

#[cfg(test)]
mod tests {
    use super::special;

    #[test]
    fn the_first_special_byte_among_eight_is_found_wherever_it_stands() {
        for first in 0..=u8::MAX {
            for place in 0..8 {
                for behind in [
                    b'a', b'"', b'\\', 0, 0x1f, 0x20, 0x21, 0x23, 0x5b, 0x5d, 0x80, 0xff,
                ] {
                    let mut bytes = [b'x'; 8];
                    bytes[place..].fill(behind);
                    bytes[place] = first;
                    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
                    let expected = bytes.iter().position(is_special);
                    let found = special(u64::from_le_bytes(bytes));
                    let found = (found != 0).then(|| (found.trailing_zeros() / 8) as usize);
                    assert_eq!(found, expected, "{bytes:x?}");
                }
            }
        }
    }
}
