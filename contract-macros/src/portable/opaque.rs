//! Expressions that are not portable, with the reason.

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
            "a cast follows Rust's own conversion rules",
            "compare in the parameter's own type",
        ),
        Expr::Field(_) => (
            "only its type knows what JSON calls a field",
            "make it a parameter",
        ),
        Expr::Index(_) => (
            "an index may fail",
            "cover all items with `iter().all(|item| ..)`",
        ),
        Expr::If(_) | Expr::Match(_) | Expr::Let(_) => (
            "a branch that binds names is specific to Rust",
            "use `is_some_and(|value| ..)` or `matches!`",
        ),
        Expr::Block(_) | Expr::Unsafe(_) => (
            "a block with statements is specific to Rust",
            "write one expression",
        ),
        Expr::Closure(_) => (
            "a closure can be read only in a known method",
            "use `iter().all(|item| ..)` or `is_some_and(|value| ..)`",
        ),
        _ => (
            "this kind of expression is specific to Rust",
            "write it with comparisons",
        ),
    };
    opaque(expr, reason, advice)
}
