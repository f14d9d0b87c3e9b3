//! What a verification did not try, and how to enable it.

use std::collections::BTreeSet;

use contract_runtime::__family::methods::{Methods, joined, names};
use contract_runtime::ConditionKind;
use serde::Serialize;

use super::fixtures::Fixtures;
use super::subject::Subject;

/// Something that a verification did not try, so that nothing is known about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Skipped {
    /// The body of a tool was not run, so its postconditions were not tried.
    Body {
        /// The name by which a model calls the tool.
        tool: String,
        /// How many postconditions it has.
        postconditions: usize,
        /// Whether the author decided that, with `run = false`; otherwise the tool is not `read_only`, and nothing allows
        /// its body to run.
        decided: bool,
    },
    /// No run of the body returned what these postconditions apply to: `Ok`, or `Err` for those with `err`.
    Postconditions {
        /// The name by which a model calls the tool.
        tool: String,
        /// The ids of the conditions, such as `divide.post[0]`.
        conditions: Vec<String>,
    },
    /// The tools of an `impl` block were not tried, because only the free functions of a package were given.
    Methods {
        /// The type that they are methods of, as written.
        state: String,
        /// Their names.
        tools: Vec<String>,
        /// Where the block is defined: file, line and column.
        location: String,
    },
}

impl Skipped {
    pub(super) fn body(subject: &Subject<'_>, fixtures: &Fixtures) -> Self {
        let conditions = subject.info.conditions();
        Self::Body {
            tool: subject.name().to_owned(),
            postconditions: conditions
                .iter()
                .filter(|condition| condition.condition().kind() == ConditionKind::Post)
                .count(),
            decided: fixtures.decided(subject.tried).is_some(),
        }
    }

    /// The postconditions of a tool that are not among the conditions that were judged.
    pub(super) fn postconditions(subject: &Subject<'_>, judged: &BTreeSet<String>) -> Option<Self> {
        let conditions = subject.info.conditions().iter();
        let missed: Vec<String> = conditions
            .filter(|one| one.condition().kind() == ConditionKind::Post)
            .filter(|one| !judged.contains(one.id()))
            .map(|one| one.id().to_owned())
            .collect();
        (!missed.is_empty()).then(|| Self::Postconditions {
            tool: subject.name().to_owned(),
            conditions: missed,
        })
    }

    pub(super) fn methods(methods: Methods) -> Self {
        Self::Methods {
            state: methods.state().to_owned(),
            tools: methods.tools().iter().map(ToString::to_string).collect(),
            location: methods.location(),
        }
    }
}

/// What nobody has decided to leave out, a line for each kind of it.
pub(super) fn undecided(skipped: &[Skipped]) -> Vec<String> {
    let bodies = bodies(skipped, false).map(|(said, count)| {
        let (they, above) = if count == 1 {
            ("it is", "it, if it")
        } else {
            ("they are", "each that")
        };
        format!(
            "{said}; {they} not `read_only`: write `#[verify(run, setup = ..)]` above {above} may be run with values that are not \
             the real ones, else `#[verify(run = false)]`"
        )
    });
    let unjudged = skipped.iter().filter_map(postconditions);
    let lines = bodies.into_iter().chain(unjudged);
    lines.chain(methods(skipped)).collect()
}

/// Everything that was left out.
pub(super) fn all(skipped: &[Skipped]) -> Vec<String> {
    let why = if cfg!(debug_assertions) {
        "`run = false` says so"
    } else {
        "`run = false` says so, or it has a `setup`, which a release build does not keep"
    };
    let decided = bodies(skipped, true).map(|(said, _)| format!("{said}; {why}"));
    undecided(skipped).into_iter().chain(decided).collect()
}

/// The bodies that were not run, and how many there are.
fn bodies(skipped: &[Skipped], wanted: bool) -> Option<(String, usize)> {
    let mut promises = 0;
    let mut tools = Vec::new();
    for one in skipped {
        if let Skipped::Body {
            tool,
            postconditions,
            decided,
        } = one
            && *decided == wanted
        {
            promises += postconditions;
            tools.push(tool);
        }
    }
    let (body, ran, its) = match tools.len() {
        0 => return None,
        1 => ("body", "was not run", "its"),
        _ => ("bodies", "were not run", "their"),
    };
    let said = match promises {
        0 => String::new(),
        1 => format!(", so {its} postcondition was not tried"),
        many => format!(", so {its} {many} postconditions were not tried"),
    };
    let said = format!("the {body} of {} {ran}{said}", names(&tools));
    Some((said, tools.len()))
}

fn postconditions(skipped: &Skipped) -> Option<String> {
    let Skipped::Postconditions { tool, conditions } = skipped else {
        return None;
    };
    let (were, judge, say) = match conditions.len() {
        1 => ("was", "it judges", "it says"),
        _ => ("were", "they judge", "they say"),
    };
    Some(format!(
        "{} {were} not tried, because no run of `{tool}` returned what {judge} (`Ok`, or `Err` where {say} `err`); write \
         `#[verify(setup = ..)]` above it to run it with other values, a narrower precondition, or `#[arg(example = ..)]`",
        names(conditions)
    ))
}

fn methods(skipped: &[Skipped]) -> Option<String> {
    let blocks = skipped.iter().filter_map(|one| match one {
        Skipped::Methods {
            state,
            tools,
            location,
        } => Some(format!("{} of `{state}` ({location})", names(tools))),
        Skipped::Body { .. } | Skipped::Postconditions { .. } => None,
    });
    let blocks: Vec<String> = blocks.collect();
    (!blocks.is_empty()).then(|| {
        format!(
            "not tried: {}, because methods come with their state; write `verify_all!(registry!().with(state))`, or \
             `verify_all!(registry!())` to leave them out",
            joined(&blocks)
        )
    })
}
