//! Generates values of the wrong type, and malformed JSON.

use serde_json::{Map, Value, json};

use super::rng::Rng;
use super::text::near;
use crate::json::{walk, with, without};

/// One value of each type, small ones.
pub(super) fn of_each_type() -> [Value; 8] {
    [
        json!(null),
        json!(true),
        json!(0),
        json!(0.5),
        json!(""),
        json!("1"),
        json!([]),
        json!({}),
    ]
}

/// What is nearly the value and is another.
pub(super) fn near_misses(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => (0..8).map(|change| json!(near(text, change))).collect(),
        Value::Number(number) => {
            let past = |by: i64| {
                number
                    .as_i64()
                    .and_then(|at| at.checked_add(by))
                    .map(Value::from)
            };
            let text = json!(number.to_string());
            [
                past(1),
                past(-1),
                number.as_f64().map(|at| json!(at + 0.5)),
                Some(text),
            ]
            .into_iter()
            .flatten()
            .collect()
        }
        Value::Object(members) => {
            let first = members.keys().next();
            let less = first.map_or_else(|| json!({}), |first| without(members, first));
            vec![with(members, "unheard_of", json!(1)), less]
        }
        _ => Vec::new(),
    }
}

/// Makes one place of it wrong, or at least other.
pub(super) fn spoil(input: &mut Value, rng: &mut Rng) {
    let mut places = Vec::new();
    walk(input, "", &mut |at, _| places.push(at.to_owned()));
    let Some(part) = rng.pick(&places).and_then(|place| input.pointer_mut(place)) else {
        return;
    };
    match (rng.below(5), &mut *part) {
        (0, Value::Object(members)) => {
            let names: Vec<String> = members.keys().cloned().collect();
            if let Some(name) = rng.pick(&names) {
                members.shift_remove(name);
            }
        }
        (1, Value::Object(members)) => drop(members.insert("unheard_of".to_owned(), json!(null))),
        (2, Value::Object(members)) => {
            let names: Vec<String> = members.keys().cloned().collect();
            if let Some(name) = rng.pick(&names)
                && let Some(value) = members.shift_remove(name)
            {
                members.insert(near(name, 5), value);
            }
        }
        (0, Value::Array(items)) => drop(items.pop()),
        (1, Value::Array(items)) => items.push(json!("unheard_of")),
        (3, part) => *part = json!([part.take()]),
        (0 | 1, part) => {
            let misses = near_misses(part);
            if let Some(miss) = rng.pick(&misses) {
                *part = miss.clone();
            }
        }
        (_, part) => {
            if let Some(other) = rng.pick(&of_each_type()) {
                *part = other.clone();
            }
        }
    }
}

/// Texts that are not a JSON object with each key once.
pub(crate) fn malformed(base: &Value) -> Vec<String> {
    let whole = base.to_string();
    let mut texts: Vec<String> = [
        "[]",
        "1",
        "\"\"",
        "true",
        "{",
        "{\"a\":}",
        "{\"a\":1e400}",
        "nul",
        "{} {}",
        "{\"\\ud800\":1}",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push(format!("{whole}x"));
    texts.push(format!("[{whole}]"));
    texts.push(format!("{}{}{}", "{\"a\":".repeat(200), 1, "}".repeat(200)));
    if let Some((name, value)) = base.as_object().and_then(|members| members.iter().next()) {
        let one = Value::Object(Map::from_iter([(name.clone(), value.clone())])).to_string();
        let one = one.trim_start_matches('{').trim_end_matches('}');
        let rest = whole.strip_prefix('{').unwrap_or_default();
        // The key of the first member is there again; a value that ends in a brace has lost it.
        if !value.is_object() {
            texts.push(format!("{{{one},{rest}"));
        }
    }
    texts
}
