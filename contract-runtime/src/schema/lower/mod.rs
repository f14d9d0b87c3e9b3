//! Lowers conditions to what the model reads: JSON Schema keywords where they exist, otherwise sentences.
//!
//! Every schema accepts at least what the contract accepts; the conditions themselves are always judged by the call.

mod bounds;
mod fragment;
mod keywords;
pub(crate) mod normal;
pub(crate) mod sentence;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::normal::Normal;
use super::stored::StoredSchema;
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::policy::{Policy, Resolved};
use crate::contract::type_kind::TypeKind;

/// How much of a condition the schema of the arguments expresses.
///
/// ```
/// use contract_runtime::prelude::*;
/// use contract_runtime::Lowering;
///
/// /// Reserve a table.
/// #[tool]
/// #[pre(guests > 0)]
/// #[pre(name.len() <= 40)]
/// #[pre(guests <= seats, "there must be a seat for everybody")]
/// fn reserve(guests: u32, seats: u32, name: String) {}
///
/// let registry = Registry::builder().tool(reserve).build()?;
/// let tool = registry.tool("reserve").unwrap();
/// let said: Vec<_> = tool.conditions().iter().map(|one| one.lowering()).collect();
/// // `len` counts bytes, and `maxLength` the characters, which may be fewer.
/// assert_eq!(said, [Lowering::Exact, Lowering::Partial, Lowering::Described]);
/// assert_eq!(tool.input_schema()["properties"]["guests"]["minimum"], 1);
/// assert_eq!(tool.input_schema()["properties"]["name"]["maxLength"], 40);
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Lowering {
    /// All of it: the keywords accept exactly what the condition accepts.
    Exact,
    /// A part: the keywords accept everything that the condition accepts, and more.
    Partial,
    /// None of it; the description may contain its [`sentence`](PublishedCondition::sentence).
    Described,
}

/// The heading under which a tool's description lists a condition.
///
/// ```
/// use contract_runtime::prelude::*;
/// use contract_runtime::Heading;
///
/// /// Read a note.
/// #[tool]
/// #[pre(title.trim() == title, "there are blanks around the title")]
/// fn read_note(title: String) -> String {
///     title
/// }
///
/// let registry = Registry::builder().tool(read_note).build()?;
/// let condition = &registry.tool("read_note").unwrap().conditions()[0];
/// assert_eq!(condition.heading(), Some(Heading::PossibleRefusals));
/// assert_eq!(Heading::PossibleRefusals.to_string(), "Possible refusals");
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Heading {
    /// What must hold of the arguments.
    Requires,
    /// What the tool says when a condition fails, as quoted speech.
    PossibleRefusals,
    /// When a person is asked whether the call may go on.
    Approval,
    /// What holds of the result.
    Ensures,
}

impl Heading {
    /// In the order in which a description has them.
    const ALL: [Self; 4] = [
        Self::Requires,
        Self::PossibleRefusals,
        Self::Approval,
        Self::Ensures,
    ];
}

impl fmt::Display for Heading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Requires => "Requires",
            Self::PossibleRefusals => "Possible refusals",
            Self::Approval => "Needs a person's approval",
            Self::Ensures => "Ensures",
        })
    }
}

/// A condition as it is published.
///
/// ```
/// use contract_runtime::prelude::*;
/// use contract_runtime::Heading;
///
/// /// Reserve a table.
/// #[tool]
/// #[pre(guests <= seats, "{guests} guests need as many seats")]
/// fn reserve(guests: u32, seats: u32) {}
///
/// let registry = Registry::builder().tool(reserve).build()?;
/// let condition = &registry.tool("reserve").unwrap().conditions()[0];
/// assert_eq!(condition.id(), "reserve.pre[0]");
/// assert_eq!(condition.heading(), Some(Heading::Requires));
/// assert_eq!(condition.sentence(), "`guests <= seats`");
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PublishedCondition {
    condition: Condition,
    policy: Policy,
    id: String,
    lowering: Lowering,
    heading: Option<Heading>,
    sentence: String,
    /// A call may be refused by it, and neither the schema nor the description says so.
    is_unexplained: bool,
    /// The parameters of its tool, if a peer may be told what it demands of them.
    subjects: Option<Arc<Subjects>>,
}

impl PublishedCondition {
    /// Returns the condition itself.
    #[must_use]
    pub const fn condition(&self) -> &Condition {
        &self.condition
    }

    /// Returns its policy outside of any run, as it was known when the registry was built.
    ///
    /// Under `ignore` and `observe` a failure ends no call, so nothing of the condition is shown or sent: no keyword, no
    /// sentence, no rule.
    #[must_use]
    pub const fn policy(&self) -> Policy {
        self.policy
    }

    /// Returns the id that violations use, such as `divide.pre[0]`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns how much of the condition the schema expresses.
    #[must_use]
    pub const fn lowering(&self) -> Lowering {
        self.lowering
    }

