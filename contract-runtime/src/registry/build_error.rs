use std::fmt;

use crate::schema::SchemaError;
use crate::tool::ArgumentProblem;

/// Everything that is wrong with a registry, together.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// struct Store;
///
/// /// Count what is stored.
/// #[tool]
/// fn count(#[context] store: &Store) -> u32 {
///     let Store = store;
///     0
/// }
///
/// let error = Registry::builder().tool(count).rename("cuont", "n").build().unwrap_err();
/// assert_eq!(error.problems().len(), 2);
/// ```
pub struct BuildError {
    problems: Vec<BuildProblem>,
}

impl BuildError {
    pub(super) fn new(problems: Vec<BuildProblem>) -> Self {
        Self { problems }
    }

    /// Each mistake.
    #[must_use]
    pub fn problems(&self) -> &[BuildProblem] {
        &self.problems
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [one] => write!(f, "the registry cannot be built: {one}"),
            many => {
                write!(
                    f,
                    "the registry cannot be built, for {} reasons:",
                    many.len()
                )?;
                many.iter()
                    .try_for_each(|problem| write!(f, "\n  - {problem}"))
            }
        }
    }
}

/// The same text as `Display`, because `fn main() -> Result<(), BuildError>` shows this one.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}

/// One mistake in the making of a registry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildProblem {
    /// Two tools have one name.
    #[error("two tools are named `{name}`: {first} and {second}; rename one, or prefix one set")]
    DuplicateName {
        /// The name.
        name: String,
        /// Where the one is written.
        first: String,
        /// Where the other is written.
        second: String,
    },
    /// A name is not `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`.
    #[error(
        "`{name}` cannot be the name of a tool ({location}); use 1 to 64 of a-z, A-Z, 0-9, `_`, `-`, not beginning with a digit or `-`"
    )]
    BadName {
        /// The name.
        name: String,
        /// Where the tool is written.
        location: String,
    },
    /// A tool needs a value that the registry was not given.
    #[error(
        "tool `{tool}` needs a `{type_name}` ({location}); give one with `.context(..)`, or say that calls bring it with `.context_per_call::<..>()`"
    )]
    MissingContext {
        /// The tool.
        tool: String,
        /// The type it asks for.
        type_name: &'static str,
        /// Where the tool is written.
        location: String,
    },
    /// A function given to the builder is not a tool.
    #[error("the function given at {location} is not a tool; put `#[tool]` above it")]
    NotATool {
        /// Where it was given.
        location: String,
    },
    /// No tool of a package is linked into the program.
    #[error("no tool of package `{package}` is linked; check the name, and write `use {} as _;` so that the linker keeps it", package.replace('-', "_"))]
    PackageNotLinked {
        /// The package.
        package: String,
    },
    /// A selection names a tool that is not there.
    #[error("`{method}` names `{name}`, and there is no such tool{}", did_you_mean(nearest.as_deref()))]
    NoSuchTool {
        /// The builder's method.
        method: &'static str,
        /// The name it was given.
        name: String,
        /// A tool of a similar name.
        nearest: Option<String>,
    },
    /// Conditions were given from outside to a tool whose function has its own.
    #[error(
        "tool `{tool}` is made by `#[tool]` ({location}), so its conditions and its policy belong above its function; `pre`, `post` and `policy` are for tools made by hand or imported"
    )]
    Misplaced {
        /// The tool.
        tool: String,
        /// Where the tool is written.
        location: String,
    },
    /// The schema of a tool cannot be used.
    #[error("the schema of tool `{tool}` cannot be used ({location}): {source}")]
    Schema {
        /// The tool.
        tool: String,
        /// Where the tool is written.
        location: String,
        /// Why.
        source: SchemaError,
    },
    /// A default or an example cannot be written as JSON.
    #[error("the {what} of `{parameter}` in tool `{tool}` cannot be written as JSON ({location})")]
    Constant {
        /// `default` or `example`.
        what: &'static str,
        /// The tool.
        tool: String,
        /// The parameter.
        parameter: String,
        /// Where the tool is written.
        location: String,
    },
    /// A default or an example is not what its parameter accepts.
    #[error(
        "the {what} of a parameter of tool `{tool}` is refused by its own type ({location}): {problem}"
    )]
    Refused {
        /// `default` or `example`.
        what: &'static str,
        /// The tool.
        tool: String,
        /// What is wrong, with the parameter.
        problem: ArgumentProblem,
        /// Where the tool is written.
        location: String,
    },
    /// A tool could not say what its parameters are.
    #[error("tool `{tool}` panicked when it was asked for its schema ({location})")]
    Undescribed {
        /// The tool.
        tool: String,
        /// Where the tool is written.
        location: String,
    },
    /// No arguments satisfy all preconditions of a tool.
    #[error("tool `{tool}` accepts no call: {message} ({})", locations.join(", "))]
    Contradiction {
        /// The tool.
        tool: String,
        /// Which conditions, as typed.
        message: String,
        /// Where they are written, in the same order.
        locations: Vec<String>,
    },
    /// A default or an example breaks a precondition.
    #[error(
        "`{predicate}` of tool `{tool}` does not hold for {what} ({location}); change one of them"
    )]
    Broken {
        /// Which default or example, with its value unless that is secret.
        what: String,
        /// The tool.
        tool: String,
        /// The predicate as typed.
        predicate: &'static str,
        /// Where the condition is written.
        location: String,
    },
    /// A pattern in a precondition is not a regular expression.
    #[error("`{pattern}` in tool `{tool}` is not a regular expression ({location}): {reason}")]
    Pattern {
        /// The tool.
        tool: String,
        /// The pattern.
        pattern: String,
        /// Why.
        reason: String,
        /// Where the condition is written.
        location: String,
    },
    /// A precondition must be shown, by its own `shown` or by [`require_shown`](super::Builder::require_shown), and neither
    /// the schema nor a portable rule says all of it.
    #[error(
        "`{predicate}` of tool `{tool}` must be shown, and `{part}` is not portable ({location}); compare values that JSON has, or do not demand it"
    )]
    NotShown {
        /// The tool.
        tool: String,
        /// The predicate as typed.
        predicate: &'static str,
        /// The part of it that is known to Rust alone.
        part: &'static str,
        /// Where the condition is written.
        location: String,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    })
}
