//! The location of a value in the arguments, and whether it is present.

use super::cel::Cel;
use crate::contract::type_kind::TypeKind;
use crate::schema::lower::Subject;

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

/// A value that a rule can speak of.
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
