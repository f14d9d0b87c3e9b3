//! Judges what conditions ask the history of a run, when a registry is built: about which functions, and by which arguments.

use super::build_error::BuildProblem;
use super::builder::linked;
use super::entry::Entry;
use crate::contract::condition::{AskedTool, Condition};
use crate::schema::arguments::nearest;

/// A registry with some of the tools that its conditions were written for does not know the others.
pub(super) fn judge(entries: &[Entry], partial: bool, problems: &mut Vec<BuildProblem>) {
    for entry in entries {
        for condition in entry.tool.conditions() {
            for asked in condition.asked_tools() {
                match arguments(entries, asked) {
                    Some(known) => problems.extend(misnamed(entry, condition, asked, &known)),
                    None if partial => {}
                    None => problems.push(BuildProblem::AsksNoTool {
                        tool: entry.tool.name.to_string(),
                        predicate: condition.predicate(),
                        function: asked.name,
                        location: location(entry, condition),
                    }),
                }
            }
        }
    }
}

/// The arguments of the tool, if the function is one.
fn arguments<'e>(entries: &'e [Entry], asked: &AskedTool) -> Option<Vec<&'e str>> {
    let function = (asked.function)();
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
        predicate: condition.predicate(),
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
