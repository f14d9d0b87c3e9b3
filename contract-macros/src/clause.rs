//! Parses the arguments of `#[pre(..)]` and `#[post(..)]`: a predicate, then a message, then `key = value`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, LitStr, Pat, Path, Token, Type};

use crate::args;
use crate::attributes::{ContractAttribute, Kind};
use crate::errors::Errors;
use crate::facts::{Facts, bindings};
use crate::given;
use crate::message;
use crate::model::{Clause, ClauseKind, Given, Param, Set};
use crate::portable;
use crate::predicate::{self, Mentions, Olds};
use crate::source::{self, is_punct};
use crate::spelling::primitive;

/// Reads the givens and clauses of one function, in source order.
///
/// `named` are the parameters and the givens, which clauses name alike.
pub(crate) fn all(
    errors: &mut Errors,
    contracts: &[ContractAttribute],
    params: &[Param],
    named: &[Param],
) -> (Vec<Given>, Vec<Clause>) {
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

/// A condition whose names are not resolved yet.
struct Written {
    /// Everything but what depends on the names.
    clause: Clause,
    expr: Expr,
    message: Option<message::Written>,
    question: Option<Set<message::Written>>,
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
    let written = errors.read(tokens, |errors, input| {
        read(errors, contract.kind, params, input)
    })?;
    let instead = match written.clause.kind {
        ClauseKind::Pre => {
            "await the value above it, such as `#[given(order = find(&order_id).await)]`, and name it here"
        }
        _ => "await the value in the body and check it there with `contract_assert!`",
    };
    let condition = match source::ungrouped(&written.expr) {
        Expr::Closure(closure) => &closure.body,
        other => other,
    };
    predicate::check(errors, condition, instead);
    written.resolved(errors, params, olds)
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

fn read(
    errors: &mut Errors,
    of: Kind,
    params: &[Param],
    input: ParseStream<'_>,
) -> Option<Written> {
    errors.ok(in_order(of, input))?;
    let start = input.fork();
    let kind = kind(of, input);
    let (expr, tokens) = errors.ok(source::expression(input))?;
    let shape = shaped(errors, kind, &expr, params);
    let mut written = Written {
        clause: Clause {
            kind,
            predicate: source::without_invisible_group(tokens),
            result: None,
            text: source::text(&source::since(&start, input)),
            message: None,
            policy: None,
            shown: None,
            demand: None,
            question: None,
            id: None,
            history: None,
            portable: None,
            is_constant: false,
            mentions: Vec::new(),
            mentions_after: Vec::new(),
            mentions_self: false,
            olds: Vec::new(),
            span: expr.span(),
        },
        expr,
        message: None,
        question: None,
    };
    if !input.is_empty() {
        if let Err(error) = input.parse::<Token![,]>() {
            let (place, message) = behind_condition(&written.expr, error.span(), input);
            errors.at(place, message);
            return None;
        }
        written.rest(errors, of, input);
    }
    shape.map(|()| written)
}

/// Explains tokens that follow a condition without a comma.
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

/// Refuses a message or a key in the place of the predicate.
fn in_order(kind: Kind, input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    if let Ok(literal) = ahead.parse::<LitStr>()
        && (ahead.is_empty() || ahead.peek(Token![,]))
    {
        let _ = ahead.parse::<Token![,]>();
        let message = match source::expression(&ahead) {
            Ok((_, tokens)) => {
                let (word, predicate) = (kind.word(), short(&tokens));
                format!(
                    "the condition comes first, then the message; write `#[{word}({predicate}, \"..\")]`"
                )
            }
            Err(_) => missing(kind, ", \"..\""),
        };
        return Err(syn::Error::new(literal.span(), message));
    }
    let ahead = input.fork();
    let keys = ["policy", "crate", "requires", "ensures", "ask"];
    match ahead.call(Ident::parse_any) {
        Ok(key) if keys.iter().any(|known| key == known) && args::is_keyed(input) => {
            let message = missing(kind, &format!(", {key} = .."));
            Err(syn::Error::new(key.span(), message))
        }
        _ => Ok(()),
    }
}

/// Tells `err |e| ..` from `|result| ..`. Only in front of a closure is `err` a keyword.
fn kind(kind: Kind, input: ParseStream<'_>) -> ClauseKind {
    if kind != Kind::Post {
        return ClauseKind::Pre;
    }
    let ahead = input.fork();
    let marked = ahead.parse::<Ident>().is_ok_and(|word| word == "err");
    if marked && (ahead.peek(Token![|]) || ahead.peek(Token![||]) || ahead.peek(Token![move])) {
        let _ = input.parse::<Ident>();
        return ClauseKind::PostErr;
    }
    ClauseKind::Post
}

/// The text of an expression for a message, or `..` if it is long.
fn short(tokens: &TokenStream) -> String {
    let text = source::text(tokens);
    if text.chars().count() <= 48 {
        text
    } else {
        String::from("..")
    }
}

/// Requires a postcondition, and no precondition, to be a closure over one borrowed value.
fn shaped(errors: &mut Errors, kind: ClauseKind, expr: &Expr, params: &[Param]) -> Option<()> {
    let closure = match (kind, source::ungrouped(expr)) {
        (ClauseKind::Pre, Expr::Closure(closure)) => {
            let body = short(&closure.body.to_token_stream());
            let message = format!(
                "a precondition is a plain condition over the parameters; write `#[pre({body})]`"
            );
            return errors.refuse(expr, message);
        }
        (ClauseKind::Pre, _) => return Some(()),
        (_, Expr::Closure(closure)) => closure,
        (_, other) => {
            let tokens = other.to_token_stream();
            let message = predicate::behind_a_word(&tokens, params).unwrap_or_else(|| {
                let name = predicate::result_name(other, params);
                let own = short(&predicate::dereferenced(tokens, &name));
                format!(
                    "a postcondition needs a name for the result; write `#[post(|{name}| {own})]`"
                )
            });
            return errors.refuse(other, message);
        }
    };
    if let Some(word) = closure.asyncness {
        return errors.refuse(word, "a condition cannot be async; write a plain closure");
    }
    let mut inputs = closure.inputs.iter();
    match (inputs.next(), inputs.next()) {
        (Some(Pat::Type(typed)), None) => {
            let owned = match &*typed.ty {
                Type::Array(_) | Type::Tuple(_) => true,
                Type::Path(path) => {
                    let is = |name: &&str| path.path.is_ident(name);
                    primitive(&typed.ty).is_some() || ["char", "String"].iter().any(is)
                }
                _ => false,
            };
            if owned {
                let written = source::text(&typed.ty.to_token_stream());
                let message = format!("a postcondition borrows the result; write `&{written}`");
                return errors.refuse(&typed.ty, message);
            }
            Some(())
        }
        (Some(_), None) => Some(()),
        (_, second) => {
            let head = match kind {
                ClauseKind::PostErr => "err |error|",
                _ => "|result|",
            };
            let message =
                format!("a postcondition takes one value, the result; write `#[post({head} ..)]`");
            match second {
                Some(second) => errors.refuse(second, message),
                None => errors.refuse(expr, message),
            }
        }
    }
}

impl Written {
    fn rest(&mut self, errors: &mut Errors, kind: Kind, input: ParseStream<'_>) {
        let word = kind.word();
        if !input.is_empty() && !args::is_keyed(input) {
            let wrong = |errors: &mut Errors, expr: &Expr| {
                let message = match expr {
                    Expr::Path(word) if args::is_policy(&word.path) => {
                        let word = source::text(&word.to_token_stream());
                        format!("a policy has a key; write `policy = {word}`")
                    }
                    Expr::Path(word) if word.path.is_ident("ask") => {
                        String::from("`ask` needs a question; write `ask = \"..\"`")
                    }
                    _ => format!(
                        "a message is a string literal; write `\"..\"`, or join two conditions with `&&`, or write a second `#[{word}(..)]`"
                    ),
                };
                errors.on(expr, message);
            };
            self.message = message::parse(errors, input, args::is_keyed, wrong);
            if !input.is_empty() && input.parse::<Token![,]>().is_err() {
                errors.add(input.error("expected `,`"));
                let _ = input.parse::<TokenStream>();
            }
        }
        if let Some(text) = message_behind_keys(input) {
            let message = format!(
                "the message comes right after the condition, before any key; write `#[{word}(.., \"..\", policy = ..)]`"
            );
            errors.at(text, message);
            let _ = input.parse::<TokenStream>();
            return;
        }
        let mut krate: Option<Set<Path>> = None;
        let (noun, demand) = match kind {
            Kind::Post => ("postcondition", "ensures"),
            _ => ("precondition", "requires"),
        };
        let clause = &mut self.clause;
        for entry in args::entries(errors, input) {
            match entry.name().as_str() {
                "policy" => args::set(errors, &mut clause.policy, &entry, args::policy),
                "shown" => args::set(errors, &mut clause.shown, &entry, args::shown),
                word if word == demand => {
                    args::set(errors, &mut clause.demand, &entry, args::sentence);
                }
                "ask" => args::set(errors, &mut self.question, &entry, message::question),
                "id" => args::set(errors, &mut clause.id, &entry, args::sentence),
                "crate" => args::set(errors, &mut krate, &entry, args::path),
                "message" | "msg" => {
                    let message = format!(
                        "a message has no key; write it after the condition, `#[{word}(.., \"..\")]`"
                    );
                    errors.at(entry.span(), message);
                }
                "requires" | "ensures" => {
                    let message =
                        format!("a {noun} says what it `{demand}`; write `{demand} = \"..\"`");
                    errors.at(entry.span(), message);
                }
                _ => args::unknown(
                    errors,
                    &entry,
                    &format!("`#[{word}(..)]`"),
                    &format!("policy {demand} shown ask id crate"),
                ),
            }
        }
    }

    /// Resolves the names that the condition uses, and takes out the values of `old(..)`.
    fn resolved(self, errors: &mut Errors, params: &[Param], count: &mut usize) -> Option<Clause> {
        let Self {
            mut clause,
            expr,
            mut message,
            question,
        } = self;
        let (mut shadowed, mut result) = (Vec::new(), None);
        if clause.kind == ClauseKind::Pre {
            let facts = Facts::of(&expr);
            let args = message.iter().flat_map(|message| &message.args);
            let in_message = args.flat_map(|arg| Facts::of_tokens(arg).olds);
            if let Some(span) = facts.olds.into_iter().chain(in_message).next() {
                errors.at(span, "`old(..)` belongs to a postcondition; before the function runs, write the value itself");
                return None;
            }
            clause.portable = Some(match &facts.history {
                Some(_) => portable::of_history(&expr),
                None => portable::read(&expr, params),
            });
        } else {
            let Expr::Closure(closure) = source::ungrouped(&expr) else {
                return None;
            };
            let input = closure.inputs.first()?;
            shadowed = bindings(input);
            let plain = match input {
                Pat::Type(typed) => &*typed.pat,
                other => other,
            };
            if matches!(plain, Pat::Ident(name) if name.subpat.is_none()) {
                result = Some(bindings(plain).join(""));
            }
            if clause.kind == ClauseKind::Post {
                clause.portable = portable::read_post(closure, params);
            }
            let mut olds = Olds {
                params,
                result: &shadowed,
                count,
                found: Vec::new(),
            };
            clause.predicate = olds.take(errors, closure.body.to_token_stream());
            for arg in message.iter_mut().flat_map(|message| &mut message.args) {
                *arg = olds.take(errors, std::mem::take(arg));
            }
            clause.olds = olds.found;
            clause.result = Some(closure.inputs.to_token_stream());
        }
        let facts = Facts::of_tokens(&clause.predicate);
        let mut mentions = Mentions::default();
        mentions.add(&facts.names, params, &shadowed);
        clause.is_constant = mentions.params.is_empty()
            && clause.olds.is_empty()
            && facts.is_constant()
            && !shadowed.iter().any(|name| facts.names.contains(name));
        clause.history = facts.history;
        if let Some(written) = message {
            let mut message = message::check(errors, written, params, result.as_deref())?;
            let names = message.names();
            message.shows_result = shadowed.iter().any(|name| names.contains(name));
            mentions.add(&names, params, &shadowed);
            clause.message = Some(message);
        }
        if let Some(Set { key, value }) = question {
            let (value, named) = message::check_question(errors, value, params)?;
            mentions.params.extend(named);
            clause.question = Some(Set { key, value });
        }
        clause.mentions_self = mentions.names_self;
        clause.mentions_after = mentions.params.iter().copied().collect();
        let in_olds = clause.olds.iter().flat_map(|old| &old.mentions);
        mentions.params.extend(in_olds);
        clause.mentions = mentions.params.into_iter().collect();
        Some(clause)
    }
}

/// Finds a message after a key. After a question, a text may be a value that the question shows.
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
