//! Converts literals to typed values.

use syn::{Expr, Lit};

use super::opaque::opaque;
use crate::model::Portable;

pub(super) fn literal(expr: &Expr, literal: &Lit) -> Portable {
    let too_large = || opaque(expr, "this number is too large", "write a smaller one");
    match literal {
        Lit::Bool(value) => Portable::Bool(value.value),
        Lit::Int(number) if number.suffix().starts_with('f') => {
            float(number.suffix(), number.base10_digits()).map_or_else(too_large, Portable::Float)
        }
        Lit::Int(number) => number
            .base10_parse()
            .map_or_else(|_| too_large(), Portable::Integer),
        Lit::Byte(byte) => Portable::Integer(byte.value().into()),
        Lit::Float(number) => {
            float(number.suffix(), number.base10_digits()).map_or_else(too_large, Portable::Float)
        }
        Lit::Str(text) => Portable::Text(text.value()),
        Lit::Char(letter) => Portable::Text(letter.value().to_string()),
        _ => opaque(
            expr,
            "bytes and C strings have no form in JSON",
            "write a string",
        ),
    }
}

/// A number as its type has it, if it is one.
fn float(suffix: &str, digits: &str) -> Option<f64> {
    let number = match suffix {
        "f32" => digits.parse::<f32>().ok().map(f64::from),
        _ => digits.parse().ok(),
    };
    number.filter(|number| number.is_finite())
}
