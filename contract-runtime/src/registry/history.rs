//! Judges what conditions ask the history of a run, when a registry is built: about which functions, and by which arguments.

use super::build_error::BuildProblem;
use super::builder::linked;
use super::entry::Entry;
use crate::contract::condition::{AskedTool, Condition};
use crate::schema::arguments::nearest;

/// A registry with some of the tools that its conditions were written for does not know the others.
pub(super) fn judge(entries: &[Entry], partial: bool, problems: &mut Vec<BuildProblem>) {
    for entry in entries {
        let asks = entry.tool.conditions().iter().any(Condition::asks_history);
        if cfg!(contract_strip) && asks {
            problems.push(BuildProblem::HistoryStripped {
                tool: entry.tool.name.to_string(),
                location: entry.tool.location.to_string(),
            });
        }
        for condition in entry.tool.conditions() {
            for asked in condition.asked_tools() {
                match arguments(entries, entry, asked) {
                    Some(known) => problems.extend(misnamed(entry, condition, asked, &known)),
                    None if partial => {}
                    None if asked.function.is_none() => {
                        let names = entries.iter().map(|entry| entry.tool.name());
                        problems.push(BuildProblem::AsksNoName {
                            tool: entry.tool.name.to_string(),
                            predicate: condition.predicate().to_owned(),
                            name: asked.name,
                            nearest: nearest(asked.name, names).map(str::to_owned),
                            location: location(entry, condition),
                        });
                    }
                    None => problems.push(BuildProblem::AsksNoTool {
                        tool: entry.tool.name.to_string(),
                        predicate: condition.predicate().to_owned(),
                        function: asked.name,
                        location: location(entry, condition),
                    }),
                }
            }
        }
    }
}

/// The arguments of the tool that the tool `of` asks about, if there is one.
fn arguments<'e>(entries: &'e [Entry], of: &Entry, asked: &AskedTool) -> Option<Vec<&'e str>> {
    let Some(function) = asked.function else {
        let is_own =
            |one: &&Entry| one.tool.set == of.tool.set && one.tool.contract_name() == asked.name;
        let by_name = |one: &&Entry| one.tool.name() == asked.name;
        let mut all = entries.iter();
        let found = all.clone().find(is_own).or_else(|| all.find(by_name))?;
        // A dynamic tool may take arguments that its schema does not name.
        return match found.tool.spec() {
            Some(spec) => Some(spec.parameters.iter().map(|one| one.name).collect()),
            None => Some(asked.arguments.to_vec()),
        };
    };
    let function = function();
    let own = entries
        .iter()
        .find(|entry| entry.tool.function == Some(function));
    let parameters = match own {
        Some(entry) => entry.tool.parameters(),
        None => {
            linked()
                .find(|one| (one.function)() == function)?
                .spec
                .parameters
        }
    };
    Some(parameters.iter().map(|parameter| parameter.name).collect())
}

/// A condition about an argument that does not exist would let every call pass, or none.
fn misnamed(
    entry: &Entry,
    condition: &Condition,
    asked: &AskedTool,
    known: &[&str],
) -> Vec<BuildProblem> {
    let unknown = asked.arguments.iter().filter(|name| !known.contains(name));
    let problem = |argument: &&'static str| BuildProblem::AsksNoArgument {
        tool: entry.tool.name.to_string(),
        predicate: condition.predicate().to_owned(),
        function: asked.name,
        argument,
        nearest: nearest(argument, known.iter().copied()).map(str::to_owned),
        location: location(entry, condition),
    };
    unknown.map(problem).collect()
}

fn location(entry: &Entry, condition: &Condition) -> String {
    let (line, column) = condition.position();
    format!("{}:{line}:{column}", entry.tool.contract().file)
}
