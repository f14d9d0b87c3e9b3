//! Renders conditions as demands, where they are readable without knowing Rust.

use super::Subject;
use super::constant::Constant;
use super::nnf::Normal;
use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::type_kind::TypeKind;

/// What a reader of the arguments can compare as the program does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Number,
    Text,
    Flag,
    /// A list or an optional of these.
    Several,
}

impl Operand {
    /// Only a type whose operators mean what they mean in JSON: one of the author's may order its values the other way.
    fn of(kind: TypeKind) -> Option<Self> {
        match kind {
            TypeKind::Opaque => None,
            TypeKind::Integer { .. } | TypeKind::Float { .. } => Some(Self::Number),
            TypeKind::Text | TypeKind::Character => Some(Self::Text),
            TypeKind::Bool => Some(Self::Flag),
            TypeKind::List(inner) | TypeKind::Optional(inner) => {
                Self::of(*inner).map(|_| Self::Several)
            }
        }
    }
}

/// A part of a condition as a demand: comparisons, containment and ranges over parameters, literals, lengths, `+` and `-`, all of
/// types that compare as their JSON does; `None` if it is anything else. A postcondition also names the result, which is of the kind
/// `result`.
pub(super) fn demand(clause: &Normal, subjects: &[Subject], result: TypeKind) -> Option<String> {
    let mut reader = Reader {
        subjects,
        result,
        bound: Vec::new(),
    };
    reader.clause(clause)
}

/// One side of a comparison, in the notation of its reader.
enum Side {
    /// Stands between backticks together with the other side.
    Code {
        text: String,
        is_sum: bool,
    },
    Words(String),
}

impl Side {
    fn code(text: impl Into<String>) -> Self {
        Self::Code {
            text: text.into(),
            is_sum: false,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Code { text, .. }
                if text.starts_with(|first: char| {
                    first == '"' || first == '-' || first.is_ascii_digit()
                }) =>
            {
                text
            }
            Self::Code { text, .. } => format!("`{text}`"),
            Self::Words(words) => words,
        }
    }
}

/// An optional parameter, by the name that a closure gives its value.
struct Bound {
    variable: &'static str,
    parameter: &'static str,
    kind: TypeKind,
}

struct Reader<'s> {
    subjects: &'s [Subject],
    result: TypeKind,
    bound: Vec<Bound>,
}

