//! Complete example arguments, assembled from the examples of single parameters.

use serde_json::{Map, Value};

use super::Neutral;
use crate::contract::condition::ConditionKind;
use crate::contract::panics::guard;
use crate::schema::InputSchema;
use crate::schema::arguments::examine;
use crate::schema::lower::{Lowering, PublishedCondition};

/// Further examples teach a model little and are paid for in every request.
const MOST: usize = 3;

/// Arguments that a call would accept, as far as that can be known without making it, and that `exported` accepts as well.
///
/// Each holds an example of every parameter that has one; a required parameter without any, and a condition that only a
/// call can judge, mean that there is none.
pub(super) fn whole(tool: &Neutral<'_>, exported: &Value) -> Vec<Value> {
    let properties = tool.input().get("properties").and_then(Value::as_object);
    let Some(properties) = properties else {
        return Vec::new();
    };
    let of = |schema: &Value| -> Vec<Value> {
        let examples = schema.get("examples").and_then(Value::as_array);
        examples.cloned().unwrap_or_default()
    };
    let given: Vec<(&String, Vec<Value>)> = properties
        .iter()
        .map(|(name, schema)| (name, of(schema)))
        .collect();
    let most = given.iter().map(|(_, values)| values.len()).max();
    if most.is_none_or(|most| most == 0) {
        return Vec::new();
    }
    let schemas = [tool.input(), exported].map(|schema| InputSchema::from_object(schema.clone()));
    let [Ok(schema), Ok(exported)] = schemas else {
        return Vec::new();
    };
    let accepted = |text: &str| {
        let mut both = [&schema, &exported].into_iter();
        both.all(|schema| examine(text, schema, false).is_ok())
    };
    let mut found: Vec<Value> = Vec::new();
    for turn in 0..most.unwrap_or_default().min(MOST) {
        let one = given
            .iter()
            .filter_map(|(name, values)| {
                let value = values.get(turn).or_else(|| values.last())?;
                Some(((*name).clone(), value.clone()))
            })
            .collect::<Map<_, _>>();
        if !holds(tool, &one) {
            continue;
        }
        let one = Value::Object(one);
        if accepted(&one.to_string()) && !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// Whether no condition is broken that ends calls: of what the schema says in full, the schema is the judge.
fn holds(tool: &Neutral<'_>, arguments: &Map<String, Value>) -> bool {
    let conditions = tool.conditions.iter();
    conditions
        .filter(|one| one.condition().kind() == ConditionKind::Pre && one.refuses())
        .all(|one| one.lowering() == Lowering::Exact || asked(one, tool, arguments))
}

fn asked(
    published: &PublishedCondition,
    tool: &Neutral<'_>,
    arguments: &Map<String, Value>,
) -> bool {
    let condition = published.condition();
    let ([parameter], Some(probe)) = (condition.parameters(), condition.probe()) else {
        return false;
    };
    let name = tool.exported(parameter);
    let default = || tool.input().get("properties")?.get(name)?.get("default");
    let value = arguments.get(name).or_else(default);
    let text = value.unwrap_or(&Value::Null).to_string();
    guard(|| probe(&text)).ok().flatten() == Some(true)
}
