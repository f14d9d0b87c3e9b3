//! The arguments of `#[pre(..)]` and `#[post(..)]`: a predicate, then a message, then `key = value`.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, ExprLit, Lit, LitStr, Path, Token};

use crate::args;
use crate::closure;
use crate::condition;
use crate::errors::Errors;
use crate::gather::{Contract, Kind};
use crate::model::{Clause, ClauseKind, Param, Policy, Set};
use crate::predicate;
use crate::source::{self, is_punct};

/// One clause as written.
pub(crate) struct Written {
    pub(crate) kind: ClauseKind,
    pub(crate) expr: Expr,
    /// The predicate without a leading `err`.
    pub(crate) tokens: TokenStream,
    pub(crate) text: String,
    pub(crate) message: Option<LitStr>,
    pub(crate) policy: Option<Set<Policy>>,
    pub(crate) shown: Option<Set<bool>>,
}

/// Reads all clauses of one function, in source order.
pub(crate) fn all(errors: &mut Errors, contracts: &[Contract], params: &[Param]) -> Vec<Clause> {
    let mut olds = 0;
    let clauses = contracts
        .iter()
        .filter(|contract| matches!(contract.kind, Kind::Pre | Kind::Post));
    clauses
        .filter_map(|contract| parse(errors, contract, params, &mut olds))
        .collect()
}

fn parse(
    errors: &mut Errors,
    contract: &Contract,
    params: &[Param],
    olds: &mut usize,
) -> Option<Clause> {
    let tokens = contract.args.clone();
    let first = tokens.clone().into_iter().next();
    if first.is_none() || is_punct(first.as_ref(), '=') {
        errors.at(contract.span, missing(contract.kind, ""));
        return None;
    }
    let parser = |input: ParseStream<'_>| Ok(written(errors, contract, params, input));
    let written = match parser.parse2(tokens) {
        Ok(written) => written?,
        Err(error) => {
            errors.add(error);
            return None;
        }
    };
    predicate::check(
        errors,
        closure::predicate_of(&written.expr),
        &written.tokens,
    );
    match (written.kind, args::ungrouped(&written.expr)) {
        (ClauseKind::Pre, _) => condition::pre(errors, written, params),
        (_, Expr::Closure(closure)) => {
            let closure = closure.clone();
            condition::post(errors, written, &closure, params, olds)
        }
        _ => None,
    }
}

fn missing(kind: Kind, rest: &str) -> String {
    match kind {
        Kind::Post => format!(
            "a postcondition needs a condition over the result; write `#[post(|result| ..{rest})]`"
        ),
        _ => format!(
            "a precondition needs a condition over the parameters; write `#[pre(..{rest})]`"
        ),
    }
}

fn written(
    errors: &mut Errors,
    contract: &Contract,
    params: &[Param],
    input: ParseStream<'_>,
) -> Option<Written> {
    if let Some(problem) = out_of_order(contract.kind, input) {
        errors.add(problem);
        let _ = input.parse::<TokenStream>();
        return None;
    }
    let whole = input.fork().parse::<TokenStream>().unwrap_or_default();
    let (kind, marker) = kind(contract.kind, input);
    let (expr, tokens) = match source::expression(input) {
        Ok(predicate) => predicate,
        Err(error) => {
            errors.add(error);
            let _ = input.parse::<TokenStream>();
            return None;
        }
    };
    let length = tokens.clone().into_iter().count() + usize::from(marker);
    let text = source::text(&whole.into_iter().take(length).collect());
    let fine = shaped(errors, kind, &expr, &text, params);
    let mut written = Written {
        kind,
        expr,
        tokens: source::without_invisible_group(tokens),
        text,
        message: None,
        policy: None,
        shown: None,
    };
    if !input.is_empty() {
        if let Err(error) = input.parse::<Token![,]>() {
            errors.add(syn::Error::new(
                error.span(),
                "expected `,` and a message, or the end of the condition",
            ));
            let _ = input.parse::<TokenStream>();
            return None;
        }
        written.rest(errors, contract.kind, input);
    }
    fine.then_some(written)
}

/// A message or a key that stands where the predicate belongs.
fn out_of_order(kind: Kind, input: ParseStream<'_>) -> Option<syn::Error> {
    let ahead = input.fork();
    if let Ok(literal) = ahead.parse::<LitStr>()
        && (ahead.is_empty() || ahead.peek(Token![,]))
    {
        let _ = ahead.parse::<Token![,]>();
        let message = match source::expression(&ahead) {
            Ok((_, tokens)) => {
                let predicate = short(&source::text(&tokens)).unwrap_or_else(|| String::from(".."));
                format!(
                    "the condition comes first, then the message; write `#[{}({predicate}, \"..\")]`",
                    kind.word()
                )
            }
            Err(_) => missing(kind, ", \"..\""),
        };
        return Some(syn::Error::new(literal.span(), message));
    }
    let ahead = input.fork();
    let key = ahead.call(Ident::parse_any).ok()?;
    let is_key =
        (key == "policy" || key == "crate") && ahead.peek(Token![=]) && !ahead.peek(Token![==]);
    is_key.then(|| {
        let rest = format!(", {key} = ..");
        syn::Error::new(key.span(), missing(kind, &rest))
    })
}

