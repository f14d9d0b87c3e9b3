//! Whether a listed value keeps the other keywords of its place.

use serde_json::Value;

use super::convert::Keywords;
use super::scalar::{count, numbers};
use crate::schema::Decimal;

/// `None` for lists and objects that more is said of, which are not looked into.
pub(super) fn keeps(value: &Value, all: &[&Keywords]) -> Option<bool> {
    match value {
        Value::Number(number) => {
            let value = Decimal::of(number);
            let holds = |keyword: &str, holds: fn(&Decimal, &Decimal) -> bool| {
                let mut bounds = numbers(all, keyword).into_iter();
                bounds.all(|bound| holds(&value, &Decimal::of(bound)))
            };
            Some(
                holds("minimum", |value, bound| value >= bound)
                    && holds("maximum", |value, bound| value <= bound)
                    && holds("exclusiveMinimum", |value, bound| value > bound)
                    && holds("exclusiveMaximum", |value, bound| value < bound)
                    && holds("multipleOf", Decimal::is_multiple_of),
            )
        }
        Value::String(text) => {
            let length = text.chars().count();
            let long = count(all, "minLength", true).is_none_or(|min| length >= min);
            let short = count(all, "maxLength", false).is_none_or(|max| length <= max);
            let mut patterns = all.iter().filter_map(|one| one.get("pattern")?.as_str());
            let matches = patterns.all(|pattern| {
                regex_lite::Regex::new(pattern).is_ok_and(|regex| regex.is_match(text))
            });
            Some(long && short && matches)
        }
        Value::Array(_) | Value::Object(_) => {
            let said = |one: &&Keywords| {
                let mut keywords = one.keys().map(String::as_str);
                keywords.any(|keyword| {
                    !matches!(keyword, "type" | "enum" | "const" | "description" | "title")
                })
            };
            (!all.iter().any(said)).then_some(true)
        }
        Value::Null | Value::Bool(_) => Some(true),
    }
}
