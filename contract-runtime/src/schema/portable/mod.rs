//! Renders conditions as CEL rules, in a portable profile that peers without Rust can evaluate.
//!
//! | step | file |
//! |---|---|
//! | negation pushed to the leaves, closures, optionals | `condition` |
//! | numbers, and the guards before them | `number`, `float` |
//! | types with few values, asked one by one | `native` |
//! | arguments: names, defaults, presence | `place` |
//! | text with parentheses and escapes | `cel` |
//!
//! The language: google/cel-spec, doc/langdef.md (2026). What its implementations differ in is avoided: the kind of a number
//! that comes from JSON (every one is converted by `int` or `double` first), errors inside `&&` and `||`, `has` of an
//! argument that is `null`, comparison with `null`, the order of strings, classes of regular expressions, extensions.

mod cel;
mod condition;
mod float;
mod native;
mod number;
#[cfg(test)]
pub(crate) mod tests;
mod value_path;

use serde::{Deserialize, Serialize};

use self::condition::Rules;
use super::lower::{Subjects, sentence};
use crate::contract::condition::Condition;

/// A longer rule is worth nobody's time.
const LONGEST: usize = 4_096;

/// A precondition as a rule in the Common Expression Language, over the arguments of a call.
///
/// A caller evaluates it before a call travels: where it is `false`, the tool would refuse. It is never stricter than the
/// tool. It may be weaker where a number is too large for some reader of JSON, where a result might leave its type, and for
/// bounds of an `f32`. An evaluation that ends in an error, or in anything but `true` and `false`, decides nothing, and the tool's
/// own check stays the one that counts.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Book a room for a part of one day.
/// #[tool]
/// #[pre(end > start, "{end} must come after {start}")]
/// #[pre(note.as_deref().is_none_or(|note| note.chars().count() <= 80))]
/// fn book_room(start: u32, end: u32, note: Option<String>) {}
///
/// let registry = Registry::builder().tool(book_room).build()?;
/// let conditions = registry.tool("book_room").unwrap().conditions();
/// let rule = conditions[0].rule().unwrap();
/// assert_eq!(rule.id, "book_room.pre[0]");
/// assert_eq!(rule.rule, "int(args.end) > int(args.start)");
/// assert_eq!(rule.message, "`end` must come after `start`");
/// assert_eq!(rule.paths, ["/start", "/end"]);
/// assert_eq!(
///     conditions[1].rule().unwrap().rule,
///     "has(args.note) && type(args.note) != null_type ? size(args.note) <= 80 : true",
/// );
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
///
/// The profile is small, so that it means the same in `cel` (Rust), `@bufbuild/cel` and `cel-python`: one variable
/// `args`, comparisons of numbers that `int` or `double` made, `&& || ! ?:`, `in`, `has`, `type(x) != null_type`, `+ - * %`,
/// `size`, `bytes`, `startsWith`, `endsWith`, `contains`, `matches`, `all` and `exists`; no extension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PortableRule {
    /// The id of the condition in violations, such as `divide.pre[0]`.
    pub id: String,
    /// The expression; its one variable is `args`, the object of the arguments.
    pub rule: String,
    /// The message for a caller who breaks it.
    pub message: String,
    /// The arguments it reads, as JSON pointers.
    pub paths: Vec<String>,
}

impl PortableRule {
    /// The version of the profile that rules are written in: another means that a rule may hold what this one does not name.
    pub const VERSION: u32 = 1;
}

/// The rule of a precondition, if all of it is portable.
pub(crate) fn rule(id: &str, condition: &Condition, of: &Subjects) -> Option<PortableRule> {
    let rule = Rules::new(of)
        .condition(condition.expression()?, true)?
        .to_string();
    let message = sentence::of_message(condition);
    let paths = condition
        .parameters()
        .iter()
        .filter(|name| of.all.iter().any(|subject| subject.name == **name))
        .map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")))
        .collect();
    (rule.len() <= LONGEST).then(|| PortableRule {
        id: id.to_owned(),
        rule,
        message: message.unwrap_or_else(|| sentence::of_predicate(condition)),
        paths,
    })
}
