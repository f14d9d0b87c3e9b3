//! Parses `contract_assert!`: the crate's path and `;`, then a condition, a format string, a policy.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, Path, Token};

use crate::args::{self, Entry};
use crate::errors::Errors;
use crate::facts::Facts;
use crate::model::{Assertion, Policy, Set};
use crate::names;
use crate::predicate;
use crate::source;

/// Reads one assertion.
pub(crate) fn parse(errors: &mut Errors, tokens: TokenStream) -> Option<Assertion> {
    let parser = |input: ParseStream<'_>| {
        let assertion = read(errors, input);
        if assertion.is_none() {
            input.parse::<TokenStream>()?;
        }
        Ok(assertion)
    };
    match parser.parse2(source::grouped(tokens)) {
        Ok(assertion) => assertion,
        Err(error) => {
            errors.add(error);
            None
        }
    }
}

fn read(errors: &mut Errors, input: ParseStream<'_>) -> Option<Assertion> {
    let krate = Path::parse_mod_style(input).unwrap_or_else(|_| names::default_crate());
    let _ = input.parse::<Token![;]>();
    if input.is_empty() {
        let message = "an assertion needs a condition; write `contract_assert!(total >= 0)`";
        errors.at(Span::call_site(), message);
        return None;
    }
    let (expr, condition) = errors.ok(source::expression(input))?;
    if let Expr::Lit(ExprLit {
        lit: Lit::Str(message),
        ..
    }) = args::ungrouped(&expr)
    {
        let advice = "write `contract_assert!(total >= 0, \"..\")`";
        errors.on(
            message,
            format_args!("the condition comes first, then the message; {advice}"),
        );
        return None;
    }
    let instead = "await the value before, and name it here";
    predicate::check(errors, &expr, instead);
    if let Some(span) = Facts::of(&expr).olds.first() {
        errors.at(
            *span,
            "`old(..)` belongs to a postcondition; keep the earlier value in a variable",
        );
    }
    let mut arguments = arguments(errors, input)?;
    let policy = take_policy(errors, &mut arguments);
    let format = format(errors, arguments);
    let text = source::text(&condition);
    Some(Assertion {
        krate,
        condition,
        text,
        format,
        policy,
        span: expr.span(),
    })
}

/// One argument behind the condition.
struct Argument {
    key: Option<Ident>,
    expr: Expr,
    value: TokenStream,
}

fn arguments(errors: &mut Errors, input: ParseStream<'_>) -> Option<Vec<Argument>> {
    let mut arguments = Vec::new();
    while !input.is_empty() {
        errors.ok(input.parse::<Token![,]>())?;
        if input.is_empty() {
            break;
        }
        let ahead = input.fork();
        let keyed = ahead.call(Ident::parse_any).is_ok()
            && ahead.peek(Token![=])
            && !ahead.peek(Token![==]);
        let key = if keyed {
            let key = errors.ok(input.call(Ident::parse_any))?;
            errors.ok(input.parse::<Token![=]>())?;
            Some(key)
        } else {
            None
        };
        let (expr, value) = errors.ok(source::expression(input))?;
        arguments.push(Argument { key, expr, value });
    }
    Some(arguments)
}

/// `policy = ..` is ours wherever it stands, so that it is never taken for a format argument.
fn take_policy(errors: &mut Errors, arguments: &mut Vec<Argument>) -> Option<Set<Policy>> {
    let mut policy = None;
    let last = arguments.len().checked_sub(1);
    let mut at = 0;
    arguments.retain(|argument| {
        let index = at;
        at += 1;
        let Some(key) = argument.key.as_ref().filter(|key| *key == "policy") else {
            return true;
        };
        let entry = Entry {
            key: key.clone(),
            value: Some((argument.expr.clone(), argument.value.clone())),
            behind: Vec::new(),
        };
        args::set(errors, &mut policy, &entry, args::policy);
        if policy.is_some() && Some(index) != last {
            errors.at(
                key.span(),
                "`policy = ..` comes last, after the message and its arguments",
            );
        }
        false
    });
    policy
}

fn format(errors: &mut Errors, arguments: Vec<Argument>) -> Option<TokenStream> {
    let mut arguments = arguments.into_iter();
    let first = arguments.next()?;
    let literal = match (&first.key, args::ungrouped(&first.expr)) {
        (
            None,
            Expr::Lit(ExprLit {
                lit: Lit::Str(_), ..
            }),
        ) => first.value,
        (Some(key), _) => {
            errors.at(
                key.span(),
                format_args!(
                    "unknown argument `{key}`; after the condition comes a message or `policy = ..`"
                ),
            );
            return None;
        }
        (None, other) => {
            errors.on(
                other,
                "a message is a string literal; write `\"{}\", value` to show a value",
            );
            return None;
        }
    };
    let arguments = arguments.map(|Argument { key, value, .. }| match key {
        Some(key) => quote::quote!(#key = #value),
        None => value,
    });
    Some(quote::quote!(#literal #(, #arguments)*))
}
