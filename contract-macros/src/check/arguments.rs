//! Rules for a tool's parameters.

use quote::ToTokens;
use syn::{GenericArgument, Pat, PathArguments, Type};

use crate::errors::Errors;
use crate::facts::Facts;
use crate::model::{Param, Role, Tool};
use crate::source;
use crate::spelling::{applied, bare, holds_impl, items, lent, optional, pointee};

pub(super) fn plainly_named(errors: &mut Errors, param: &Param) {
    let Some(pattern) = &param.pattern else {
        return;
    };
    let ty = source::text(&param.ty.to_token_stream());
    let name = suggested(&param.ty);
    let what = match param.role {
        Role::Context => "a context parameter needs a plain name",
        Role::Argument { .. } => "an argument needs a plain name, which the model will see",
    };
    let is_taken_apart = param.is_argument() && !matches!(pattern, Pat::Wild(_));
    let rest = if is_taken_apart {
        " and take it apart in the body"
    } else {
        ""
    };
    errors.on(pattern, format_args!("{what}; write `{name}: {ty}`{rest}"));
}

/// A name for a parameter that has none, from its type.
fn suggested(ty: &Type) -> String {
    let word = match bare(ty) {
        Type::Tuple(_) => return String::from("point"),
        Type::Reference(reference) => return suggested(&reference.elem),
        ty => applied(ty).map(|(name, _)| name),
    };
    let is_own = |word: &String| {
        let known = matches!(word.as_str(), "Option" | "Vec" | "String" | "Self");
        word.starts_with(char::is_uppercase) && !known
    };
    let Some(own) = word.filter(is_own) else {
        return String::from("value");
    };
    let mut name = String::new();
    for letter in own.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

pub(super) fn owned_or_shared(errors: &mut Errors, param: &Param) {
    let Some(reference) = lent(&param.ty).filter(|reference| reference.mutability.is_some()) else {
        return;
    };
    let written = |ty: String| match optional(&param.ty) {
        Some(_) => format!("Option<{ty}>"),
        None => ty,
    };
    let inner = source::text(&reference.elem.to_token_stream());
    let message = match param.role {
        Role::Context => format!(
            "a context parameter is shared between calls; write `{}`, with a `Mutex` around what changes",
            written(format!("&{inner}"))
        ),
        Role::Argument { .. } => format!(
            "an argument cannot be `&mut`, because nobody would see the change; take `mut {}: {}` and return it",
            param.name,
            written(owned(&reference.elem))
        ),
    };
    errors.on(&param.ty, message);
}

pub(super) fn type_known(errors: &mut Errors, param: &Param) {
    let ty = bare(&param.ty);
    let pointee = lent(ty).map_or(ty, |reference| bare(&reference.elem));
    if matches!(param.role, Role::Context) {
        found_by_type(errors, ty, pointee);
    } else if holds_impl(ty) {
        errors.on(ty, "an argument cannot be `impl Trait`, because its schema needs a concrete type; write the type");
    } else if matches!(pointee, Type::TraitObject(_)) {
        errors.on(ty, "an argument cannot be `dyn Trait`, because its schema needs a concrete type; write the type");
    } else if is_unsized(ty) {
        let written = source::text(&ty.to_token_stream());
        let message = format!("an argument needs a sized type; write `&{written}`");
        errors.on(ty, message);
    }
}

/// A context value is looked up by its type, which must be sized.
fn found_by_type(errors: &mut Errors, ty: &Type, pointee: &Type) {
    let inner = optional(ty);
    let pointee = match applied(inner.unwrap_or(ty)) {
        Some((owner, types)) if owner == "Arc" => types.first().map_or(pointee, |ty| bare(ty)),
        _ => pointee,
    };
    let (why, owned) = match pointee {
        Type::ImplTrait(it) => {
            let bounds = source::text(&it.bounds.to_token_stream());
            ("cannot be `impl Trait`", format!("dyn {bounds}"))
        }
        ty if is_unsized(ty) => ("needs a sized type", source::text(&ty.to_token_stream())),
        _ => return,
    };
    let written = match inner {
        Some(_) => format!("Option<&Arc<{owned}>>"),
        None => format!("&Arc<{owned}>"),
    };
    let message = format!(
        "a context parameter {why}, because it is looked up by its type; give the registry an `Arc<{owned}>`, and write `{written}`"
    );
    errors.on(ty, message);
}

fn is_unsized(ty: &Type) -> bool {
    match ty {
        Type::TraitObject(_) | Type::Slice(_) => true,
        Type::Path(path) => path.path.is_ident("str"),
        _ => false,
    }
}

/// Refuses a borrowed parameter that outlives its call: a body borrows each argument for one call only.
pub(super) fn borrowed_for_the_call(errors: &mut Errors, param: &Param) {
    let Some(reference) = lent(&param.ty) else {
        return;
    };
    if matches!(&reference.lifetime, Some(lifetime) if lifetime.ident == "static") {
        let inner = source::text(&reference.elem.to_token_stream());
        let what = match param.role {
            Role::Context => "a context value",
            Role::Argument { .. } => "an argument",
        };
        let message = format!("{what} is borrowed for the duration of the call; write `&{inner}`");
        errors.on(reference, message);
    }
}

pub(super) fn names_differ(errors: &mut Errors, tool: &Tool) {
    let is_argument = |param: &&Param| param.is_argument() && param.pattern.is_none();
    let params: Vec<&Param> = tool.function.params.iter().filter(is_argument).collect();
    for (index, param) in params.iter().enumerate() {
        let same = |other: &&&Param| {
            other.name == param.name && (other.cfgs.is_empty() || param.cfgs.is_empty())
        };
        let first = params.iter().take(index).find(same);
        // Two equal names in the source are the compiler's to report.
        if first.is_some_and(|first| first.ident != param.ident) {
            let message = format!("two arguments are named `{}`; rename one", param.name);
            errors.at(param.name_span, message);
        }
    }
}

pub(super) fn default_stands_alone(errors: &mut Errors, param: &Param, params: &[Param]) {
    let Role::Argument {
        default: Some(default),
        ..
    } = &param.role
    else {
        return;
    };
    let mut variables = Facts::of(default).variables.into_iter();
    if let Some(word) = variables.find(|word| params.iter().any(|param| param.ident == *word)) {
        let message = format!(
            "a default cannot refer to `{word}`, because the model sees it before there are arguments; write `Option<..>` and choose in the body"
        );
        errors.on(&word, message);
    }
}

/// Nothing inside a decoded value can be borrowed.
pub(super) fn owned_inside(errors: &mut Errors, param: &Param) {
    if matches!(param.role, Role::Context) {
        return;
    }
    let whole = bare(lent(&param.ty).map_or(&param.ty, |reference| &reference.elem));
    if let Type::Reference(second) = whole {
        let inner = source::text(&pointee(&second.elem).to_token_stream());
        let message = format!("an argument is borrowed once; write `{inner}` here");
        errors.on(second, message);
        return;
    }
    match borrowed(whole) {
        Some(Type::Reference(reference)) => {
            let owned = owned(pointee(&reference.elem));
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

fn owned(ty: &Type) -> String {
    let written = source::text(&ty.to_token_stream());
    match ty {
        Type::Slice(slice) => format!("Vec<{}>", source::text(&slice.elem.to_token_stream())),
        _ if written == "str" => String::from("String"),
        _ if written == "Path" => String::from("PathBuf"),
        _ => written,
    }
}

/// Finds a reference inside `ty`, or a type with a lifetime, which may be `ty` itself.
fn borrowed(ty: &Type) -> Option<&Type> {
    let ty = bare(ty);
    if has_lifetime(ty) {
        return Some(ty);
    }
    items(ty).into_iter().find_map(|item| match bare(item) {
        reference @ Type::Reference(_) => Some(reference),
        item => borrowed(item),
    })
}

/// Whether a type has a lifetime, as `Args<'_>` does. A `Cow<'_, str>` may own its value.
fn has_lifetime(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last().filter(|last| last.ident != "Cow");
    matches!(last.map(|last| &last.arguments), Some(PathArguments::AngleBracketed(arguments))
        if arguments.args.iter().any(|argument| matches!(argument, GenericArgument::Lifetime(_))))
}
