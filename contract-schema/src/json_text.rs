//! Writes JSON as text, without a value in between.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde_json::Value;

use crate::Decimal;
use crate::lexer::{Lexer, Number, Unread};

/// One object, written member by member.
pub struct ObjectText<'o> {
    out: &'o mut String,
    is_empty: bool,
}

impl<'o> ObjectText<'o> {
    pub fn begin(out: &'o mut String) -> Self {
        out.push('{');
        Self {
            out,
            is_empty: true,
        }
    }

    /// Goes on with an object that was written without its last brace.
    pub(super) fn resume(out: &'o mut String, is_empty: bool) -> Self {
        Self { out, is_empty }
    }

    /// Writes a key; the value is the caller's to write.
    pub fn key(&mut self, key: &str) -> &mut String {
        if !self.is_empty {
            self.out.push(',');
        }
        self.is_empty = false;
        string(self.out, key);
        self.out.push(':');
        self.out
    }

    pub fn string(&mut self, key: &str, text: &str) {
        string(self.key(key), text);
    }

    /// Writes a member whose value is JSON text already.
    pub fn json(&mut self, key: &str, json: &str) {
        self.key(key).push_str(json);
    }

    pub fn value(&mut self, key: &str, value: &Value) {
        // A string takes all that is written to it.
        let _ = write!(self.key(key), "{value}");
    }

    pub fn end(self) {
        self.out.push('}');
    }
}

/// Writes a string as `serde_json` does.
pub fn string(out: &mut String, text: &str) {
    let is_escaped = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    if text.bytes().any(is_escaped) {
        let _ = write!(out, "{}", Value::from(text));
    } else {
        out.push('"');
        out.push_str(text);
        out.push('"');
    }
}

/// Returns one text for all texts of a JSON value: without white space, with the keys in order and every number as digits and a
/// power of ten. No digit of a number is lost. Members whose keys are equal stay in the order in which they were written.
///
/// Returns `None` for what is not JSON.
#[must_use]
pub fn canonical(text: &str) -> Option<String> {
    let (lexer, mut out) = (Lexer::new(text), String::with_capacity(text.len()));
    let exact = |number: &Number<'_>| match number {
        Number::Integer(integer) => Decimal::of_integer(*integer).key(),
        Number::Literal { digits, .. } => {
            let exact = Decimal::parse(digits).filter(Decimal::is_exact);
            exact.map_or_else(|| (*digits).to_owned(), |exact| exact.key())
        }
    };
    let end = value(&lexer, lexer.behind_space(0), DEEPEST, exact, &mut out).ok()?;
    lexer.ends(end).then_some(out)
}

/// Returns one text for all spellings of the value that begins at `at`, as [`canonical`] does, but with numbers as they are compared.
pub(super) fn key(lexer: Lexer<'_>, at: usize) -> Result<String, Unread> {
    let mut out = String::new();
    value(&lexer, at, DEEPEST, |number| number.exact().key(), &mut out)?;
    Ok(out)
}

/// Writes the value that begins at `at`, and returns the place behind it.
fn value(
    lexer: &Lexer<'_>,
    at: usize,
    depth: usize,
    number: fn(&Number<'_>) -> String,
    out: &mut String,
) -> Result<usize, Unread> {
    let literal = |word, out: &mut String| {
        out.push_str(word);
        lexer.literal(at, word)
    };
    match lexer.byte(at) {
        open @ (b'{' | b'[') => {
            let depth = depth.checked_sub(1).ok_or(Unread)?;
            let close = if open == b'{' { b'}' } else { b']' };
            let (mut items, mut next) = (Vec::new(), lexer.first(at, close));
            while let ControlFlow::Continue(mut at) = next {
                let (mut key, mut item) = (String::new(), String::new());
                if open == b'{' {
                    at = quoted(lexer, at, &mut key)?;
                    at = lexer.behind_space(lexer.behind(at, b':')?);
                }
                next = lexer.next(value(lexer, at, depth, number, &mut item)?, close)?;
                items.push((key, item));
            }
            // The items of an array have no keys, and stay as they are.
            items.sort_by(|(one, _), (other, _)| one.cmp(other));
            out.push(open.into());
            for (key, item) in items {
                out.extend([&*key, ":", &item, ","]);
            }
            out.push(close.into());
            next.break_value().ok_or(Unread)
        }
        b'"' => quoted(lexer, at, out),
        b't' => literal("true", out),
        b'f' => literal("false", out),
        b'n' => literal("null", out),
        _ => {
            let (read, end) = lexer.number(at)?;
            out.push_str(&number(&read));
            Ok(end)
        }
    }
}

/// Writes the string whose opening quote stands at `at`.
fn quoted(lexer: &Lexer<'_>, at: usize, out: &mut String) -> Result<usize, Unread> {
    if lexer.byte(at) != b'"' {
        return Err(Unread);
    }
    let text = lexer.string(at)?;
    string(out, &text.text()?);
    Ok(text.end)
}

/// How many arrays and objects may stand inside each other, as for `serde_json`.
pub(crate) const DEEPEST: usize = 127;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ObjectText, canonical};

    #[test]
    fn texts_of_equal_values_have_one_canonical_text() {
        for (one, other) in [
            (
                r#"{"to":"ada","of":{"é":"\"\n"}}"#,
                r#" { "of" : {"\u00e9":"\u0022\u000a"}, "to":"\u0061d\u0061" }"#,
            ),
            ("5", "5.0"),
            ("-0.0", "0"),
            ("[1,[], 10e1]", "[1.0, [ ], 100]"),
        ] {
            assert_eq!(canonical(one).unwrap(), canonical(other).unwrap());
        }
        for (one, other) in [
            ("5", r#""5""#),
            ("[1,2]", "[2,1]"),
            ("[[1],2]", "[[1,2]]"),
            (r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#),
            (r#"{"a":"\u0061"}"#, r#"{"a":"\\u0061"}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":3,"a":2}"#),
            ("18446744073709551617", "18446744073709551618"),
            ("9007199254740993.0", "9007199254740992.0"),
            (
                "1234567890123456789012345678901234567890",
                "1234567890123456789012345678901234567891",
            ),
            ("{}", r#"{"a":null}"#),
        ] {
            assert_ne!(canonical(one).unwrap(), canonical(other).unwrap());
        }
        for text in ["", "{", "[1,]", "{a:1}", "1 2", &"[".repeat(200)] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }

    #[test]
    fn text_is_what_the_value_would_be_written_as() {
        let texts = ["", "plain", "é \u{1f600}", "a\"b\\c\n\t\u{1}", "\u{7f}/"];
        for text in texts {
            let mut out = String::new();
            let mut object = ObjectText::begin(&mut out);
            object.string(text, text);
            object.json("other", "[1]");
            object.value("value", &json!({"a": text}));
            object.end();
            let mut expected = json!({});
            expected[text] = Value::from(text);
            expected["other"] = json!([1]);
            expected["value"] = json!({"a": text});
            assert_eq!(out, expected.to_string());
        }
        let mut out = String::new();
        ObjectText::begin(&mut out).end();
        assert_eq!(out, "{}");
    }
}
