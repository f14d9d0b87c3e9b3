//! Parameters with known values: defaults and examples.

use super::abstract_state::AbstractState;
use super::constants::Value;
use super::domain::Aspect;
use super::range::{Range, key, rounded};
use super::string_domain::{Texts, characters};
use crate::contract::type_kind::TypeKind;

impl<'a> AbstractState<'a> {
    /// A parameter has this value: a default, an example.
    pub(crate) const fn given(&mut self, name: &str, value: Value<'a>) {
        let Some(mut index) = self.find(name) else {
            return;
        };
        if let TypeKind::Optional(_) = self.domains[index].kind {
            if matches!(value, Value::Nothing) {
                self.lacks(index);
                return;
            }
            self.exists(index);
            match self.inside(index) {
                Some(inside) => index = inside,
                None => return,
            }
        }
        match (self.domains[index].kind, value) {
            (TypeKind::List(_), Value::List(items)) => {
                let length = Range::only(items as i128);
                self.domains[index].set(Aspect::Length, length);
            }
            (TypeKind::Text | TypeKind::Character, Value::Text(text)) => {
                self.domains[index].texts = Texts::only(text);
                self.measure(index, text);
            }
            (TypeKind::Float { single }, Value::Float(value)) => {
                let value = if single {
                    rounded(value)
                } else {
                    Range::only(key(value))
                };
                self.domains[index].nan = false;
                self.domains[index].set(Aspect::Value, value);
            }
            (TypeKind::Integer { low, high }, Value::Integer(value))
                if low <= value && value <= high =>
            {
                self.domains[index].set(Aspect::Value, Range::only(value));
            }
            (TypeKind::Bool, Value::Bool(value)) => {
                self.domains[index].set(Aspect::Value, Range::only(value as i128));
            }
            _ => {}
        }
    }

    const fn measure(&mut self, index: usize, text: &str) {
        if let TypeKind::Text = self.domains[index].kind {
            let (bytes, characters) = (text.len(), characters(text));
            self.domains[index].set(Aspect::Length, Range::only(bytes as i128));
            self.domains[index].set(Aspect::Characters, Range::only(characters as i128));
        }
    }
}

impl<'a> Value<'a> {
    /// The value of a literal as JSON text, where it can be read without a reader: no float, and no escaped text.
    pub(crate) const fn of_json(text: &'a str) -> Self {
        match text.as_bytes() {
            b"true" => Self::Bool(true),
            b"false" => Self::Bool(false),
            b"null" => Self::Nothing,
            [b'"', inner @ .., b'"'] => plain(inner),
            [b'-', digits @ ..] => integer(digits, -1),
            digits => integer(digits, 1),
        }
    }
}

const fn plain(text: &[u8]) -> Value<'_> {
    let mut rest = text;
    while let Some((byte, others)) = rest.split_first() {
        if *byte == b'\\' {
            return Value::Unknown;
        }
        rest = others;
    }
    match str::from_utf8(text) {
        Ok(text) => Value::Text(text),
        Err(_) => Value::Unknown,
    }
}

const fn integer<'a>(digits: &[u8], sign: i128) -> Value<'a> {
    let mut rest = digits;
    let mut value = 0_i128;
    if digits.is_empty() || digits.len() > 30 {
        return Value::Unknown;
    }
    while let Some((digit, others)) = rest.split_first() {
        if !digit.is_ascii_digit() {
            return Value::Unknown;
        }
        value = value * 10 + (*digit - b'0') as i128;
        rest = others;
    }
    Value::Integer(sign * value)
}
