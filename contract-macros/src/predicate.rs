//! Rules for every condition, the parameters it mentions, and the values of `old(..)` it needs.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{BinOp, Expr, ExprClosure};

use crate::args::nearest;
use crate::attributes::{ContractAttribute, Kind};
use crate::errors::Errors;
use crate::facts::{Facts, assigns};
use crate::model::{Old, Param};
use crate::names;
use crate::source::{self, is_punct, replaced};

/// The parameters that an expression names.
#[derive(Default)]
pub(crate) struct Mentions {
    pub(crate) params: BTreeSet<usize>,
    pub(crate) names_self: bool,
}

impl Mentions {
    pub(crate) fn of(names: &BTreeSet<String>, params: &[Param]) -> Self {
        let mut mentions = Self::default();
        mentions.add(names, params, &[]);
        mentions
    }

    /// Adds names; those that are `shadowed` belong to a closure.
    pub(crate) fn add(&mut self, names: &BTreeSet<String>, params: &[Param], shadowed: &[String]) {
        self.names_self |= names.contains("self");
        let is_named = |name: &String| names.contains(name) && !shadowed.contains(name);
        let params = params.iter().enumerate();
        let mentioned = params.filter(|(_, param)| param.bindings.iter().any(is_named));
        self.params.extend(mentioned.map(|(index, _)| index));
    }

    /// The parameters that are named.
    pub(crate) fn params<'p>(&self, params: &'p [Param]) -> impl Iterator<Item = &'p Param> {
        self.params.iter().filter_map(|&index| params.get(index))
    }
}

/// Replaces `self` by another name.
pub(crate) fn with_self_as(name: &Ident, tokens: TokenStream) -> TokenStream {
    replaced(tokens, &mut |trees, at| match trees.get(at)? {
        TokenTree::Ident(word) if word == "self" && !is_punct(trees.get(at + 1), ':') => {
            let mut name = name.clone();
            name.set_span(name.span().located_at(word.span()));
            Some((name.into_token_stream(), 1))
        }
        _ => None,
    })
}

/// Takes every `old(..)` out of a postcondition and leaves a name in its place.
pub(crate) struct Olds<'a> {
    pub(crate) params: &'a [Param],
    /// The names of the result, which does not exist yet when `old(..)` is evaluated.
    pub(crate) result: &'a [String],
    /// Names must differ within one function.
    pub(crate) count: &'a mut usize,
    pub(crate) found: Vec<Old>,
}

impl Olds<'_> {
    pub(crate) fn take(&mut self, errors: &mut Errors, tokens: TokenStream) -> TokenStream {
        replaced(tokens, &mut |trees, at| {
            let before = at.checked_sub(1).and_then(|before| trees.get(before));
            match (trees.get(at)?, trees.get(at + 1)?) {
                (TokenTree::Ident(word), TokenTree::Group(group))
                    if word == "old"
                        && group.delimiter() == Delimiter::Parenthesis
                        && !(is_punct(before, '.') || is_punct(before, ':')) =>
                {
                    let ident = self.old(errors, word.span(), group.stream());
                    Some((ident.into_token_stream(), 2))
                }
                _ => None,
            }
        })
    }

    fn old(&mut self, errors: &mut Errors, span: Span, tokens: TokenStream) -> Ident {
        let name = names::local("old", *self.count);
        *self.count += 1;
        let ident = Ident::new(&name, Span::mixed_site().located_at(span));
        let facts = Facts::of_tokens(&tokens);
        self.check(errors, span, &tokens, &facts);
        let mentions = Mentions::of(&facts.names, self.params).params;
        self.found.push(Old {
            ident: ident.clone(),
            tokens,
            mentions: mentions.into_iter().collect(),
        });
        ident
    }

    fn check(&self, errors: &mut Errors, span: Span, inside: &TokenStream, facts: &Facts) {
        if inside.is_empty() {
            errors.at(span, "`old(..)` needs the expression whose earlier value is meant; write `old(items.len())`");
        } else if syn::parse2::<Expr>(inside.clone()).is_err() {
            let message = "`old(..)` takes one expression; write one `old(..)` for each value";
            errors.at(span, message);
        }
        if let Some(inner) = facts.olds.first() {
            let message =
                "`old(..)` inside `old(..)` has no further effect; leave out the inner one";
            errors.at(*inner, message);
        }
        let is_param = |name: &&String| {
            self.params
                .iter()
                .any(|param| param.bindings.contains(name))
        };
        let named = self
            .result
            .iter()
            .filter(|name| facts.names.contains(*name));
        for name in named.filter(|name| !is_param(name)) {
            let message = format!(
                "`old(..)` is evaluated before the function runs, when there is no `{name}` yet"
            );
            errors.at(span, message);
        }
    }
}

