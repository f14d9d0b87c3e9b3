//! Source text reconstructed from tokens.

use proc_macro2::{Delimiter, Group, TokenTree};

use super::tokens;
use crate::source::{grouped, text};

/// Outside a compiler the places of tokens are unknown, so this pins the usual spacing.
#[test]
fn usual_spacing() {
    for source in [
        "divisor != 0.0",
        "*out > 0.0",
        "|out| *out > 0.0 && !out.is_nan()",
        "|x| x.is_some_and(|y| *y > -1)",
        "(0..=10).contains(&limit)",
        "items.iter().all(|item| item.len() <= 5)",
        "matches!(a, Some(1 | 2))",
        "a as i64 - 1 == f(x, y)[0]",
        "std::path::Path::new(p).exists()",
        "x? || y",
    ] {
        assert_eq!(text(&tokens(source)), source);
    }
}

/// What `macro_rules!` makes of `$e:expr`: a group that is not seen.
fn invisible(source: &str) -> TokenTree {
    TokenTree::Group(Group::new(Delimiter::None, tokens(source)))
}

#[test]
fn an_expression_from_macro_rules_stays_one() {
    let written = |before: &str, inner: &str, after: &str| {
        let all = tokens(before).into_iter().chain([invisible(inner)]);
        let all = all.chain(tokens(after));
        text(&grouped(all.collect()))
    };
    assert_eq!(written("q <= 10 -", "1 + 1", ""), "q <= 10 - (1 + 1)");
    assert_eq!(written("!", "q > 3 && q < 9", ""), "!(q > 3 && q < 9)");
    assert_eq!(written("q <= 10 -", "1", ""), "q <= 10 - 1");
    assert_eq!(written("q <", "u8::MAX", ", \"no\""), "q < u8::MAX, \"no\"");
    assert_eq!(written("", "q > 3", ", \"no\""), "q > 3, \"no\"");
    assert_eq!(written("q == ", "a.len()", ""), "q == a.len()");
}