    /// Returns the heading of the description under which its sentence is listed; `None` if the schema says it, if it
    /// ends no call, if its author hides it, or if only the program can evaluate it and its author gave no text.
    #[must_use]
    pub const fn heading(&self) -> Option<Heading> {
        self.heading
    }

    /// Returns the condition in one line: under [`Heading::Requires`] and [`Heading::Ensures`] a demand, in the words of its
    /// author or as comparisons, under [`Heading::PossibleRefusals`] the quoted message, under no heading the predicate.
    ///
    /// A placeholder of the message becomes the name of its argument, and one in parentheses is left out.
    #[must_use]
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// Returns whether every call that breaks it is refused: it [ends calls](Self::policy), and no person is asked.
    #[must_use]
    pub const fn refuses(&self) -> bool {
        self.policy.ends_the_call() && !self.condition.asks()
    }

    /// Returns whether a call may be refused by it although a model is shown nothing of it.
    #[must_use]
    pub const fn is_unexplained(&self) -> bool {
        self.is_unexplained
    }

    /// Returns the parameters of its tool, for a rule; `None` if it is not a precondition that refuses calls.
    #[doc(hidden)]
    #[must_use]
    pub fn subjects(&self) -> Option<&Subjects> {
        self.subjects.as_deref()
    }
}

/// One parameter, for the lowering of the conditions that name it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its name, as a model knows it.
    pub name: String,
    /// Its type, as far as conditions can use it.
    pub kind: TypeKind,
    /// Whether every call gives it.
    pub required: bool,
    /// Its value in a call that does not give it.
    pub default: Option<Value>,
}

/// All parameters of a tool, for the lowering of its conditions.
#[derive(Debug)]
pub struct Subjects {
    /// Each parameter, in the order of the function.
    pub all: Vec<Subject>,
    /// The schema of the arguments before any condition.
    pub input: StoredSchema,
}

/// A contract as it is published.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    /// The schema of the arguments, conditions included.
    pub(crate) input: Value,
    /// Whether conditions have changed it.
    pub(crate) is_narrowed: bool,
    /// All conditions, in source order.
    pub(crate) conditions: Vec<PublishedCondition>,
}

/// Lowers the conditions of one tool onto the schema of its arguments: those of which a failure ends the call, where
/// `outside` is the policy before their own settings.
pub(crate) fn lower(
    tool: &str,
    outside: Resolved,
    conditions: &[Condition],
    of: &Arc<Subjects>,
) -> Published {
    let (subjects, input) = (of.all.as_slice(), of.input.read());
    let mut published = Value::clone(&input);
    let conditions = conditions
        .iter()
        .enumerate()
        .map(|(index, condition)| {
            let policy = of_condition(outside, condition);
            let ends = policy.ends_the_call();
            let is_published = ends && !condition.is_hidden();
            // What a person may let through, no schema and no rule may refuse.
            let stated =
                is_published && condition.kind() == ConditionKind::Pre && !condition.asks();
            let looked_up = is_published
                && condition.kind() == ConditionKind::Given
                && !condition.asks_history();
            let id = format!("{tool}.{}[{index}]", condition.kind().name());
            let is_told = condition.asks() || condition.kind() == ConditionKind::Post;
            let (lowering, rest) = match condition.tree() {
                Some(tree) if stated => {
                    let (lowering, rest) =
                        keywords::condition(tree, subjects, &input, &mut published);
                    (lowering, Some(rest))
                }
                Some(tree) if is_published && is_told => {
                    (Lowering::Described, Some(Normal::of(tree).clauses()))
                }
                _ => (Lowering::Described, None),
            };
            let is_said = rest.as_ref().is_some_and(Vec::is_empty);
            let (heading, sentence) = if is_published && !is_said {
                sentence::of(condition, rest.as_deref(), subjects)
            } else {
                (None, sentence::of_predicate(condition))
            };
            PublishedCondition {
                condition: condition.clone(),
                policy,
                lowering,
                is_unexplained: (stated || looked_up) && !is_said && heading.is_none(),
                heading,
                sentence,
                subjects: stated.then(|| Arc::clone(of)),
                id,
            }
        })
        .collect();
    Published {
        is_narrowed: published != *input,
        input: published,
        conditions,
    }
}

/// Returns whether every call that breaks the condition is refused: it ends calls, and no person is asked.
pub(crate) fn refuses(outside: Resolved, condition: &Condition) -> bool {
    of_condition(outside, condition).ends_the_call() && !condition.asks()
}

/// What becomes of a call that breaks the condition: an operator's policy does not take a question away.
fn of_condition(outside: Resolved, condition: &Condition) -> Policy {
    if condition.asks() {
        return condition.policy().unwrap_or(Policy::Enforce);
    }
    outside.of_condition(condition.policy()).policy
}
