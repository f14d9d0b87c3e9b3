//! Finds what a condition asks the history of a run.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::LitStr;

use crate::model::{AskedTool, HistoryUse};
use crate::source::{self, is_punct};

/// What these tokens ask; nothing, if they do not call `history()`.
pub(crate) fn find(tokens: &TokenStream) -> Option<HistoryUse> {
    let mut found = None;
    walk(tokens, &mut found);
    found
}

fn walk(tokens: &TokenStream, found: &mut Option<HistoryUse>) {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => walk(&group.stream(), found),
            TokenTree::Ident(word) if is_call(&trees, at) => {
                let found = found.get_or_insert_with(|| HistoryUse {
                    span: word.span(),
                    tools: Vec::new(),
                });
                found
                    .tools
                    .extend(chain(trees.get(at + 2..).unwrap_or_default()));
            }
            _ => {}
        }
    }
}

/// Whether `history()` stands here, the function and no method.
fn is_call(trees: &[TokenTree], at: usize) -> bool {
    let named = matches!(trees.get(at), Some(TokenTree::Ident(word)) if word == "history");
    let called = matches!(trees.get(at + 1), Some(TokenTree::Group(group))
        if group.delimiter() == Delimiter::Parenthesis && group.stream().is_empty());
    let method = at
        .checked_sub(1)
        .is_some_and(|before| is_punct(trees.get(before), '.'));
    named && called && !method
}

/// The tool at the end of `.with("order_id", &order_id).seen(find_order)` or `.seen_named("find_order")`.
fn chain(mut trees: &[TokenTree]) -> Option<AskedTool> {
    let mut arguments = Vec::new();
    while let Some((method, group)) = step(trees) {
        let inside = group.stream();
        if method == "with" {
            let literal = inside.into_iter().next().map(TokenStream::from);
            let literal = literal.and_then(|first| syn::parse2::<LitStr>(first).ok());
            arguments.extend(literal);
        } else if ["seen", "ok", "count"].iter().any(|asked| method == asked) {
            return is_path(&inside).then(|| AskedTool {
                name: source::text(&inside),
                path: Some(inside),
                arguments,
            });
        } else if ["seen_named", "ok_named", "count_named"]
            .iter()
            .any(|asked| method == asked)
        {
            let literal = syn::parse2::<LitStr>(inside).ok()?;
            return Some(AskedTool {
                path: None,
                name: literal.value(),
                arguments,
            });
        }
        trees = trees.get(3..).unwrap_or_default();
    }
    None
}

/// `.method(..)`
fn step(trees: &[TokenTree]) -> Option<(&Ident, &Group)> {
    match trees {
        [dot, TokenTree::Ident(method), TokenTree::Group(group), ..]
            if is_punct(Some(dot), '.') =>
        {
            Some((method, group))
        }
        _ => None,
    }
}

/// Whether the tokens name something, as far as they can tell.
fn is_path(tokens: &TokenStream) -> bool {
    let part = |tree: TokenTree| match tree {
        TokenTree::Ident(_) => true,
        other => [':', '<', '>', ',']
            .iter()
            .any(|sign| is_punct(Some(&other), *sign)),
    };
    !tokens.is_empty() && tokens.clone().into_iter().all(part)
}
