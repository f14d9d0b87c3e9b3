//! Decodes plain numbers, strings and booleans, and lists, maps, structs and enums of them, without a parser.
//!
//! Whatever is not plain is [`Unread`], and `serde_json` reads it from its beginning: escapes, long numbers, what may be of any
//! type, and every mistake. What is read here is what `serde_json` would read.

use std::fmt;

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer as _, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};

use crate::schema::lexer::{Lexer, Number, Unread, finite};

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not plain")
    }
}

impl std::error::Error for Unread {}

impl de::Error for Unread {
    #[cold]
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// Reads the value that begins at `at`, and returns the place behind it.
#[inline]
pub(super) fn read<'de, T: Deserialize<'de>>(
    text: &'de str,
    at: usize,
) -> Result<(T, usize), Unread> {
    let mut plain = Plain {
        lexer: Lexer::new(text),
        at,
        deeper: DEEPEST,
    };
    let value = T::deserialize(&mut plain)?;
    // A type may take for nothing what could not be read, or what it gave up inside of.
    if plain.at >= NOWHERE || plain.deeper != DEEPEST {
        return Err(Unread);
    }
    Ok((value, plain.at))
}

/// A place behind every text. Once something is not plain, nothing is read any more, whatever a type makes of that.
const NOWHERE: usize = usize::MAX / 2;

/// How deep lists and objects may be, as in `serde_json`: types may hold themselves.
const DEEPEST: u8 = 127;

struct Plain<'de> {
    lexer: Lexer<'de>,
    at: usize,
    /// How much deeper it may go.
    deeper: u8,
}

impl<'de> Plain<'de> {
    // In line, so that nobody needs the address of what is kept here.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "see above")]
    fn unread(&mut self) -> Unread {
        self.at = NOWHERE;
        Unread
    }

    #[inline]
    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unread> {
        if let Some((value, end)) = self.short_integer() {
            self.at = end;
            return match u64::try_from(value) {
                Ok(natural) => visitor.visit_u64(natural),
                Err(_) => visitor.visit_i64(value),
            };
        }
        let Ok((number, end)) = self.lexer.number(self.at) else {
            return Err(self.unread());
        };
        self.at = end;
        match number {
            Number::Integer(value) => {
                if let Ok(natural) = u64::try_from(value) {
                    return visitor.visit_u64(natural);
                }
                if let Ok(negative) = i64::try_from(value) {
                    return visitor.visit_i64(negative);
                }
            }
            Number::Float { literal, .. } => {
                if let Some(float) = finite(literal) {
                    return visitor.visit_f64(float);
                }
            }
        }
        Err(self.unread())
    }

    /// An integer of few digits, and the place behind it; most numbers are.
    #[inline]
    fn short_integer(&self) -> Option<(i64, usize)> {
        let is_negative = self.lexer.byte(self.at) == b'-';
        let first = self.at + usize::from(is_negative);
        let (mut at, mut magnitude) = (first, 0_i64);
        while let digit @ b'0'..=b'9' = self.lexer.byte(at) {
            let digit = i64::from(digit - b'0');
            magnitude = magnitude.wrapping_mul(10).wrapping_add(digit);
            at += 1;
        }
        // Eighteen digits fit. `-0`, another zero at the front, and fractions are left to the lexer.
        let is_zero = self.lexer.byte(first) == b'0';
        let is_short = matches!(at - first, 1..=18) && (!is_zero || at == self.at + 1);
        let is_integer = !matches!(self.lexer.byte(at), b'.' | b'e' | b'E');
        let value = if is_negative {
            magnitude.wrapping_neg()
        } else {
            magnitude
        };
        (is_short && is_integer).then_some((value, at))
    }

    #[inline]
    fn text(&mut self) -> Result<&'de str, Unread> {
        if self.lexer.byte(self.at) == b'"'
            && let Ok((raw, end)) = self.lexer.unescaped(self.at)
        {
            self.at = end;
            return Ok(raw);
        }
        Err(self.unread())
    }
}

/// Kinds of values that are all read in one way.
macro_rules! all {
    ($read:ident: $($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
            self.$read(visitor)
        }
    )*};
}

impl<'de> Plain<'de> {
    #[inline]
    fn string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_borrowed_str(self.text()?)
    }
}

