//! Renders conditions as sentences.

use std::borrow::Cow;

use super::normal::{Constant, Normal};
use super::{Heading, PublishedCondition, Subject};
use crate::contract::condition::{Condition, ConditionKind, Names};
use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::type_kind::TypeKind;

/// The phrase for a tool that asks a person about every call.
pub(crate) const EVERY_CALL: &str = "every call";

/// Longer predicates and messages are cut.
const LONGEST: usize = 200;

/// Returns a condition in one line, and the heading of the description under which it is listed, if any.
///
/// A message describes a failure, so it is quoted and is never listed as a demand. A demand that can be read as data is
/// preferred to the message. For a condition that only the program can evaluate there is only the text of its author.
/// `rest` holds the clauses that the schema does not express; it is `None` if nothing of the condition can be read as data.
pub(super) fn of(
    condition: &Condition,
    rest: Option<&[Normal]>,
    subjects: &[Subject],
) -> (Option<Heading>, String) {
    if condition.asks() {
        return of_question(condition, rest, subjects);
    }
    let demanded = match condition.kind() {
        ConditionKind::Pre | ConditionKind::Given => Heading::Requires,
        _ => Heading::Ensures,
    };
    if let Some(demand) = condition.demand() {
        return (Some(demanded), cut(&line(demand)));
    }
    let predicate = || of_predicate(condition);
    if condition.is_named() {
        return (Some(demanded), predicate());
    }
    let demands = demands(condition, rest, subjects);
    let is_readable = rest.is_some() && demands.iter().all(Option::is_some);
    match of_message(condition) {
        _ if is_readable => {}
        _ if demanded == Heading::Ensures => return (None, predicate()),
        Some(message) => return (Some(Heading::PossibleRefusals), quoted(&message)),
        None => {}
    }
    let demands: Vec<_> = demands.into_iter().flatten().collect();
    if demands.is_empty() {
        return (None, predicate());
    }
    (Some(demanded), demands.join(", and "))
}

/// Returns the sentence that says when a person is asked.
fn of_question(
    condition: &Condition,
    rest: Option<&[Normal]>,
    subjects: &[Subject],
) -> (Option<Heading>, String) {
    let read: Option<Vec<String>> = demands(condition, rest, subjects).into_iter().collect();
    let demand = condition.demand().map(|demand| cut(&line(demand)));
    let read = read.filter(|all| !all.is_empty());
    let sentence = match demand.or(read.map(|all| all.join(", and "))) {
        Some(demand) => format!("unless {demand}"),
        None => match of_message(condition) {
            Some(message) => quoted(&message),
            None => return (None, of_predicate(condition)),
        },
    };
    (Some(Heading::Approval), sentence)
}

/// Each clause as a demand: comparisons, containment and ranges over parameters, literals, lengths, `+` and `-`, all of types that
/// compare as their JSON does; `None` if it is anything else. A postcondition also speaks of the result.
fn demands(
    condition: &Condition,
    rest: Option<&[Normal]>,
    subjects: &[Subject],
) -> Vec<Option<String>> {
    let mut reader = Reader {
        subjects,
        result: condition.result(),
        bound: Vec::new(),
    };
    let clauses = rest.unwrap_or_default().iter();
    clauses
        .map(|clause| Some(cut(&line(&reader.clause(clause)?))))
        .collect()
}

/// Returns what a precondition demands, for use after the name of its tool: `` requires `end > start` ``. It is empty if the
/// precondition cannot be put into words.
pub(crate) fn requirement(condition: &Condition, subjects: &[Subject]) -> String {
    if let Some(demand) = condition.demand() {
        return format!("requires: {}", cut(&line(demand)));
    }
    if condition.is_named() {
        return format!("requires {}", of_predicate(condition));
    }
    let rest = condition.expression().map(|all| Normal::of(all).clauses());
    let demands = demands(condition, rest.as_deref(), subjects);
    let demands: Option<Vec<_>> = demands.into_iter().collect();
    match demands.as_deref() {
        None | Some([]) => String::new(),
        Some([only])
            if only.starts_with('`') && only.matches('`').count() == 2 && only.ends_with('`') =>
        {
            format!("requires {only}")
        }
        Some(several) => format!("requires that {}", several.join(", and ")),
    }
}