impl Reader<'_> {
    fn clause(&mut self, clause: &Normal) -> Option<String> {
        match clause {
            Normal::And(parts) => self.joined(parts, " and "),
            Normal::Or(parts) => self.joined(parts, ", or "),
            Normal::Each {
                every,
                of: Expression::Parameter(parameter),
                variable,
                body,
            } => {
                let TypeKind::Optional(kind) = kind_of(parameter, self.subjects)? else {
                    return None;
                };
                self.bound.push(Bound {
                    variable,
                    parameter,
                    kind: *kind,
                });
                let body = self.clause(body);
                self.bound.pop();
                let body = body?;
                Some(if *every {
                    format!("if `{parameter}` is given, {body}")
                } else {
                    format!("`{parameter}` is given, and {body}")
                })
            }
            Normal::Each { .. } => None,
            Normal::Leaf { test, expected } => self.test(test, *expected),
        }
    }

    /// Joins parts that have no parts of their own, so that the scope of `and` and `or` is clear.
    fn joined(&mut self, parts: &[Normal], with: &str) -> Option<String> {
        let single = |part: &Normal| matches!(part, Normal::Leaf { .. });
        if !parts.iter().all(single) {
            return None;
        }
        let parts: Option<Vec<_>> = parts.iter().map(|part| self.clause(part)).collect();
        Some(parts?.join(with))
    }

    fn test(&self, test: &Expression, expected: bool) -> Option<String> {
        let is = |yes: &'static str, no: &'static str| if expected { yes } else { no };
        match test {
            Expression::Compare(comparison, one, other) => {
                let comparison = if expected {
                    *comparison
                } else {
                    comparison.negated()
                };
                self.comparison(comparison, one, other)
            }
            Expression::StartsWith(one, other) => {
                self.texts(one, is("starts with", "does not start with"), other)
            }
            Expression::EndsWith(one, other) => {
                self.texts(one, is("ends with", "does not end with"), other)
            }
            Expression::IsAscii(one) => {
                let one = matches!(self.kind(one)?, TypeKind::Text | TypeKind::Character)
                    .then(|| self.name(one))??;
                let ascii = is(
                    "contains only ASCII characters",
                    "contains a character that is not ASCII",
                );
                Some(format!("{} {ascii}", one.words()))
            }
            Expression::Contains(one, other) => {
                let contains = is("contains", "does not contain");
                let Some(TypeKind::List(items)) = self.kind(one) else {
                    return self.texts(one, contains, other);
                };
                let (kind, item) = self.side(other)?;
                let list = self.name(one)?.words();
                (Operand::of(*items)? == kind)
                    .then(|| format!("{list} {contains} {}", item.words()))
            }
            Expression::Among(one, list) => {
                let (kind, one) = self.side(one)?;
                let items: Option<Vec<_>> = list
                    .iter()
                    .map(|item| {
                        let (of, item) = self.side(item)?;
                        (of == kind).then(|| item.words())
                    })
                    .collect();
                let among = is("is one of", "is not one of");
                Some(format!("{} {among} {}", one.words(), items?.join(", ")))
            }
            Expression::IsSome(one) => {
                let is_optional = matches!(self.kind(one)?, TypeKind::Optional(_));
                let given = is("is given", "is not given");
                let one = self.name(one)?.words();
                is_optional.then(|| format!("{one} {given}"))
            }
            Expression::Parameter(_) | Expression::Variable(_) => {
                let (kind, flag) = self.side(test)?;
                let holds = is("is true", "is false");
                (kind == Operand::Flag).then(|| format!("{} {holds}", flag.words()))
            }
            _ => None,
        }
    }

    fn comparison(
        &self,
        comparison: Comparison,
        one: &Expression,
        other: &Expression,
    ) -> Option<String> {
        let (kind, one) = self.side(one)?;
        let (same_kind, other) = self.side(other)?;
        let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if kind != same_kind || !(is_equality || kind == Operand::Number) {
            return None;
        }
        let (sign, verb) = match comparison {
            Comparison::Equal => ("==", "is"),
            Comparison::NotEqual => ("!=", "is not"),
            Comparison::Less => ("<", "is less than"),
            Comparison::AtMost => ("<=", "is at most"),
            Comparison::More => (">", "is more than"),
            Comparison::AtLeast => (">=", "is at least"),
        };
        Some(match (one, other) {
            (Side::Code { text: one, .. }, Side::Code { text: other, .. }) => {
                super::sentence::code(&format!("{one} {sign} {other}"))
            }
            (one, other) => format!("{} {verb} {}", one.words(), other.words()),
        })
    }

    fn texts(&self, one: &Expression, verb: &str, other: &Expression) -> Option<String> {
        let ((Operand::Text, one), (Operand::Text, other)) = (self.side(one)?, self.side(other)?)
        else {
            return None;
        };
        Some(format!("{} {verb} {}", one.words(), other.words()))
    }

    /// A parameter, or what a closure calls the value of one, by the name that the model knows; or the result, which is the
    /// variable that no closure binds.
    fn named(&self, expression: &Expression) -> Option<(&'static str, TypeKind)> {
        match expression {
            Expression::Parameter("result") if self.result != TypeKind::Opaque => None,
            Expression::Parameter(name) => Some((name, kind_of(name, self.subjects)?)),
            Expression::Variable(name) => {
                let bound = self.bound.iter().rev().find(|one| one.variable == *name);
                match (bound, self.result) {
                    (Some(bound), _) => Some((bound.parameter, bound.kind)),
                    // The words for a list or an optional are those for arguments.
                    (None, TypeKind::List(_) | TypeKind::Optional(_)) => None,
                    (None, scalar) => Some(("result", scalar)),
                }
            }
            _ => None,
        }
    }

    fn kind(&self, expression: &Expression) -> Option<TypeKind> {
        self.named(expression).map(|(_, kind)| kind)
    }

    fn name(&self, expression: &Expression) -> Option<Side> {
        self.named(expression).map(|(name, _)| Side::code(name))
    }

    fn side(&self, expression: &Expression) -> Option<(Operand, Side)> {
        let number = |side| Some((Operand::Number, side));
        match expression {
            Expression::Parameter(_) | Expression::Variable(_) => {
                let (name, kind) = self.named(expression)?;
                Some((Operand::of(kind)?, Side::code(name)))
            }
            Expression::Length(of) => {
                let name = self.name(of)?.words();
                number(Side::Words(match self.kind(of)? {
                    TypeKind::List(_) => format!("the number of items in {name}"),
                    TypeKind::Text => format!("the length of {name} in bytes"),
                    _ => return None,
                }))
            }
            Expression::Characters(of) if self.kind(of)? == TypeKind::Text => {
                let name = self.name(of)?.words();
                number(Side::Words(format!("the number of characters in {name}")))
            }
            Expression::Absolute(of) | Expression::UnsignedAbsolute(of) => {
                let name = self.name(of)?.words();
                matches!(
                    self.kind(of)?,
                    TypeKind::Integer { .. } | TypeKind::Float { .. }
                )
                .then(|| {
                    (
                        Operand::Number,
                        Side::Words(format!("the absolute value of {name}")),
                    )
                })
            }
            Expression::Negative(of) => match self.side(of)? {
                (
                    Operand::Number,
                    Side::Code {
                        text,
                        is_sum: false,
                    },
                ) => number(Side::code(format!("-{text}"))),
                _ => None,
            },
            Expression::Widened(of, _) => self.side(of),
            Expression::Arithmetic(operation, one, other) => self.sum(*operation, one, other),
            constant => literal(constant),
        }
    }

    fn sum(
        &self,
        operation: Operation,
        one: &Expression,
        other: &Expression,
    ) -> Option<(Operand, Side)> {
        let (sign, word) = match operation {
            Operation::Add => ("+", "plus"),
            Operation::Subtract => ("-", "minus"),
            Operation::Multiply if is_number(one) && is_number(other) => ("*", "times"),
            _ => return None,
        };
        let ((Operand::Number, one), (Operand::Number, other)) =
            (self.side(one)?, self.side(other)?)
        else {
            return None;
        };
        let is_product = operation == Operation::Multiply;
        let enclosed = |text: String, is_sum: bool| if is_sum { format!("({text})") } else { text };
        let side = match (one, other) {
            (
                Side::Code {
                    text: one,
                    is_sum: sum_before,
                },
                Side::Code {
                    text: other,
                    is_sum: sum_behind,
                },
            ) => {
                let one = enclosed(one, is_product && sum_before);
                let other = enclosed(other, sum_behind);
                Side::Code {
                    text: format!("{one} {sign} {other}"),
                    is_sum: !is_product,
                }
            }
            (one, other) => Side::Words(format!("{} {word} {}", one.words(), other.words())),
        };
        Some((Operand::Number, side))
    }
}

