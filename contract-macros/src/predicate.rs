//! Analyses a condition: the names it uses and what it must not do. Tokens are never re-printed.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::{BinOp, Expr, LitStr};

use crate::errors::Errors;
use crate::message;
use crate::model::{Old, Param};
use crate::names;
use crate::regular;
use crate::scope::{Inside, Scopes};
use crate::source::is_punct;

/// What some tokens name.
#[derive(Default)]
pub(crate) struct Mentions {
    pub(crate) params: BTreeSet<usize>,
    pub(crate) names_self: bool,
}

impl Mentions {
    /// Nothing that a call brings.
    pub(crate) fn is_empty(&self) -> bool {
        self.params.is_empty() && !self.names_self
    }

    /// Adds what `tokens` name; `shadowed` are names a closure has taken.
    pub(crate) fn add(&mut self, tokens: &TokenStream, params: &[Param], shadowed: &[String]) {
        self.walk(tokens, params, shadowed, (false, Inside::Code));
    }

    /// Adds one name.
    pub(crate) fn add_name(&mut self, name: &str, params: &[Param], shadowed: &[String]) {
        if name == "self" {
            self.names_self = true;
        }
        if !shadowed.iter().any(|taken| taken == name) {
            let binds = |param: &Param| param.bindings.iter().any(|binding| binding == name);
            self.params.extend(
                params
                    .iter()
                    .enumerate()
                    .filter(|(_, param)| binds(param))
                    .map(|(index, _)| index),
            );
        }
    }