/// Rules every condition obeys that rustc would report less clearly.
///
/// `instead` says where the condition could wait.
pub(crate) fn check(errors: &mut Errors, expr: &Expr, instead: &str) {
    compares(errors, expr);
    let facts = Facts::of(expr);
    for wait in &facts.awaits {
        errors.at(*wait, format_args!("a condition cannot await; {instead}"));
    }
    for change in &facts.changes {
        errors.at(*change, CHANGES);
    }
    if let Some(mark) = facts.questions.first() {
        let message = "`?` cannot leave a condition; a `Result<(), E>` is a condition as it is, and its error the sentence";
        errors.at(*mark, message);
    }
    for pattern in &facts.patterns {
        if let Err(problem) = regex_lite::Regex::new(&pattern.value()) {
            let message = format!(
                "this is not a regular expression: {problem}; write `\\` before a character that stands for itself"
            );
            errors.on(pattern, message);
        }
    }
}

const CHANGES: &str = "a condition must not change anything; compare values instead";

fn compares(errors: &mut Errors, expr: &Expr) {
    match expr {
        Expr::Assign(assign) => errors.on(assign.eq_token, "`=` assigns; write `==` to compare"),
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
            compares(errors, &binary.left);
            compares(errors, &binary.right);
        }
        Expr::Binary(binary) if assigns(&binary.op) => errors.on(binary.op, CHANGES),
        Expr::Paren(paren) => compares(errors, &paren.expr),
        Expr::Group(group) => compares(errors, &group.expr),
        Expr::Unary(unary) => compares(errors, &unary.expr),
        _ => {}
    }
}

/// The variables that the conditions of one function name and do not bind themselves.
pub(crate) fn variables(contracts: &[ContractAttribute]) -> Vec<Ident> {
    let mut found: Vec<Ident> = Vec::new();
    for contract in contracts {
        let mut trees = contract.args.clone().into_iter().peekable();
        let is_post = contract.kind == Kind::Post;
        trees.next_if(|tree| is_post && matches!(tree, TokenTree::Ident(word) if word == "err"));
        let first = |input: ParseStream<'_>| {
            let first = input.parse::<Expr>()?;
            input.parse::<TokenStream>()?;
            Ok(first)
        };
        let facts = match (contract.kind, first.parse2(trees.collect())) {
            // An assignment, a key without a condition and a result without a name have messages of their own.
            (Kind::Pre, Ok(Expr::Assign(_))) => continue,
            (Kind::Pre, Ok(condition)) | (Kind::Post, Ok(condition @ Expr::Closure(_))) => {
                Facts::of(&condition)
            }
            _ => continue,
        };
        for word in facts.variables.into_iter().filter(is_free) {
            if !found.contains(&word) {
                found.push(word);
            }
        }
    }
    found
}

/// Whether a word can be a variable: not a keyword, and not `not`, which has a message of its own.
fn is_free(word: &Ident) -> bool {
    word != "not" && syn::parse_str::<Ident>(&word.to_string()).is_ok()
}

/// Advice for a word before a closure, as in `error |e| ..`, or around it, as in `Err(|e| ..)`.
pub(crate) fn behind_a_word(tokens: &TokenStream, params: &[Param]) -> Option<String> {
    let mut trees = tokens.clone().into_iter();
    let TokenTree::Ident(word) = trees.next()? else {
        return None;
    };
    let word = word.to_string();
    let rest: TokenStream = trees.collect();
    let around = syn::parse2::<Group>(rest.clone());
    let closure = around.map_or(rest, |around| around.stream());
    let is_param = params.iter().any(|param| param.bindings.contains(&word));
    if is_param || syn::parse2::<ExprClosure>(closure.clone()).is_err() {
        return None;
    }
    let text = source::text(&closure);
    let [result, error] = ["", "err "].map(|side| format!("`#[post({side}{text})]`"));
    Some(if word.eq_ignore_ascii_case("ok") {
        format!("a postcondition is about the result by default; write {result}")
    } else if nearest(&word, &["err"]).is_some() {
        format!("`err` before a closure says that it is about the error; write {error}")
    } else {
        format!("unknown word `{word}` before a closure; write {result}, or {error} for the error")
    })
}

/// The condition with a `*` before the result where it is compared, because it is borrowed.
pub(crate) fn dereferenced(tokens: TokenStream, result: &str) -> TokenStream {
    let compares =
        |tree: Option<&TokenTree>| ['<', '>', '='].iter().any(|sign| is_punct(tree, *sign));
    replaced(tokens, &mut |trees, at| {
        let TokenTree::Ident(word) = trees.get(at)? else {
            return None;
        };
        let before = at.checked_sub(1).and_then(|before| trees.get(before));
        let (next, second) = (trees.get(at + 1), trees.get(at + 2));
        let differs = is_punct(next, '!') && is_punct(second, '=');
        let borrowed = compares(before) || compares(next) || differs || trees.len() == 1;
        (word == result && borrowed).then(|| {
            let mut star = Punct::new('*', Spacing::Alone);
            star.set_span(word.span());
            (quote::quote!(#star #word), 1)
        })
    })
}

/// A name for the result: the first variable in the condition that is not a parameter, or `result`.
pub(crate) fn result_name(expr: &Expr, params: &[Param]) -> String {
    let mut variables = Facts::of(source::ungrouped(expr)).variables.into_iter();
    let names = params.iter().flat_map(|param| &param.bindings);
    let result = variables.find(|word| is_free(word) && !names.clone().any(|name| word == name));
    result.map_or_else(|| String::from("result"), |word| word.to_string())
}
