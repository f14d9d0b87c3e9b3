//! Resolves a parsed clause: the names it uses, and the values it captures before the body.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, LitStr, Pat};

use crate::ask::{self, WrittenQuestion};
use crate::errors::Errors;
use crate::facts::{Facts, bindings};
use crate::message;
use crate::model::{Clause, ClauseKind, Old, Param, Policy, Portable, Set, Shown};
use crate::portable;
use crate::predicate::{Mentions, Olds};

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
    let facts = Facts::of(&written.expr);
    let args = written
        .message_args
        .iter()
        .flat_map(|arg| Facts::of_tokens(arg).olds);
    if let Some(span) = facts.olds.iter().copied().chain(args).next() {
        errors.at(span, "`old(..)` belongs to a postcondition; before the function runs, write the value itself");
        return None;
    }
    let portable = match &facts.history {
        Some(_) => portable::of_history(&written.expr),
        None => portable::read(&written.expr, params),
    };
    let parts = Parts {
        predicate: written.tokens.clone(),
        result: None,
        olds: Vec::new(),
        portable: Some(portable),
        facts,
    };
    finish(errors, written, params, &[], None, parts)
}

/// A condition over the result.
pub(crate) fn post(
    errors: &mut Errors,
    mut written: ParsedCondition,
    closure: &ExprClosure,
    params: &[Param],
    count: &mut usize,
) -> Option<Clause> {
    let input = closure.inputs.first()?;
    let shadowed = bindings(input);
    let plain = match input {
        Pat::Type(typed) => &*typed.pat,
        other => other,
    };
    let plain = match plain {
        Pat::Ident(name) if name.subpat.is_none() => Some(bindings(plain).join("")),
        _ => None,
    };
    let mut olds = Olds {
        params,
        result: &shadowed,
        count,
        found: Vec::new(),
    };
    let predicate = olds.take(errors, closure.body.to_token_stream());
    let args = std::mem::take(&mut written.message_args).into_iter();
    written.message_args = args.map(|arg| olds.take(errors, arg)).collect();
    let olds = olds.found;
    let parts = Parts {
        facts: Facts::of_tokens(&predicate),
        predicate,
        result: Some(closure.inputs.to_token_stream()),
        olds,
        portable: None,
    };
    finish(errors, written, params, &shadowed, plain.as_deref(), parts)
}

struct Parts {
    predicate: TokenStream,
    result: Option<TokenStream>,
    olds: Vec<Old>,
    portable: Option<Portable>,
    /// Without what is inside `old(..)`.
    facts: Facts,
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
        olds,
        portable,
        facts,
    } = parts;
    let mut mentions = Mentions::default();
    mentions.add(&facts.names, params, shadowed);
    let names_nothing = mentions.params.is_empty() && !mentions.names_self && olds.is_empty();
    let is_constant = names_nothing && facts.is_constant() && !facts.names_any(shadowed);
    let message = match written.message {
        Some(literal) => {
            let known = message::Known { params, result };
            let args = written.message_args;
            let mut message = message::check(errors, literal, args, known)?;
            let names = message.names();
            message.shows_result = shadowed.iter().any(|name| names.contains(name));
            mentions.add(&names, params, shadowed);
            Some(message)
        }
        None => None,
    };
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
        history: facts.history,
        portable,
        is_constant,
        mentions: mentions.params.into_iter().collect(),
        mentions_after,
        mentions_self: mentions.names_self,
        olds,
        span: written.expr.span(),
    })
}
