//! Rules for conditions and givens.

use std::collections::BTreeSet;

use proc_macro2::Span;
use quote::ToTokens;
use syn::{BinOp, Expr, ReturnType, Type, UnOp};

use crate::errors::Errors;
use crate::facts::Facts;
use crate::given::can_fail;
use crate::model::{
    Clause, ClauseKind, Function, Given, Message, Opaque, Param, Policy, Portable, Set, Shown,
};
use crate::source;
use crate::spelling::{bare, holds_impl, optional};

pub(super) fn of_a_tool(errors: &mut Errors, clause: &Clause) {
    let is_post = clause.kind != ClauseKind::Pre;
    let is_shown = |as_much| matches!(&clause.shown, Some(shown) if shown.value == as_much);
    let fully = clause.shown.as_ref().filter(|_| is_shown(Shown::Fully));
    let message = "a schema cannot show a postcondition; say what holds with `ensures = \"..\"`, or remove `shown`";
    errors.each(key(fully.filter(|_| is_post)), message);
    let mut parts = Vec::new();
    if let (Some(_), Some(portable), false) = (fully, &clause.portable, is_post) {
        opaque(portable, &mut parts);
    }
    for part in parts {
        let (text, reason, advice) = (&part.text, part.reason, part.advice);
        let message = format!("`{text}` is not portable: {reason}; {advice}, or remove `shown`");
        errors.on(&part.tokens, message);
    }
    let demand = clause.demand.as_ref().filter(|_| is_shown(Shown::Never));
    let message =
        "nobody is shown this sentence, because of `shown = never`; remove one of the two";
    errors.each(key(demand), message);
    let question = clause.question.as_ref();
    let message = "only a precondition asks, because behind the body there is nothing left to approve; remove `ask`";
    errors.each(key(question.filter(|_| is_post)), message);
    let is_lenient =
        |policy: &&Set<Policy>| matches!(policy.value, Policy::Ignore | Policy::Observe);
    let policy = question.and(clause.policy.as_ref()).filter(is_lenient);
    let message =
        "a condition that asks ends the call where nobody approves; remove this policy, or `ask`";
    errors.each(key(policy), message);
    // It judges what has happened, when nothing can be refused any more.
    let history = clause.history.as_ref().filter(|_| is_post);
    let message = "a postcondition cannot ask the history; write it in a `#[pre]`, which can still refuse the call";
    errors.each(history.map(|used| used.span), message);
}

/// The rules for a condition of a function that is not a tool: it has no schema, and a Rust call asks no person.
pub(super) fn of_a_function(errors: &mut Errors, clause: &Clause) {
    let shown = clause.shown.as_ref();
    let shown = shown.filter(|shown| shown.value != Shown::Possibly);
    let message = "only the conditions of a tool are shown to a model; remove `shown`";
    errors.each(key(shown), message);
    let message = "only the conditions of a tool are shown to a model; remove this, or make the function a `#[tool]`";
    errors.each(key(clause.demand.as_ref()), message);
    let message = "only a tool asks, because nobody answers a Rust call; remove this, or make the function a `#[tool]`";
    errors.each(key(clause.question.as_ref()), message);
    errors.each(key(clause.id.as_ref()), message);
}

pub(super) fn of_any(errors: &mut Errors, clause: &Clause, params: &[Param]) {
    if let Ok(predicate) = syn::parse2::<Expr>(clause.predicate.clone()) {
        absence_considered(errors, &predicate, params);
    }
    // It refuses every call, or none.
    if clause.is_constant {
        let message = "this condition is the same for every call; refer to a parameter or to state, or write `const { assert!(..) }` in the body";
        errors.on(&clause.predicate, message);
    }
}

fn key<T>(set: Option<&Set<T>>) -> Option<Span> {
    set.map(|set| set.key)
}

