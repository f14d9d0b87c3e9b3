//! Rules for argument types: nothing inside a decoded value can be borrowed.

use quote::ToTokens;
use syn::{GenericArgument, PathArguments, Type, TypePath, TypeReference};

use super::arguments::{generics, lent};
use super::bare;
use crate::errors::Errors;
use crate::model::{Param, Role};
use crate::source;

pub(super) fn owned_inside(errors: &mut Errors, param: &Param) {
    if matches!(param.role, Role::Context) {
        return;
    }
    let whole = bare(lent(&param.ty).map_or(&param.ty, |reference| &reference.elem));
    if let Type::Reference(second) = whole {
        let inner = source::text(&innermost(second).to_token_stream());
        errors.on(
            second,
            format_args!("an argument is borrowed once; write `{inner}` here"),
        );
        return;
    }
    match borrowed(whole) {
        Some(Type::Reference(reference)) => {
            let owned = owned(innermost(reference));
            let message = format!("an argument owns what is inside it; write `{owned}` here");
            errors.on(reference, message);
        }
        Some(Type::Path(path)) => {
            let message = "an argument owns what is inside it; let the fields own theirs, such as a `String` for a `&str`, and leave the lifetime out";
            errors.on(path, message);
        }
        _ => {}
    }
}

/// What all references of `&&str` refer to.
fn innermost(reference: &TypeReference) -> &Type {
    match bare(&reference.elem) {
        Type::Reference(inner) => innermost(inner),
        ty => ty,
    }
}

pub(super) fn owned(ty: &Type) -> String {
    let written = source::text(&ty.to_token_stream());
    match ty {
        Type::Slice(slice) => format!("Vec<{}>", source::text(&slice.elem.to_token_stream())),
        _ if written == "str" => String::from("String"),
        _ if written == "Path" => String::from("PathBuf"),
        _ => written,
    }
}

/// Containers that own their items; of a type of another name nothing is known.
const CONTAINERS: &[&str] = &[
    "Option", "Vec", "VecDeque", "HashMap", "BTreeMap", "HashSet", "BTreeSet", "Box",
];

/// The types of what a container owns.
fn items(ty: &Type) -> Vec<&Type> {
    match bare(ty) {
        Type::Slice(slice) => vec![&*slice.elem],
        Type::Array(array) => vec![&*array.elem],
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        ty => match generics(ty) {
            Some((owner, types)) if CONTAINERS.iter().any(|name| owner == name) => types,
            _ => Vec::new(),
        },
    }
}

/// A reference below `ty`, or a type with a lifetime, `ty` itself among them.
fn borrowed(ty: &Type) -> Option<&Type> {
    if let Type::Path(path) = bare(ty)
        && has_lifetime(path)
    {
        return Some(bare(ty));
    }
    items(ty).into_iter().find_map(|item| match bare(item) {
        reference @ Type::Reference(_) => Some(reference),
        item => borrowed(item),
    })
}

/// `Args<'_>`; a `Cow<'_, str>` can own what it has.
fn has_lifetime(path: &TypePath) -> bool {
    let last = path.path.segments.last();
    last.is_some_and(|last| match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            last.ident != "Cow" && arguments.args.iter().any(is_lifetime)
        }
        _ => false,
    })
}

fn is_lifetime(argument: &GenericArgument) -> bool {
    matches!(argument, GenericArgument::Lifetime(_))
}

/// Whether a value of `ty` holds values of the type parameter `name`, as far as spelling tells.
pub(super) fn holds(ty: &Type, name: &syn::Ident) -> bool {
    match bare(ty) {
        Type::Reference(reference) => holds(&reference.elem, name),
        Type::Path(path) if path.path.is_ident(name) => true,
        ty => match generics(ty) {
            Some((owner, types)) if owner == "Result" => {
                types.first().is_some_and(|ty| holds(ty, name))
            }
            _ => items(ty).into_iter().any(|item| holds(item, name)),
        },
    }
}
