//! Rules for conditions and givens.

use quote::ToTokens;
use syn::{BinOp, Expr, ReturnType, Type, UnOp};

use crate::errors::Errors;
use crate::facts::Facts;
use crate::given::can_fail;
use crate::model::{
    Clause, ClauseKind, Function, Given, Message, Opaque, Param, Policy, Portable, Shown,
};
use crate::source;
use crate::spelling::{bare, holds_impl, optional};

/// What is demanded to be shown must be portable, every part of it.
pub(super) fn shown_if_demanded(errors: &mut Errors, clause: &Clause) {
    let Some(shown) = clause
        .shown
        .as_ref()
        .filter(|shown| shown.value == Shown::Fully)
    else {
        return;
    };
    if clause.kind != ClauseKind::Pre {
        let message = "a schema cannot show a postcondition; say what holds with `ensures = \"..\"`, or remove `shown`";
        errors.at(shown.key, message);
    }
    let mut parts = Vec::new();
    if let Some(portable) = &clause.portable {
        opaque(portable, &mut parts);
    }
    for part in parts {
        let Opaque {
            text,
            tokens,
            reason,
            advice,
        } = part;
        let message = format!("`{text}` is not portable: {reason}; {advice}, or remove `shown`");
        errors.on(tokens, message);
    }
}

/// What is hidden demands nothing of a model.
pub(super) fn demand_is_shown(errors: &mut Errors, clause: &Clause) {
    let hidden = clause.shown.as_ref();
    let hidden = hidden.is_some_and(|shown| shown.value == Shown::Never);
    if let Some(demand) = clause.demand.as_ref().filter(|_| hidden) {
        let message =
            "nobody is shown this sentence, because of `shown = never`; remove one of the two";
        errors.at(demand.key, message);
    }
}

/// A condition that stands there twice was meant to be another one; after a lookup it may have another answer.
pub(super) fn stated_once(errors: &mut Errors, clauses: &[Clause], givens: &[Given]) {
    for (at, clause) in clauses.iter().enumerate() {
        let same = |before: &Clause| before.kind == clause.kind && before.text == clause.text;
        let Some(first) = clauses.iter().take(at).position(same) else {
            continue;
        };
        let between = |given: &Given| given.position > first && given.position <= at;
        if !givens.iter().any(between) {
            let message = format!(
                "`{}` is stated twice; remove one, or change it",
                clause.text
            );
            errors.on(&clause.predicate, message);
        }
    }
}

/// The parts that are not portable, each once.
fn opaque<'m>(portable: &'m Portable, found: &mut Vec<&'m Opaque>) {
    match portable {
        Portable::Opaque(part) if found.iter().all(|known| known.text != part.text) => {
            found.push(part);
        }
        other => {
            for part in other.parts() {
                opaque(part, found);
            }
        }
    }
}

/// What is asked, somebody must be able to answer before anything happens.
pub(super) fn answerable(errors: &mut Errors, clause: &Clause) {
    let Some(question) = &clause.question else {
        return;
    };
    if clause.kind != ClauseKind::Pre {
        let message = "only a precondition asks, because behind the body there is nothing left to approve; remove `ask`";
        errors.at(question.key, message);
    }
    if let Some(policy) = clause.policy.as_ref()
        && matches!(policy.value, Policy::Ignore | Policy::Observe)
    {
        let message = "a condition that asks ends the call where nobody approves; remove this policy, or `ask`";
        errors.at(policy.key, message);
    }
}

/// Two conditions that an operator could not tell apart.
pub(super) fn ids_differ(errors: &mut Errors, clauses: &[Clause]) {
    let ids: Vec<_> = clauses
        .iter()
        .filter_map(|clause| clause.id.as_ref())
        .collect();
    for (at, id) in ids.iter().enumerate() {
        let text = id.value.value();
        if ids[..at].iter().any(|before| before.value.value() == text) {
            let message = format!("two conditions are called `{text}`; give each an id of its own");
            errors.on(&id.value, message);
        }
    }
}

/// Nobody answers a Rust call.
pub(super) fn never_asking(errors: &mut Errors, clause: &Clause) {
    let keys = [
        clause.question.as_ref().map(|question| question.key),
        clause.id.as_ref().map(|id| id.key),
    ];
    for key in keys.into_iter().flatten() {
        let message = "only a tool asks, because nobody answers a Rust call; remove this, or make the function a `#[tool]`";
        errors.at(key, message);
    }
}

/// Only a tool has a schema that could show it.
pub(super) fn never_shown(errors: &mut Errors, clause: &Clause) {
    if let Some(shown) = clause
        .shown
        .as_ref()
        .filter(|shown| shown.value != Shown::Possibly)
    {
        let message = "only the conditions of a tool are shown to a model; remove `shown`";
        errors.at(shown.key, message);
    }
    if let Some(demand) = &clause.demand {
        let message = "only the conditions of a tool are shown to a model; remove this, or make the function a `#[tool]`";
        errors.at(demand.key, message);
    }
}

/// `limit > 0` of an `Option`, where the compiler advises `limit > Some(0)`, which refuses every call without a limit.
pub(super) fn absence_considered(errors: &mut Errors, clause: &Clause, params: &[Param]) {
    if let Ok(predicate) = syn::parse2::<Expr>(clause.predicate.clone()) {
        compares_a_value(errors, &predicate, params);
    }
}

fn compares_a_value(errors: &mut Errors, expr: &Expr, params: &[Param]) {
    let Expr::Binary(binary) = expr else {
        return;
    };
    if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) {
        compares_a_value(errors, &binary.left, params);
        compares_a_value(errors, &binary.right, params);
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

/// A condition over constants alone refuses every call, or none.
pub(super) fn varies(errors: &mut Errors, clause: &Clause) {
    if clause.is_constant {
        let message = "this condition is the same for every call; refer to a parameter or to state, or write `const { assert!(..) }` in the body";
        errors.on(&clause.predicate, message);
    }
}

/// A postcondition judges what has happened, when nothing can be refused any more.
pub(super) fn asked_before(errors: &mut Errors, clause: &Clause) {
    if let Some(used) = clause
        .history
        .as_ref()
        .filter(|_| clause.kind != ClauseKind::Pre)
    {
        let message = "a postcondition cannot ask the history; write it in a `#[pre]`, which can still refuse the call";
        errors.at(used.span, message);
    }
}

/// A person is asked after the conditions, when the call has no place in the history yet.
pub(super) fn question_shows_no_history(errors: &mut Errors, question: &Message) {
    for used in question
        .args
        .iter()
        .filter_map(|arg| Facts::of_tokens(arg).history)
    {
        let message = "a question cannot ask the history; look it up before, such as `#[given(times = history().count(refund))]`, and show `{times}`";
        errors.at(used.span, message);
    }
}

/// Only calls by name are remembered, and only tools are called by name.
pub(super) fn asked_of_a_tool(errors: &mut Errors, clauses: &[Clause], givens: &[Given]) {
    let conditions = clauses.iter().map(|clause| &clause.history);
    let asked = conditions.chain(givens.iter().map(|given| &given.history));
    for used in asked.flatten() {
        let message = "only a tool can ask the history, because only calls by name belong to a run; write `#[tool]` above the function, or take a `&History` as a parameter";
        errors.at(used.span, message);
    }
}

/// What a given ends early with needs a type, and somebody who gets it.
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
