//! Parses the arguments of `#[pre(..)]` and `#[post(..)]`: a predicate, then a message, then `key = value`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, ExprLit, Lit, LitStr, Pat, Path, Token, Type};

use crate::args;
use crate::ask;
use crate::attributes::{ContractAttribute, Kind};
use crate::condition::{self, ParsedCondition};
use crate::errors::Errors;
use crate::given;
use crate::message;
use crate::model::{Clause, ClauseKind, Given, Param, Set};
use crate::predicate;
use crate::source::{self, is_punct};

/// Reads the givens and clauses of one function, in source order.
///
/// Clauses name what is given as they name parameters, and by indices behind those.
pub(crate) fn all(
    errors: &mut Errors,
    contracts: &[ContractAttribute],
    params: &[Param],
) -> (Vec<Given>, Vec<Clause>) {
    let given = given::as_params(contracts);
    let extended: Vec<Param>;
    let named = if given.is_empty() {
        params
    } else {
        extended = params.iter().cloned().chain(given).collect();
        &extended
    };
    let (mut givens, mut clauses, mut olds) = (Vec::new(), Vec::new(), 0);
    let mut position = 0;
    for contract in contracts {
        match contract.kind {
            Kind::Given => givens.extend(given::parse(errors, contract, named, position)),
            Kind::Pre | Kind::Post => {
                clauses.extend(parse(errors, contract, named, &mut olds));
                position += 1;
            }
            Kind::Tool | Kind::Verify => {}
        }
    }
    given::names_differ(errors, &givens, params);
    // Their positions are known only if each was read.
    if clauses.len() == position {
        given::stand_above(errors, &givens, &clauses);
    }
    (givens, clauses)
}

