//! From conditions to what the model is shown: keywords where JSON Schema has them, sentences for the rest.
//!
//! Every schema accepts at least what the contract accepts; the conditions themselves are always judged by the call.

mod apply;
mod clause;
pub(crate) mod constant;
pub(crate) mod finite;
mod fragment;
mod leaf;
mod merge;
mod normal;
mod number;
mod place;
pub(crate) mod sentence;
mod span;
#[cfg(test)]
mod tests;
mod text;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::portable::{self, PortableRule};
use crate::contract::condition::{Condition, ConditionKind};
use crate::tool::form::Form;

/// How much of a condition the schema of the arguments says.
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
/// assert_eq!(said, [Lowering::Exact, Lowering::Implied, Lowering::Told]);
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
    /// A part: the keywords accept all that the condition accepts, and more.
    Implied,
    /// Nothing: a sentence in the description tells it.
    Told,
}

/// A condition as everybody but the program sees it.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Reserve a table.
/// #[tool]
/// #[pre(guests <= seats, "{guests} guests need as many seats")]
/// fn reserve(guests: u32, seats: u32) {}
///
/// let registry = Registry::builder().tool(reserve).build()?;
/// let condition = &registry.tool("reserve").unwrap().conditions()[0];
/// assert_eq!(condition.id(), "reserve.pre[0]");
/// assert_eq!(condition.sentence(), "`guests <= seats` (`guests` guests need as many seats)");
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PublishedCondition {
    condition: Condition,
    id: String,
    lowering: Lowering,
    sentence: String,
    rule: Option<PortableRule>,
}

impl PublishedCondition {
    /// The condition itself.
    #[must_use]
    pub const fn condition(&self) -> &Condition {
        &self.condition
    }

    /// What violations call it, such as `divide.pre[0]`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How much of it the schema says.
    #[must_use]
    pub const fn lowering(&self) -> Lowering {
        self.lowering
    }

    /// It in one line, for a description.
    #[must_use]
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// It as a rule that a peer without Rust can evaluate, if it is one.
    #[must_use]
    pub const fn rule(&self) -> Option<&PortableRule> {
        self.rule.as_ref()
    }
}

/// One parameter, for the lowering of the conditions that name it.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) form: Form,
    /// Its schema before any condition; complete in itself where [`portable::rule`] sees it.
    pub(crate) schema: Value,
    pub(crate) required: bool,
    pub(crate) default: Option<Value>,
}

/// A contract as it is published.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    /// The schema of the arguments, conditions included.
    pub(crate) input: Value,
    /// All conditions, in source order.
    pub(crate) conditions: Vec<PublishedCondition>,
}

/// Lowers the conditions of one tool onto the schema of its arguments.
pub(crate) fn lower(
    tool: &str,
    conditions: &[Condition],
    subjects: &[Subject],
    input: &Value,
) -> Published {
    let mut published = input.clone();
    let complete: Vec<Subject> = subjects
        .iter()
        .map(|subject| complete(subject, input))
        .collect();
    let conditions = conditions
        .iter()
        .enumerate()
        .map(|(index, condition)| {
            let stated = condition.kind() == ConditionKind::Pre;
            let expression = condition.expression().filter(|_| stated);
            let id = format!("{tool}.{}[{index}]", condition.kind().name());
            PublishedCondition {
                condition: *condition,
                lowering: expression.map_or(Lowering::Told, |expression| {
                    apply::condition(expression, &complete, input, &mut published)
                }),
                sentence: sentence::sentence(condition),
                rule: stated
                    .then(|| portable::rule(&id, condition, &complete))
                    .flatten(),
                id,
            }
        })
        .collect();
    Published {
        input: published,
        conditions,
    }
}

/// The subject with the definitions that its schema refers to.
fn complete(subject: &Subject, input: &Value) -> Subject {
    let mut subject = subject.clone();
    let property = input
        .get("properties")
        .and_then(|all| all.get(&subject.name));
    if let Some(property) = property {
        subject.schema = property.clone();
    }
    if let (Value::Object(schema), Some(definitions)) = (&mut subject.schema, input.get("$defs")) {
        schema.insert("$defs".to_owned(), definitions.clone());
    }
    subject
}
