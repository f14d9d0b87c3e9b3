//! Errors of building a registry.

use std::fmt;

use super::methods;
use crate::schema::ArgumentProblem;
use crate::schema::SchemaError;

/// The errors found while building a registry, all of them together.
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

    /// Returns each error.
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

/// One error in building a registry.
///
/// ```
/// use contract_runtime::BuildProblem;
/// use contract_runtime::prelude::*;
///
/// /// Say hello.
/// #[tool]
/// fn hello() -> &'static str {
///     "hello"
/// }
///
/// let error = Registry::builder().tool(hello).without(["helo"]).build().unwrap_err();
/// let BuildProblem::NoSuchTool { name, nearest, .. } = &error.problems()[0] else {
///     panic!("{error}");
/// };
/// assert_eq!((name.as_str(), nearest.as_deref()), ("helo", Some("hello")));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildProblem {
    /// Two tools have the same name.
    #[error("{}", one_name(name, first, second))]
    DuplicateName {
        /// The name.
        name: String,
        /// Where the first tool is defined.
        first: String,
        /// Where the second tool is defined.
        second: String,
    },
    /// A tool name does not match `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`.
    #[error(
        "`{name}` cannot be the name of a tool ({location}); use 1 to 64 of a-z, A-Z, 0-9, `_`, `-`, not beginning with a digit or `-`"
    )]
    BadName {
        /// The name.
        name: String,
        /// Where the tool is defined.
        location: String,
    },
    /// A tool needs a value that the registry was not given.
    #[error(
        "tool `{tool}` needs a `{type_name}` ({location}); give one with `.context(..)`, or say that calls bring it with `.context_per_call::<..>()`"
    )]
    MissingContext {
        /// The tool.
        tool: String,
        /// The type of the value.
        type_name: &'static str,
        /// Where the tool is defined.
        location: String,
    },
    /// A function given to the builder is not a tool.
    #[error(
        "`{function}` is not a tool ({location}); put `#[tool]` above it, or if it is a method of a `#[tool] impl`, add its state with `.with(..)`"
    )]
    NotATool {
        /// The function, as the compiler names it.
        function: &'static str,
        /// Where the function was given.
        location: String,
    },
    /// No tool of the package is linked into the program.
    #[error("{}{}", methods::not_linked(package), did_you_mean(nearest.as_deref()))]
    PackageNotLinked {
        /// The package.
        package: String,
        /// A linked package of a similar name.
        nearest: Option<String>,
    },
    /// A chosen package has methods among its tools, and their state was not added.
    #[error(
        "tools of a package are left out, because they are methods and come with their state: {}; add `.with(state)`, or say with `.only([..])` which tools are wanted", methods.join("; ")
    )]
    MethodsLeftOut {
        /// The methods of each state, with its type and place.
        methods: Vec<String>,
    },
    /// A prefix was given before the tools that it is meant for.
    #[error(
        "`.prefix(\"{prefix}\")` applies to no tool, because it covers those added before it, since the last prefix; put it after the tools that it is meant for"
    )]
    PrefixOfNothing {
        /// The prefix.
        prefix: String,
    },
    /// [`registry!`](crate::registry) found no tool of its package, and no other tool was added.
    #[error(
        "`registry!()` found no tool: none of package `{package}` is linked into this program, and no other was added; if they are in its library, write `use {} as _;` in the program, so that the linker keeps them; if they are methods, add `.with(state)`; for a registry without tools, write `Registry::builder()`", package.replace('-', "_")
    )]
    NoTools {
        /// The package.
        package: String,
    },
    /// A selection names a tool that does not exist.
    #[error("`{method}` names `{name}`, but there is no such tool{}", did_you_mean(nearest.as_deref()))]
    NoSuchTool {
        /// The builder's method.
        method: &'static str,
        /// The name it was given.
        name: String,
        /// A tool of a similar name.
        nearest: Option<String>,
    },
    /// A condition asks the history about a function that is not a tool.
    #[error(
        "`{predicate}` of tool `{tool}` ({location}) asks the history about `{function}`, which is not a tool here; put `#[tool]` above the function, or if it is a method, add its state to the registry"
    )]
    AsksNoTool {
        /// The tool that states the condition.
        tool: String,
        /// The predicate as the author typed it.
        predicate: String,
        /// The function as the author typed it.
        function: &'static str,
        /// Where the condition is written.
        location: String,
    },
    /// A condition asks the history about a name that no tool has.
    #[error(
        "`{predicate}` of tool `{tool}` ({location}) asks the history about `{name}`, and no tool has this name{}", did_you_mean(nearest.as_deref())
    )]
    AsksNoName {
        /// The tool that states the condition.
        tool: String,
        /// The predicate as the author typed it.
        predicate: String,
        /// The name that it asks about.
        name: &'static str,
        /// The name of a tool that is spelt like it.
        nearest: Option<String>,
        /// Where the condition is written.
        location: String,
    },
    /// A condition asks the history about an argument that the tool does not have.
    #[error(
        "`{predicate}` of tool `{tool}` ({location}) asks the history about the argument `{argument}`, which `{function}` does not have{}", did_you_mean(nearest.as_deref())
    )]
    AsksNoArgument {
        /// The tool that states the condition.
        tool: String,
        /// The predicate as the author typed it.
        predicate: String,
        /// The function as the author typed it.
        function: &'static str,
        /// The argument.
        argument: &'static str,
        /// An argument of a similar name.
        nearest: Option<String>,
        /// Where the condition is written.
        location: String,
    },
    /// Conditions were added to a tool whose function has conditions of its own.
    #[error(
        "tool `{tool}` is made by `#[tool]` ({location}), so its conditions and its policy belong above its function; `pre`, `post` and `policy` are for tools made by hand or imported"
    )]
    Misplaced {
        /// The tool.
        tool: String,
        /// Where the tool is defined.
        location: String,
    },
    /// The schema of a tool cannot be used.
    #[error("the schema of tool `{tool}` cannot be used ({location}): {source}")]
    Schema {
        /// The tool.
        tool: String,
        /// Where the tool is defined.
        location: String,
        /// The reason.
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
        /// Where the tool is defined.
        location: String,
    },
    /// A default or an example is not accepted by its parameter.
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
        /// Where the tool is defined.
        location: String,
    },
    /// A tool could not describe its parameters.
    #[error("tool `{tool}` panicked when it was asked for its schema ({location})")]
    Undescribed {
        /// The tool.
        tool: String,
        /// Where the tool is defined.
        location: String,
    },
    /// No arguments satisfy all preconditions of a tool.
    #[error("tool `{tool}` accepts no call: {message} ({})", locations.join(", "))]
    Contradiction {
        /// The tool.
        tool: String,
        /// The conditions, as typed.
        message: String,
        /// Where the conditions are defined, in the same order.
        locations: Vec<String>,
    },
    /// A default or an example breaks a precondition.
    #[error(
        "`{predicate}` of tool `{tool}` does not hold for {what} ({location}); change one of them"
    )]
    Broken {
        /// The default or example, with its value unless that is secret.
        what: String,
        /// The tool.
        tool: String,
        /// The predicate as typed.
        predicate: String,
        /// Where the condition is defined.
        location: String,
    },
    /// A setting about asking names a precondition that the tool does not have.
    #[error(
        "`{method}` names the condition `{id}`, which tool `{tool}` ({location}) does not have; a precondition is named by `id = \"..\"`"
    )]
    NoSuchCondition {
        /// The method of the builder.
        method: &'static str,
        /// The tool.
        tool: String,
        /// The id.
        id: String,
        /// Where the tool is defined.
        location: String,
    },
    /// The program was built with `--cfg contract_strip`, which evaluates no condition, so no person would be asked.
    #[error(
        "tool `{tool}` asks a person ({location}), and this program was built with `--cfg contract_strip`, which would take the question away; build it without, or remove the question"
    )]
    AskStripped {
        /// The tool.
        tool: String,
        /// Where the tool is defined.
        location: String,
    },
    /// The program was built with `--cfg contract_strip`, which evaluates no condition, so no limit by the history would hold.
    #[error(
        "tool `{tool}` has a condition about the history of its run ({location}), and this program was built with `--cfg contract_strip`, which would take the condition away; build it without, or remove the condition"
    )]
    HistoryStripped {
        /// The tool.
        tool: String,
        /// Where the tool is defined.
        location: String,
    },
    /// A pattern in a precondition is not a regular expression.
    #[error("`{pattern}` in tool `{tool}` is not a regular expression ({location}): {reason}")]
    Pattern {
        /// The tool.
        tool: String,
        /// The pattern.
        pattern: String,
        /// The reason.
        reason: String,
        /// Where the condition is defined.
        location: String,
    },
}

fn one_name(name: &str, first: &str, second: &str) -> String {
    if first == second {
        return format!(
            "tool `{name}` is added twice ({first}); add it once, or put `.prefix(..)` after the first"
        );
    }
    format!("two tools are named `{name}`: {first} and {second}; rename one, or prefix one set")
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    })
}
