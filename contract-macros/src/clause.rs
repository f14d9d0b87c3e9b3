//! Parses the arguments of `#[pre(..)]` and `#[post(..)]`: a predicate, then a message, then `key = value`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, LitStr, Pat, Path, Token, Type};

use crate::args::{self, Entry};
use crate::attributes::{ContractAttribute, Kind};
use crate::errors::Errors;
use crate::facts::{Facts, bindings};
use crate::given;
use crate::message::{self, Written};
use crate::model::{Assertion, Clause, ClauseKind, Given, Message, Old, Param, Set};
use crate::names;
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
    errors.read(tokens, |errors, input| {
        read(errors, contract.kind, params, olds, input)
    })
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
    count: &mut usize,
    input: ParseStream<'_>,
) -> Option<Clause> {
    errors.ok(in_order(of, input))?;
    let start = input.fork();
    let kind = kind(of, input);
    let (expr, mut predicate) = errors.ok(source::expression(input))?;
    let text = source::text(&source::since(&start, input));
    let shape = shaped(errors, kind, &expr, params);
    let form = format!("#[{}(..)]", of.word());
    let other = format!("`\"..\"`, or join two conditions with `&&`, or write a second `{form}`");
    let (mut message, entries) = behind(errors, &expr, input, &form, args::is_keyed, &other)?;
    let (mut policy, mut shown, mut demand) = (None, None, None);
    let (mut asked, mut id, mut krate) = (None, None, None);
    let (noun, said) = match of {
        Kind::Post => ("postcondition", "ensures"),
        _ => ("precondition", "requires"),
    };
    let known = format!("policy {said} shown ask id crate");
    for entry in entries {
        match entry.name().as_str() {
            "policy" => args::set(errors, &mut policy, &entry, args::policy),
            "shown" => args::set(errors, &mut shown, &entry, args::shown),
            word if word == said => args::set(errors, &mut demand, &entry, args::sentence),
            "ask" => args::set(errors, &mut asked, &entry, message::question),
            "id" => args::set(errors, &mut id, &entry, args::sentence),
            "crate" => args::set(errors, &mut krate, &entry, args::path),
            "requires" | "ensures" => {
                let message = format!("a {noun} says what it `{said}`; write `{said} = \"..\"`");
                errors.at(entry.span(), message);
            }
            _ => unknown(errors, &entry, &form, &known),
        }
    }
    shape?;
    let (mut shadowed, mut result, mut olds) = (Vec::new(), None, Vec::new());
    let (mut head, mut portable) = (None, None);
    if let Expr::Closure(closure) = source::ungrouped(&expr) {
        let instead = "await the value in the body and check it there with `contract_assert!`";
        predicate::check(errors, &closure.body, instead);
        let input = closure.inputs.first()?;
        shadowed = bindings(input);
        result = plain_name(input);
        if kind == ClauseKind::Post {
            portable = portable::read_post(closure, params);
        }
        (predicate, olds) = without_olds(errors, closure, params, &shadowed, count, &mut message);
        head = Some(closure.inputs.to_token_stream());
    } else {
        let instead = "await the value above it, such as `#[given(order = find(&order_id).await)]`, and name it here";
        predicate::check(errors, &expr, instead);
        predicate = source::without_invisible_group(predicate);
        no_old(errors, &expr, message.as_ref())?;
        portable = Some(portable::read(&expr, params));
    }
    let facts = Facts::of_tokens(&predicate);
    let mut mentions = Mentions::default();
    mentions.add(&facts.names, params, &shadowed);
    let is_constant = mentions.params.is_empty()
        && olds.is_empty()
        && facts.is_constant()
        && !shadowed.iter().any(|name| facts.names.contains(name));
    let message = match message {
        Some(written) => {
            let mut message = message::check(errors, written, params, result.as_deref())?;
            let names = message.names();
            message.shows_result = shadowed.iter().any(|name| names.contains(name));
            mentions.add(&names, params, &shadowed);
            Some(message)
        }
        None => None,
    };
    let question = match asked {
        Some(asked) => Some(question(errors, asked, params, &mut mentions)?),
        None => None,
    };
    let mentions_after = mentions.params.iter().copied().collect();
    let in_olds = olds.iter().flat_map(|old| &old.mentions);
    mentions.params.extend(in_olds);
    Some(Clause {
        kind,
        predicate,
        result: head,
        text,
        message,
        policy,
        shown,
        demand,
        question,
        id,
        history: facts.history,
        portable,
        is_constant,
        mentions: mentions.params.into_iter().collect(),
        mentions_after,
        mentions_self: mentions.names_self,
        olds,
        span: expr.span(),
    })
}

