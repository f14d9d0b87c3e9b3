//! Malformed and incomplete input never makes a macro panic.

use proc_macro2::{Group, TokenStream, TokenTree};

use super::tokens;
use crate::attributes::{self, Kind};

/// The tokens with one of them left out or given twice, at every depth.
fn variants(tokens: &TokenStream) -> Vec<TokenStream> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut variants = Vec::new();
    for at in 0..trees.len() {
        let (before, behind) = (trees[..at].iter(), trees[at + 1..].iter());
        let mut with = |middle: &[TokenTree]| {
            let all = before.clone().chain(middle).chain(behind.clone());
            variants.push(all.cloned().collect());
        };
        with(&[]);
        with(&[trees[at].clone(), trees[at].clone()]);
        if let TokenTree::Group(group) = &trees[at] {
            for inside in self::variants(&group.stream()) {
                with(&[Group::new(group.delimiter(), inside).into()]);
            }
        }
    }
    variants
}

/// Editors expand macros over half-written code all the time.
#[test]
fn half_written_code_never_panics() {
    for (args, item) in [
        (
            "name = \"n\", timeout = \"30s\", crate = a::b",
            "/// D\n #[pre(a > 0 && !b.is_empty(), \"{a:>1$} {{\", policy = observe)] #[post(err |e: &E| old(a.x()) == e.0)] \
             pub async fn f<'a>(#[arg(default = 1, example = 2)] mut a: u8, #[context] b: &'a S) -> Result<u8, E> { a }",
        ),
        (
            "crate = a",
            "impl<T> S<T> where T: X { const N: u8 = 1; /// D\n #[tool(read_only)] fn f(&self, a: u8) {} m!(); type X = u8; }",
        ),
    ] {
        let (args, item) = (tokens(args), tokens(item));
        let with_args = variants(&args).into_iter().map(|args| (args, item.clone()));
        let with_item = variants(&item).into_iter().map(|item| (args.clone(), item));
        for (args, item) in with_args.chain(with_item) {
            if let Ok(attributes) = attributes::start(Kind::Tool, args, &item) {
                let (item, model) = crate::read(&attributes);
                if let Err(report) = model {
                    let output = crate::fallback::expand(&attributes, item.as_ref(), &report);
                    assert!(!output.is_empty());
                }
            }
        }
    }
}

#[test]
fn half_written_assertions_never_panic() {
    for source in variants(&tokens(
        "::rt; a > 0 && f(b), \"{} {x}\", 1 + 1, x = c, policy = observe",
    )) {
        let mut errors = crate::errors::Errors::new();
        let assertion = errors.read(source, crate::clause::assertion);
        let _ = errors.finish(assertion);
    }
}