/// The message, with the model's names of the arguments.
#[must_use]
pub fn of_message(condition: &Condition) -> Option<String> {
    let text = condition.message()?;
    let renamed = condition.renamed();
    let is_known = |name: &str| {
        condition.kind() == ConditionKind::Post
            || condition.parameters().contains(&name)
            || renamed.iter().any(|(own, _)| *own == name)
    };
    Some(message(text, renamed, is_known))
}

/// Returns the message in quotation marks.
pub(crate) fn quoted(message: &str) -> String {
    format!("\"{}\"", message.replace('"', "'"))
}

/// Returns the predicate as typed, with the names that the model uses for renamed arguments.
#[must_use]
pub fn of_predicate(condition: &Condition) -> String {
    let mut text = code(condition.predicate());
    for (index, (own, name)) in condition.renamed().iter().enumerate() {
        text.push_str(if index == 0 { " where " } else { ", " });
        text.extend(["`", own, "` is the argument `", name, "`"]);
    }
    text
}

/// Returns the author's description, and the conditions that the schema does not express.
pub(crate) fn describe(author: &str, conditions: &[PublishedCondition], confirms: bool) -> String {
    let said = conditions
        .iter()
        .filter_map(|one| Some((one.heading()?, one.sentence())));
    let always = confirms.then_some((Heading::Approval, EVERY_CALL));
    let said = said.chain(always);
    below_headings(author, &said)
}

/// Joins the author's description and the sentences below their headings.
pub fn below_headings<'s>(
    author: &str,
    said: &(impl Iterator<Item = (Heading, &'s str)> + Clone),
) -> String {
    let mut text = author.trim_end().to_owned();
    for heading in Heading::ALL {
        let mut own = said.clone().filter(|(of, _)| *of == heading).peekable();
        if own.peek().is_none() {
            continue;
        }
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&heading.to_string());
        text.push(':');
        for (_, sentence) in own {
            text.push_str("\n- ");
            text.push_str(sentence);
        }
    }
    text
}

/// Rust as typed, on one line, between as many backticks as it takes.
pub(crate) fn code(source: &str) -> String {
    let source = cut(&line(source));
    if !source.contains('`') {
        return format!("`{source}`");
    }
    let longest = source.split(|letter| letter != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or_default() + 1);
    format!("{fence} {source} {fence}")
}

/// A message on one line, with the name of each parameter where its value would stand; ` ({value})` is left out. What the
/// model does not know by a name, such as an expression, is three dots.
pub(crate) fn message(text: &str, renamed: Names, is_known: impl Fn(&str) -> bool) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let doubled = from.starts_with("{{") || from.starts_with("}}");
        rest = if let (false, Some((name, behind))) = (doubled, placeholder(from)) {
            if let (Some(length), Some(behind)) = (
                plain.strip_suffix(" (").map(str::len),
                behind.strip_prefix(')'),
            ) {
                plain.truncate(length);
                behind
            } else if name.bytes().all(|byte| byte.is_ascii_digit()) || !is_known(name) {
                plain.push_str("...");
                behind
            } else {
                let known = renamed.iter().find(|(own, _)| *own == name);
                let name = known.map_or(name, |(_, name)| name);
                // Between backticks of the author it needs none.
                let inside = plain.matches('`').count() % 2 == 1 && behind.contains('`');
                let mark = if inside { "" } else { "`" };
                plain.extend([mark, name, mark]);
                behind
            }
        } else {
            let (brace, behind) = from.split_at(1);
            plain.push_str(brace);
            behind.get(usize::from(doubled)..).unwrap_or_default()
        };
    }
    plain.push_str(rest);
    cut(&line(&plain))
}

/// Returns the name in `{name:format}`, and the text after the placeholder.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let (inner, behind) = text.strip_prefix('{')?.split_once('}')?;
    let name = inner.split_once(':').map_or(inner, |(name, _)| name).trim();
    Some((name.strip_prefix("r#").unwrap_or(name), behind))
}