fn question(
    errors: &mut Errors,
    asked: Set<Written>,
    params: &[Param],
    mentions: &mut Mentions,
) -> Option<Set<Message>> {
    let (value, named) = message::check_question(errors, asked.value, params)?;
    mentions.params.extend(named);
    Some(Set {
        key: asked.key,
        value,
    })
}

/// A precondition and its message have no earlier value.
fn no_old(errors: &mut Errors, expr: &Expr, message: Option<&Written>) -> Option<()> {
    let args = message.iter().flat_map(|message| &message.args);
    let in_message = args.flat_map(|arg| Facts::of_tokens(arg).olds);
    let Some(span) = Facts::of(expr).olds.into_iter().chain(in_message).next() else {
        return Some(());
    };
    errors.at(
        span,
        "`old(..)` belongs to a postcondition; before the function runs, write the value itself",
    );
    None
}

/// The name of the result, if it is not taken apart.
fn plain_name(input: &Pat) -> Option<String> {
    match input {
        Pat::Type(typed) => plain_name(&typed.pat),
        Pat::Ident(name) if name.subpat.is_none() => bindings(input).pop(),
        _ => None,
    }
}

/// Takes the values of `old(..)` out of a postcondition and of its message.
fn without_olds(
    errors: &mut Errors,
    closure: &ExprClosure,
    params: &[Param],
    result: &[String],
    count: &mut usize,
    message: &mut Option<Written>,
) -> (TokenStream, Vec<Old>) {
    let mut olds = Olds {
        params,
        result,
        count,
        found: Vec::new(),
    };
    let predicate = olds.take(errors, closure.body.to_token_stream());
    for arg in message.iter_mut().flat_map(|message| &mut message.args) {
        *arg = olds.take(errors, std::mem::take(arg));
    }
    (predicate, olds.found)
}