fn parse(
    errors: &mut Errors,
    contract: &ContractAttribute,
    params: &[Param],
    olds: &mut usize,
) -> Option<Clause> {
    let tokens = contract.args.clone();
    let first = tokens.clone().into_iter().next();
    if first.is_none() || is_punct(first.as_ref(), '=') {
        errors.at(contract.span, missing(contract.kind, ""));
        return None;
    }
    let parser = |input: ParseStream<'_>| Ok(parse_condition(errors, contract, params, input));
    let written = match parser.parse2(tokens) {
        Ok(written) => written?,
        Err(error) => {
            errors.add(error);
            return None;
        }
    };
    let instead = match written.kind {
        ClauseKind::Pre => {
            "await the value above it, such as `#[given(order = find(&order_id).await)]`, and name it here"
        }
        _ => "await the value in the body and check it there with `contract_assert!`",
    };
    predicate::check(
        errors,
        match args::ungrouped(&written.expr) {
            Expr::Closure(closure) => &closure.body,
            other => other,
        },
        instead,
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

fn parse_condition(
    errors: &mut Errors,
    contract: &ContractAttribute,
    params: &[Param],
    input: ParseStream<'_>,
) -> Option<ParsedCondition> {
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
    let fine = shaped(errors, kind, &expr, params);
    let mut written = ParsedCondition {
        kind,
        expr,
        tokens: source::without_invisible_group(tokens),
        text,
        message: None,
        message_args: Vec::new(),
        policy: None,
        shown: None,
        demand: None,
        question: None,
        id: None,
    };
    if !input.is_empty() {
        if let Err(error) = input.parse::<Token![,]>() {
            let (place, message) = behind_condition(&written.expr, error.span(), input);
            errors.at(place, message);
            let _ = input.parse::<TokenStream>();
            return None;
        }
        written.rest(errors, contract.kind, input);
    }
    fine.then_some(written)
}

/// Where and what is wrong with what stands behind a condition without a comma.
fn behind_condition(condition: &Expr, next: Span, input: ParseStream<'_>) -> (Span, String) {
    if matches!(condition, Expr::Path(word) if word.path.is_ident("not")) {
        let message = "`not` is not an operator in Rust; write `!`";
        return (condition.span(), String::from(message));
    }
    let word = input
        .fork()
        .call(Ident::parse_any)
        .map(|word| word.to_string());
    let message = match word.as_deref() {
        Ok(word @ ("and" | "or")) => {
            let sign = if word == "and" { "&&" } else { "||" };
            format!("`{word}` does not join conditions in Rust; write `{sign}`")
        }
        Ok("in") => String::from(
            "`in` belongs to a `for`; for a range write `(1..=9).contains(&number)`, for a list `[\"a\", \"b\"].contains(&word)`",
        ),
        _ => String::from("expected `,` and a message, or the end of the condition"),
    };
    (next, message)
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
    let is_key = ["policy", "crate", "requires", "ensures", "ask"]
        .iter()
        .any(|known| key == known)
        && ahead.peek(Token![=])
        && !ahead.peek(Token![==]);
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
fn shaped(errors: &mut Errors, kind: ClauseKind, expr: &Expr, params: &[Param]) -> bool {
    match (kind, args::ungrouped(expr)) {
        (ClauseKind::Pre, Expr::Closure(closure)) => {
            let body = closure.body.to_token_stream();
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
                "a condition cannot be async; write a plain closure",
            );
            false
        }
        (_, Expr::Closure(closure)) if closure.inputs.len() == 1 => lent(errors, closure),
        (kind, Expr::Closure(closure)) => {
            let head = if kind == ClauseKind::PostErr {
                "err |error|"
            } else {
                "|result|"
            };
            let message =
                format!("a postcondition takes one value, the result; write `#[post({head} ..)]`");
            match closure.inputs.iter().nth(1) {
                Some(second) => errors.on(second, message),
                None => errors.on(expr, message),
            }
            false
        }
        (_, other) => {
            let tokens = other.to_token_stream();
            if let Some(advice) = predicate::behind_a_word(&tokens, params) {
                errors.on(other, advice);
                return false;
            }
            let name = predicate::result_name(other, params);
            let condition = source::text(&predicate::dereferenced(tokens, &name));
            let own = short(&condition).unwrap_or_else(|| String::from(".."));
            errors.on(
                other,
                format_args!(
                    "a postcondition needs a name for the result; write `#[post(|{name}| {own})]`"
                ),
            );
            false
        }
    }
}

/// Whether a closure that gives the result a type gives it that of a reference.
fn lent(errors: &mut Errors, closure: &ExprClosure) -> bool {
    let Some(Pat::Type(typed)) = closure.inputs.first() else {
        return true;
    };
    let owned = match &*typed.ty {
        Type::Array(_) | Type::Tuple(_) => true,
        Type::Path(path) => PRIMITIVE.iter().any(|name| path.path.is_ident(name)),
        _ => false,
    };
    if owned {
        let written = source::text(&typed.ty.to_token_stream());
        errors.on(
            &typed.ty,
            format_args!("a postcondition borrows the result; write `&{written}`"),
        );
    }
    !owned
}

/// Types that are not references under another name.
const PRIMITIVE: &[&str] = &[
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize", "String",
];

impl ParsedCondition {
    fn rest(&mut self, errors: &mut Errors, kind: Kind, input: ParseStream<'_>) {
        if !input.is_empty() && !args::is_keyed(input) {
            match source::expression(input) {
                Ok((expr, _)) => match args::ungrouped(&expr) {
                    Expr::Lit(ExprLit {
                        lit: Lit::Str(text),
                        ..
                    }) => self.message = Some(text.clone()),
                    Expr::Path(word) if args::is_policy(&word.path) => {
                        let word = source::text(&word.to_token_stream());
                        errors.on(
                            &expr,
                            format_args!("a policy has a key; write `policy = {word}`"),
                        );
                    }
                    Expr::Path(word) if word.path.is_ident("ask") => {
                        errors.on(&expr, "`ask` needs a question; write `ask = \"..\"`");
                    }
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
            if self.message.is_some() {
                self.message_args = message::args(errors, input, args::is_keyed);
            }
            if !input.is_empty() && input.parse::<Token![,]>().is_err() {
                errors.add(input.error("expected `,`"));
                let _ = input.parse::<TokenStream>();
            }
        }
        if let Some(text) = message_behind_keys(input) {
            let word = kind.word();
            errors.at(
                text,
                format_args!(
                    "the message comes right after the condition, before any key; write `#[{word}(.., \"..\", policy = ..)]`"
                ),
            );
            let _ = input.parse::<TokenStream>();
            return;
        }
        let mut krate: Option<Set<Path>> = None;
        let owner = format!("`{}`", Attribute(kind));
        let demand = match kind {
            Kind::Post => "ensures",
            _ => "requires",
        };
        for entry in args::entries(errors, input) {
            match entry.name().as_str() {
                "policy" => args::set(errors, &mut self.policy, &entry, args::policy),
                "shown" => args::set(errors, &mut self.shown, &entry, args::parse_shown),
                word if word == demand => {
                    args::set(errors, &mut self.demand, &entry, args::sentence);
                }
                "ask" => args::set(errors, &mut self.question, &entry, ask::parse),
                "id" => args::set(errors, &mut self.id, &entry, args::sentence),
                "crate" => args::set(errors, &mut krate, &entry, args::path),
                "message" | "msg" => errors.at(
                    entry.span(),
                    format_args!(
                        "a message has no key; write it after the condition, `#[{}(.., \"..\")]`",
                        kind.word()
                    ),
                ),
                "requires" | "ensures" => errors.at(
                    entry.span(),
                    format_args!(
                        "a {} says what it `{demand}`; write `{demand} = \"..\"`",
                        kind.noun()
                    ),
                ),
                _ => args::unknown(
                    errors,
                    &entry,
                    &owner,
                    &["policy", demand, "shown", "ask", "id", "crate"],
                ),
            }
        }
    }
}

/// A text that stands alone behind a key; behind a question it may be what the question shows.
fn message_behind_keys(input: ParseStream<'_>) -> Option<Span> {
    let trees: Vec<TokenTree> = input
        .fork()
        .parse::<TokenStream>()
        .ok()?
        .into_iter()
        .collect();
    let mut arguments = trees.split(|tree| is_punct(Some(tree), ','));
    let asks = |argument: &&[TokenTree]| matches!(argument.first(), Some(TokenTree::Ident(key)) if key == "ask");
    let text = arguments.by_ref().take_while(|argument| !asks(argument));
    let mut text = text.skip(1).filter_map(|argument| match argument {
        [TokenTree::Literal(text)] => syn::parse2::<LitStr>(text.to_token_stream()).ok(),
        _ => None,
    });
    text.next().map(|text| text.span())
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