    fn walk(
        &mut self,
        tokens: &TokenStream,
        params: &[Param],
        outside: &[String],
        (in_macro, inside): (bool, Inside),
    ) {
        let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let scopes = Scopes::of(&trees, inside);
        for (at, tree) in trees.iter().enumerate() {
            let shadowed: Vec<String> = outside.iter().chain(scopes.names(at)).cloned().collect();
            let shadowed = &shadowed;
            match tree {
                TokenTree::Ident(word) if is_value(&trees, at) => {
                    self.add_name(word.to_string().trim_start_matches("r#"), params, shadowed);
                }
                TokenTree::Group(group) => {
                    let called = at
                        .checked_sub(1)
                        .is_some_and(|before| is_punct(trees.get(before), '!'));
                    let inside = (in_macro || called, scopes.inside(&trees, at));
                    self.walk(&group.stream(), params, shadowed, inside);
                }
                // `format!("{root}/")` names `root` inside its text.
                TokenTree::Literal(literal) if in_macro => {
                    let text = syn::parse_str::<LitStr>(&literal.to_string())
                        .map(|literal| literal.value());
                    for name in text
                        .ok()
                        .and_then(|text| message::placeholders(&text).ok())
                        .unwrap_or_default()
                    {
                        self.add_name(&name, params, shadowed);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether the word at `at` can be a variable: no field, method, path segment, field name or macro.
fn is_value(trees: &[TokenTree], at: usize) -> bool {
    let before = |steps: usize| at.checked_sub(steps).and_then(|at| trees.get(at));
    let after = |steps: usize| trees.get(at + steps);
    let field = is_punct(before(1), '.') && !is_punct(before(2), '.');
    let segment = is_punct(before(1), ':') && is_punct(before(2), ':');
    let lifetime = is_punct(before(1), '\'');
    let named = is_punct(after(1), ':');
    let macro_name = is_punct(after(1), '!') && matches!(after(2), Some(TokenTree::Group(_)));
    !(field || segment || lifetime || named || macro_name)
}

/// The tokens with another name for `self`.
pub(crate) fn with_self_as(name: &Ident, tokens: TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let renamed = trees.iter().enumerate().map(|(at, tree)| match tree {
        TokenTree::Ident(word) if word == "self" && is_value(&trees, at) => {
            let mut name = name.clone();
            name.set_span(name.span().located_at(word.span()));
            TokenTree::Ident(name)
        }
        TokenTree::Group(group) => {
            let inside = with_self_as(name, group.stream());
            let mut inside = Group::new(group.delimiter(), inside);
            inside.set_span(group.span());
            TokenTree::Group(inside)
        }
        other => other.clone(),
    });
    renamed.collect()
}

/// Whether the word at `at` starts `old(..)`.
fn old_call(trees: &[TokenTree], at: usize) -> Option<(&Ident, &Group)> {
    match (trees.get(at)?, trees.get(at + 1)?) {
        (TokenTree::Ident(word), TokenTree::Group(group))
            if word == "old"
                && group.delimiter() == Delimiter::Parenthesis
                && is_value(trees, at) =>
        {
            Some((word, group))
        }
        _ => None,
    }
}

/// The first `old(..)`, where none may stand.
pub(crate) fn find_old(tokens: &TokenStream) -> Option<Span> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    trees.iter().enumerate().find_map(|(at, tree)| match tree {
        TokenTree::Group(group) => find_old(&group.stream()),
        _ => old_call(&trees, at).map(|(word, _)| word.span()),
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
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut left = Vec::with_capacity(trees.len());
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            at += 1;
            if let Some((word, group)) = old_call(&trees, at - 1) {
                at += 1;
                let ident = self.name(word.span());
                self.check(errors, word, &group.stream());
                let mut mentions = Mentions::default();
                mentions.add(&group.stream(), self.params, &[]);
                let mentions = mentions.params.into_iter().collect();
                self.found.push(Old {
                    ident: ident.clone(),
                    tokens: group.stream(),
                    mentions,
                });
                left.push(TokenTree::Ident(ident));
            } else if let TokenTree::Group(group) = tree {
                let mut inside = Group::new(group.delimiter(), self.take(errors, group.stream()));
                inside.set_span(group.span());
                left.push(TokenTree::Group(inside));
            } else {
                left.push(tree.clone());
            }
        }
        left.into_iter().collect()
    }

    fn name(&mut self, span: Span) -> Ident {
        let name = names::local("old", *self.count);
        *self.count += 1;
        Ident::new(&name, Span::mixed_site().located_at(span))
    }

    fn check(&self, errors: &mut Errors, word: &Ident, inside: &TokenStream) {
        if inside.is_empty() {
            errors.at(word.span(), "`old(..)` needs the expression whose earlier value is meant; write `old(items.len())`");
        } else if syn::parse2::<Expr>(inside.clone()).is_err() {
            errors.at(
                word.span(),
                "`old(..)` takes one expression; write one `old(..)` for each value",
            );
        }
        if let Some(span) = find_old(inside) {
            errors.at(
                span,
                "`old(..)` inside `old(..)` has no further effect; leave out the inner one",
            );
        }
        let is_param = |name: &String| {
            self.params
                .iter()
                .any(|param| param.bindings.contains(name))
        };
        for name in self.result.iter().filter(|name| !is_param(name)) {
            if names(inside, name) {
                let message = format!(
                    "`old(..)` is evaluated before the function runs, when there is no `{name}` yet"
                );
                errors.at(word.span(), message);
            }
        }
    }
}

/// Whether the tokens use this variable.
fn names(tokens: &TokenStream, name: &str) -> bool {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    trees.iter().enumerate().any(|(at, tree)| match tree {
        TokenTree::Group(group) => names(&group.stream(), name),
        TokenTree::Ident(word) => word == name && is_value(&trees, at),
        _ => false,
    })
}

/// Whether the word at `at` can only be a variable, known or misspelt: functions are called, constants are in capitals.
pub(crate) fn is_variable(trees: &[TokenTree], at: usize) -> bool {
    /// Words of the language that stand where a variable could; `return` is the compiler's to explain.
    const WORDS: [&str; 6] = ["true", "false", "if", "else", "match", "as"];
    let Some(TokenTree::Ident(word)) = trees.get(at) else {
        return false;
    };
    let before = at.checked_sub(1).and_then(|before| trees.get(before));
    let called = matches!(trees.get(at + 1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
    let cast = matches!(before, Some(TokenTree::Ident(word)) if word == "as");
    word.to_string().starts_with(char::is_lowercase)
        && is_value(trees, at)
        && !(called || cast || WORDS.iter().any(|known| word == known))
}

/// Whether some word can only be a variable.
pub(crate) fn names_a_variable(tokens: &TokenStream) -> bool {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    trees.iter().enumerate().any(|(at, tree)| match tree {
        TokenTree::Group(group) => {
            !takes_no_expressions(&trees, at) && names_a_variable(&group.stream())
        }
        TokenTree::Ident(_) => is_variable(&trees, at),
        _ => false,
    })
}

/// Whether the group at `at` holds the arguments of a macro which are not expressions.
pub(crate) fn takes_no_expressions(trees: &[TokenTree], at: usize) -> bool {
    const MACROS: [&str; 4] = ["cfg", "env", "option_env", "concat"];
    let before = |steps: usize| at.checked_sub(steps).and_then(|at| trees.get(at));
    is_punct(before(1), '!')
        && matches!(before(2), Some(TokenTree::Ident(word)) if MACROS.iter().any(|name| word == name))
}

/// Whether an answer is the same for every call: no variable is named, and nothing is called that could ask for state.
pub(crate) fn is_constant(tokens: &TokenStream) -> bool {
    !names_a_variable(tokens) && !calls(tokens)
}

/// Whether a function or a method is called; a macro and the variant of an enum are neither.
fn calls(tokens: &TokenStream) -> bool {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    trees.iter().enumerate().any(|(at, tree)| match tree {
        TokenTree::Group(group) => calls(&group.stream()),
        TokenTree::Ident(word) => {
            let called = matches!(trees.get(at + 1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
            called && word.to_string().starts_with(|first: char| first.is_lowercase() || first == '_')
        }
        _ => false,
    })
}

/// The first parameter that a constant expression names; one with variables of its own is left to the compiler.
pub(crate) fn outside_variable(tokens: TokenStream, params: &[Param]) -> Option<Ident> {
    fn own_variables(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|tree| match tree {
            TokenTree::Group(group) => own_variables(group.stream()),
            TokenTree::Punct(punct) => punct.as_char() == '|',
            TokenTree::Ident(word) => word == "let" || word == "match",
            TokenTree::Literal(_) => false,
        })
    }
    fn first(tokens: TokenStream, params: &[Param]) -> Option<Ident> {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        trees.iter().enumerate().find_map(|(at, tree)| match tree {
            TokenTree::Group(group) => first(group.stream(), params),
            TokenTree::Ident(word) if is_value(&trees, at) => {
                // A function or a path may be called like a parameter.
                let other = matches!(trees.get(at + 1), Some(TokenTree::Group(_)));
                (!other && params.iter().any(|param| param.ident == *word)).then(|| word.clone())
            }
            _ => None,
        })
    }
    if own_variables(tokens.clone()) {
        return None;
    }
    first(tokens, params)
}

/// Rules every condition obeys that rustc would report less clearly.
///
/// `instead` says where the condition could wait.
pub(crate) fn check(errors: &mut Errors, expr: &Expr, tokens: &TokenStream, instead: &str) {
    compares(errors, expr);
    never_waits(errors, tokens, instead);
    never_assigns(errors, tokens, false);
    never_leaves(errors, tokens);
    regular::check(errors, tokens);
}

fn compares(errors: &mut Errors, expr: &Expr) {
    match expr {
        Expr::Assign(assign) => errors.on(assign.eq_token, "`=` assigns; write `==` to compare"),
        Expr::Binary(binary) => match &binary.op {
            BinOp::And(_) | BinOp::Or(_) => {
                compares(errors, &binary.left);
                compares(errors, &binary.right);
            }
            BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_) => errors.on(binary.op, CHANGES),
            _ => {}
        },
        Expr::Paren(paren) => compares(errors, &paren.expr),
        Expr::Group(group) => compares(errors, &group.expr),
        Expr::Unary(unary) => compares(errors, &unary.expr),
        _ => {}
    }
}

/// Assigns as a statement to what the condition did not bind itself, as in `{ number = 2; true }`.
fn never_assigns(errors: &mut Errors, tokens: &TokenStream, is_block: bool) {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let scopes = Scopes::of(&trees, Inside::Code);
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => {
                let is_block = group.delimiter() == Delimiter::Brace;
                never_assigns(errors, &group.stream(), is_block);
            }
            TokenTree::Ident(word) if is_block => {
                let before = at.checked_sub(1);
                let begins = before.is_none_or(|before| is_punct(trees.get(before), ';'));
                let is_own = scopes.names(at).any(|own| word == own);
                if let Some(sign) = assignment(&trees, at + 1).filter(|_| begins && !is_own) {
                    errors.at(sign, CHANGES);
                }
            }
            _ => {}
        }
    }
}

/// The `=` of an assignment that stands here, alone or behind an operator.
fn assignment(trees: &[TokenTree], at: usize) -> Option<Span> {
    let sign = |at: usize| match trees.get(at) {
        Some(TokenTree::Punct(sign)) => Some(sign.as_char()),
        _ => None,
    };
    let first = sign(at)?;
    let equals = match first {
        '=' => at,
        '+' | '-' | '*' | '/' | '%' | '^' | '&' | '|' => at + 1,
        _ => return None,
    };
    let assigns = sign(equals) == Some('=') && !matches!(sign(equals + 1), Some('=' | '>'));
    assigns.then(|| trees.get(at).map(TokenTree::span))?
}

const CHANGES: &str = "a condition must not change anything; compare values instead";

fn never_leaves(errors: &mut Errors, tokens: &TokenStream) {
    if let Some(mark) = outside_closures(tokens, &|tree| is_punct(Some(tree), '?')) {
        let message = "`?` cannot leave a condition; a `Result<(), E>` is a condition as it is, and its error the sentence";
        errors.at(mark.span(), message);
    }
}

/// Whether a `return` ends the evaluation, as in `let Some(first) = list.first() else { return false };`.
pub(crate) fn returns(tokens: &TokenStream) -> bool {
    let is_return = |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if word == "return");
    outside_closures(tokens, &is_return).is_some()
}

/// The first such token that does not stand in a closure of the author's.
pub(crate) fn outside_closures(
    tokens: &TokenStream,
    wanted: &dyn Fn(&TokenTree) -> bool,
) -> Option<TokenTree> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let scopes = Scopes::of(&trees, Inside::Code);
    let mut outside = trees
        .iter()
        .enumerate()
        .filter(|(at, _)| !scopes.is_in_closure(*at));
    outside.find_map(|(_, tree)| match tree {
        TokenTree::Group(group) => outside_closures(&group.stream(), wanted),
        tree => wanted(tree).then(|| tree.clone()),
    })
}

fn never_waits(errors: &mut Errors, tokens: &TokenStream, instead: &str) {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => never_waits(errors, &group.stream(), instead),
            TokenTree::Ident(word)
                if word == "await"
                    && at
                        .checked_sub(1)
                        .is_some_and(|before| is_punct(trees.get(before), '.')) =>
            {
                errors.at(
                    word.span(),
                    format_args!("a condition cannot await; {instead}"),
                );
            }
            _ => {}
        }
    }
}