/// Without what would end the line or hide in it: a space for each run of blanks that holds such a character.
fn line(text: &str) -> Cow<'_, str> {
    let breaks = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    let text = text.trim();
    if !text.contains(breaks) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    let mut blanks = String::new();
    for letter in text.chars() {
        if letter.is_whitespace() || breaks(letter) {
            blanks.push(letter);
            continue;
        }
        line.push_str(if blanks.contains(breaks) {
            " "
        } else {
            &blanks
        });
        blanks.clear();
        line.push(letter);
    }
    Cow::Owned(line)
}

fn cut(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

/// The types whose values compare in JSON as they do in the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Number,
    Text,
    Flag,
    /// A list or an optional of these.
    Several,
}

impl Operand {
    /// Returns the operand of a type. Returns `None` for a type of the author, which may order its values in another way than JSON.
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

/// One side of a comparison.
struct Side {
    kind: Operand,
    text: String,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Code that shares its backticks with the other side.
    Code,
    /// Code with `+` or `-`, which needs parentheses as an operand.
    Sum,
    Words,
}

impl Side {
    fn code(kind: Operand, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            form: Form::Code,
        }
    }

    fn words(self) -> String {
        let is_literal = |first: char| first == '"' || first == '-' || first.is_ascii_digit();
        if self.form == Form::Words || self.text.starts_with(is_literal) {
            return self.text;
        }
        format!("`{}`", self.text)
    }
}

