//! Renders conditions as CEL rules, in a portable profile that peers without Rust can evaluate.
//!
//! A predicate is lowered in negation normal form, so that a weaker leaf makes the whole rule weaker. Numbers and the guards before
//! them are in `number`, and the text with its parentheses, escapes and names in `cel`.
//!
//! The language: google/cel-spec, doc/langdef.md (2026). What its implementations differ in is avoided: the kind of a number
//! that comes from JSON (every one is converted by `int` or `double` first), errors inside `&&` and `||`, `has` of an
//! argument that is `null`, comparison with `null`, the order of strings, classes of regular expressions, extensions.

mod cel;
mod number;
#[cfg(test)]
mod tests;

use contract_runtime::__family::{
    ASCII, Comparison, Constant, Expression, Normal, Subject, Subjects, TypeKind, finite_values,
    guard, of_message, of_predicate, passing_values, portable_pattern,
};
use contract_runtime::{Condition, PublishedCondition};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::cel::{Cel, ValuePath, variable};
use self::number::{is_constant, kind_of};

/// Rules longer than this are not published.
const LONGEST: usize = 4_096;

/// A precondition as a rule in the Common Expression Language, over the arguments of a call.
///
/// A caller evaluates it before a call travels: where it is `false`, the tool would refuse. It is never stricter than the
/// tool. It may be weaker where a number is too large for some reader of JSON, where a result might leave its type, and for
/// bounds of an `f32`. An evaluation that ends in an error, or in anything but `true` and `false`, decides nothing, and the tool's
/// own check stays the one that counts.
///
/// ```
/// use contract_manifest::PortableRule;
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
/// let rule = PortableRule::of(&conditions[0]).unwrap();
/// assert_eq!(rule.id, "book_room.pre[0]");
/// assert_eq!(rule.rule, "int(args.end) > int(args.start)");
/// assert_eq!(rule.message, "`end` must come after `start`");
/// assert_eq!(rule.paths, ["/start", "/end"]);
/// assert_eq!(
///     PortableRule::of(&conditions[1]).unwrap().rule,
///     "has(args.note) && type(args.note) != null_type ? size(args.note) <= 80 : true",
/// );
/// # Ok::<(), BuildError>(())
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

    /// Returns the rule of a condition; `None` if it is not a precondition, if it ends no call, if a person may let the call
    /// through, or if a part of it is not portable.
    #[must_use]
    pub fn of(published: &PublishedCondition) -> Option<Self> {
        of(published.id(), published.condition(), published.subjects()?)
    }
}

fn of(id: &str, condition: &Condition, subjects: &Subjects) -> Option<PortableRule> {
    let rule = Rules::new(subjects)
        .condition(&Normal::of(condition.expression()?))?
        .to_string();
    let paths = condition.parameters().iter();
    let paths = paths.filter(|name| subjects.all.iter().any(|one| one.name == **name));
    (rule.len() <= LONGEST).then(|| PortableRule {
        id: id.to_owned(),
        rule,
        message: of_message(condition).unwrap_or_else(|| of_predicate(condition)),
        paths: paths
            .map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")))
            .collect(),
    })
}

/// What the rules of one condition are made from.
struct Rules<'s> {
    subjects: &'s Subjects,
    scope: Vec<(&'static str, ValuePath)>,
    /// The variables of the comprehensions around the current place.
    variables: Vec<String>,
}

impl<'s> Rules<'s> {
    fn new(subjects: &'s Subjects) -> Self {
        Self {
            subjects,
            scope: Vec::new(),
            variables: Vec::new(),
        }
    }

    /// Where the rule is `false`, the native predicate is too, or panics; where it fails, nothing is known.
    fn condition(&mut self, normal: &Normal) -> Option<Cel> {
        match normal {
            Normal::And(parts) => self.joined(parts, Cel::and),
            Normal::Or(parts) => self.joined(parts, Cel::or),
            Normal::Each {
                every,
                of,
                variable,
                body,
            } => self.each(*every, of, variable, body),
            Normal::Leaf { test, expected } => self.leaf(test, *expected),
        }
    }

