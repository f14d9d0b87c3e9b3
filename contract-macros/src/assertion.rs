//! Parses `contract_assert!`: the crate's path and `;`, then a condition, a format string, a policy.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, Path, Token};

use crate::args;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::message::{self, Written};
use crate::model::Assertion;
use crate::names;
use crate::predicate;
use crate::source;

pub(crate) fn parse(errors: &mut Errors, tokens: TokenStream) -> Option<Assertion> {
    errors.read(source::grouped(tokens), read)
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
    if let Some(text) = source::literal_text(&expr) {
        let advice = "write `contract_assert!(total >= 0, \"..\")`";
        let message = format!("the condition comes first, then the message; {advice}");
        return errors.refuse(text, message);
    }
    predicate::check(errors, &expr, "await the value before, and name it here");
    if let Some(span) = Facts::of(&expr).olds.first() {
        let message = "`old(..)` belongs to a postcondition; keep the earlier value in a variable";
        errors.at(*span, message);
    }
    comma(errors, input)?;
    let mut format = None;
    if !input.is_empty() && !is_policy(input) {
        let Written { literal, args } = message::parse(errors, input, is_policy, not_a_message)?;
        format = Some(quote!(#literal #(, #args)*));
        comma(errors, input)?;
    }
    let mut policy = None;
    while is_policy(input) {
        let entry = errors.ok(args::entry(input))?;
        args::set(errors, &mut policy, &entry, args::policy);
        comma(errors, input)?;
        if !input.is_empty() && !is_policy(input) {
            let message = "`policy = ..` comes last, after the message and its arguments";
            errors.at(entry.span(), message);
            return None;
        }
    }
    Some(Assertion {
        krate,
        text: source::text(&condition),
        condition,
        format,
        policy,
        span: expr.span(),
    })
}

fn comma(errors: &mut Errors, input: ParseStream<'_>) -> Option<()> {
    if input.is_empty() {
        return Some(());
    }
    errors.ok(input.parse::<Token![,]>()).map(|_| ())
}

/// Whether `policy = ..` comes next. It is never an argument of the format string.
fn is_policy(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let word = ahead.parse::<syn::Ident>();
    word.is_ok_and(|word| word == "policy") && ahead.peek(Token![=]) && !ahead.peek(Token![==])
}

fn not_a_message(errors: &mut Errors, expr: &Expr) {
    if let Expr::Assign(keyed) = expr {
        let key = source::text(&quote::ToTokens::to_token_stream(&keyed.left));
        let message = format!(
            "unknown argument `{key}`; after the condition comes a message or `policy = ..`"
        );
        errors.on(&keyed.left, message);
    } else {
        let message = "a message is a string literal; write `\"{}\", value` to show a value";
        errors.on(expr, message);
    }
}
