//! Parses a parameter: its pattern, its type and its helper attributes.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, LitStr, Meta, Pat, PatType};

use crate::args::{self, nearest};
use crate::describe;
use crate::errors::Errors;
use crate::facts::bindings;
use crate::model::{Description, Name, Param, Role, Set};
use crate::names;
use crate::source;

const ARG_KEYS: &str = "default name example secret";

/// Reads the parameter at `index`. Only the parameters of a tool take helper attributes.
pub(crate) fn parse(errors: &mut Errors, typed: &PatType, index: usize, is_tool: bool) -> Param {
    let mut attrs = typed.attrs.clone();
    let helpers: Vec<Attribute> = attrs.extract_if(.., |attr| is_ours(attr)).collect();
    let docs = attrs.extract_if(.., |attr| attr.path().is_ident("doc"));
    let docs = documented(errors, &docs.collect::<Vec<_>>());
    let cfgs = attrs.extract_if(.., |attr| attr.path().is_ident("cfg"));
    let cfgs = cfgs.collect();
    let (ident, pattern, mutable) = name(&typed.pat, index);
    let (rename, role) = helped(errors, &helpers, is_tool);
    let name = Name::new(rename, &ident);
    Param {
        name: name.text,
        name_span: name.span,
        bindings: bindings(&typed.pat),
        ident,
        pattern,
        mutable,
        ty: (*typed.ty).clone(),
        docs,
        cfgs,
        attrs,
        role,
    }
}

/// `#[arg(..)]` and `#[context]`.
pub(crate) fn is_helper(attr: &Attribute) -> bool {
    attr.path().is_ident("arg") || attr.path().is_ident("context")
}

/// Whether an attribute of a parameter is a helper attribute, or a mistake for one.
pub(crate) fn is_ours(attr: &Attribute) -> bool {
    is_helper(attr) || misplaced(attr).is_some()
}

/// What to write instead of an attribute that parameters do not have.
fn misplaced(attr: &Attribute) -> Option<String> {
    let word = attr.path().get_ident()?.to_string();
    let meant = match word.as_str() {
        "arg" | "context" => return None,
        "pre" | "post" => {
            return Some(format!(
                "a condition belongs above the function; write `#[{word}(..)]` there"
            ));
        }
        key if ARG_KEYS.split(' ').any(|known| key == known) => {
            let meta = source::text(&attr.meta.to_token_stream());
            return Some(format!(
                "`{key}` is an argument of `#[arg(..)]`; write `#[arg({meta})]`"
            ));
        }
        "ctx" => "context",
        "tool" | "param" | "params" => "arg",
        _ => nearest(&word, &["arg", "context"])?,
    };
    Some(format!(
        "unknown attribute `{word}`; did you mean `{meant}`?"
    ))
}

/// What to write instead of a key that `#[arg(..)]` does not have.
fn elsewhere(key: &str) -> Option<&'static str> {
    match key {
        "description" | "desc" | "doc" | "help" => {
            Some("an argument is described by a `///` comment above it")
        }
        "min" | "max" | "minimum" | "maximum" | "range" | "length" | "pattern" | "regex" => Some(
            "a constraint on an argument is a precondition; write `#[pre(..)]` above the function",
        ),
        "optional" | "required" => Some(
            "an argument is optional if its type is an `Option` or it has a `default`; write one of them, or remove this",
        ),
        _ => None,
    }
}

fn name(pattern: &Pat, index: usize) -> (Ident, Option<Pat>, bool) {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
            (name.ident.clone(), None, name.mutability.is_some())
        }
        other => {
            let place = Span::mixed_site().located_at(other.span());
            let ident = Ident::new(&names::local("arg", index), place);
            (ident, Some(other.clone()), false)
        }
    }
}

fn documented(errors: &mut Errors, docs: &[Attribute]) -> Option<String> {
    match describe::from_docs(docs) {
        Description::Text(text) => (!text.is_empty()).then_some(text),
        Description::Parts(parts) => {
            let message =
                "the description of an argument is plain text; write it as a `///` comment";
            for part in parts {
                if describe::literal(&part).is_none() {
                    errors.on(part, message);
                }
            }
            None
        }
    }
}

fn helped(
    errors: &mut Errors,
    helpers: &[Attribute],
    is_tool: bool,
) -> (Option<Set<LitStr>>, Role) {
    let (mut rename, mut default, mut secret) = (None, None, None);
    let (mut examples, mut context, mut argument) = (Vec::new(), false, None);
    for attr in helpers {
        let is_context = attr.path().is_ident("context");
        if let Some(message) = misplaced(attr) {
            errors.on(attr.path(), message);
        } else if !is_tool {
            let word = if is_context { "context" } else { "arg(..)" };
            let advice = "add `#[tool]` above the function, or remove this";
            let message = format!("only a tool has `#[{word}]`; {advice}");
            errors.on(attr.path(), message);
        } else if is_context {
            if !matches!(attr.meta, Meta::Path(_)) {
                let message =
                    "`#[context]` takes no arguments; the parameter's type says what is meant";
                errors.on(attr, message);
            }
            if context {
                errors.on(attr.path(), "`#[context]` is given twice");
            }
            context = true;
        } else {
            argument.get_or_insert(attr);
            let Ok(list) = attr.meta.require_list() else {
                let message =
                    "`#[arg]` takes its arguments in parentheses; write `#[arg(default = ..)]`";
                errors.on(attr, message);
                continue;
            };
            for entry in args::parse(errors, source::grouped(list.tokens.clone())) {
                let key = entry.name();
                match key.as_str() {
                    "name" => args::set(errors, &mut rename, &entry, |errors, entry| {
                        args::string(errors, entry, "\"type\"")
                    }),
                    "default" => args::set(errors, &mut default, &entry, |errors, entry| {
                        args::value(errors, entry, "50")
                    }),
                    "secret" => args::set(errors, &mut secret, &entry, args::flag),
                    "example" => examples.extend(args::value(errors, &entry, "\"Berlin\"")),
                    _ => match elsewhere(&key) {
                        Some(message) => errors.at(entry.span(), message),
                        None => args::unknown(errors, &entry, "`#[arg]`", ARG_KEYS),
                    },
                }
            }
        }
    }
    if let (true, Some(argument)) = (context, argument) {
        let message = "a context parameter is filled by the program and never shown to the model; remove `#[arg(..)]` or `#[context]`";
        errors.on(argument, message);
    }
    if context {
        return (None, Role::Context);
    }
    let argument = Role::Argument {
        default: default.map(|default: Set<Expr>| default.value),
        examples,
        secret: secret.is_some_and(|secret: Set<bool>| secret.value),
    };
    (rename, argument)
}
