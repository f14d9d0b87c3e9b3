//! What a verification did not try, and how to enable it.

use std::fmt;

use contract_runtime::__family::methods::{Methods, names};
use serde::Serialize;

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
    pub(super) fn methods(methods: Methods) -> Self {
        Self::Methods {
            state: methods.state().to_owned(),
            tools: methods.tools().iter().map(ToString::to_string).collect(),
            location: methods.location(),
        }
    }

    /// Whether the author or the test decided it, so that it does not fail under `strict`.
    pub(super) fn is_decided(&self) -> bool {
        use Skipped::{Body, Sequences};
        matches!(self, Body { decided, .. } | Sequences { decided, .. } if *decided)
    }

    /// The place of its kind in [`KINDS`], and how many of that kind it stands for.
    fn count(&self) -> (usize, usize) {
        match self {
            Self::Body { .. } => (0, 1),
            Self::Postconditions { conditions, .. } => (1, conditions.len()),
            Self::Conditions {
                never_true,
                never_false,
                ..
            } => (2, never_true.len() + never_false.len()),
            Self::Sequences { .. } => (3, 1),
            Self::Budget { done, wanted } => (4, wanted.abs_diff(*done) as usize),
            Self::Methods { tools, .. } => (5, tools.len()),
        }
    }
}

const KINDS: [(&str, &str); 6] = [
    ("body", "bodies"),
    ("postcondition", "postconditions"),
    ("side of a precondition", "sides of preconditions"),
    ("set of sequences", "sets of sequences"),
    ("sequence", "sequences"),
    ("method", "methods"),
];

/// How many of each kind were left out.
pub(super) fn counted(skipped: &[Skipped]) -> String {
    let kinds = KINDS.iter().enumerate().map(|(kind, (one, many))| {
        let counts = skipped.iter().map(Skipped::count);
        let count: usize = counts
            .filter(|(of, _)| *of == kind)
            .map(|(_, count)| count)
            .sum();
        (count, plural(count, one, many))
    });
    let some: Vec<String> = kinds
        .filter(|(count, _)| *count > 0)
        .map(|(_, text)| text)
        .collect();
    if some.is_empty() {
        return "nothing".to_owned();
    }
    some.join(", ")
}

pub(super) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body {
                tool,
                postconditions,
                decided,
            } => {
                write!(f, "the body of `{tool}` was not run")?;
                if *postconditions > 0 {
                    write!(
                        f,
                        " ({})",
                        plural(*postconditions, "postcondition", "postconditions")
                    )?;
                }
                f.write_str(match decided {
                    true if cfg!(debug_assertions) => "; `run = false` says so",
                    true => "; `run = false` says so, or it has a `setup`, which a release build does not keep",
                    false => {
                        "; it is not `read_only`: write `#[verify(run, setup = ..)]` above it, if it may be run with values that are \
                         not the real ones, else `#[verify(run = false)]`"
                    }
                })
            }
            Self::Postconditions { tool, conditions } => write!(
                f,
                "not judged: {}, because no run of `{tool}` returned what that is about (`Ok`, or `Err` with `err`); write \
                 `#[verify(setup = ..)]` above it to run it with other values, a narrower precondition, or `#[arg(example = ..)]`",
                names(conditions)
            ),
            Self::Conditions {
                tool,
                never_true,
                never_false,
            } => {
                write!(f, "in all calls of `{tool}`")?;
                for (ids, value) in [(never_true, "true"), (never_false, "false")] {
                    if !ids.is_empty() {
                        write!(f, ", never {value}: {}", names(ids))?;
                    }
                }
                f.write_str(
                    "; what depends on a state or on earlier calls is met in sequences of calls: verify it together with the tools \
                     that lead there, `verify_all!(registry, setup = ..)`",
                )
            }
            Self::Sequences { decided: true, .. } => {
                f.write_str("no sequences of calls were tried; `sequences = 0` says so")
            }
            Self::Sequences { tools, .. } => write!(
                f,
                "no sequences of calls were tried, because nothing resets the state of {}; write `#[verify(setup = ..)]`, or \
                 `verify_all!(.., setup = ..)`, with a function that gives a fresh state",
                names(tools)
            ),
            Self::Budget { done, wanted } => write!(
                f,
                "only {done} of {wanted} sequences of calls were tried, because they take long; set `cases`, or make the bodies \
                 faster"
            ),
            Self::Methods {
                state,
                tools,
                location,
            } => write!(
                f,
                "not tried: {} of `{state}` ({location}), because methods come with their state; write \
                 `verify_all!(registry!().with(state))`, or `verify_all!(registry!())` to leave them out",
                names(tools)
            ),
        }
    }
}
