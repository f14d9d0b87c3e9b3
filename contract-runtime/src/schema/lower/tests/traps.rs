//! One test for each pitfall, named after it, and the resulting keywords.

/// A comparison of the parameter, as a constant wherever its parts are.
macro_rules! is {
    ($comparison:ident, $with:expr) => {
        Compare($comparison, X, $with)
    };
}

mod counts;
mod nothing;
mod numbers;
mod shapes;
mod values;

use serde_json::{Map, Value, json};

use super::lower;
use super::property::pre;
use super::subjects::{Parameter, tool};
use crate::contract::expression::Comparison::{AtLeast, AtMost, Equal, Less, More, NotEqual};
use crate::contract::expression::Expression::{self, *};
use crate::schema::lower::{Lowering, PublishedCondition};

/// What one condition adds to the schema of a parameter, and whether it must be given.
#[derive(Debug)]
struct Shown {
    lowering: Lowering,
    /// The keywords that restrict values.
    keywords: Value,
    required: bool,
}

fn shown(parameter: &Parameter, conditions: &[Expression]) -> Shown {
    let tool = tool(&[parameter]);
    let conditions: Vec<_> = conditions.iter().map(|one| pre(*one)).collect();
    let published = lower(&conditions, &tool.subjects, &tool.input);
    super::property::validator(&published.input);
    let property = published.input["properties"][parameter.name].clone();
    let keywords: Map<String, Value> = serde_json::from_value(property).unwrap();
    let restricting = |keyword: &str| !["description", "default"].contains(&keyword);
    Shown {
        lowering: published
            .conditions
            .iter()
            .map(PublishedCondition::lowering)
            .max()
            .unwrap(),
        keywords: keywords
            .into_iter()
            .filter(|(keyword, _)| restricting(keyword))
            .collect(),
        required: published.input["required"] == json!([parameter.name]),
    }
}

#[track_caller]
fn assert_shown(
    parameter: &Parameter,
    condition: Expression,
    lowering: Lowering,
    keywords: &Value,
) {
    let shown = shown(parameter, &[condition]);
    assert_eq!((shown.lowering, &shown.keywords), (lowering, keywords));
}

#[track_caller]
#[expect(
    clippy::needless_pass_by_value,
    reason = "calls read better without `&`"
)]
fn exact(parameter: &Parameter, condition: Expression, keywords: Value) {
    assert_shown(parameter, condition, Lowering::Exact, &keywords);
}

#[track_caller]
#[expect(
    clippy::needless_pass_by_value,
    reason = "calls read better without `&`"
)]
fn partial(parameter: &Parameter, condition: Expression, keywords: Value) {
    assert_shown(parameter, condition, Lowering::Partial, &keywords);
}

/// Nothing is added.
#[track_caller]
fn described(parameter: &Parameter, condition: Expression) {
    let shown = shown(parameter, &[condition]);
    assert_eq!(shown.lowering, Lowering::Described, "{shown:?}");
    assert_eq!(shown.keywords, plain(parameter));
}

/// The keywords of the type alone.
fn plain(parameter: &Parameter) -> Value {
    shown(parameter, &[Bool(true)]).keywords
}

const X: &Expression = &Parameter("x");
const V: &Expression = &Variable("v");
const NONE: &Expression = &Opaque("known_to(&nobody)");