/// Parses `contract_assert!`: the crate's path and `;`, then a condition, a message and a policy.
pub(crate) fn assertion(errors: &mut Errors, input: ParseStream<'_>) -> Option<Assertion> {
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
    // `total = a + b` behind the message is a value that it shows.
    let is_policy = |input: ParseStream<'_>| {
        let word = input.fork().parse::<Ident>();
        word.is_ok_and(|word| word == "policy") && args::is_keyed(input)
    };
    let (form, other) = ("contract_assert!(..)", "`\"{}\", value` to show a value");
    let (message, entries) = behind(errors, &expr, input, form, is_policy, other)?;
    let mut policy = None;
    for entry in entries {
        match entry.name().as_str() {
            "policy" => args::set(errors, &mut policy, &entry, args::policy),
            _ => unknown(errors, &entry, form, "policy"),
        }
    }
    Some(Assertion {
        krate,
        text: source::text(&condition),
        condition,
        format: message.map(|Written { literal, args }| quote!(#literal #(, #args)*)),
        policy,
        span: expr.span(),
    })
}

/// What follows a condition: a message with the values that it shows, then `key = value`.
///
/// `form` is how a condition is written, and `other` what to write where an expression cannot be a message.
fn behind(
    errors: &mut Errors,
    condition: &Expr,
    input: ParseStream<'_>,
    form: &str,
    is_key: fn(ParseStream<'_>) -> bool,
    other: &str,
) -> Option<(Option<Written>, Vec<Entry>)> {
    if input.is_empty() {
        return Some((None, Vec::new()));
    }
    if let Err(error) = input.parse::<Token![,]>() {
        let (place, message) = behind_condition(condition, error.span(), input);
        errors.at(place, message);
        return None;
    }
    let mut message = None;
    if !input.is_empty() && !args::is_keyed(input) {
        message = message::parse(errors, input, is_key, |errors, expr| {
            let message = match expr {
                Expr::Path(word) if args::is_policy(&word.path) => {
                    let word = source::text(&word.to_token_stream());
                    format!("a policy has a key; write `policy = {word}`")
                }
                Expr::Path(word) if word.path.is_ident("ask") => {
                    String::from("`ask` needs a question; write `ask = \"..\"`")
                }
                _ => format!("a message is a string literal; write {other}"),
            };
            errors.on(expr, message);
        });
        if !input.is_empty() && input.parse::<Token![,]>().is_err() {
            errors.add(input.error("expected `,`"));
            let _ = input.parse::<TokenStream>();
        }
    }
    if let Some(text) = message_behind_keys(input) {
        let form = form.replace("..", ".., \"..\", policy = ..");
        let message =
            format!("the message comes right after the condition, before any key; write `{form}`");
        errors.at(text, message);
        let _ = input.parse::<TokenStream>();
    }
    Some((message, args::entries(errors, input)))
}

fn unknown(errors: &mut Errors, entry: &Entry, form: &str, known: &str) {
    if !["message", "msg"].contains(&entry.name().as_str()) {
        return args::unknown(errors, entry, &format!("`{form}`"), known);
    }
    let form = form.replace("..", ".., \"..\"");
    let message = format!("a message has no key; write it after the condition, `{form}`");
    errors.at(entry.span(), message);
}

/// Explains tokens that follow a condition without a comma.
fn behind_condition(condition: &Expr, next: Span, input: ParseStream<'_>) -> (Span, &'static str) {
    if matches!(condition, Expr::Path(word) if word.path.is_ident("not")) {
        let message = "`not` is not an operator in Rust; write `!`";
        return (condition.span(), message);
    }
    let word = input.fork().call(Ident::parse_any);
    let message = match word.map(|word| word.to_string()).as_deref() {
        Ok("and") => "`and` does not join conditions in Rust; write `&&`",
        Ok("or") => "`or` does not join conditions in Rust; write `||`",
        Ok("in") => {
            "`in` belongs to a `for`; for a range write `(1..=9).contains(&number)`, for a list `[\"a\", \"b\"].contains(&word)`"
        }
        _ => "expected `,` and a message, or the end of the condition",
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
    let (first, second) = (inputs.next(), inputs.next());
    if first.is_none() || second.is_some() {
        let is_err = kind == ClauseKind::PostErr;
        let head = if is_err { "err |error|" } else { "|result|" };
        let message =
            format!("a postcondition takes one value, the result; write `#[post({head} ..)]`");
        let place = second.map_or_else(|| expr.to_token_stream(), ToTokens::to_token_stream);
        return errors.refuse(place, message);
    }
    let Some(Pat::Type(typed)) = first else {
        return Some(());
    };
    let is = |name: &&str| matches!(&*typed.ty, Type::Path(path) if path.path.is_ident(name));
    let is_path = matches!(*typed.ty, Type::Path(_));
    let is_owned = (is_path && primitive(&typed.ty).is_some())
        || ["char", "String"].iter().any(is)
        || matches!(*typed.ty, Type::Array(_) | Type::Tuple(_));
    if !is_owned {
        return Some(());
    }
    let written = source::text(&typed.ty.to_token_stream());
    let message = format!("a postcondition borrows the result; write `&{written}`");
    errors.refuse(&typed.ty, message)
}

/// Finds a message after a key. After a question, a text may be a value that the question shows.
fn message_behind_keys(input: ParseStream<'_>) -> Option<Span> {
    let rest = input.fork().parse::<TokenStream>().ok()?;
    let trees: Vec<TokenTree> = rest.into_iter().collect();
    let mut arguments = trees.split(|tree| is_punct(Some(tree), ','));
    let asks = |argument: &&[TokenTree]| matches!(argument.first(), Some(TokenTree::Ident(key)) if key == "ask");
    let text = arguments.by_ref().take_while(|argument| !asks(argument));
    let mut text = text.skip(1).filter_map(|argument| match argument {
        [TokenTree::Literal(text)] => syn::parse2::<LitStr>(text.to_token_stream()).ok(),
        _ => None,
    });
    text.next().map(|text| text.span())
}
