//! The rules of one parameter, and of all of them together.

use quote::ToTokens;
use syn::{Pat, Type};

use super::{LONGEST_NAME, bare, holds_impl, is_name};
use crate::errors::Errors;
use crate::model::{Param, Role, Tool};
use crate::predicate;
use crate::source;

pub(super) fn plainly_named(errors: &mut Errors, param: &Param) {
    let Some(pattern) = &param.pattern else {
        return;
    };
    let ty = source::text(&param.ty.to_token_stream());
    let name = suggested(&param.ty);
    let message = match (&param.role, pattern) {
        (Role::Context, _) => {
            format!("a context parameter needs a plain name; write `{name}: {ty}`")
        }
        (Role::Argument { .. }, Pat::Wild(_)) => {
            format!(
                "an argument needs a plain name, which the model will see; write `{name}: {ty}`"
            )
        }
        (Role::Argument { .. }, _) => format!(
            "an argument needs a plain name, which the model will see; write `{name}: {ty}` and take it apart in the body"
        ),
    };
    errors.on(pattern, message);
}

/// A name for a parameter that has none, from its type.
fn suggested(ty: &Type) -> String {
    let word = match bare(ty) {
        Type::Tuple(_) => return String::from("point"),
        Type::Reference(reference) => return suggested(&reference.elem),
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string()),
        _ => None,
    };
    let own = word.filter(|word| {
        word.starts_with(char::is_uppercase)
            && !matches!(word.as_str(), "Option" | "Vec" | "String" | "Self")
    });
    let Some(own) = own else {
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

pub(super) fn named_for_the_model(errors: &mut Errors, param: &Param) {
    if matches!(param.role, Role::Context) || param.pattern.is_some() {
        return;
    }
    let name = param.name.as_str();
    let advice = "ASCII letters, digits and `_`, beginning with a letter or `_`";
    let message = if name.is_empty() {
        format!("the name of an argument cannot be empty; use {advice}")
    } else if name.chars().count() > LONGEST_NAME {
        format!(
            "this argument's name has {} characters; not every model accepts more than {LONGEST_NAME}",
            name.chars().count()
        )
    } else if is_name(name, false) {
        return;
    } else if param.ident == name {
        format!(
            "`{name}` is not an argument name every model accepts; add `#[arg(name = \"..\")]` with {advice}"
        )
    } else {
        format!("`{name}` is not an argument name every model accepts; use {advice}")
    };
    errors.at(param.name_span, message);
}

pub(super) fn owned_or_shared(errors: &mut Errors, param: &Param) {
    let Type::Reference(reference) = bare(&param.ty) else {
        return;
    };
    if reference.mutability.is_none() {
        return;
    }
    let inner = source::text(&reference.elem.to_token_stream());
    let message = match param.role {
        Role::Context => format!(
            "a context parameter is shared between calls; write `&{inner}`, with a `Mutex` around what changes"
        ),
        Role::Argument { .. } => format!(
            "an argument cannot be `&mut`, because nobody would see the change; take `mut {}: {inner}` and return it",
            param.name
        ),
    };
    errors.on(&param.ty, message);
}

pub(super) fn type_known(errors: &mut Errors, param: &Param) {
    if matches!(param.role, Role::Context) {
        return;
    }
    let ty = bare(&param.ty);
    let pointee = match ty {
        Type::Reference(reference) => bare(&reference.elem),
        _ => ty,
    };
    if holds_impl(ty) {
        errors.on(ty, "an argument cannot be `impl Trait`, because its schema needs a concrete type; write the type");
    } else if matches!(pointee, Type::TraitObject(_)) {
        errors.on(ty, "an argument cannot be `dyn Trait`, because its schema needs a concrete type; write the type");
    }
}

pub(super) fn names_differ(errors: &mut Errors, tool: &Tool) {
    let is_argument =
        |param: &&Param| matches!(param.role, Role::Argument { .. }) && param.pattern.is_none();
    let params: Vec<&Param> = tool.function.params.iter().filter(is_argument).collect();
    for (index, param) in params.iter().enumerate() {
        let same = |other: &&&Param| {
            other.name == param.name && (other.cfgs.is_empty() || param.cfgs.is_empty())
        };
        // Two equal names in the source are the compiler's to report.
        if params
            .iter()
            .take(index)
            .find(same)
            .is_some_and(|other| other.ident != param.ident)
        {
            errors.at(
                param.name_span,
                format_args!(
                    "two arguments are called `{}`; give one another name",
                    param.name
                ),
            );
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
    if let Some(word) = predicate::outside_variable(default.to_token_stream(), params) {
        errors.on(
            &word,
            format_args!(
                "a default cannot look at `{word}`, because it is shown to the model before there are arguments; write `Option<..>` and choose in the body"
            ),
        );
    }
}