/// Tells `err |e| ..` from `|result| ..`; `err` is a word of ours only in front of a closure.
fn kind(kind: Kind, input: ParseStream<'_>) -> (ClauseKind, bool) {
    if kind != Kind::Post {
        return (ClauseKind::Pre, false);
    }
    let ahead = input.fork();
    let marked = ahead.parse::<Ident>().is_ok_and(|word| word == "err");
    if marked && (ahead.peek(Token![|]) || ahead.peek(Token![||]) || ahead.peek(Token![move])) {
        let _ = input.parse::<Ident>();
        return (ClauseKind::PostErr, true);
    }
    (ClauseKind::Post, false)
}

fn short(text: &str) -> Option<String> {
    (text.chars().count() <= 48).then(|| text.to_owned())
}

/// Whether a closure stands exactly where one belongs, with one parameter.
fn shaped(
    errors: &mut Errors,
    kind: ClauseKind,
    expr: &Expr,
    text: &str,
    params: &[Param],
) -> bool {
    match (kind, args::ungrouped(expr)) {
        (ClauseKind::Pre, Expr::Closure(closure)) => {
            let body = closure::body(&closure::tokens(expr), closure);
            let body = short(&source::text(&body)).unwrap_or_else(|| String::from(".."));
            let message = format!(
                "a precondition is a plain condition over the parameters; write `#[pre({body})]`"
            );
            errors.on(expr, message);
            false
        }
        (ClauseKind::Pre, _) => true,
        (_, Expr::Closure(closure)) if closure.asyncness.is_some() => {
            errors.on(
                closure.asyncness,
                "a condition cannot wait; write a plain closure",
            );
            false
        }
        (_, Expr::Closure(closure)) if closure.inputs.len() == 1 => true,
        (kind, Expr::Closure(closure)) => {
            let head = if kind == ClauseKind::PostErr {
                "err |error|"
            } else {
                "|result|"
            };
            let message = format!(
                "a postcondition is given one value, the result; write `#[post({head} ..)]`"
            );
            match closure.inputs.iter().nth(1) {
                Some(second) => errors.on(second, message),
                None => errors.on(expr, message),
            }
            false
        }
        (_, other) => {
            let name = closure::result_name(other, params);
            let own = short(text)
                .map_or_else(|| format!("|{name}| .."), |text| format!("|{name}| {text}"));
            errors.on(
                other,
                format_args!("a postcondition needs a name for the result; write `#[post({own})]`"),
            );
            false
        }
    }
}

impl Written {
    fn rest(&mut self, errors: &mut Errors, kind: Kind, input: ParseStream<'_>) {
        let keyed = {
            let ahead = input.fork();
            ahead.call(Ident::parse_any).is_ok_and(|word| {
                word == "shown"
                    || (ahead.peek(Token![=]) && !ahead.peek(Token![==]))
                    || ahead.peek(syn::token::Paren)
            })
        };
        if !input.is_empty() && !keyed {
            match source::expression(input) {
                Ok((expr, _)) => match args::ungrouped(&expr) {
                    Expr::Lit(ExprLit {
                        lit: Lit::Str(text),
                        ..
                    }) => self.message = Some(text.clone()),
                    other => errors.on(
                        other,
                        format_args!(
                            "a message is a string literal; write `\"..\"`{}",
                            joined(kind)
                        ),
                    ),
                },
                Err(error) => errors.add(error),
            }
            if !input.is_empty() && input.parse::<Token![,]>().is_err() {
                errors.add(input.error("expected `,`"));
                let _ = input.parse::<TokenStream>();
            }
        }
        let mut krate: Option<Set<Path>> = None;
        let owner = format!("`{}`", Attribute(kind));
        for entry in args::entries(errors, input) {
            match entry.name().as_str() {
                "policy" => args::set(errors, &mut self.policy, &entry, args::policy),
                "shown" => args::set(errors, &mut self.shown, &entry, args::flag),
                "crate" => args::set(errors, &mut krate, &entry, args::path),
                _ => args::unknown(errors, &entry, &owner, &["policy", "shown", "crate"]),
            }
        }
    }
}

fn joined(kind: Kind) -> String {
    format!(
        ", or join two conditions with `&&`, or write a second `{}`",
        Attribute(kind)
    )
}

struct Attribute(Kind);

impl std::fmt::Display for Attribute {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "#[{}(..)]", self.0.word())
    }
}