    fn joined(&mut self, parts: &[Normal], join: fn(Cel, Cel) -> Cel) -> Option<Cel> {
        let parts: Option<Vec<Cel>> = parts.iter().map(|part| self.condition(part)).collect();
        parts?.into_iter().reduce(join)
    }

    /// A test that is as expected.
    fn leaf(&mut self, test: &'static Expression, expected: bool) -> Option<Cel> {
        Some(match test {
            Expression::Bool(value) => Cel::bool(*value == expected),
            Expression::Named { .. } => match Constant::of(test, TypeKind::Bool)? {
                Constant::Bool(value) => Cel::bool(value == expected),
                _ => return None,
            },
            Expression::Parameter(_) | Expression::Variable(_) => {
                let place = self.place(test)?;
                let is = (place.kind == TypeKind::Bool).then_some(place.value)?;
                if expected { is } else { is.not() }
            }
            Expression::Compare(comparison, left, right) => {
                self.compare(*comparison, left, right, expected)?
            }
            Expression::Among(of, list) => self.among(of, list, expected)?,
            Expression::IsSome(of) => {
                let present = self.place(of)?.present()?;
                if expected { present } else { present.not() }
            }
            Expression::IsFinite(of) => match kind_of(self, of)? {
                TypeKind::Float { single } => self.is_finite(of, single, expected)?,
                _ => return None,
            },
            Expression::Native {
                parameter, holds, ..
            } => self.native(parameter, *holds, expected)?,
            other => {
                let holds = self.test(other)?;
                if expected { holds } else { holds.not() }
            }
        })
    }

    /// A test that is as strong as the native one.
    fn test(&self, expression: &Expression) -> Option<Cel> {
        match expression {
            Expression::StartsWith(of, affix) => {
                Some(self.text(of)?.method("startsWith", &self.text(affix)?))
            }
            Expression::IsAscii(of) => Some(self.text(of)?.method("matches", &Cel::text(ASCII))),
            Expression::EndsWith(of, affix) => {
                Some(self.text(of)?.method("endsWith", &self.text(affix)?))
            }
            Expression::Contains(of, item) => self.contains(of, item),
            Expression::Matches(of, pattern) => {
                let Constant::Text(pattern) = Constant::of(pattern, TypeKind::Text)? else {
                    return None;
                };
                let pattern = Cel::text(&portable_pattern(&pattern)?);
                Some(self.text(of)?.method("matches", &pattern))
            }
            _ => None,
        }
    }

    fn compare(
        &mut self,
        comparison: Comparison,
        left: &'static Expression,
        right: &'static Expression,
        expected: bool,
    ) -> Option<Cel> {
        let kind = kind_of(self, left).or_else(|| kind_of(self, right));
        let found = comparison.expecting(expected);
        match kind {
            Some(kind @ TypeKind::Integer { .. }) => {
                let wider = kind_of(self, right).filter(|other| *other != kind);
                let whole = |kind| self.compare_whole(found, left, right, kind);
                whole(kind).or_else(|| whole(wider?))
            }
            Some(TypeKind::Float { single }) => {
                self.compare_floats(comparison, left, right, (single, expected))
            }
            Some(TypeKind::Text | TypeKind::Character) => {
                let (left, right) = (self.text(left)?, self.text(right)?);
                // The order is by bytes in Rust, by UTF-16 in some engines.
                matches!(found, Comparison::Equal | Comparison::NotEqual)
                    .then(|| Cel::relation(found.operator(), &left, &right))
            }
            Some(TypeKind::Bool) => match found {
                Comparison::Equal => self.same(left, right, true),
                Comparison::NotEqual => self.same(left, right, false),
                _ => None,
            },
            Some(_) => None,
            None => Constant::compared(found, left, right).map(Cel::bool),
        }
    }

