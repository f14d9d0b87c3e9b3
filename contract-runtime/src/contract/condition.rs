//! Conditions as data: generated code states them, a registry and its users read them.

use std::any::TypeId;
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::expression::Expression;
use super::policy::Policy;
use crate::contract::type_kind::TypeKind;

/// What a condition applies to.
///
/// ```
/// use contract_runtime::ConditionKind;
/// use contract_runtime::prelude::*;
///
/// /// Halve a number.
/// #[tool]
/// #[pre(number % 2 == 0)]
/// #[post(|half| half + half == number)]
/// fn halve(number: u32) -> u32 {
///     number / 2
/// }
///
/// let registry = Registry::builder().tool(halve).build()?;
/// let conditions = registry.tool("halve").unwrap().conditions().iter();
/// let kinds: Vec<_> = conditions.map(|one| one.condition().kind()).collect();
/// assert_eq!(kinds, [ConditionKind::Pre, ConditionKind::Post]);
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConditionKind {
    /// Must hold before the body runs.
    Pre,
    /// Is looked up before the body runs, and must be there: `#[given(..)]` with `else`.
    Given,
    /// Must hold of the result.
    Post,
    /// Holds at a point inside a body, stated with [`contract_assert!`](crate::contract_assert).
    Assert,
    /// Must hold of an agent's task.
    Task,
    /// Must hold of an agent's answer.
    Answer,
    /// Must hold at every step of an agent.
    Invariant,
}

impl ConditionKind {
    /// Returns the name used in contract ids, exports and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pre => "pre",
            Self::Given => "given",
            Self::Post => "post",
            Self::Assert => "assert",
            Self::Task => "task",
            Self::Answer => "answer",
            Self::Invariant => "invariant",
        }
    }
}

/// One `#[pre]` or `#[post]` of a function, as data.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Halve an even number.
/// #[tool]
/// #[pre(number % 2 == 0, "only even numbers can be halved")]
/// fn halve(number: i64) -> i64 {
///     number / 2
/// }
///
/// let registry = Registry::builder().tool(halve).build()?;
/// let condition = &registry.tool("halve").unwrap().conditions()[0].condition();
/// assert_eq!(condition.predicate(), "number % 2 == 0");
/// assert_eq!(condition.message(), Some("only even numbers can be halved"));
/// assert_eq!(condition.parameters(), ["number"]);
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Condition {
    kind: ConditionKind,
    predicate: Cow<'static, str>,
    message: Option<&'static str>,
    policy: Option<Policy>,
    parameters: &'static [&'static str],
    /// The file of the condition, if it is not the file of its contract.
    file: Option<&'static str>,
    line: u32,
    column: u32,
    expression: Option<&'static Expression>,
    /// How the predicate is evaluated for a default or an example.
    probe: Option<Probe>,
    /// All of it must be published.
    shown: bool,
    /// It is kept out of schemas and descriptions.
    hidden: bool,
    /// What it demands or promises, in its author's words.
    demand: Option<&'static str>,
    /// The id that the author gave the condition.
    id: Option<&'static str>,
    question: Option<&'static str>,
    /// Whether a person may approve a call that breaks it.
    asks: bool,
    /// The arguments that the predicate and the message call by another name than the model.
    renamed: Names,
    /// The tools that it asks the history of a run about; `None` if it does not ask. The list is empty if they are not known.
    asked_tools: Option<&'static [AskedTool]>,
    /// The kind of the result that a postcondition sees.
    result: TypeKind,
}

/// A tool that a condition asks the history of a run about.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct AskedTool {
    /// `None` for a tool that is named by a text.
    pub function: Option<fn() -> TypeId>,
    /// The tool as the author typed it.
    pub name: &'static str,
    /// The arguments by which the question is narrowed.
    pub arguments: &'static [&'static str],
}

/// Pairs of the author's and the model's name of an argument, for those that differ.
pub(crate) type Names = &'static [(&'static str, &'static str)];

/// A predicate over one parameter as a function of JSON text. Returns `None` if the type of the parameter refuses the text.
pub(crate) type Probe = fn(&str) -> Option<bool>;

