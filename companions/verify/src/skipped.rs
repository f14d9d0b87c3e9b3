//! What a verification did not try, and how to enable it.

use contract_runtime::__family::methods::{Methods, joined, names};
use contract_runtime::ConditionKind;
use serde::Serialize;

use super::fixtures::Fixtures;
use super::problem::Layer;
use super::report::Verified;
use super::subject::Subject;
use super::vacuity::Decided;

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
    /// Preconditions were never true, or never false, in any call that was checked or made, because they depend on a state or on
    /// earlier calls.
    Conditions {
        /// The name by which a model calls the tool.
        tool: String,
        /// The ids of those that were never true.
        never_true: Vec<String>,
        /// The ids of those that were never false.
        never_false: Vec<String>,
    },
    /// No sequences of calls were tried.
    Sequences {
        /// The tools that change something, by the names by which a model calls them.
        tools: Vec<String>,
        /// Whether the test decided that; otherwise nothing resets what these tools change.
        decided: bool,
    },
    /// The time for sequences of calls was over before all were tried.
    Budget {
        /// How many were tried.
        done: u32,
        /// How many should have been.
        wanted: u32,
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

    /// What of a tool whose body was run is not decided: postconditions that were not judged, and preconditions that were never true
    /// or never false, and of which that is not a problem already.
    pub(super) fn undecided(tool: &Verified) -> impl Iterator<Item = Self> {
        let evidence = &tool.evidence;
        let judged = evidence.postconditions.as_ref();
        let missed = |id: &&String| judged.is_some_and(|judged| !judged.contains(*id));
        let conditions: Vec<String> = evidence.promised.iter().filter(missed).cloned().collect();
        // A body that panics or takes too long is the reason, and a problem of its own.
        let is_broken = tool
            .problems
            .iter()
            .any(|problem| problem.layer == Layer::Promise);
        let postconditions = (!conditions.is_empty() && !is_broken).then(|| Self::Postconditions {
            tool: tool.tool.clone(),
            conditions,
        });
        let is_reported = |one: &Decided| {
            let mut problems = tool.problems.iter();
            problems.any(|problem| problem.clause.as_ref() == Some(&one.id))
        };
        let open = |is_open: fn(&Decided) -> bool| -> Vec<String> {
            let all = evidence.preconditions.iter().filter(|_| judged.is_some());
            let open = all.filter(|one| is_open(one) && !is_reported(one));
            open.map(|one| one.id.clone()).collect()
        };
        let (never_true, never_false) = (open(|one| !one.has_held), open(|one| !one.has_failed));
        let some = !never_true.is_empty() || !never_false.is_empty();
        let conditions = (some && !is_broken).then(|| Self::Conditions {
            tool: tool.tool.clone(),
            never_true,
            never_false,
        });
        postconditions.into_iter().chain(conditions)
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
    let lines = lines.chain(skipped.iter().filter_map(conditions));
    let lines = lines.chain(skipped.iter().filter_map(sequences));
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
    let sequences = |one: &Skipped| matches!(one, Skipped::Sequences { decided: true, .. });
    let none = "no sequences of calls were tried; `sequences = 0` says so".to_owned();
    let sequences = skipped.iter().any(sequences).then_some(none);
    let decided = decided.into_iter().chain(sequences);
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
        1 if tools.len() > 1 => ", so one postcondition was not tried".to_owned(),
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

fn conditions(skipped: &Skipped) -> Option<String> {
    let Skipped::Conditions {
        tool,
        never_true,
        never_false,
    } = skipped
    else {
        return None;
    };
    let said = |ids: &[String], value| {
        let was = if ids.len() == 1 { "was" } else { "were" };
        (!ids.is_empty()).then(|| format!("{} {was} never {value}", names(ids)))
    };
    let both = [said(never_true, "true"), said(never_false, "false")];
    let both: Vec<String> = both.into_iter().flatten().collect();
    Some(format!(
        "{} in any call of `{tool}`, so nothing is known of the other side; what depends on a state or on earlier calls is met in \
         sequences of calls: verify it together with the tools that lead there, `verify_all!(registry, setup = ..)`",
        both.join(", and ")
    ))
}

fn sequences(skipped: &Skipped) -> Option<String> {
    match skipped {
        Skipped::Sequences {
            tools,
            decided: false,
        } => Some(format!(
            "no sequences of calls were tried, because nothing resets what {} {}; write `#[verify(setup = ..)]`, or \
             `verify_all!(.., setup = ..)`, with a function that gives a fresh state",
            names(tools),
            if tools.len() == 1 {
                "changes"
            } else {
                "change"
            },
        )),
        Skipped::Budget { done, wanted } => Some(format!(
            "only {done} of {wanted} sequences of calls were tried, because they take long; set `cases`, or make the bodies faster"
        )),
        _ => None,
    }
}

/// What was left out, counted; nothing if that is nothing.
pub(super) fn counted(skipped: &[Skipped]) -> String {
    let mut counts = [0; 6];
    for one in skipped {
        let (place, count) = match one {
            Skipped::Body { .. } => (0, 1),
            Skipped::Postconditions { conditions, .. } => (1, conditions.len()),
            Skipped::Conditions {
                never_true,
                never_false,
                ..
            } => (2, never_true.len() + never_false.len()),
            Skipped::Sequences { .. } => (3, 1),
            Skipped::Budget { done, wanted } => (4, wanted.abs_diff(*done) as usize),
            Skipped::Methods { tools, .. } => (5, tools.len()),
        };
        if let Some(slot) = counts.get_mut(place) {
            *slot += count;
        }
    }
    let words = [
        ("body", "bodies"),
        ("postcondition", "postconditions"),
        ("side of a precondition", "sides of preconditions"),
        ("set of sequences", "sets of sequences"),
        ("sequence", "sequences"),
        ("method", "methods"),
    ];
    let said = counts.iter().zip(words).filter(|(count, _)| **count > 0);
    let said = said
        .map(|(count, (one, many))| format!("{count} {}", if *count == 1 { one } else { many }));
    said.collect::<Vec<_>>().join(", ")
}

fn methods(skipped: &[Skipped]) -> Option<String> {
    let blocks = skipped.iter().filter_map(|one| match one {
        Skipped::Methods {
            state,
            tools,
            location,
        } => Some(format!("{} of `{state}` ({location})", names(tools))),
        _ => None,
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
