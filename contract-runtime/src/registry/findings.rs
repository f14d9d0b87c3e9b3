//! Contract errors that the compiler could not see, because they depend on constants, enums and defaults.

use serde_json::Value as Json;

use super::build_error::BuildProblem;
use super::entry::Entry;
use super::solver::Solver;
use crate::contract::condition::{AskedTool, Condition};
use crate::contract::expression::Expression;
use crate::contract::findings::judge::{contradiction, reading};
use crate::contract::findings::{Known, Value};
use crate::contract::panics::guard;
use crate::contract::pattern;
use crate::contract::policy::Policy;
use crate::schema::Parameter;
use crate::schema::arguments::nearest;
use crate::schema::lower::normal::{answer, finite_values};
use crate::tool::shim::linked;

/// Reports what no call could satisfy, and defaults and examples that their own contract refuses.
pub(super) fn judge(entry: &Entry, problems: &mut Vec<BuildProblem>) {
    if entry.tool.conditions().is_empty() {
        return;
    }
    patterns(entry, problems);
    let asked = Asked::of(entry);
    let known = asked.known();
    let solver = asked.solver(entry, &known);
    constants(entry, problems);
    defaults(entry, &solver, problems);
    let conditions = entry.tool.conditions();
    if let Some(found) = solver.contradiction() {
        let members = members(conditions, found);
        problems.push(BuildProblem::Contradiction {
            tool: entry.tool.name.to_string(),
            message: contradiction(conditions, found).text().to_owned(),
            locations: members.map(|one| place(entry, one)).collect(),
        });
    }
}

pub(super) fn members<T>(conditions: &[T], set: u64) -> impl Iterator<Item = &T> {
    let numbered = conditions.iter().take(64).enumerate();
    numbered
        .filter(move |(index, _)| set & (1 << index) != 0)
        .map(|(_, condition)| condition)
}

/// The preconditions that could be removed, by index, each with the set of those that imply it; one that holds for every
/// value of its types needs none.
pub(super) fn superfluous(entry: &Entry) -> Vec<(usize, u64)> {
    let asked = Asked::of(entry);
    let known = asked.known();
    let solver = asked.solver(entry, &known);
    let conditions = entry.tool.conditions();
    let mut left = u64::MAX;
    let mut found = Vec::new();
    // Of two that say the same the later one goes.
    let readable = conditions.iter().take(64).enumerate().rev();
    for (index, condition) in readable.filter(|(_, one)| reading(one).is_some()) {
        let bit = 1 << index;
        let others = left & !bit & enforced(conditions, condition);
        let from = if solver.is_impossible(0, bit) {
            0
        } else if solver.is_impossible(others, bit) {
            solver.least(others, bit)
        } else {
            continue;
        };
        left &= !bit;
        found.push((index, from));
    }
    found.reverse();
    found
}

/// Those that hold whenever this one is looked at: one that only observes stops no call.
fn enforced(conditions: &[Condition], condition: &Condition) -> u64 {
    let weak = |one: &Condition| matches!(one.policy(), Some(Policy::Ignore | Policy::Observe));
    let mut set = 0;
    for (index, other) in conditions.iter().take(64).enumerate() {
        if !weak(other) || other.policy() == condition.policy() {
            set |= 1 << index;
        }
    }
    set
}

/// `file:line:column`
pub(super) fn place(entry: &Entry, condition: &Condition) -> String {
    let (line, column) = condition.position();
    let file = condition.file().unwrap_or(entry.tool.contract().file);
    format!("{file}:{line}:{column}")
}

/// What the expressions of a tool name, asked once.
#[derive(Default)]
struct Asked {
    named: Vec<(&'static str, Json)>,
    tests: Vec<Known<'static>>,
    /// The parameters whose values can be counted, and how many those are.
    finite: Vec<(&'static str, usize)>,
}

impl Asked {
    fn of(entry: &Entry) -> Self {
        let mut asked = Self::default();
        let trees = entry
            .tool
            .conditions()
            .iter()
            .filter_map(Condition::expression);
        for part in trees.flat_map(Expression::all) {
            match part {
                Expression::Named { text, value } => {
                    let value = guard(value).ok().flatten();
                    asked.named.extend(value.map(|value| (*text, value)));
                }
                Expression::Native {
                    text,
                    parameter,
                    holds,
                } => asked.test(text, parameter, *holds, entry),
                _ => {}
            }
        }
        asked
    }

    /// Asks a test about every value of its parameter, if they are few.
    fn test(
        &mut self,
        text: &'static str,
        parameter: &'static str,
        holds: fn(&str) -> Option<bool>,
        entry: &Entry,
    ) {
        let schema = entry.inputs.schema.as_stored().read();
        let subject = schema.get("properties").and_then(|all| all.get(parameter));
        let values = subject.and_then(|one| finite_values(one, &schema));
        let Some(values) = values.filter(|values| values.len() <= 64) else {
            return;
        };
        let (mut holding, mut failing) = (0, 0);
        for (bit, value) in values.iter().enumerate() {
            match answer(value, holds) {
                Some(true) => holding |= 1 << bit,
                Some(false) => failing |= 1 << bit,
                None => {}
            }
        }
        let value = Value::Values { holding, failing };
        self.tests.push(Known { text, value });
        self.finite.push((parameter, values.len()));
    }

    fn known(&self) -> Vec<Known<'_>> {
        let named = self.named.iter().map(|(text, value)| Known {
            text,
            value: value_of(value),
        });
        named.chain(self.tests.iter().copied()).collect()
    }

    fn solver<'a>(&self, entry: &'a Entry, known: &'a [Known<'a>]) -> Solver<'a> {
        let mut solver = Solver::new(entry.tool.conditions(), known);
        for parameter in entry.tool.parameters() {
            solver.typed(parameter.name, parameter.kind);
        }
        for (parameter, count) in &self.finite {
            solver.few(parameter, *count);
        }
        solver
    }
}

