//! Prints rules in the Common Expression Language, with as few parentheses as needed, and names the values of arguments in it.
//!
//! Precedences are those of the language definition (google/cel-spec, doc/langdef.md, "Syntax").

use std::borrow::Cow;
use std::fmt;

use contract_runtime::__family::{Subject, TypeKind};
use serde_json::Value;

/// How tightly the outermost operator of an expression binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Choice,
    Or,
    And,
    Relation,
    Sum,
    Product,
    Unary,
    Primary,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cel {
    text: String,
    level: Level,
    /// Its evaluation may end in an error where the native predicate gives an answer or panics.
    pub(super) fails: bool,
}

impl fmt::Display for Cel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Cel {
    pub(super) fn primary(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            level: Level::Primary,
            fails: false,
        }
    }

    pub(super) fn bool(value: bool) -> Self {
        Self::primary(if value { "true" } else { "false" })
    }

    pub(super) fn is(&self, value: bool) -> bool {
        self.text == if value { "true" } else { "false" }
    }

    /// `size(x)`
    pub(super) fn call(function: &str, argument: &Self) -> Self {
        Self {
            fails: argument.fails,
            ..Self::primary(format!("{function}({argument})"))
        }
    }

    /// `x.startsWith(y)`
    pub(super) fn method(&self, name: &str, argument: &Self) -> Self {
        Self {
            fails: self.fails || argument.fails,
            ..Self::primary(format!("{}.{name}({argument})", self.at(Level::Primary)))
        }
    }

    /// `x.all(variable, body)`
    pub(super) fn each(&self, name: &str, variable: &str, body: &Self) -> Self {
        Self {
            fails: body.fails,
            ..Self::primary(format!(
                "{}.{name}({variable}, {body})",
                self.at(Level::Primary)
            ))
        }
    }

    pub(super) fn list<'c>(items: impl IntoIterator<Item = &'c Self>) -> Self {
        let items: Vec<&str> = items.into_iter().map(|item| item.text.as_str()).collect();
        Self::primary(format!("[{}]", items.join(", ")))
    }

    /// `a < b`, `a in b`: these do not follow each other.
    pub(super) fn relation(operator: &str, left: &Self, right: &Self) -> Self {
        Self {
            text: format!(
                "{} {operator} {}",
                left.at(Level::Sum),
                right.at(Level::Sum)
            ),
            level: Level::Relation,
            fails: left.fails || right.fails,
        }
    }

    /// `a + b` and its kin, which group to the left.
    pub(super) fn arithmetic(operator: &str, left: &Self, right: &Self) -> Self {
        let (level, above) = match operator {
            "+" | "-" => (Level::Sum, Level::Product),
            _ => (Level::Product, Level::Unary),
        };
        Self {
            text: format!("{} {operator} {}", left.at(level), right.at(above)),
            level,
            fails: left.fails || right.fails,
        }
    }

    /// `-a`
    pub(super) fn negative(&self) -> Self {
        Self {
            text: format!("-{}", self.at(Level::Primary)),
            level: Level::Unary,
            fails: self.fails,
        }
    }

    /// `x < 0 ? -x : x`
    pub(super) fn absolute(&self, zero: &str) -> Self {
        let is_negative = Self::relation("<", self, &Self::number(zero.to_owned()));
        is_negative.choose(&self.negative(), self)
    }

    /// A negative literal is not a primary expression.
    pub(super) fn number(text: String) -> Self {
        let level = if text.starts_with('-') {
            Level::Unary
        } else {
            Level::Primary
        };
        Self {
            text,
            level,
            fails: false,
        }
    }

    /// `!a`
    pub(super) fn not(self) -> Self {
        if self.is(true) || self.is(false) {
            return Self::bool(self.is(false));
        }
        Self {
            text: format!("!{}", self.at(Level::Primary)),
            level: Level::Unary,
            fails: self.fails,
        }
    }

    /// `a && b` in the order of Rust, where that can be told apart: the operator itself absorbs an error of either side.
    pub(super) fn and(self, other: Self) -> Self {
        if self.is(true) || other.is(false) {
            return other;
        }
        if self.is(false) || other.is(true) {
            return self;
        }
        if self.fails || other.fails {
            return self.choose(&other, &Self::bool(false));
        }
        self.join("&&", Level::And, &other)
    }

    /// `a || b` in the same way.
    pub(super) fn or(self, other: Self) -> Self {
        if self.is(false) || other.is(true) {
            return other;
        }
        if self.is(true) || other.is(false) {
            return self;
        }
        if self.fails || other.fails {
            return self.choose(&Self::bool(true), &other);
        }
        self.join("||", Level::Or, &other)
    }

    fn join(&self, operator: &str, level: Level, other: &Self) -> Self {
        Self {
            text: format!("{} {operator} {}", self.at(level), other.at(level)),
            level,
            fails: false,
        }
    }

    /// `self ? yes : no`
    pub(super) fn choose(&self, yes: &Self, no: &Self) -> Self {
        if self.is(true) || yes == no {
            return yes.clone();
        }
        if self.is(false) {
            return no.clone();
        }
        Self {
            text: format!(
                "{} ? {} : {}",
                self.at(Level::Or),
                yes.at(Level::Or),
                no.at(Level::Or)
            ),
            level: Level::Choice,
            fails: self.fails || yes.fails || no.fails,
        }
    }

    /// As an operand of something that binds as tightly as `level`.
    fn at(&self, level: Level) -> Cow<'_, str> {
        if self.level < level {
            Cow::Owned(format!("({})", self.text))
        } else {
            Cow::Borrowed(&self.text)
        }
    }

    /// A string, with escapes for all that does not show.
    pub(super) fn text(text: &str) -> Self {
        let mut out = String::with_capacity(text.len() + 2);
        out.push('\'');
        for letter in text.chars() {
            match letter {
                '\'' | '\\' => out.extend(['\\', letter]),
                ' '..='~' => out.push(letter),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                _ if letter.is_alphanumeric() => out.push(letter),
                _ => {
                    let code = u32::from(letter);
                    let escape = match code {
                        ..=0xffff => format!(r"\u{code:04x}"),
                        _ => format!(r"\U{code:08x}"),
                    };
                    out.push_str(&escape);
                }
            }
        }
        out.push('\'');
        Self::primary(out)
    }

    /// A number of the kind `double`; there is none for what is not finite.
    pub(super) fn float(value: f64) -> Option<Self> {
        // It has a dot or an exponent in this form.
        value
            .is_finite()
            .then(|| Self::number(format!("{value:?}")))
    }

    /// A value of the arguments' own kind; there is none for objects, and for numbers that not every reader keeps.
    pub(super) fn json(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Bool(value) => Self::bool(*value),
            Value::String(text) => Self::text(text),
            Value::Number(number) if number.is_f64() => Self::float(number.as_f64()?)?,
            Value::Number(number) => super::number::literal(number.as_i64()?.into())?,
            Value::Array(items) => {
                let items: Option<Vec<Self>> = items.iter().map(Self::json).collect();
                Self::list(&items?)
            }
            Value::Null | Value::Object(_) => return None,
        })
    }
}

