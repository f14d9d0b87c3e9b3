//! Which names a closure, a `let` or a pattern binds, and their scope.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Arm, Expr, ExprClosure, Pat};

use crate::closure::bindings;
use crate::source::is_punct;

/// What stands inside a group, which decides where names are bound in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    Code,
    /// The arms of a `match`.
    Arms,
    /// The arguments of `matches!`.
    Matches,
}

/// Names, and the trees among which they are not parameters: the pattern, and what it holds for.
type Scope = ([Range<usize>; 2], Vec<String>);

/// The names that are bound on one level of tokens.
pub(crate) struct Scopes {
    bindings: Vec<Scope>,
    /// The groups that hold the arms of a `match`.
    arms: Vec<usize>,
    closures: Vec<Range<usize>>,
}

impl Scopes {
    pub(crate) fn of(trees: &[TokenTree], inside: Inside) -> Self {
        let mut found = Self {
            bindings: Vec::new(),
            arms: Vec::new(),
            closures: Vec::new(),
        };
        match inside {
            Inside::Arms => found.arms_of(trees),
            Inside::Matches => found.bindings.extend(matches(trees)),
            Inside::Code => {}
        }
        let mut at = 0;
        while at < trees.len() {
            at = found.step(trees, at);
        }
        found
    }

    /// Whether a name is bound at this place.
    pub(crate) fn names(&self, at: usize) -> impl Iterator<Item = &String> {
        let here = self
            .bindings
            .iter()
            .filter(move |(ranges, _)| ranges.iter().any(|range| range.contains(&at)));
        here.flat_map(|(_, names)| names)
    }

    /// Whether the place is in a closure.
    pub(crate) fn is_in_closure(&self, at: usize) -> bool {
        self.closures.iter().any(|closure| closure.contains(&at))
    }

    /// What stands inside the group at this place.
    pub(crate) fn inside(&self, trees: &[TokenTree], at: usize) -> Inside {
        let before = |steps: usize| at.checked_sub(steps).and_then(|at| trees.get(at));
        let called = is_punct(before(1), '!') && is_word(before(2), &["matches"]);
        if called {
            Inside::Matches
        } else if self.arms.contains(&at) {
            Inside::Arms
        } else {
            Inside::Code
        }
    }

    /// Looks at one place, and gives the next that may bind something.
    fn step(&mut self, trees: &[TokenTree], at: usize) -> usize {
        let (tree, before) = (
            trees.get(at),
            at.checked_sub(1).and_then(|at| trees.get(at)),
        );
        if is_punct(tree, '|') {
            let head_end = (at + 1..trees.len()).find(|at| is_punct(trees.get(*at), '|'));
            let Some(head_end) = head_end else {
                return at + 1;
            };
            if !ends_an_operand(before) {
                let closure = closure(trees, at);
                let place = closure.iter().map(|([place, _], _)| place.clone());
                self.closures.extend(place);
                self.bindings.extend(closure);
                return head_end + 1;
            }
            // `a || b`
            return if head_end == at + 1 {
                head_end + 1
            } else {
                at + 1
            };
        }
        if is_word(tree, &["let"]) {
            let tested = is_word(before, &["if", "while"]) || is_punct(before, '&');
            self.bindings.extend(if tested {
                tested_let(trees, at)
            } else {
                statement(trees, at)
            });
        } else if is_word(tree, &["for"]) {
            self.bindings.extend(each(trees, at));
        } else if is_word(tree, &["match"]) {
            self.arms
                .extend(subject_end(trees, at + 1).filter(|at| is_block(trees.get(*at))));
        }
        at + 1
    }

    fn arms_of(&mut self, trees: &[TokenTree]) {
        let mut start = 0;
        while let Some((arm, length)) = first::<Arm>(trees, start) {
            self.bindings
                .push(([start..start + length, 0..0], bindings(&arm.pat)));
            start += length;
        }
    }
}

