//! Exact numbers from the text, for those that a 64-bit number would round.

use std::cell::Cell;

use super::node::Node;
use crate::Decimal;

/// Floats of at most this many characters below `2^53` read back as they were written.
const SHORT: usize = 15;

/// The number literals of a valid JSON text, found again by counting.
///
/// serde hands over numbers in the order of the text, so the n-th number visited is the n-th literal. The
/// text is only scanned when there is a float in it.
pub(super) struct Literals<'a> {
    text: &'a str,
    visited: Cell<usize>,
    scanned: Cell<usize>,
    at: Cell<usize>,
}

impl<'a> Literals<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            visited: Cell::new(0),
            scanned: Cell::new(0),
            at: Cell::new(0),
        }
    }

    /// One more number was visited.
    pub(super) fn count(&self) {
        self.visited.set(self.visited.get() + 1);
    }

    /// The number that was counted last, as written.
    pub(super) fn current(&self) -> &'a str {
        let mut literal = "";
        while self.scanned.get() < self.visited.get() {
            let Some(next) = self.next() else { return "" };
            literal = next;
        }
        literal
    }

    fn next(&self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let mut at = self.at.get();
        loop {
            match bytes.get(at)? {
                b'"' => at = end_of_string(bytes, at + 1),
                b'-' | b'0'..=b'9' => break,
                _ => at += 1,
            }
        }
        let part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = bytes[at..].iter().take_while(|byte| part(byte)).count();
        self.at.set(at + length);
        self.scanned.set(self.scanned.get() + 1);
        self.text.get(at..at + length)
    }
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

/// The node for a float: the number itself, or its literal where the number alone may be rounded.
pub(super) fn float(value: f64, literal: &str) -> Node {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    // A number too close to zero for a float reads as zero, and differs from it.
    let rounds_to_zero = value == 0.0 && !is_integral(literal);
    let short = literal.len() <= SHORT && value.abs() < EXACT && !rounds_to_zero;
    match serde_json::Number::from_f64(value) {
        Some(number) if short || literal.is_empty() => Node::Number(number),
        _ => Node::Literal(literal.into()),
    }
}

/// The value a literal stands for: its own digits when they make an integer, else what an `f64` makes of it.
pub(super) fn exact(literal: &str) -> Option<Decimal> {
    let written = Decimal::parse(literal)?;
    if written.is_integral() {
        return Some(written);
    }
    let float = literal
        .parse::<f64>()
        .ok()
        .filter(|float| float.is_finite())?;
    Some(Decimal::of_float(float))
}

/// Whether a literal is an integer by its own digits, not only after rounding.
pub(super) fn is_integral(literal: &str) -> bool {
    Decimal::parse(literal).is_some_and(|written| written.is_integral())
}
