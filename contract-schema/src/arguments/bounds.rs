//! Adds the published bounds, which conditions may narrow, to refusals.

use serde_json::Value;

use super::expected::describe;
use super::problem::ArgumentProblem;
use super::refusal::InvalidArguments;
use crate::{InputSchema, RuleId, Rules, compile};

/// The published schema of the arguments, by which nothing is judged here: its bounds are those that a refusal names.
#[derive(Debug)]
pub struct Bounds {
    rules: Rules,
    root: RuleId,
}

impl Bounds {
    /// `None` if it is not a schema that can be read.
    pub fn new(published: &Value) -> Option<Self> {
        let (rules, root) = compile(published, false).ok()?;
        Some(Self { rules, root })
    }

    /// Says of each value that its type refuses what the published schema accepts in its place.
    pub fn name(&self, types: &InputSchema, invalid: &mut InvalidArguments) {
        for problem in invalid.problems_mut() {
            self.name_one(types, problem);
        }
    }

    fn name_one(&self, types: &InputSchema, problem: &mut ArgumentProblem) {
        let of_type = at(types.rules(), types.root(), &problem.pointer);
        // What is said of a part, or of several forms together, has no bounds.
        if of_type.is_none_or(|id| describe(types.rules(), id) != problem.expected) {
            return;
        }
        let published = at(&self.rules, self.root, &problem.pointer);
        let Some(id) = published.filter(|id| !self.rules[*id].is_never()) else {
            return;
        };
        problem.expected = describe(&self.rules, id);
        if let Some(values) = &self.rules[id].values {
            problem.allowed.retain(|value| values.contains(value));
            let is_accepted = |name: &String| {
                values
                    .iter()
                    .any(|value| value.as_str() == Some(name.as_str()))
            };
            problem.nearest = problem.nearest.take().filter(is_accepted);
        }
    }
}

/// The rule of the value at a JSON pointer.
fn at(rules: &Rules, root: RuleId, pointer: &str) -> Option<RuleId> {
    let mut steps = pointer.split('/').skip(1);
    steps.try_fold(root, |id, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        below(rules, id, &step)
    })
}

fn below(rules: &Rules, id: RuleId, step: &str) -> Option<RuleId> {
    let rule = &rules[id];
    let property = rule
        .object
        .as_ref()
        .and_then(|object| object.property(step));
    let item = || {
        let (array, index) = (rule.array.as_ref()?, step.parse::<usize>().ok()?);
        array.prefix.get(index).copied().or(array.items)
    };
    // References lead to no circle: a schema with one is not taken.
    let referred = || below(rules, rule.combination.as_ref()?.reference?, step);
    property.or_else(item).or_else(referred)
}
