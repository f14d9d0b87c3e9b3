//! Parses `verify!` and `verify_all!`: the crate's path and `;`, what to verify, then `key = value`.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Path, Token};

use crate::args;
use crate::errors::Errors;
use crate::model::{Effort, VerifySubject, VerifyTest};
use crate::names;
use crate::source;

const KEYS: &[&str] = &["run", "setup", "cases", "seed", "sequences", "strict"];

/// Reads `verify!(tools::divide, cases = 1_000)`.
pub(crate) fn of_one(errors: &mut Errors, tokens: TokenStream) -> Option<VerifyTest> {
    read(errors, tokens, "`verify!`", |errors, input| {
        if input.is_empty() {
            let message = "`verify!` needs a tool; write `verify!(divide)`, or `verify_all!()` for the whole package";
            errors.at(Span::call_site(), message);
            return None;
        }
        let (expr, tokens) = ok(errors, source::expression(input))?;
        let path = Path::parse_mod_style
            .parse2(source::without_invisible_group(tokens))
            .ok();
        if path.is_none() {
            let message = "this is not the path of a tool; write `verify!(divide)` or `verify!(tools::divide)`";
            errors.on(expr, message);
        }
        path.map(VerifySubject::Tool)
    })
}

/// Reads `verify_all!()` and `verify_all!(registry!().context(store), cases = 1_000)`.
pub(crate) fn of_all(errors: &mut Errors, tokens: TokenStream) -> Option<VerifyTest> {
    read(errors, tokens, "`verify_all!`", |errors, input| {
        if input.is_empty() || is_key(input) {
            return Some(VerifySubject::Package);
        }
        let (_, tokens) = ok(errors, source::expression(input))?;
        Some(VerifySubject::Registry(tokens))
    })
}

fn read(
    errors: &mut Errors,
    tokens: TokenStream,
    owner: &str,
    subject: fn(&mut Errors, ParseStream<'_>) -> Option<VerifySubject>,
) -> Option<VerifyTest> {
    let parser = |input: ParseStream<'_>| {
        let krate = Path::parse_mod_style(input).unwrap_or_else(|_| names::default_crate());
        let _ = input.parse::<Token![;]>();
        let Some(subject) = subject(errors, input) else {
            input.parse::<TokenStream>()?;
            return Ok(None);
        };
        let package = matches!(subject, VerifySubject::Package);
        if !package && !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok(Some(VerifyTest {
            krate,
            subject,
            effort: effort(errors, input, owner),
        }))
    };
    let proof = parser.parse2(source::grouped(tokens));
    ok(errors, proof)?
}

fn effort(errors: &mut Errors, input: ParseStream<'_>, owner: &str) -> Effort {
    let mut effort = Effort::default();
    for entry in args::entries(errors, input) {
        match entry.name().as_str() {
            "run" => args::set(errors, &mut effort.run, &entry, args::flag),
            "setup" => args::set(errors, &mut effort.setup, &entry, args::setup),
            "cases" => args::set(errors, &mut effort.cases, &entry, |errors, entry| {
                args::any(errors, entry, "1_000")
            }),
            "seed" => args::set(errors, &mut effort.seed, &entry, |errors, entry| {
                args::any(errors, entry, "42")
            }),
            "sequences" => args::set(errors, &mut effort.sequences, &entry, |errors, entry| {
                args::any(errors, entry, "1_000")
            }),
            "strict" => args::set(errors, &mut effort.strict, &entry, args::flag),
            _ => args::unknown(errors, &entry, owner, KEYS),
        }
    }
    effort
}

/// `run`, `strict`, or any `key = ..`: a registry is none of them.
fn is_key(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let Ok(word) = ahead.call(Ident::parse_any) else {
        return false;
    };
    let valued = ahead.peek(Token![=]) && !ahead.peek(Token![==]);
    let is_flag = word == "run" || word == "strict";
    valued || (is_flag && (ahead.is_empty() || ahead.peek(Token![,])))
}

fn ok<T>(errors: &mut Errors, result: syn::Result<T>) -> Option<T> {
    result.map_err(|error| errors.add(error)).ok()
}
