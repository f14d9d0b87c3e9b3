//! Reads types by their spelling. A guess is never published: where it matters, the compiler has the last word.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericArgument, PathArguments, Type, TypeReference};

/// The primitive types a named constant can have in a constant expression.
const PRIMITIVES: &str = "u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool";

/// Types whose `len()` is a `usize`.
const COUNTED: &str = "String str Vec VecDeque HashMap BTreeMap HashSet BTreeSet Cow";

/// Other types with too many values to ask about each.
const MANY: &str = "char Path PathBuf Value Duration";

/// Containers that own their items. Nothing is known about types of other names.
const CONTAINERS: &str = "Option Vec VecDeque HashMap BTreeMap HashSet BTreeSet Box";

fn is_one_of(words: &str, name: &str) -> bool {
    words.split(' ').any(|word| word == name)
}

/// The type without parentheses and the invisible groups of `macro_rules!`.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        _ => ty,
    }
}

/// The type behind all references.
pub(crate) fn pointee(ty: &Type) -> &Type {
    match bare(ty) {
        Type::Reference(reference) => pointee(&reference.elem),
        other => other,
    }
}

/// The last name of a path and the types in its angle brackets.
pub(crate) fn applied(ty: &Type) -> Option<(String, Vec<&Type>)> {
    let Type::Path(path) = bare(ty) else {
        return None;
    };
    let last = path.path.segments.last().filter(|_| path.qself.is_none())?;
    let types = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            let types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.collect()
        }
        _ => Vec::new(),
    };
    Some((last.ident.to_string(), types))
}

/// What an `Option` is of.
pub(crate) fn optional(ty: &Type) -> Option<&Type> {
    let (owner, types) = applied(ty)?;
    let inner = types.first().filter(|_| owner == "Option");
    inner.map(|ty| bare(ty))
}

/// The reference that a type is, or is an `Option` of.
pub(crate) fn lent(ty: &Type) -> Option<&TypeReference> {
    match bare(optional(ty).unwrap_or(ty)) {
        Type::Reference(reference) => Some(reference),
        _ => None,
    }
}

/// The name of a type that is spelled as a primitive.
pub(crate) fn primitive(ty: &Type) -> Option<&'static str> {
    let Type::Path(path) = pointee(ty) else {
        return None;
    };
    let mut primitives = PRIMITIVES.split(' ');
    primitives.find(|primitive| path.path.is_ident(primitive))
}

/// Whether this is a `bool`, perhaps optional.
pub(crate) fn is_bool(ty: &Type) -> bool {
    let ty = pointee(ty);
    primitive(optional(ty).unwrap_or(ty)) == Some("bool")
}

/// Whether the `len()` of a type is a `usize`.
pub(crate) fn is_counted(ty: &Type) -> bool {
    match (pointee(ty), applied(pointee(ty))) {
        (Type::Slice(_) | Type::Array(_), _) => true,
        (_, Some((name, types))) => match (name.as_str(), types.first()) {
            ("Box" | "Arc" | "Option", Some(inner)) => is_counted(inner),
            (name, _) => is_one_of(COUNTED, name),
        },
        _ => false,
    }
}

/// The type of the items of a list, or of the value of an optional.
pub(crate) fn element(ty: &Type) -> Option<&Type> {
    let (name, types) = match pointee(ty) {
        Type::Slice(slice) => return Some(&slice.elem),
        Type::Array(array) => return Some(&array.elem),
        other => applied(other)?,
    };
    let inner = types.first()?;
    match name.as_str() {
        "Vec" | "VecDeque" | "Option" => Some(inner),
        "Box" | "Arc" | "Cow" => element(inner),
        _ => None,
    }
}

/// Whether values of this type might be few enough to ask about each: not where the spelling says otherwise.
pub(crate) fn may_be_finite(ty: &Type) -> bool {
    let Some((name, types)) = applied(pointee(ty)) else {
        return false;
    };
    match (name.as_str(), types.first()) {
        ("Option" | "Box" | "Arc", Some(inner)) => may_be_finite(inner),
        ("bool", _) => true,
        (name, _) => ![COUNTED, MANY, PRIMITIVES]
            .iter()
            .any(|words| is_one_of(words, name)),
    }
}

/// The types of the items of a container.
pub(crate) fn items(ty: &Type) -> Vec<&Type> {
    match (bare(ty), applied(ty)) {
        (Type::Slice(slice), _) => vec![&*slice.elem],
        (Type::Array(array), _) => vec![&*array.elem],
        (Type::Tuple(tuple), _) => tuple.elems.iter().collect(),
        (_, Some((owner, types))) if is_one_of(CONTAINERS, &owner) => types,
        _ => Vec::new(),
    }
}

/// Whether a value of `ty` holds values of the type parameter `name`.
pub(crate) fn holds(ty: &Type, name: &Ident) -> bool {
    match (pointee(ty), applied(pointee(ty))) {
        (Type::Path(path), _) if path.path.is_ident(name) => true,
        (_, Some((owner, types))) if owner == "Result" => {
            types.first().is_some_and(|ty| holds(ty, name))
        }
        (ty, _) => items(ty).into_iter().any(|item| holds(item, name)),
    }
}

/// Looks for a keyword anywhere in a type: `Option<impl Into<String>>`.
pub(crate) fn find_word(tokens: TokenStream, wanted: &str) -> Option<Ident> {
    tokens.into_iter().find_map(|tree| match tree {
        TokenTree::Group(group) => find_word(group.stream(), wanted),
        TokenTree::Ident(word) => (word == wanted).then_some(word),
        _ => None,
    })
}

pub(crate) fn holds_impl(ty: impl ToTokens) -> bool {
    find_word(ty.into_token_stream(), "impl").is_some()
}
