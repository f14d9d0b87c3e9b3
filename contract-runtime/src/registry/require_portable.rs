//! Checks that everything an author or operator requires to be published is published.

use super::build_error::BuildProblem;
use super::entry::Entry;
use super::findings::place;
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::expression::Expression;
use crate::contract::type_kind::TypeKind;
use crate::schema::Lowering;
use crate::tool::spec::Parameter;

/// Reports the preconditions that neither the schema nor a rule says whole: those that demand it, or `all`.
pub(super) fn judge(entry: &Entry, all: bool, problems: &mut Vec<BuildProblem>) {
    let tool = &entry.tool;
    let demanded = |condition: &Condition| {
        let is_demanded = condition.is_shown() || (all && condition.kind() == ConditionKind::Pre);
        is_demanded && entry.refuses(condition)
    };
    // To know it takes a lowering, which is not made for a tool of which nothing is demanded.
    if !entry.conditions().iter().any(demanded) {
        return;
    }
    for published in entry.published() {
        let condition = published.condition();
        let said = published.lowering() == Lowering::Exact || published.rule().is_some();
        if demanded(condition) && !said {
            problems.push(BuildProblem::NotShown {
                tool: tool.name.to_string(),
                predicate: condition.predicate(),
                part: part(condition, tool.parameters()),
                location: place(entry, condition),
            });
        }
    }
}

/// The part that is not portable, as far as one can be named.
fn part(condition: &Condition, parameters: &[Parameter]) -> &'static str {
    let unknown = |name: &str| {
        let parameter = parameters.iter().find(|one| one.name == name);
        parameter.is_none_or(|one| {
            matches!(
                one.kind,
                TypeKind::Opaque | TypeKind::Optional(&TypeKind::Opaque)
            )
        })
    };
    condition
        .expression()
        .and_then(|expression| {
            expression
                .opaque()
                .or_else(|| of_unknown(expression, &unknown))
        })
        .unwrap_or_else(|| condition.predicate())
}

/// The first parameter, or test of one, whose type is known to Rust alone.
fn of_unknown(expression: &Expression, unknown: &impl Fn(&str) -> bool) -> Option<&'static str> {
    match expression {
        Expression::Parameter(name) => unknown(name).then_some(*name),
        Expression::Native { text, .. } => Some(text),
        other => other
            .parts()
            .into_iter()
            .find_map(|part| of_unknown(part, unknown)),
    }
}