/// `|a, b| ..`, which goes as far as an expression can.
fn closure(trees: &[TokenTree], at: usize) -> Option<Scope> {
    let (closure, length) = first::<ExprClosure>(trees, at)?;
    let names = closure.inputs.iter().flat_map(bindings).collect();
    Some(([at..at + length, 0..0], names))
}

/// `let a = ..;`: to the end of the block, without the value.
fn statement(trees: &[TokenTree], at: usize) -> Option<Scope> {
    let (pattern, length) = first::<Pattern>(trees, at + 1)?;
    let end = (at..trees.len()).find(|at| is_punct(trees.get(*at), ';'))?;
    Some((
        [at..at + 1 + length, end..trees.len()],
        bindings(&pattern.0),
    ))
}

/// `if let Some(a) = .. && .. { .. }`: behind the value, to the end of the block.
fn tested_let(trees: &[TokenTree], at: usize) -> Option<Scope> {
    let (pattern, length) = first::<Pattern>(trees, at + 1)?;
    let value = at + 1 + length + 1;
    let end = subject_end(trees, value)?;
    let chained =
        (value..end).find(|at| is_punct(trees.get(*at), '&') && is_punct(trees.get(at + 1), '&'));
    let holds = chained.unwrap_or(end)..end + 1;
    Some(([at..at + 1 + length, holds], bindings(&pattern.0)))
}

/// `for a in .. { .. }`: the block.
fn each(trees: &[TokenTree], at: usize) -> Option<Scope> {
    let (pattern, length) = first::<Pattern>(trees, at + 1)?;
    let block = subject_end(trees, at + 1 + length + 1)?;
    Some((
        [at..at + 1 + length, block..block + 1],
        bindings(&pattern.0),
    ))
}

/// The pattern and the guard of `matches!(a, Some(b) if b > 1)`.
fn matches(trees: &[TokenTree]) -> Option<Scope> {
    let (_, length) = first::<Expr>(trees, 0)?;
    let (pattern, _) = first::<Pattern>(trees, length + 1)?;
    Some(([length..trees.len(), 0..0], bindings(&pattern.0)))
}

/// Where the expression before a block ends.
fn subject_end(trees: &[TokenTree], at: usize) -> Option<usize> {
    let (_, length) = first::<Subject>(trees, at)?;
    Some(at + length)
}

struct Pattern(Pat);

impl Parse for Pattern {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Pat::parse_multi_with_leading_vert(input).map(Self)
    }
}

struct Subject;

impl Parse for Subject {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Expr::parse_without_eager_brace(input).map(|_| Self)
    }
}

/// What the trees from here on begin with, and how many of them it is.
fn first<T: Parse>(trees: &[TokenTree], at: usize) -> Option<(T, usize)> {
    let trees = trees.get(at..)?;
    let parser = |input: ParseStream<'_>| {
        let first = input.parse::<T>()?;
        let rest = input.parse::<TokenStream>()?;
        Ok((first, rest.into_iter().count()))
    };
    let (first, rest) = parser.parse2(trees.iter().cloned().collect()).ok()?;
    let length = trees.len().checked_sub(rest).filter(|length| *length > 0)?;
    Some((first, length))
}

/// Whether a `|` behind it is an operator, and not the head of a closure.
fn ends_an_operand(tree: Option<&TokenTree>) -> bool {
    const WORDS: [&str; 8] = [
        "break", "else", "if", "in", "match", "move", "return", "while",
    ];
    match tree {
        None => false,
        Some(TokenTree::Punct(_)) => is_punct(tree, '?'),
        Some(TokenTree::Ident(_)) => !is_word(tree, &WORDS),
        Some(TokenTree::Group(_) | TokenTree::Literal(_)) => true,
    }
}

fn is_block(tree: Option<&TokenTree>) -> bool {
    matches!(tree, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace)
}

fn is_word(tree: Option<&TokenTree>, words: &[&str]) -> bool {
    matches!(tree, Some(TokenTree::Ident(word)) if words.iter().any(|one| word == one))
}
