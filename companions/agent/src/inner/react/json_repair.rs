//! Lenient JSON parsing: valid JSON is read as it is, other text is repaired only where unambiguous.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// A repair made to the arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Repair {
    /// A comma stood before a closing bracket.
    TrailingComma,
    /// Texts were in single quotes.
    SingleQuotes,
    /// `True`, `False` or `None`, as in Python.
    PythonWord,
    /// A line break or another control character stood in a text as it is.
    RawControl,
    /// Arguments without names were taken in the order in which the tool declares them.
    Positional,
}

/// Why a text is not a value, and there is more than one way to make it one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unclear {
    #[error("a string is not closed")]
    OpenText,
    #[error("they are incomplete")]
    Cut,
    #[error("expected a value at character {at}")]
    NoValue { at: usize },
    #[error("they are nested too deeply")]
    TooDeep,
}

/// As deep as `serde_json` reads.
const DEPTH: usize = 120;

/// Reads values one after the other, and writes them as JSON.
pub(super) struct Reader<'t> {
    rest: &'t str,
    length: usize,
    pub(super) out: String,
    pub(super) repairs: Vec<Repair>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            rest: text,
            length: text.len(),
            out: String::new(),
            repairs: Vec::new(),
        }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'t str {
        self.rest
    }

    pub(super) fn value(&mut self) -> Result<(), Unclear> {
        self.value_at(0)
    }

    /// A value that something must follow.
    pub(super) fn value_inside(&mut self) -> Result<(), Unclear> {
        self.value_at(1)
    }

    fn value_at(&mut self, depth: usize) -> Result<(), Unclear> {
        if depth > DEPTH {
            return Err(Unclear::TooDeep);
        }
        self.skip_space();
        match self.peek() {
            None => Err(Unclear::Cut),
            Some('{') => self.members(depth),
            Some('[') => self.items(depth),
            Some(quote @ ('"' | '\'')) => self.text(quote),
            Some('-' | '0'..='9') => {
                let end =
                    self.end_of(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E'));
                let number = self.take(end);
                if depth > 0 && self.rest.is_empty() {
                    // More digits may have been to come.
                    return Err(Unclear::Cut);
                }
                self.out.push_str(number);
                Ok(())
            }
            Some(_) => self.word(),
        }
    }

    fn members(&mut self, depth: usize) -> Result<(), Unclear> {
        self.open('{');
        loop {
            self.skip_space();
            match self.peek() {
                None => return Err(Unclear::Cut),
                Some('}') => return self.close('}'),
                Some(quote @ ('"' | '\'')) => self.text(quote)?,
                Some(_) => return Err(self.no_value()),
            }
            self.skip_space();
            if !self.eat(':') {
                return Err(if self.rest.is_empty() {
                    Unclear::Cut
                } else {
                    self.no_value()
                });
            }
            self.out.push(':');
            self.value_at(depth + 1)?;
            if !self.goes_on('}')? {
                return Ok(());
            }
        }
    }

    fn items(&mut self, depth: usize) -> Result<(), Unclear> {
        self.open('[');
        loop {
            self.skip_space();
            match self.peek() {
                None => return Err(Unclear::Cut),
                Some(']') => return self.close(']'),
                Some(_) => self.value_at(depth + 1)?,
            }
            if !self.goes_on(']')? {
                return Ok(());
            }
        }
    }

    /// After a member or an item: whether there is another one.
    fn goes_on(&mut self, bracket: char) -> Result<bool, Unclear> {
        self.skip_space();
        if self.eat(',') {
            self.skip_space();
            return match self.peek() {
                Some(next) if next == bracket => {
                    self.repaired(Repair::TrailingComma);
                    self.close(bracket).map(|()| false)
                }
                // The text is cut: something would have come after the comma.
                None => Err(Unclear::Cut),
                Some(_) => {
                    self.out.push(',');
                    Ok(true)
                }
            };
        }
        match self.peek() {
            // The text is cut: more may have come.
            None => Err(Unclear::Cut),
            Some(next) if next == bracket => self.close(bracket).map(|()| false),
            Some(_) => Err(self.no_value()),
        }
    }

    fn text(&mut self, quote: char) -> Result<(), Unclear> {
        self.eat(quote);
        if quote == '\'' {
            self.repaired(Repair::SingleQuotes);
        }
        self.out.push('"');
        loop {
            let next = self.next().ok_or(Unclear::OpenText)?;
            match next {
                _ if next == quote => break,
                '\\' => {
                    let escaped = self.next().ok_or(Unclear::OpenText)?;
                    // A single quote needs no escape in JSON.
                    if escaped != '\'' {
                        self.out.push('\\');
                    }
                    self.out.push(escaped);
                }
                '"' => self.out.push_str("\\\""),
                control if control < ' ' => {
                    self.repaired(Repair::RawControl);
                    match control {
                        '\n' => self.out.push_str("\\n"),
                        '\t' => self.out.push_str("\\t"),
                        '\r' => self.out.push_str("\\r"),
                        _ => {
                            // Writing to a string cannot fail.
                            let _ = write!(self.out, "\\u{:04x}", u32::from(control));
                        }
                    }
                }
                plain => self.out.push(plain),
            }
        }
        self.out.push('"');
        Ok(())
    }

    fn word(&mut self) -> Result<(), Unclear> {
        let end = self.end_of(|c| c.is_alphanumeric() || c == '_');
        let (word, python) = match self.rest.get(..end) {
            Some("true") => ("true", false),
            Some("false") => ("false", false),
            Some("null") => ("null", false),
            Some("True") => ("true", true),
            Some("False") => ("false", true),
            Some("None") => ("null", true),
            _ => return Err(self.no_value()),
        };
        self.take(end);
        if python {
            self.repaired(Repair::PythonWord);
        }
        self.out.push_str(word);
        Ok(())
    }

    fn open(&mut self, bracket: char) {
        self.eat(bracket);
        self.out.push(bracket);
    }

    #[allow(clippy::unnecessary_wraps, reason = "it ends what calls it")]
    fn close(&mut self, bracket: char) -> Result<(), Unclear> {
        self.eat(bracket);
        self.out.push(bracket);
        Ok(())
    }

    pub(super) fn repaired(&mut self, repair: Repair) {
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
    }

    fn no_value(&self) -> Unclear {
        Unclear::NoValue {
            at: self.length - self.rest.len() + 1,
        }
    }

    pub(super) fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.take(next.len_utf8());
        Some(next)
    }

    pub(super) fn eat(&mut self, wanted: char) -> bool {
        self.rest
            .strip_prefix(wanted)
            .inspect(|rest| self.rest = rest)
            .is_some()
    }

    pub(super) fn end_of(&self, belongs: impl Fn(char) -> bool) -> usize {
        self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len())
    }

    pub(super) fn take(&mut self, end: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str) -> Result<(Value, Vec<Repair>), Unclear> {
        let mut reader = Reader::new(text);
        reader.value()?;
        let value = serde_json::from_str(&reader.out)
            .unwrap_or_else(|error| panic!("{text} gave {}: {error}", reader.out));
        Ok((value, reader.repairs))
    }

    #[test]
    fn what_has_one_meaning_is_repaired_and_recorded() {
        for (text, value, repair) in [
            (r#"{"a": 1,}"#, json!({"a": 1}), Repair::TrailingComma),
            (
                "{'a': 'it\\'s \"so\"'}",
                json!({"a": "it's \"so\""}),
                Repair::SingleQuotes,
            ),
            (r#"{"a": None}"#, json!({"a": null}), Repair::PythonWord),
            (
                "{\"a\": \"x\ny\"}",
                json!({"a": "x\ny"}),
                Repair::RawControl,
            ),
        ] {
            assert_eq!(read(text), Ok((value, vec![repair])), "{text}");
        }
    }

    #[test]
    fn what_has_several_meanings_is_refused() {
        for (text, why) in [
            (r#"{"a": "b"#, Unclear::OpenText),
            (r#"{"a": "#, Unclear::Cut),
            (r#"{"a""#, Unclear::Cut),
            (r#"{"a": 1, "#, Unclear::Cut),
            (r#"{"a": [1, {"b": "2""#, Unclear::Cut),
            (r#"{"a": "b""#, Unclear::Cut),
            ("[", Unclear::Cut),
            (r#"{"a": 1"#, Unclear::Cut),
            (r#"{"a": 1 "b": 2}"#, Unclear::NoValue { at: 9 }),
            ("{a: 1}", Unclear::NoValue { at: 2 }),
            ("", Unclear::Cut),
        ] {
            assert_eq!(read(text).unwrap_err(), why, "{text}");
        }
        assert_eq!(read(&"[".repeat(1_000)).unwrap_err(), Unclear::TooDeep);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..5)
                    .prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn json_is_read_as_it_is(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            prop_assert_eq!(read(&text), Ok((value, vec![])));
        }

        #[test]
        fn json_that_was_cut_is_no_value(value in any_json(), at in any::<prop::sample::Index>()) {
            let text = json!([value]).to_string();
            let cut = &text[..text.floor_char_boundary(at.index(text.len()))];
            let mut reader = Reader::new(cut);
            prop_assert!(reader.value().is_err(), "{} from {}", reader.out, cut);
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let mut reader = Reader::new(&text);
            let _ = reader.value();
        }
    }
}
