//! Which conditions of a tool ask a person: what its author says, and what the operator changes.

use std::sync::Arc;

use super::build_error::BuildProblem;
use super::entry::Settings;
use crate::contract::approval::Asks;
use crate::contract::condition::{Condition, ConditionKind};
use crate::tool::Tool;

/// What an operator says of one tool, or of all.
#[derive(Clone, Debug)]
pub(super) struct AskChange {
    pub(super) tool: Option<String>,
    /// The id of the condition; `None` for what is asked about every call.
    pub(super) condition: Option<String>,
    pub(super) asks: bool,
}

impl AskChange {
    fn is_about(&self, tool: &Tool) -> bool {
        self.tool.as_ref().is_none_or(|name| *name == tool.name)
    }

    pub(super) fn method(&self) -> &'static str {
        match (&self.condition, self.asks) {
            (Some(_), true) => "ask",
            (Some(_), false) => "without_ask",
            (None, true) => "confirm",
            (None, false) => "without_confirm",
        }
    }
}

/// The conditions of a tool as they ask, where the operator has changed them, and the places of those that do.
pub(super) fn resolve(
    tool: &Tool,
    settings: &Settings,
    problems: &mut Vec<BuildProblem>,
) -> (Option<Box<[Condition]>>, Arc<Asks>) {
    let mut changed: Option<Box<[Condition]>> = None;
    let mut confirm = tool.spec().is_some_and(|spec| spec.confirm.is_some());
    for change in settings.asks.iter().filter(|change| change.is_about(tool)) {
        let Some(wanted) = &change.condition else {
            confirm = change.asks;
            continue;
        };
        let named = |one: &&mut Condition| {
            let is_named = one.is_named() && one.predicate() == wanted;
            one.kind() == ConditionKind::Pre && (is_named || one.id() == Some(wanted.as_str()))
        };
        let conditions = changed.get_or_insert_with(|| tool.conditions().into());
        match conditions.iter_mut().find(named) {
            Some(condition) => condition.set_asks(change.asks),
            None => problems.push(BuildProblem::NoSuchCondition {
                method: change.method(),
                tool: tool.name.to_string(),
                id: wanted.clone(),
                location: tool.location.to_string(),
            }),
        }
    }
    let conditions = changed.as_deref().unwrap_or(tool.conditions());
    let places = conditions.iter().enumerate();
    let places = places.filter(|(_, condition)| condition.asks());
    let asks = Asks {
        conditions: places.map(|(place, _)| place).collect(),
        confirm,
    };
    if cfg!(contract_strip) && asks.any() {
        let (tool, location) = tool.place();
        problems.push(BuildProblem::AskStripped { tool, location });
    }
    (changed, Arc::new(asks))
}
