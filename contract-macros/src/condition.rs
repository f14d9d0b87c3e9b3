//! Resolves a parsed clause: the names it uses, and the values it captures before the body.

use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, LitStr, Pat};

use crate::ask::{self, WrittenQuestion};
use crate::closure;
use crate::errors::Errors;
use crate::history;
use crate::message;
use crate::model::{Clause, ClauseKind, Old, Param, Policy, Portable, Set, Shown};
use crate::portable;
use crate::predicate::{self, Mentions, Olds};

/// One clause as written.
pub(crate) struct ParsedCondition {
    pub(crate) kind: ClauseKind,
    pub(crate) expr: Expr,
    /// The predicate without a leading `err`.
    pub(crate) tokens: TokenStream,
    pub(crate) text: String,
    pub(crate) message: Option<LitStr>,
    /// The expressions behind the message.
    pub(crate) message_args: Vec<TokenStream>,
    pub(crate) policy: Option<Set<Policy>>,
    pub(crate) shown: Option<Set<Shown>>,
    pub(crate) demand: Option<Set<LitStr>>,
    pub(crate) question: Option<Set<WrittenQuestion>>,
    pub(crate) id: Option<Set<LitStr>>,
}

/// A condition over the parameters.
pub(crate) fn pre(
    errors: &mut Errors,
    written: ParsedCondition,
    params: &[Param],
) -> Option<Clause> {
    let in_message = || written.message_args.iter().find_map(predicate::find_old);
    if let Some(span) = predicate::find_old(&written.tokens).or_else(in_message) {
        errors.at(span, "`old(..)` belongs to a postcondition; before the function runs, write the value itself");
        return None;
    }
    let mut mentions = Mentions::default();
    mentions.add(&written.tokens, params, &[]);
    let is_constant = mentions.is_empty() && predicate::is_constant(&written.tokens);
    let span = written.expr.span();
    let tokens = written.tokens.clone();
    let portable = match history::find(&tokens) {
        Some(_) => portable::of_history(&written.expr),
        None => portable::read(&written.expr, params),
    };
    finish(
        errors,
        written,
        params,
        &[],
        None,
        Parts {
            predicate: tokens,
            result: None,
            mentions,
            olds: Vec::new(),
            portable: Some(portable),
            is_constant,
            span,
        },
    )
}

/// A condition over the result.
pub(crate) fn post(
    errors: &mut Errors,
    mut written: ParsedCondition,
    closure: &ExprClosure,
    params: &[Param],
    count: &mut usize,
) -> Option<Clause> {
    let body = closure::body(&written.tokens, closure);
    let input = closure.inputs.first()?;
    let shadowed = closure::bindings(input);
    let plain = match input {
        Pat::Type(typed) => &*typed.pat,
        other => other,
    };
    let plain = match plain {
        Pat::Ident(name) if name.subpat.is_none() => Some(closure::bindings(plain).join("")),
        _ => None,
    };
    let mut olds = Olds {
        params,
        result: &shadowed,
        count,
        found: Vec::new(),
    };
    let predicate = olds.take(errors, body);
    let args = std::mem::take(&mut written.message_args).into_iter();
    written.message_args = args.map(|arg| olds.take(errors, arg)).collect();
    let olds = olds.found;
    let mut mentions = Mentions::default();
    mentions.add(&predicate, params, &shadowed);
    let is_constant = mentions.is_empty()
        && olds.is_empty()
        && predicate::is_constant(&predicate)
        && !names_any(&predicate, &shadowed);
    let result = closure::head(&written.tokens);
    let span = written.expr.span();
    let parts = Parts {
        predicate,
        result: Some(result),
        mentions,
        olds,
        portable: None,
        is_constant,
        span,
    };
    finish(errors, written, params, &shadowed, plain.as_deref(), parts)
}

/// Whether one of the names stands anywhere as a word, be it inside a text that a macro formats.
pub(crate) fn names_any(tokens: &TokenStream, names: &[String]) -> bool {
    let text = tokens.to_string();
    let mut words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    words.any(|word| names.iter().any(|name| name == word))
}

struct Parts {
    predicate: TokenStream,
    result: Option<TokenStream>,
    /// Without those inside `old(..)`.
    mentions: Mentions,
    olds: Vec<Old>,
    portable: Option<Portable>,
    is_constant: bool,
    span: Span,
}

fn finish(
    errors: &mut Errors,
    written: ParsedCondition,
    params: &[Param],
    shadowed: &[String],
    result: Option<&str>,
    parts: Parts,
) -> Option<Clause> {
    let Parts {
        predicate,
        result: head,
        mut mentions,
        olds,
        portable,
        is_constant,
        span,
    } = parts;
    let message = match written.message {
        Some(literal) => {
            let known = message::Known { params, result };
            let args = written.message_args;
            let mut message = message::check(errors, literal, args, known)?;
            message.shows_result = message.names_any(shadowed);
            Some(message)
        }
        None => None,
    };
    if let Some(message) = &message {
        for name in &message.placeholders {
            mentions.add_name(name, params, shadowed);
        }
        for arg in &message.args {
            mentions.add(arg, params, shadowed);
        }
    }
    let question = match written.question {
        Some(Set { key, value }) => {
            let (message, asked) = ask::check(errors, value, params)?;
            mentions.params.extend(asked.params);
            Some(Set {
                key,
                value: message,
            })
        }
        None => None,
    };
    let mentions_after: Vec<usize> = mentions.params.iter().copied().collect();
    mentions
        .params
        .extend(olds.iter().flat_map(|old| old.mentions.iter().copied()));
    let history = history::find(&predicate);
    Some(Clause {
        kind: written.kind,
        predicate,
        result: head,
        text: written.text,
        message,
        policy: written.policy,
        shown: written.shown,
        demand: written.demand,
        question,
        id: written.id,
        history,
        portable,
        is_constant,
        mentions: mentions.params.into_iter().collect(),
        mentions_after,
        mentions_self: mentions.names_self,
        olds,
        span,
    })
}