impl<'de> Deserializer<'de> for &mut Plain<'de> {
    type Error = Unread;

    all!(number: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64);
    all!(number: deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64);
    all!(number: deserialize_f64);
    all!(string: deserialize_str deserialize_string deserialize_char deserialize_identifier);

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unread> {
        Err(self.unread())
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        let value = self.lexer.byte(self.at) == b't';
        let word = if value { "true" } else { "false" };
        let Ok(end) = self.lexer.literal(self.at, word) else {
            return Err(self.unread());
        };
        self.at = end;
        visitor.visit_bool(value)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        if let Ok(end) = self.lexer.literal(self.at, "null") {
            self.at = end;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unread> {
        // A raw text of `serde_json` is not a value of its type.
        if name.starts_with("$serde_json::private::") {
            return Err(self.unread());
        }
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        let outside = self.enter(b'[')?;
        let value = visitor.visit_seq(Items::of(self))?;
        self.leave(b']', outside)?;
        Ok(value)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Unread> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Unread> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        let outside = self.enter(b'{')?;
        let value = visitor.visit_map(Items::of(self))?;
        self.leave(b'}', outside)?;
        Ok(value)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        self.deserialize_map(visitor)
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        if self.lexer.byte(self.at) == b'"' {
            let variant = self.text()?;
            return visitor.visit_enum(variant.into_deserializer());
        }
        let outside = self.enter(b'{')?;
        let value = visitor.visit_enum(Variant(&mut *self))?;
        self.leave(b'}', outside)?;
        Ok(value)
    }

    // An `f32` is rounded once by `serde_json`, and would be rounded twice here.
    serde::forward_to_deserialize_any! {
        i128 u128 f32 bytes byte_buf unit unit_struct ignored_any
    }
}

impl<'de> Plain<'de> {
    /// Returns how much deeper it may go outside.
    #[inline]
    fn enter(&mut self, byte: u8) -> Result<u8, Unread> {
        let outside = self.deeper;
        if self.lexer.byte(self.at) != byte || outside == 0 {
            return Err(self.unread());
        }
        self.deeper = outside - 1;
        self.at = self.lexer.behind_space(self.at + 1);
        Ok(outside)
    }

    /// A visitor may stop before the end, and a parser would not let it. A type may also take for nothing what it could not read
    /// to its end; then this is not its own bracket, and it is deeper here.
    #[inline]
    fn leave(&mut self, byte: u8, outside: u8) -> Result<(), Unread> {
        if self.lexer.byte(self.at) != byte || self.deeper + 1 != outside {
            return Err(self.unread());
        }
        self.at += 1;
        self.deeper = outside;
        Ok(())
    }

    /// A value of its own, and the white space behind it. A type that reads nothing leaves it there.
    #[inline]
    fn value<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Unread> {
        let begins = self.at;
        let value = seed.deserialize(&mut *self)?;
        if self.at == begins {
            return Err(self.unread());
        }
        self.at = self.lexer.behind_space(self.at);
        Ok(value)
    }

    /// The white space around a colon.
    #[inline]
    fn colon(&mut self) -> Result<(), Unread> {
        if self.lexer.byte(self.at) != b':' {
            return Err(self.unread());
        }
        self.at = self.lexer.behind_space(self.at + 1);
        Ok(())
    }
}

/// A variant that is an object of one member.
struct Variant<'p, 'de>(&'p mut Plain<'de>);

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Unread;
    type Variant = Self;

    #[inline]
    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Unread> {
        let variant = self.0.value(seed)?;
        self.0.colon()?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Unread;

    fn unit_variant(self) -> Result<(), Unread> {
        Err(self.0.unread())
    }

    #[inline]
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Unread> {
        self.0.value(seed)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Unread> {
        let value = self.0.deserialize_seq(visitor)?;
        self.0.at = self.0.lexer.behind_space(self.0.at);
        Ok(value)
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        let value = self.0.deserialize_map(visitor)?;
        self.0.at = self.0.lexer.behind_space(self.0.at);
        Ok(value)
    }
}

struct Items<'p, 'de> {
    plain: &'p mut Plain<'de>,
    is_first: bool,
}

impl<'p, 'de> Items<'p, 'de> {
    #[inline]
    fn of(plain: &'p mut Plain<'de>) -> Self {
        Self {
            plain,
            is_first: true,
        }
    }

    /// Whether another item follows, which then begins here.
    #[inline]
    fn has_next(&mut self, close: u8) -> Result<bool, Unread> {
        let Self { plain, is_first } = self;
        match plain.lexer.byte(plain.at) {
            byte if byte == close => return Ok(false),
            b',' if !*is_first => plain.at = plain.lexer.behind_space(plain.at + 1),
            _ if *is_first => *is_first = false,
            // A visitor that passes over errors and goes on comes to an end.
            _ if plain.at >= NOWHERE => return Ok(false),
            _ => return Err(plain.unread()),
        }
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Unread;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unread> {
        if self.has_next(b']')? {
            return self.plain.value(seed).map(Some);
        }
        Ok(None)
    }
}

impl<'de> MapAccess<'de> for Items<'_, 'de> {
    type Error = Unread;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unread> {
        if !self.has_next(b'}')? {
            return Ok(None);
        }
        // A parser reads a number from the text of a key; here it is not plain.
        if self.plain.lexer.byte(self.plain.at) != b'"' {
            return Err(self.plain.unread());
        }
        self.plain.value(seed).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unread> {
        self.plain.colon()?;
        self.plain.value(seed)
    }
}

#[cfg(test)]
mod tests;
