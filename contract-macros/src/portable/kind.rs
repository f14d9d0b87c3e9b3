//! Guesses types from their spelling, for constants and native tests; a guess is never published.

use syn::{Expr, GenericArgument, Path, PathArguments, Type, TypePath};

use super::Reader;
use super::operand::plain;
use crate::model::KindSource;

/// The primitive types a named constant can have in a constant expression.
const PRIMITIVES: [&str; 15] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32",
    "f64", "bool",
];

/// Types with too many values to ask about each.
const MANY: [&str; 14] = [
    "char", "String", "str", "Path", "PathBuf", "Vec", "VecDeque", "HashMap", "BTreeMap",
    "HashSet", "BTreeSet", "Value", "Duration", "Cow",
];

/// Types whose `len()` is a `usize`.
const COUNTED: [&str; 9] = [
    "String", "str", "Vec", "VecDeque", "HashMap", "BTreeMap", "HashSet", "BTreeSet", "Cow",
];

/// The type behind references, parentheses and invisible groups.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Reference(reference) => bare(&reference.elem),
        Type::Paren(paren) => bare(&paren.elem),
        Type::Group(group) => bare(&group.elem),
        other => other,
    }
}

fn path(ty: &Type) -> Option<&Path> {
    match bare(ty) {
        Type::Path(TypePath {
            qself: None, path, ..
        }) => Some(path),
        _ => None,
    }
}

/// `Name<First, ..>` as its last name and its first type.
fn applied(ty: &Type) -> Option<(String, Option<&Type>)> {
    let last = path(ty)?.segments.last()?;
    let first = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
        }
        _ => None,
    };
    Some((last.ident.to_string(), first))
}

/// The name of a type that is spelled as a primitive.
pub(super) fn primitive(ty: &Type) -> Option<&'static str> {
    let name = path(ty)?.get_ident()?;
    PRIMITIVES.into_iter().find(|primitive| name == primitive)
}

fn is_counted(ty: &Type) -> bool {
    match bare(ty) {
        Type::Slice(_) | Type::Array(_) => true,
        _ => applied(ty).is_some_and(|(name, inner)| match (name.as_str(), inner) {
            ("Box" | "Arc" | "Option", Some(inner)) => is_counted(inner),
            (name, _) => COUNTED.contains(&name),
        }),
    }
}

/// What a list holds, or an optional.
fn element(ty: &Type) -> Option<&Type> {
    match bare(ty) {
        Type::Slice(slice) => Some(&slice.elem),
        Type::Array(array) => Some(&array.elem),
        _ => match applied(ty)? {
            (name, Some(inner)) if matches!(name.as_str(), "Vec" | "VecDeque" | "Option") => {
                Some(inner)
            }
            (name, Some(inner)) if matches!(name.as_str(), "Box" | "Arc" | "Cow") => element(inner),
            _ => None,
        },
    }
}

/// Whether values of this type might be few enough to ask about each: not where the spelling says otherwise.
pub(super) fn may_be_finite(ty: &Type) -> bool {
    match applied(ty) {
        Some((name, Some(inner))) if matches!(name.as_str(), "Option" | "Box" | "Arc") => {
            may_be_finite(inner)
        }
        Some((name, _)) => {
            let numbers = PRIMITIVES.iter().filter(|name| **name != "bool");
            !MANY.iter().chain(numbers).any(|many| name == *many)
        }
        None => false,
    }
}

/// Whether the spelling alone says that a type is a `bool`, perhaps optional.
pub(super) fn is_bool(ty: &Type) -> bool {
    primitive(ty) == Some("bool")
        || matches!(applied(ty), Some((name, Some(inner))) if name == "Option" && is_bool(inner))
}

impl Reader<'_> {
    /// The primitive type that an expression is spelled to have.
    pub(super) fn spelled(&self, expr: &Expr) -> Option<&'static str> {
        match plain(expr) {
            Expr::MethodCall(call) if call.args.is_empty() => {
                let name = call.method.to_string();
                match name.as_str() {
                    "len" if self.type_of(&call.receiver).is_some_and(is_counted) => Some("usize"),
                    "count" => Some("usize"),
                    _ => self.type_of(expr).and_then(primitive),
                }
            }
            Expr::Binary(binary) if super::is_arithmetic(&binary.op) => {
                self.arithmetic(&binary.left, &binary.right)
            }
            Expr::Unary(unary) => self.spelled(&unary.expr),
            other => self.type_of(other).and_then(primitive),
        }
    }

    /// The type of a sum; a factor of another type than the number's makes a product of another type, so both must be known.
    fn arithmetic(&self, left: &Expr, right: &Expr) -> Option<&'static str> {
        let is_literal = |side: &Expr| matches!(plain(side), Expr::Lit(_));
        match (self.spelled(left), self.spelled(right)) {
            (Some(kind), Some(_)) => Some(kind),
            (Some(kind), None) if is_literal(right) => Some(kind),
            (None, Some(kind)) if is_literal(left) => Some(kind),
            _ => None,
        }
    }

    /// Where the compiler finds the type of an expression.
    pub(super) fn kind_source(&self, expr: &Expr) -> Option<KindSource> {
        match plain(expr) {
            Expr::Path(path) => {
                let bound = path.path.get_ident().and_then(|name| self.variable(name));
                match bound {
                    Some(variable) => variable.kind.clone(),
                    None => self.parameter(expr).map(KindSource::Parameter),
                }
            }
            Expr::MethodCall(call) if super::method::is_view(call) => {
                self.kind_source(&call.receiver)
            }
            Expr::MethodCall(call) if call.args.is_empty() && call.method == "len" => {
                let counted = self.kind_source(&call.receiver)?;
                Some(KindSource::Count(Box::new(counted)))
            }
            Expr::MethodCall(call) if call.args.is_empty() && call.method == "count" => {
                let Expr::MethodCall(items) = plain(&call.receiver) else {
                    return None;
                };
                let counted = self.kind_source(&items.receiver)?;
                Some(KindSource::Count(Box::new(counted)))
            }
            Expr::Cast(cast) if super::widened::is_named(&cast.ty) => {
                Some(KindSource::Type(cast.ty.clone()))
            }
            _ => None,
        }
    }

    /// The written type of a parameter or of what a closure is given.
    fn type_of(&self, expr: &Expr) -> Option<&Type> {
        match plain(expr) {
            Expr::Path(path) => {
                let bound = path.path.get_ident().and_then(|name| self.variable(name));
                match bound {
                    Some(variable) => variable.ty.as_ref(),
                    None => self.param(expr).map(|param| &param.ty),
                }
            }
            Expr::MethodCall(call) if super::method::is_view(call) => self.type_of(&call.receiver),
            _ => None,
        }
    }

    /// The written type of the items of an expression.
    pub(super) fn element_of(&self, expr: &Expr) -> Option<Type> {
        self.type_of(expr).and_then(element).cloned()
    }
}