impl Condition {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        kind: ConditionKind,
        predicate: &'static str,
        message: Option<&'static str>,
        policy: Option<Policy>,
        parameters: &'static [&'static str],
        (line, column): (u32, u32),
    ) -> Self {
        Self {
            kind,
            predicate: Cow::Borrowed(predicate),
            message,
            policy,
            parameters,
            file: None,
            line,
            column,
            expression: None,
            probe: None,
            shown: false,
            hidden: false,
            demand: None,
            id: None,
            question: None,
            asks: false,
            renamed: &[],
            asked_tools: None,
            result: TypeKind::Opaque,
        }
    }

    /// Creates a condition of a dynamic tool in this file. Its predicate is a name in words, which says what is demanded.
    pub(crate) fn named(mut self, name: Cow<'static, str>, file: &'static str) -> Self {
        self.predicate = name;
        self.file = Some(file);
        self
    }

    pub(crate) const fn is_named(&self) -> bool {
        self.file.is_some()
    }

    pub(crate) const fn file(&self) -> Option<&'static str> {
        self.file
    }

    pub(crate) fn set_asks(&mut self, asks: bool) {
        self.asks = asks;
    }

    /// Returns the portable part of a precondition, which speaks of the arguments alone.
    #[doc(hidden)]
    #[must_use]
    pub const fn expression(&self) -> Option<&'static Expression> {
        match self.kind {
            ConditionKind::Post => None,
            _ => self.expression,
        }
    }

    /// Returns the portable part of the predicate. In a postcondition, the variable that no closure binds is the result.
    pub(crate) const fn tree(&self) -> Option<&'static Expression> {
        self.expression
    }

    pub(crate) const fn probe(&self) -> Option<Probe> {
        self.probe
    }

    pub(crate) const fn renamed(&self) -> Names {
        self.renamed
    }

    pub(crate) const fn result(&self) -> TypeKind {
        self.result
    }

    /// Returns whether its author demands, with `shown`, that all of it is published.
    #[must_use]
    pub const fn is_shown(&self) -> bool {
        self.shown
    }

    pub(crate) const fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// Returns whether it asks the [`history`](crate::history()) of a run.
    #[must_use]
    pub const fn asks_history(&self) -> bool {
        self.asked_tools.is_some()
    }

    pub(crate) fn asked_tools(&self) -> &'static [AskedTool] {
        self.asked_tools.unwrap_or_default()
    }

    /// Returns whether it is a condition on the arguments or on the result.
    #[must_use]
    pub const fn kind(&self) -> ConditionKind {
        self.kind
    }

    /// Returns the predicate as the author typed it.
    #[must_use]
    pub const fn predicate(&self) -> &str {
        match &self.predicate {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => text.as_str(),
        }
    }

    /// Returns the author's message, with its `{parameter}` placeholders unfilled.
    #[must_use]
    pub const fn message(&self) -> Option<&'static str> {
        self.message
    }

    /// Returns what the condition demands or promises in the words of its author, from `requires = ".."` or
    /// `ensures = ".."`.
    #[must_use]
    pub const fn demand(&self) -> Option<&'static str> {
        self.demand
    }

    /// Returns the name that its author gave it with `id = ".."`, by which a [`Builder`](crate::Builder) knows it.
    #[must_use]
    pub const fn id(&self) -> Option<&'static str> {
        self.id
    }

    /// Returns whether a person may let a call through that breaks it.
    #[must_use]
    pub const fn asks(&self) -> bool {
        self.asks
    }

    /// Returns what the person is asked in the words of the author, with `{parameter}` placeholders unfilled.
    #[must_use]
    pub const fn question(&self) -> Option<&'static str> {
        self.question
    }

    /// Returns the condition's own policy, if it has one.
    #[must_use]
    pub const fn policy(&self) -> Option<Policy> {
        self.policy
    }

    /// Returns the parameters that the predicate names, by the names that the model knows.
    #[must_use]
    pub const fn parameters(&self) -> &'static [&'static str] {
        self.parameters
    }

    /// Returns the line (from 1) and column (from 1) of the condition in its file.
    #[must_use]
    pub const fn position(&self) -> (u32, u32) {
        (self.line, self.column)
    }
}

/// Defines what generated code says of a condition beyond its predicate.
macro_rules! setters {
    ($($name:ident($($value:ident: $ty:ty)?) { $($field:ident: $set:expr),* })*) => {
        impl Condition {
            $(
                #[doc(hidden)]
                #[must_use]
                pub const fn $name(mut self $(, $value: $ty)?) -> Self {
                    $(self.$field = $set;)*
                    self
                }
            )*
        }
    };
}

setters! {
    renaming(names: Names) { renamed: names }
    over_history(tools: &'static [AskedTool]) { asked_tools: Some(tools) }
    returning(kind: TypeKind) { result: kind }
    reading(expression: &'static Expression) { expression: Some(expression) }
    probing(probe: Probe) { probe: Some(probe) }
    shown() { shown: true }
    hidden() { hidden: true }
    demanding(demand: &'static str) { demand: Some(demand) }
    asking(question: &'static str) { question: Some(question), asks: true }
    identified(id: &'static str) { id: Some(id) }
}

/// The conditions of one function, as generated code states them.
#[doc(hidden)]
pub type Contract = ContractOf<'static>;

/// The conditions of one function or of one tool.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ContractOf<'c> {
    pub name: &'c str,
    pub file: &'static str,
    pub policy: Option<Policy>,
    pub conditions: &'c [Condition],
    /// The parameters whose values are never shown.
    pub secrets: &'static [&'static str],
}