struct Reader<'s> {
    subjects: &'s [Subject],
    /// The kind of the result, in a postcondition.
    result: TypeKind,
    /// The names that closures give to the values of optional parameters, and these.
    bound: Vec<(&'static str, &'static str, TypeKind)>,
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
                self.bound.push((*variable, *parameter, *kind));
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
                self.comparison(comparison.expecting(expected), one, other)
            }
            Expression::StartsWith(one, other) => {
                self.texts(one, is("starts with", "does not start with"), other)
            }
            Expression::EndsWith(one, other) => {
                self.texts(one, is("ends with", "does not end with"), other)
            }
            Expression::IsAscii(one) => {
                let (name, kind) = self.named(one)?;
                let ascii = is(
                    "contains only ASCII characters",
                    "contains a character that is not ASCII",
                );
                matches!(kind, TypeKind::Text | TypeKind::Character)
                    .then(|| format!("`{name}` {ascii}"))
            }
            Expression::Contains(one, other) => {
                let contains = is("contains", "does not contain");
                let Some((list, TypeKind::List(items))) = self.named(one) else {
                    return self.texts(one, contains, other);
                };
                let item = self.side(other)?;
                (Operand::of(*items)? == item.kind)
                    .then(|| format!("`{list}` {contains} {}", item.words()))
            }
            Expression::Among(one, list) => {
                let one = self.side(one)?;
                let item = |item| self.side(item).filter(|item| item.kind == one.kind);
                let items: Option<Vec<_>> =
                    list.iter().map(|one| item(one).map(Side::words)).collect();
                let (items, among) = (items?.join(", "), is("is one of", "is not one of"));
                Some(format!("{} {among} {items}", one.words()))
            }
            Expression::IsSome(one) => {
                let (name, kind) = self.named(one)?;
                let given = is("is given", "is not given");
                matches!(kind, TypeKind::Optional(_)).then(|| format!("`{name}` {given}"))
            }
            Expression::Parameter(_) | Expression::Variable(_) => {
                let flag = self.side(test)?;
                let holds = is("is true", "is false");
                (flag.kind == Operand::Flag).then(|| format!("{} {holds}", flag.words()))
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
        let (one, other) = (self.side(one)?, self.side(other)?);
        let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if one.kind != other.kind || !(is_equality || one.kind == Operand::Number) {
            return None;
        }
        let verb = match comparison {
            Comparison::Equal => "is",
            Comparison::NotEqual => "is not",
            Comparison::Less => "is less than",
            Comparison::AtMost => "is at most",
            Comparison::More => "is more than",
            Comparison::AtLeast => "is at least",
        };
        Some(if one.form == Form::Words || other.form == Form::Words {
            format!("{} {verb} {}", one.words(), other.words())
        } else {
            let operator = comparison.operator();
            code(&format!("{} {operator} {}", one.text, other.text))
        })
    }

    fn texts(&self, one: &Expression, verb: &str, other: &Expression) -> Option<String> {
        let (one, other) = (self.side(one)?, self.side(other)?);
        (one.kind == Operand::Text && other.kind == Operand::Text)
            .then(|| format!("{} {verb} {}", one.words(), other.words()))
    }

    /// A parameter, or what a closure calls the value of one, by the name that the model knows; or the result, which is the
    /// variable that no closure binds.
    fn named(&self, expression: &Expression) -> Option<(&'static str, TypeKind)> {
        match expression {
            Expression::Parameter("result") if self.result != TypeKind::Opaque => None,
            Expression::Parameter(name) => Some((name, kind_of(name, self.subjects)?)),
            Expression::Variable(name) => {
                let bound = self.bound.iter().rev().find(|(known, ..)| known == name);
                match (bound, self.result) {
                    (Some((_, parameter, kind)), _) => Some((*parameter, *kind)),
                    // The words for a list or an optional are those for arguments.
                    (None, TypeKind::List(_) | TypeKind::Optional(_)) => None,
                    (None, scalar) => Some(("result", scalar)),
                }
            }
            _ => None,
        }
    }

    fn side(&self, expression: &Expression) -> Option<Side> {
        match expression {
            Expression::Parameter(_) | Expression::Variable(_) => {
                let (name, kind) = self.named(expression)?;
                Some(Side::code(Operand::of(kind)?, name))
            }
            Expression::Length(of)
            | Expression::Characters(of)
            | Expression::Absolute(of)
            | Expression::UnsignedAbsolute(of) => {
                let (name, kind) = self.named(of)?;
                let (before, behind) = match (expression, kind) {
                    (Expression::Length(_), TypeKind::List(_)) => ("the number of items in", ""),
                    (Expression::Length(_), TypeKind::Text) => ("the length of", " in bytes"),
                    (Expression::Characters(_), TypeKind::Text) => {
                        ("the number of characters in", "")
                    }
                    (
                        Expression::Absolute(_) | Expression::UnsignedAbsolute(_),
                        TypeKind::Integer { .. } | TypeKind::Float { .. },
                    ) => ("the absolute value of", ""),
                    _ => return None,
                };
                Some(Side {
                    kind: Operand::Number,
                    text: format!("{before} `{name}`{behind}"),
                    form: Form::Words,
                })
            }
            Expression::Negative(of) => {
                let of = self.side(of)?;
                (of.kind == Operand::Number && of.form == Form::Code)
                    .then(|| Side::code(Operand::Number, format!("-{}", of.text)))
            }
            Expression::Widened(of, _) => self.side(of),
            Expression::Arithmetic(operation, one, other) => self.sum(*operation, one, other),
            constant => literal(constant),
        }
    }

    fn sum(&self, operation: Operation, one: &Expression, other: &Expression) -> Option<Side> {
        let (sign, word) = match operation {
            Operation::Add => ("+", "plus"),
            Operation::Subtract => ("-", "minus"),
            Operation::Multiply if is_number(one) && is_number(other) => ("*", "times"),
            _ => return None,
        };
        let (one, other) = (self.side(one)?, self.side(other)?);
        if one.kind != Operand::Number || other.kind != Operand::Number {
            return None;
        }
        let is_product = operation == Operation::Multiply;
        let (form, text) = if one.form == Form::Words || other.form == Form::Words {
            let text = format!("{} {word} {}", one.words(), other.words());
            (Form::Words, text)
        } else {
            let operand = |side: Side, encloses: bool| match side.form {
                Form::Sum if encloses => format!("({})", side.text),
                _ => side.text,
            };
            let (one, other) = (operand(one, is_product), operand(other, true));
            let form = if is_product { Form::Code } else { Form::Sum };
            (form, format!("{one} {sign} {other}"))
        };
        Some(Side {
            kind: Operand::Number,
            text,
            form,
        })
    }
}

/// A literal, or a constant by its value.
fn literal(expression: &Expression) -> Option<Side> {
    Some(match Constant::of(expression, TypeKind::Opaque)? {
        Constant::Bool(value) => Side::code(Operand::Flag, value.to_string()),
        Constant::Integer(value) => Side::code(Operand::Number, value.to_string()),
        Constant::Float(value) => Side::code(Operand::Number, format!("{value:?}")),
        Constant::Text(value) => {
            Side::code(Operand::Text, serde_json::Value::from(value).to_string())
        }
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
