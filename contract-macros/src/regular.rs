//! Parses regular expressions in predicates with the engine that will run them.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Lit, LitStr, Token};

use crate::args;
use crate::errors::Errors;

/// Reports every literal in `matches_pattern(text, "..")` that is not a regular expression.
pub(crate) fn check(errors: &mut Errors, tokens: &TokenStream) {
    let mut called = false;
    for tree in tokens.clone() {
        if let TokenTree::Group(group) = &tree {
            if called && group.delimiter() == Delimiter::Parenthesis {
                check_call(errors, group);
            }
            check(errors, &group.stream());
        }
        called = matches!(&tree, TokenTree::Ident(word) if word == "matches_pattern");
    }
}

fn check_call(errors: &mut Errors, arguments: &Group) {
    let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
    let Ok(arguments) = parser.parse2(arguments.stream()) else {
        return;
    };
    if let Some(literal) = arguments.iter().nth(1).and_then(text)
        && let Err(problem) = regex_lite::Regex::new(&literal.value())
    {
        let message = format!(
            "this is not a regular expression: {problem}; write `\\` before a character that stands for itself"
        );
        errors.on(literal, message);
    }
}

fn text(expr: &Expr) -> Option<&LitStr> {
    match args::ungrouped(expr) {
        Expr::Paren(paren) => text(&paren.expr),
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}