/// Words that CEL keeps for itself (language definition, "Syntax": the literals and `RESERVED`).
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// Names that mean something to a rule.
const NAMES: [&str; 5] = ["args", "has", "key", "null_type", "type"];

/// A value that a rule can use.
#[derive(Clone, Debug)]
pub(super) struct ValuePath {
    /// The value; of an optional one only to be looked at where it is present.
    pub(super) value: Cel,
    pub(super) kind: TypeKind,
    /// Of an optional value, whether it is there.
    present: Option<Cel>,
}

impl ValuePath {
    /// A value that is bound to a name, or another view of one.
    ///
    /// Whether it is `null` is asked by its type: cel-python compares neither numbers nor lists with `null`.
    pub(super) fn new(value: Cel, kind: TypeKind) -> Self {
        let present = matches!(kind, TypeKind::Optional(_)).then(|| is_value(&value));
        Self {
            value,
            kind,
            present,
        }
    }

    /// An argument. Of one that may be `null` nothing but its values may be known: then `nullable` says so.
    pub(super) fn of(subject: &Subject, nullable: bool) -> Option<Self> {
        let (given, has) = argument(&subject.name);
        let nullable = nullable || matches!(subject.kind, TypeKind::Optional(_));
        let default = match subject.default.as_ref().filter(|value| !value.is_null()) {
            Some(default) => Some(Cel::json(default)?),
            None => None,
        };
        let (value, present) = match default {
            // An explicit `null` is not a default, and `has` and `in` differ on it from engine to engine.
            Some(default) if nullable => {
                let key = Cel::relation("==", &Cel::primary("key"), &Cel::text(&subject.name));
                let sent = Cel::primary("args").each("exists", "key", &key);
                let present = sent.choose(&is_value(&given), &Cel::bool(true));
                (sent.choose(&given, &default), Some(present))
            }
            // Of what is not optional, `null` means the same as nothing.
            Some(default) => (has.and(is_value(&given)).choose(&given, &default), None),
            None if nullable => {
                let present = has.and(is_value(&given));
                (given, Some(present))
            }
            None if subject.required => (given, None),
            None => return None,
        };
        Some(Self {
            value,
            kind: subject.kind,
            present,
        })
    }

    pub(super) fn present(&self) -> Option<Cel> {
        self.present.clone()
    }

    /// What an optional value holds.
    pub(super) fn inner(&self) -> Option<Self> {
        match self.kind {
            TypeKind::Optional(inner) => Some(Self::new(self.value.clone(), *inner)),
            _ => None,
        }
    }
}

fn is_value(value: &Cel) -> Cel {
    Cel::relation("!=", &Cel::call("type", value), &Cel::primary("null_type"))
}

/// The argument of this name, and whether it was sent.
fn argument(name: &str) -> (Cel, Cel) {
    if is_identifier(name) {
        let given = Cel::primary(format!("args.{name}"));
        let has = Cel::call("has", &given);
        return (given, has);
    }
    let key = Cel::text(name);
    let given = Cel::primary(format!("args[{key}]"));
    (given, Cel::relation("in", &key, &Cel::primary("args")))
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.bytes();
    let first = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    first
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
        && !RESERVED.contains(&name)
}

/// A name for the variable of a comprehension: the author's own if CEL allows it and nothing around has it.
pub(super) fn variable(wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = match wanted {
        name if is_identifier(name) => name.to_owned(),
        _ => "item".to_owned(),
    };
    while NAMES.contains(&name.as_str()) || taken(&name) {
        name.push('_');
    }
    name
}
