//! Decodes plain numbers, strings, booleans, and lists and maps of them, without a parser.
//!
//! Whatever is not plain is [`Unread`], and `serde_json` reads it from its beginning: escapes, long numbers, and every mistake.
//! So are structs, whose derived code would be built a second time for each of them. What is read here is what `serde_json`
//! would read.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

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
    };
    let value = T::deserialize(&mut plain)?;
    Ok((value, plain.at))
}

struct Plain<'de> {
    lexer: Lexer<'de>,
    at: usize,
}

impl<'de> Plain<'de> {
    #[inline]
    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unread> {
        if let Some((value, end)) = self.short_integer() {
            self.at = end;
            return match u64::try_from(value) {
                Ok(natural) => visitor.visit_u64(natural),
                Err(_) => visitor.visit_i64(value),
            };
        }
        let (number, end) = self.lexer.number(self.at)?;
        self.at = end;
        match number {
            Number::Integer(value) => match u64::try_from(value) {
                Ok(natural) => visitor.visit_u64(natural),
                Err(_) => visitor.visit_i64(i64::try_from(value).map_err(|_| Unread)?),
            },
            Number::Float { literal, .. } => visitor.visit_f64(finite(literal).ok_or(Unread)?),
        }
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
        if self.lexer.byte(self.at) != b'"' {
            return Err(Unread);
        }
        let string = self.lexer.string(self.at)?;
        if string.is_escaped {
            return Err(Unread);
        }
        self.at = string.end;
        Ok(string.raw)
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
    all!(string: deserialize_str deserialize_string deserialize_char);

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unread> {
        Err(Unread)
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        let value = self.lexer.byte(self.at) == b't';
        let word = if value { "true" } else { "false" };
        self.at = self.lexer.literal(self.at, word)?;
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
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.enter(b'[')?;
        let value = visitor.visit_seq(Items::of(self))?;
        self.leave(b']')?;
        Ok(value)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.enter(b'{')?;
        let value = visitor.visit_map(Items::of(self))?;
        self.leave(b'}')?;
        Ok(value)
    }

    // An `f32` is rounded once by `serde_json`, and would be rounded twice here.
    serde::forward_to_deserialize_any! {
        i128 u128 f32 bytes byte_buf unit unit_struct newtype_struct tuple tuple_struct struct enum identifier ignored_any
    }
}

impl Plain<'_> {
    #[inline]
    fn enter(&mut self, byte: u8) -> Result<(), Unread> {
        if self.lexer.byte(self.at) != byte {
            return Err(Unread);
        }
        self.at = self.lexer.behind_space(self.at + 1);
        Ok(())
    }

    /// A visitor may stop before the end, and a parser would not let it.
    #[inline]
    fn leave(&mut self, byte: u8) -> Result<(), Unread> {
        if self.lexer.byte(self.at) != byte {
            return Err(Unread);
        }
        self.at += 1;
        Ok(())
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
            _ => return Err(Unread),
        }
        Ok(true)
    }

    #[inline]
    fn item<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Unread> {
        let value = seed.deserialize(&mut *self.plain)?;
        self.plain.at = self.plain.lexer.behind_space(self.plain.at);
        Ok(value)
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
            return self.item(seed).map(Some);
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
            return Err(Unread);
        }
        self.item(seed).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unread> {
        self.plain.enter(b':')?;
        self.item(seed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;
    use std::path::PathBuf;

    use proptest::prelude::*;
    use proptest::sample::select;
    use serde::de::DeserializeOwned;

    use super::read;

    /// Whatever is read of a text is what `serde_json` reads of it.
    fn agree<T: DeserializeOwned + PartialEq + Debug>(text: &str) -> bool {
        let Ok((value, end)) = read::<T>(&format!("[{text}"), 1) else {
            return false;
        };
        let parsed = serde_json::from_str::<T>(&text[..end - 1]);
        assert_eq!(parsed.ok(), Some(value), "{text}");
        true
    }

    const PIECES: &[&str] = &[
        "[",
        "]",
        ",",
        " ",
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "-1",
        "127",
        "128",
        "-129",
        "255",
        "256",
        "65536",
        "01",
        "2147483648",
        "4294967296",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "5.0",
        "-0.0",
        "1e2",
        "1e400",
        "1.",
        ".5",
        "3.4028236e38",
        "0.1",
        "\"\"",
        "\"a\"",
        "\"ä\"",
        "\"\\n\"",
        "\"\\ud800\"",
        "\"",
        "\\",
        "{}",
        "{\"a\":1}",
        "\u{1}",
    ];

    #[test]
    fn what_is_read_is_what_a_parser_reads() {
        let text = prop::collection::vec(select(PIECES), 1..8).prop_map(|pieces| pieces.concat());
        let list = prop::collection::vec(select(PIECES), 0..4)
            .prop_map(|pieces| format!("[{}]", pieces.join(", ")));
        let key = select(&["\"a\"", "\"7\"", "\"null\"", "\"\"", "7", "\"\\n\""]);
        let map = prop::collection::vec((key, select(PIECES)), 0..4).prop_map(|members| {
            let members = members
                .iter()
                .map(|(key, value)| format!("{key} : {value}"));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        });
        proptest!(ProptestConfig::with_cases(4_000), |(text in prop_oneof![text, list, map])| {
            agree::<i8>(&text);
            agree::<u16>(&text);
            agree::<i64>(&text);
            agree::<u64>(&text);
            agree::<i128>(&text);
            agree::<f32>(&text);
            agree::<f64>(&text);
            agree::<bool>(&text);
            agree::<char>(&text);
            agree::<String>(&text);
            agree::<PathBuf>(&text);
            agree::<Option<i32>>(&text);
            agree::<Option<String>>(&text);
            agree::<Vec<i64>>(&text);
            agree::<Vec<Vec<f64>>>(&text);
            agree::<Vec<Option<String>>>(&text);
            agree::<BTreeMap<String, i64>>(&text);
            agree::<BTreeMap<u8, Option<bool>>>(&text);
            agree::<BTreeMap<Option<char>, Vec<u64>>>(&text);
            agree::<(u8, u8)>(&text);
            agree::<serde_json::Value>(&text);
        });
    }

    #[test]
    fn ordinary_values_need_no_parser() {
        assert!(agree::<i64>("-41"));
        assert!(agree::<u64>("18446744073709551615"));
        assert!(agree::<f64>("48.85661400000000123"));
        assert!(agree::<f64>("-3"));
        assert!(agree::<bool>("true"));
        assert!(agree::<char>("\"ä\""));
        assert!(agree::<String>("\"declarative contracts\""));
        assert!(agree::<Option<u32>>("null"));
        assert!(agree::<Vec<String>>("[ \"a\" , \"b\" ]"));
        assert!(agree::<Vec<i64>>("[]"));
        assert!(agree::<BTreeMap<String, i64>>("{ \"a\" : 1 , \"b\":2}"));
        assert!(agree::<BTreeMap<String, Vec<f64>>>("{}"));
    }
}
