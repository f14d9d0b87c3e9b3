//! A schema as compact text, which takes a tenth of the memory of its value.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde::Deserialize as _;
use serde_json::Value;

/// A schema that is kept as text, and parsed when its value is needed.
#[derive(Clone, Debug)]
pub struct StoredSchema {
    text: Box<str>,
    value: OnceLock<Arc<Value>>,
}

impl StoredSchema {
    pub fn new(text: String) -> Self {
        Self {
            text: text.into_boxed_str(),
            value: OnceLock::new(),
        }
    }

    pub fn of(schema: &Value) -> Self {
        Self::new(schema.to_string())
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value, which is kept from now on.
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| Arc::new(parse(&self.text)))
    }

    /// Returns the value. It is not kept, unless it was kept before.
    pub fn read(&self) -> Cow<'_, Value> {
        match self.value.get() {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(parse(&self.text)),
        }
    }
}

/// Reads what this crate has written. How deep a schema is was judged when it was a value: the limit of the parser is lower.
pub fn parse(text: &str) -> Value {
    let mut json = serde_json::Deserializer::from_str(text);
    json.disable_recursion_limit();
    Value::deserialize(&mut json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::StoredSchema;

    #[test]
    fn what_is_stored_reads_back_as_it_was() {
        let mut deep =
            json!({"maximum": 3.402_823_5e38, "minimum": -0.1, "enum": [u64::MAX, "\u{0}\"", 5.0]});
        for _ in 0..300 {
            deep = json!({"properties": {"z": deep, "a": true}});
        }
        let stored = StoredSchema::of(&deep);
        assert_eq!(*stored.read(), deep);
        assert_eq!(stored.read().to_string(), stored.text());
        let kept: *const Value = stored.value();
        assert!(std::ptr::eq(kept, &raw const *stored.read()));
    }
}
