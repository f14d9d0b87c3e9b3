//! Which conditions of a tool ask a person: what its author says, and what the operator changes.

use super::build_error::BuildProblem;
use crate::contract::approval::Asks;
use crate::contract::condition::{Condition, ConditionKind};
use crate::tool::Tool;

/// What an operator says of one tool.
#[derive(Clone, Debug)]
pub(super) struct AskChange {
    pub(super) tool: String,
    pub(super) subject: Subject,
    pub(super) asks: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// The condition with this id.
    Condition(String),
    /// Every call.
    Call,
}

impl AskChange {
    /// The method of the builder that said so.
    pub(super) fn method(&self) -> &'static str {
        match (&self.subject, self.asks) {
            (Subject::Condition(_), true) => "ask",
            (Subject::Condition(_), false) => "without_ask",
            (Subject::Call, true) => "confirm",
            (Subject::Call, false) => "without_confirm",
        }
    }
}

/// The conditions of a tool as they ask under these changes, and their places.
pub(super) fn resolve(
    tool: &Tool,
    changes: &[AskChange],
    problems: &mut Vec<BuildProblem>,
) -> (Vec<Condition>, Asks) {
    let mut conditions = tool.conditions().to_vec();
    let mut confirm = tool.spec().is_some_and(|spec| spec.confirm.is_some());
    for change in changes.iter().filter(|change| change.tool == tool.name) {
        let Subject::Condition(wanted) = &change.subject else {
            confirm = change.asks;
            continue;
        };
        let named = |one: &&mut Condition| {
            let is_named = one.is_named() && one.predicate() == wanted;
            one.kind() == ConditionKind::Pre && (is_named || one.id() == Some(wanted.as_str()))
        };
        match conditions.iter_mut().find(named) {
            Some(condition) => *condition = condition.set_asks(change.asks),
            None => problems.push(BuildProblem::NoSuchCondition {
                method: change.method(),
                tool: tool.name.clone(),
                id: wanted.clone(),
                location: tool.location.clone(),
            }),
        }
    }
    let places = conditions.iter().enumerate();
    let places = places.filter(|(_, condition)| condition.asks());
    let asks = Asks {
        conditions: places.map(|(place, _)| place).collect(),
        confirm,
    };
    if cfg!(contract_strip) && asks.any() {
        problems.push(BuildProblem::AskStripped {
            tool: tool.name.clone(),
            location: tool.location.clone(),
        });
    }
    (conditions, asks)
}