/// A condition stated twice is a mistake, unless a lookup between the two may change its answer.
pub(super) fn stated_once(errors: &mut Errors, clauses: &[Clause], givens: &[Given]) {
    for (at, clause) in clauses.iter().enumerate() {
        let same = |before: &Clause| before.kind == clause.kind && before.text == clause.text;
        let Some(first) = clauses.iter().take(at).position(same) else {
            continue;
        };
        let between = |given: &Given| given.position > first && given.position <= at;
        if !givens.iter().any(between) {
            let text = &clause.text;
            let message = format!("`{text}` is stated twice; remove one, or change it");
            errors.on(&clause.predicate, message);
        }
    }
}

/// The parts that are not portable, each once.
fn opaque<'m>(portable: &'m Portable, found: &mut Vec<&'m Opaque>) {
    if let Portable::Opaque(part) = portable
        && found.iter().all(|known| known.text != part.text)
    {
        found.push(part);
    }
    portable.parts().iter().for_each(|part| opaque(part, found));
}

/// An operator tells conditions apart by their ids.
pub(super) fn ids_differ(errors: &mut Errors, clauses: &[Clause]) {
    let mut known = BTreeSet::new();
    for id in clauses.iter().filter_map(|clause| clause.id.as_ref()) {
        let text = id.value.value();
        if !known.insert(text.clone()) {
            let message = format!("two conditions are called `{text}`; give each an id of its own");
            errors.on(&id.value, message);
        }
    }
}

/// `limit > 0` of an `Option`, where the compiler advises `limit > Some(0)`, which refuses every call without a limit.
fn absence_considered(errors: &mut Errors, expr: &Expr, params: &[Param]) {
    let Expr::Binary(binary) = expr else {
        return;
    };
    if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) {
        absence_considered(errors, &binary.left, params);
        absence_considered(errors, &binary.right, params);
        return;
    }
    let literal = match &*binary.right {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => &unary.expr,
        right => right,
    };
    if let (Expr::Path(path), Expr::Lit(_)) = (&*binary.left, literal)
        && let Some(word) = path.path.get_ident()
        && let Some(param) = params
            .iter()
            .find(|param| param.pattern.is_none() && param.ident == *word)
        && let Some(inner) = optional(&param.ty)
    {
        let opened = match inner {
            Type::Path(path) if path.path.is_ident("String") => ".as_deref()",
            _ => "",
        };
        let written = source::text(&expr.to_token_stream());
        let message = format!(
            "`{word}` may be absent; write `{word}{opened}.is_none_or(|{word}| {written})`"
        );
        errors.on(expr, message);
    }
}

/// A person is asked after the conditions, when the call is not yet in the history.
pub(super) fn question_shows_no_history(errors: &mut Errors, question: &Message) {
    let asked = question.args.iter();
    let asked = asked.filter_map(|arg| Some(Facts::of_tokens(arg).history?.span));
    let message = "a question cannot ask the history; look it up before, such as `#[given(times = history().count(refund))]`, and show `{times}`";
    errors.each(asked, message);
}

/// Only calls by name are remembered, and only tools are called by name.
pub(super) fn asked_of_a_tool(errors: &mut Errors, clauses: &[Clause], givens: &[Given]) {
    let conditions = clauses.iter().map(|clause| &clause.history);
    let asked = conditions.chain(givens.iter().map(|given| &given.history));
    let message = "only a tool can ask the history, because only calls by name belong to a run; write `#[tool]` above the function, or take a `&History` as a parameter";
    errors.each(asked.flatten().map(|used| used.span), message);
}

/// A given that ends a call early returns a value, so the function must return, and its type must have a name.
pub(super) fn return_to_somebody(errors: &mut Errors, givens: &[Given], function: &Function) {
    if givens.is_empty() {
        return;
    }
    let ReturnType::Type(_, ty) = &function.sig.output else {
        return;
    };
    if let Type::Never(never) = bare(ty) {
        let message =
            "a function that never returns cannot give anything back; look it up in the body";
        errors.on(never, message);
    } else if holds_impl(ty) && can_fail(givens) {
        let message = "the error of a given is returned, so the type must have a name; write it instead of `impl Trait`";
        errors.on(ty, message);
    }
}
