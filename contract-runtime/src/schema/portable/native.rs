//! Tests that only Rust can evaluate, tabulated for types with few values.

use serde_json::Value;

use super::cel::Cel;
use super::condition::Rules;
use super::value_path::ValuePath;
use crate::schema::lower::finite;

impl Rules<'_> {
    /// The values of a parameter for which the test gives the answer that is expected.
    pub(super) fn native(
        &self,
        parameter: &str,
        holds: fn(&str) -> Option<bool>,
        expected: bool,
    ) -> Option<Cel> {
        let subject = self.subject(parameter)?;
        let input = self.subjects.input.read();
        let schema = input.get("properties")?.get(parameter)?;
        let mut values = finite::values(schema, &input)?;
        let absent = !subject.required && subject.default.is_none();
        if absent && !values.contains(&Value::Null) {
            values.push(Value::Null);
        }
        let passing = finite::passing(&values, expected, holds)?;
        if passing.len() == values.len() {
            return Some(Cel::bool(true));
        }
        let nullable = values.contains(&Value::Null);
        let mut place = ValuePath::of(subject, nullable)?;
        let scalars = || values.iter().filter(|value| !value.is_null());
        if scalars().all(Value::is_i64) {
            place.value = Cel::call("int", &place.value);
        } else if !scalars().all(Value::is_string) && !scalars().all(Value::is_boolean) {
            return None;
        }
        let listed: Option<Vec<Cel>> = passing
            .iter()
            .filter(|value| !value.is_null())
            .map(Cel::json)
            .collect();
        let among = match listed?.as_slice() {
            [] => Cel::bool(false),
            listed if listed.len() + usize::from(nullable) == values.len() => Cel::bool(true),
            [only] if only.is(true) => place.value.clone(),
            [only] if only.is(false) => place.value.clone().not(),
            [only] => Cel::relation("==", &place.value, only),
            listed => Cel::relation("in", &place.value, &Cel::list(listed)),
        };
        Some(match place.present() {
            Some(present) => present.choose(&among, &Cel::bool(passing.contains(&Value::Null))),
            None => among,
        })
    }
}
