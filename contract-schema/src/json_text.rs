//! Writes JSON as text, without a value in between.

use std::fmt::Write as _;

use serde_json::Value;

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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ObjectText;

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
