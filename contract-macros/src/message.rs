//! Parses messages: string literals that show parameters by name and expressions by position, as `format!` does.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use syn::parse::ParseStream;
use syn::{Expr, LitStr, Token};

use crate::args::listed;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::model::{Message, Param};
use crate::predicate::Mentions;
use crate::source;

/// What a message may name.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) params: &'a [Param],
    pub(crate) result: Option<&'a str>,
}

/// Reads `, expression` as often as it stands there, up to where something else stands behind the comma.
pub(crate) fn args(
    errors: &mut Errors,
    input: ParseStream<'_>,
    is_other: fn(ParseStream<'_>) -> bool,
) -> Vec<TokenStream> {
    let mut args = Vec::new();
    while input.peek(Token![,]) {
        let ahead = input.fork();
        let _ = ahead.parse::<Token![,]>();
        if ahead.is_empty() || is_other(&ahead) {
            break;
        }
        let _ = input.parse::<Token![,]>();
        match source::expression(input) {
            Ok((_, tokens)) => args.push(tokens),
            Err(error) => {
                errors.add(error);
                let _ = input.parse::<TokenStream>();
            }
        }
    }
    args
}

/// Checks a message against what it may show.
pub(crate) fn check(
    errors: &mut Errors,
    literal: LitStr,
    args: Vec<TokenStream>,
    known: Known<'_>,
) -> Option<Message> {
    let text = literal.value();
    if text.trim().is_empty() {
        errors.on(
            &literal,
            "an empty message says nothing; say what went wrong, or leave it out",
        );
        return None;
    }
    let mut placeholders = match placeholders(&text) {
        Ok(placeholders) => placeholders,
        Err(message) => {
            errors.on(&literal, message);
            return None;
        }
    };
    // How many there must be, the compiler says where they are formatted.
    if !args.is_empty() {
        placeholders.retain(|name| !is_position(name));
    }
    let mut fine = true;
    for name in &placeholders {
        let param = known
            .params
            .iter()
            .find(|param| param.bindings.contains(name));
        let problem = match param {
            Some(param) if param.is_secret() => is_secret(name),
            None if Some(name.as_str()) != known.result => unknown(name, known),
            _ => continue,
        };
        errors.on(&literal, problem);
        fine = false;
    }
    for arg in &args {
        let mentions = Mentions::of(&Facts::of_tokens(arg).names, known.params);
        let named = mentions.params.iter();
        let mut named = named.filter_map(|&index| known.params.get(index));
        if let Some(secret) = named.find(|param| param.is_secret()) {
            errors.on(arg, is_secret(&secret.ident.to_string()));
            fine = false;
        }
    }
    fine.then_some(Message {
        literal,
        placeholders,
        args,
        shows_result: false,
        from_model: Vec::new(),
    })
}

impl Message {
    /// The names that it shows or computes with.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let args = self.args.iter().flat_map(|arg| Facts::of_tokens(arg).names);
        args.chain(self.placeholders.iter().cloned()).collect()
    }
}

fn is_position(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_secret(name: &str) -> String {
    format!("`{name}` is secret, and this message would show it; leave it out")
}

fn unknown(name: &str, known: Known<'_>) -> String {
    if is_position(name) {
        return format!(
            "`{{{name}}}` has nothing to show; name a parameter in the braces, or write a value after the message"
        );
    }
    if syn::parse_str::<Ident>(name).is_err() && syn::parse_str::<Expr>(name).is_ok() {
        return format!(
            "`{{{name}}}` is an expression, and braces take a name; write `{{}}`, and `{name}` after the message"
        );
    }
    let shown = known
        .params
        .iter()
        .filter(|param| !param.is_secret())
        .flat_map(|param| param.bindings.iter());
    let known: Vec<&str> = shown.map(String::as_str).chain(known.result).collect();
    if known.is_empty() {
        return format!("`{{{name}}}` names no parameter; write `{{{{` and `}}}}` for braces");
    }
    format!(
        "`{{{name}}}` names no parameter; a message here can show {}",
        listed(&known)
    )
}

/// The names shown by a format string, in order of first appearance; a name in width or precision counts.
pub(crate) fn placeholders(text: &str) -> Result<Vec<String>, &'static str> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let brace = &rest[at..];
        if brace.starts_with("{{") || brace.starts_with("}}") {
            rest = &brace[2..];
            continue;
        }
        if brace.starts_with('}') {
            return Err("this message closes a `}` it never opened; write `}}` for a brace");
        }
        let Some(end) = brace.find('}') else {
            return Err("this message opens a `{` it never closes; write `{{` for a brace");
        };
        let inside = &brace[1..end];
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        add(name.trim());
        for counted in format.split('$').rev().skip(1) {
            let start = counted.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_');
            add(counted
                .get(start.map_or(0, |start| start + 1)..)
                .unwrap_or(counted));
        }
        rest = &brace[end + 1..];
    }
    Ok(names)
}
