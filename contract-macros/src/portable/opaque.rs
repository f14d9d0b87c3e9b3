//! What is not portable, and what to say of it.

use quote::ToTokens;
use syn::Expr;

use crate::args;
use crate::model::{Opaque, Portable};
use crate::source;

pub(super) fn opaque(expr: &Expr, reason: &'static str, advice: &'static str) -> Portable {
    let tokens = expr.to_token_stream();
    Portable::Opaque(Opaque {
        text: source::text(&tokens),
        tokens,
        reason,
        advice,
    })
}

/// Why the rest is not portable.
pub(super) fn other(expr: &Expr) -> Portable {
    let (reason, advice) = match args::ungrouped(expr) {
        Expr::Cast(_) => (
            "a cast changes values in a way of Rust's own",
            "compare in the parameter's own type",
        ),
        Expr::Field(_) => (
            "what JSON calls a field is known to its type alone",
            "make it a parameter",
        ),
        Expr::Index(_) => (
            "an index may fail",
            "speak of all items with `iter().all(|item| ..)`",
        ),
        Expr::If(_) | Expr::Match(_) | Expr::Let(_) => (
            "a branch that binds names is part of Rust alone",
            "use `is_some_and(|value| ..)` or `matches!`",
        ),
        Expr::Block(_) | Expr::Unsafe(_) => (
            "a block with statements is part of Rust alone",
            "write one expression",
        ),
        Expr::Closure(_) => (
            "a closure is read only where its method is known",
            "use `iter().all(|item| ..)` or `is_some_and(|value| ..)`",
        ),
        _ => (
            "this kind of expression is part of Rust alone",
            "write it with comparisons",
        ),
    };
    opaque(expr, reason, advice)
}
