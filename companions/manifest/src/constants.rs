//! The values of constants in a predicate, which its text does not show.

use serde_json::{Number, Value};

use contract_runtime::__family::Expression;
use contract_runtime::__family::guard;

/// The values of all constants, from left to right.
pub(super) fn of(expression: &Expression) -> Vec<Value> {
    match expression {
        Expression::Bool(flag) => vec![Value::Bool(*flag)],
        Expression::Integer(number) => vec![integer(*number)],
        Expression::Float(number) => {
            vec![Number::from_f64(*number).map_or(Value::Null, Value::Number)]
        }
        Expression::Text(text) => vec![Value::from(*text)],
        Expression::Named { value, .. } => {
            vec![guard(value).ok().flatten().unwrap_or_default()]
        }
        other => other.parts().into_iter().flat_map(of).collect(),
    }
}

/// Beyond 64 bits as text, which loses no digit.
fn integer(number: i128) -> Value {
    let signed = i64::try_from(number).map(Value::from);
    signed
        .or_else(|_| u64::try_from(number).map(Value::from))
        .unwrap_or_else(|_| Value::from(number.to_string()))
}