    /// Two truth values that are the same, or not.
    fn same(
        &mut self,
        left: &'static Expression,
        right: &'static Expression,
        same: bool,
    ) -> Option<Cel> {
        let mut expecting = |side, expected| self.condition(&Normal::expecting(side, expected));
        let truth = |constant: &Expression| match Constant::of(constant, TypeKind::Bool)? {
            Constant::Bool(value) => Some(value),
            _ => None,
        };
        if is_constant(right) {
            return expecting(left, truth(right)? == same);
        }
        if is_constant(left) {
            return expecting(right, truth(left)? == same);
        }
        // A guard says `true` wherever it stands: each side is asked for both answers. Nor is `==` good enough for two
        // arguments: `"true"`, which a tool may read as `true`, would differ from it instead of being an error.
        let holds = expecting(left, true)?.and(expecting(right, same)?);
        let fails = expecting(left, false)?.and(expecting(right, !same)?);
        Some(holds.or(fails))
    }

    fn among(
        &mut self,
        of: &'static Expression,
        list: &'static [Expression],
        expected: bool,
    ) -> Option<Cel> {
        let found = match kind_of(self, of)? {
            TypeKind::Text | TypeKind::Character => {
                let list: Option<Vec<Cel>> = list.iter().map(|item| self.text(item)).collect();
                Some(Cel::relation("in", &self.text(of)?, &Cel::list(&list?)))
            }
            kind @ TypeKind::Integer { .. } => self.among_whole(of, list, kind),
            _ => None,
        };
        if let Some(found) = found {
            return Some(if expected { found } else { found.not() });
        }
        let equal = Comparison::Equal;
        list.iter().try_fold(Cel::bool(!expected), |all, item| {
            let one = self.compare(equal, of, item, expected)?;
            Some(if expected { all.or(one) } else { all.and(one) })
        })
    }

    fn contains(&self, of: &Expression, item: &Expression) -> Option<Cel> {
        if let Expression::Named { value, .. } = of {
            return self.listed(*value, item);
        }
        let place = self.place(of)?;
        let TypeKind::List(inner) = place.kind else {
            let text = (place.kind == TypeKind::Text).then_some(place.value)?;
            return Some(text.method("contains", &self.text(item)?));
        };
        let (kind, item) = match *inner {
            TypeKind::Text | TypeKind::Character => {
                return Some(Cel::relation("in", &self.text(item)?, &place.value));
            }
            kind @ TypeKind::Integer { .. } => ("int", self.whole_item(item, kind)?),
            TypeKind::Float { single: false } => ("double", self.float(item)?),
            _ => return None,
        };
        // Engines differ on what kind the numbers of a list are.
        let name = self.variable("item");
        let same = Cel::relation("==", &Cel::call(kind, &Cel::primary(&*name)), &item);
        Some(place.value.each("exists", &name, &same))
    }

    /// `LIST.contains(&item)`
    fn listed(&self, list: fn() -> Option<Value>, item: &Expression) -> Option<Cel> {
        let kind = kind_of(self, item)?;
        let item = match kind {
            TypeKind::Text | TypeKind::Character => self.text(item)?,
            TypeKind::Integer { .. } => Cel::call("int", &self.place(item)?.value),
            TypeKind::Float { single: false } => self.float(item)?,
            _ => return None,
        };
        let one = |value: &Value| match kind {
            TypeKind::Float { .. } => Cel::float(value.as_f64()?),
            _ => Cel::json(value).filter(|_| value.is_string() || value.is_i64()),
        };
        let list = guard(list).ok()??;
        let list: Option<Vec<Cel>> = list.as_array()?.iter().map(one).collect();
        Some(Cel::relation("in", &item, &Cel::list(&list?)))
    }