fn value_of(json: &Json) -> Value<'_> {
    match json {
        Json::Null => Value::Nothing,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::Text(text),
        Json::Array(items) => Value::List(items.len()),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(value), _, _) => Value::Integer(value.into()),
            (_, Some(value), _) => Value::Integer(value.into()),
            (_, _, Some(value)) => Value::Float(value),
            _ => Value::Unknown,
        },
        Json::Object(_) => Value::Unknown,
    }
}

/// Evaluates each predicate over one parameter for the defaults and the examples of that parameter.
fn constants(entry: &Entry, problems: &mut Vec<BuildProblem>) {
    for condition in entry.conditions() {
        let (Some(probe), [parameter]) = (condition.probe(), &*judged_constants(entry, condition))
        else {
            continue;
        };
        let defaults = parameter
            .default()
            .map(|value| ("default", value))
            .into_iter();
        let examples = parameter.examples().iter().map(|value| ("example", value));
        for (what, value) in defaults.chain(examples) {
            let text = value.to_string();
            // Where its own type refuses it there is no answer, and that is reported already.
            if matches!(guard(|| probe(&text)), Ok(None | Some(true))) {
                continue;
            }
            let shown = shown(parameter.secret, value);
            let what = format!("the {what} of `{}`{shown}", parameter.name);
            problems.push(broken(entry, condition, what));
        }
    }
}

/// The parameters whose constants a condition is asked about: the default and the examples of the one that it speaks of, or the
/// defaults of several that all have one. Only one that ends calls is a judge of what a call may leave out or be shown.
pub(super) fn judged_constants<'e>(entry: &'e Entry, condition: &Condition) -> Vec<&'e Parameter> {
    if !entry.refuses(condition) {
        return Vec::new();
    }
    let named = |name: &&str| {
        let mut known = entry.inputs.schema.parameters().iter();
        known.find(|one| one.name == **name)
    };
    let parameters: Option<Vec<_>> = condition.parameters().iter().map(named).collect();
    let judged = parameters.filter(|all| match all.as_slice() {
        [] => false,
        [one] => condition.probe().is_some() && one.constants.is_some(),
        several => {
            condition.expression().is_some() && several.iter().all(|one| one.default().is_some())
        }
    });
    judged.unwrap_or_default()
}

fn shown(secret: bool, value: &Json) -> String {
    if secret {
        String::new()
    } else {
        format!(" ({value})")
    }
}

/// Where all parameters of a condition have defaults, a call without any of them must hold.
fn defaults<'a>(entry: &'a Entry, solver: &Solver<'a>, problems: &mut Vec<BuildProblem>) {
    for (index, condition) in entry.conditions().iter().take(64).enumerate() {
        let parameters = judged_constants(entry, condition);
        let values = parameters.iter().map(|one| {
            let value = one.default().map_or(Value::Unknown, value_of);
            (one.name.as_ref(), value)
        });
        if parameters.len() > 1 && solver.is_broken_by(index, values) {
            let given = parameters.iter().map(|one| {
                let value = one.default().map(|value| shown(one.secret, value));
                format!("`{}`{}", one.name, value.unwrap_or_default())
            });
            let given: Vec<_> = given.collect();
            let what = format!("the defaults of {}", given.join(" and "));
            problems.push(broken(entry, condition, what));
        }
    }
}

/// Patterns that have names were not seen by the macro.
fn patterns(entry: &Entry, problems: &mut Vec<BuildProblem>) {
    for condition in entry.tool.conditions() {
        for part in condition.expression().into_iter().flat_map(Expression::all) {
            if let Expression::Matches(_, Expression::Named { value, .. }) = part
                && let Ok(Some(Json::String(pattern))) = guard(value)
                && let Err(reason) = pattern::check(&pattern)
            {
                problems.push(BuildProblem::Pattern {
                    tool: entry.tool.name.to_string(),
                    pattern,
                    reason,
                    location: place(entry, condition),
                });
            }
        }
    }
}

fn broken(entry: &Entry, condition: &Condition, what: String) -> BuildProblem {
    BuildProblem::Broken {
        what,
        tool: entry.tool.name.to_string(),
        predicate: condition.predicate().to_owned(),
        location: place(entry, condition),
    }
}

/// Judges what conditions ask the history of a run: about which functions, and by which arguments.
///
/// A registry that is `partial`, with some of the tools that its conditions were written for, does not know the others.
pub(super) fn judge_history(entries: &[Entry], partial: bool, problems: &mut Vec<BuildProblem>) {
    for entry in entries {
        let asks = entry.tool.conditions().iter().any(Condition::asks_history);
        if cfg!(contract_strip) && asks {
            let (tool, location) = entry.tool.place();
            problems.push(BuildProblem::HistoryStripped { tool, location });
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
                            location: place(entry, condition),
                        });
                    }
                    None => problems.push(BuildProblem::AsksNoTool {
                        tool: entry.tool.name.to_string(),
                        predicate: condition.predicate().to_owned(),
                        function: asked.name,
                        location: place(entry, condition),
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
        location: place(entry, condition),
    };
    unknown.map(problem).collect()
}
