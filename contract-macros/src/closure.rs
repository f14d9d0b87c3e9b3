//! Splits a postcondition's closure into the name of the result and the condition.

use proc_macro2::{Group, Punct, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprClosure, Pat, ReturnType, Token};

use crate::args;
use crate::model::Param;
use crate::nearest::nearest;
use crate::source::{self, is_punct};

/// The condition itself, without the closure around it.
pub(crate) fn predicate_of(expr: &Expr) -> &Expr {
    match args::ungrouped(expr) {
        Expr::Closure(closure) => &closure.body,
        other => other,
    }
}

pub(crate) fn tokens(expr: &Expr) -> TokenStream {
    args::ungrouped(expr).to_token_stream()
}

/// Where the head of a closure ends: the index of its second `|`.
fn head_end(trees: &[TokenTree]) -> (usize, usize) {
    let mut bars = trees
        .iter()
        .enumerate()
        .filter(|(_, tree)| is_punct(Some(tree), '|'))
        .map(|(at, _)| at);
    (bars.next().unwrap_or(0), bars.next().unwrap_or(0))
}

pub(crate) fn head(tokens: &TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let (start, end) = head_end(&trees);
    trees.into_iter().take(end).skip(start + 1).collect()
}

pub(crate) fn body(tokens: &TokenStream, closure: &ExprClosure) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let (_, end) = head_end(&trees);
    match closure.output {
        ReturnType::Default => trees.into_iter().skip(end + 1).collect(),
        // A closure that states its type has a block for a body.
        ReturnType::Type(..) => trees.into_iter().next_back().into_iter().collect(),
    }
}

/// The names a pattern binds; a name it only mentions may be among them, which hides nothing a condition needs.
pub(crate) fn bindings(pattern: &Pat) -> Vec<String> {
    fn walk(pattern: &Pat, names: &mut Vec<String>) {
        let each = |patterns: &Punctuated<Pat, Token![,]>, names: &mut Vec<String>| {
            patterns.iter().for_each(|pattern| walk(pattern, names));
        };
        match pattern {
            Pat::Ident(name) => {
                names.push(name.ident.unraw().to_string());
                if let Some((_, inner)) = &name.subpat {
                    walk(inner, names);
                }
            }
            Pat::Guard(inner) => walk(&inner.pat, names),
            Pat::Paren(inner) => walk(&inner.pat, names),
            Pat::Reference(inner) => walk(&inner.pat, names),
            Pat::Type(inner) => walk(&inner.pat, names),
            Pat::Slice(inner) => each(&inner.elems, names),
            Pat::Tuple(inner) => each(&inner.elems, names),
            Pat::TupleStruct(inner) => each(&inner.elems, names),
            Pat::Struct(inner) => inner
                .fields
                .iter()
                .for_each(|field| walk(&field.pat, names)),
            Pat::Or(inner) => inner.cases.iter().for_each(|pattern| walk(pattern, names)),
            _ => {}
        }
    }
    let mut names = Vec::new();
    walk(pattern, &mut names);
    names
}

/// What to write where a word stands before a closure, as in `error |e| ..`, or around it, as in `Err(|e| ..)`.
pub(crate) fn behind_a_word(tokens: &TokenStream, params: &[Param]) -> Option<String> {
    let mut trees = tokens.clone().into_iter();
    let TokenTree::Ident(word) = trees.next()? else {
        return None;
    };
    let word = word.to_string();
    let rest: Vec<TokenTree> = trees.collect();
    let closure: TokenStream = match rest.as_slice() {
        [TokenTree::Group(around)] => around.stream(),
        _ => rest.into_iter().collect(),
    };
    let is_param = params.iter().any(|param| param.bindings.contains(&word));
    if is_param || syn::parse2::<ExprClosure>(closure.clone()).is_err() {
        return None;
    }
    let text = source::text(&closure);
    let (result, error) = (
        format!("`#[post({text})]`"),
        format!("`#[post(err {text})]`"),
    );
    Some(if word.eq_ignore_ascii_case("ok") {
        format!("a postcondition is about the result by default; write {result}")
    } else if nearest(&word, &["err"]).is_some() {
        format!("`err` before a closure says that it is about the error; write {error}")
    } else {
        format!("unknown word `{word}` before a closure; write {result}, or {error} for the error")
    })
}

/// The condition with a `*` before the result where it is compared: it is borrowed.
pub(crate) fn dereferenced(tokens: TokenStream, result: &str) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let compares =
        |tree: Option<&TokenTree>| ['<', '>', '='].iter().any(|sign| is_punct(tree, *sign));
    let differs = |at: usize| is_punct(trees.get(at), '!') && is_punct(trees.get(at + 1), '=');
    let mut written = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| trees.get(before));
        match tree {
            TokenTree::Ident(word) if word == result => {
                let borrowed = compares(before) || compares(trees.get(at + 1)) || differs(at + 1);
                if borrowed || trees.len() == 1 {
                    let mut star = Punct::new('*', Spacing::Alone);
                    star.set_span(word.span());
                    written.push(TokenTree::Punct(star));
                }
                written.push(tree.clone());
            }
            TokenTree::Group(group) => {
                let mut inside =
                    Group::new(group.delimiter(), dereferenced(group.stream(), result));
                inside.set_span(group.span());
                written.push(TokenTree::Group(inside));
            }
            other => written.push(other.clone()),
        }
    }
    written.into_iter().collect()
}

/// The name the author seems to mean: the first variable in the condition that is not a parameter.
pub(crate) fn result_name(expr: &Expr, params: &[Param]) -> String {
    fn first(tokens: TokenStream, params: &[Param]) -> Option<String> {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        trees.iter().enumerate().find_map(|(at, tree)| match tree {
            TokenTree::Group(group) => first(group.stream(), params),
            TokenTree::Ident(word) => {
                let word = word.to_string();
                let variable = word.starts_with(|letter: char| letter.is_lowercase())
                    && !matches!(word.as_str(), "self" | "old" | "true" | "false" | "matches")
                    && syn::parse_str::<syn::Ident>(&word).is_ok();
                let called = matches!(trees.get(at + 1), Some(TokenTree::Group(_)))
                    || is_punct(trees.get(at + 1), ':')
                    || at.checked_sub(1).is_some_and(|before| {
                        is_punct(trees.get(before), '.') || is_punct(trees.get(before), ':')
                    });
                let param = params.iter().any(|param| param.bindings.contains(&word));
                (variable && !called && !param).then_some(word)
            }
            _ => None,
        })
    }
    first(expr.to_token_stream(), params).unwrap_or_else(|| String::from("result"))
}