    /// `list.iter().all(|name| body)` or `any`; of an optional, `of.is_none_or(|name| body)` or `is_some_and`.
    fn each(
        &mut self,
        every: bool,
        of: &Expression,
        name: &'static str,
        body: &Normal,
    ) -> Option<Cel> {
        let place = self.place(of)?;
        let TypeKind::List(inner) = place.kind else {
            let present = place.present()?;
            let body = self.within(name, place.inner()?, body)?;
            return Some(present.choose(&body, &Cel::bool(every)));
        };
        let variable = self.variable(name);
        let item = ValuePath::new(Cel::primary(&*variable), *inner);
        self.variables.push(variable.clone());
        let body = self.within(name, item, body);
        self.variables.pop();
        let body = body?;
        // Of nothing all is true, and nothing exists.
        if body.is(every) {
            return Some(body);
        }
        let quantifier = if every { "all" } else { "exists" };
        Some(place.value.each(quantifier, &variable, &body))
    }

    fn within(&mut self, name: &'static str, place: ValuePath, body: &Normal) -> Option<Cel> {
        self.scope.push((name, place));
        let body = self.condition(body);
        self.scope.pop();
        body
    }

    fn variable(&self, wanted: &str) -> String {
        variable(wanted, |name| self.variables.iter().any(|one| one == name))
    }

    fn place(&self, expression: &Expression) -> Option<ValuePath> {
        match expression {
            Expression::Parameter(name) => ValuePath::of(self.subject(name)?, false),
            Expression::Variable(name) => {
                let bound = self.scope.iter().rev().find(|(bound, _)| bound == name);
                bound.map(|(_, place)| place.clone())
            }
            _ => None,
        }
    }

    fn subject(&self, name: &str) -> Option<&'s Subject> {
        let mut all = self.subjects.all.iter();
        all.find(|subject| subject.name == name)
    }

    /// The values of a parameter for which the test gives the answer that is expected.
    fn native(
        &self,
        parameter: &str,
        holds: fn(&str) -> Option<bool>,
        expected: bool,
    ) -> Option<Cel> {
        let subject = self.subject(parameter)?;
        let input = self.subjects.input.read();
        let schema = input.get("properties")?.get(parameter)?;
        let mut values = finite_values(schema, &input)?;
        let absent = !subject.required && subject.default.is_none();
        if absent && !values.contains(&Value::Null) {
            values.push(Value::Null);
        }
        let passing = passing_values(&values, expected, holds)?;
        if passing.len() == values.len() {
            return Some(Cel::bool(true));
        }
        let nullable = values.contains(&Value::Null);
        let mut place = ValuePath::of(subject, nullable)?;
        let scalars = || values.iter().filter(|value| !value.is_null());
        if scalars().all(Value::is_i64) {
            place.value = Cel::call("int", &place.value);
        } else if !scalars().all(Value::is_string) && !scalars().all(Value::is_boolean) {
            return None;
        }
        let listed: Option<Vec<Cel>> = passing
            .iter()
            .filter(|value| !value.is_null())
            .map(Cel::json)
            .collect();
        let among = match listed?.as_slice() {
            [] => Cel::bool(false),
            listed if listed.len() + usize::from(nullable) == values.len() => Cel::bool(true),
            [only] if only.is(true) => place.value.clone(),
            [only] if only.is(false) => place.value.clone().not(),
            [only] => Cel::relation("==", &place.value, only),
            listed => Cel::relation("in", &place.value, &Cel::list(listed)),
        };
        Some(match place.present() {
            Some(present) => present.choose(&among, &Cel::bool(passing.contains(&Value::Null))),
            None => among,
        })
    }

    fn text(&self, expression: &Expression) -> Option<Cel> {
        if is_constant(expression) {
            return match Constant::of(expression, TypeKind::Text)? {
                Constant::Text(text) => Some(Cel::text(&text)),
                _ => None,
            };
        }
        let place = self.place(expression)?;
        matches!(place.kind, TypeKind::Text | TypeKind::Character).then_some(place.value)
    }
}