/// A literal, or a constant by its value.
fn literal(expression: &Expression) -> Option<(Operand, Side)> {
    if !matches!(
        expression,
        Expression::Bool(_)
            | Expression::Integer(_)
            | Expression::Float(_)
            | Expression::Text(_)
            | Expression::Named { .. }
    ) {
        return None;
    }
    Some(match Constant::of(expression, TypeKind::Opaque)? {
        Constant::Bool(value) => (Operand::Flag, Side::code(value.to_string())),
        Constant::Integer(value) => (Operand::Number, Side::code(value.to_string())),
        Constant::Float(value) => (Operand::Number, Side::code(format!("{value:?}"))),
        Constant::Text(value) => (
            Operand::Text,
            Side::code(serde_json::Value::from(value).to_string()),
        ),
    })
}

/// A number that is written as the product of others, such as `24 * 60`.
fn is_number(expression: &Expression) -> bool {
    match expression {
        Expression::Integer(_) | Expression::Float(_) | Expression::Named { .. } => true,
        Expression::Arithmetic(_, one, other) => is_number(one) && is_number(other),
        _ => false,
    }
}

fn kind_of(name: &str, subjects: &[Subject]) -> Option<TypeKind> {
    let subject = subjects.iter().find(|subject| subject.name == name);
    subject.map(|subject| subject.kind)
}
