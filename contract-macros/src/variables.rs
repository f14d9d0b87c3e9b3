//! The variables that conditions name and do not bind themselves.

use proc_macro2::{Ident, TokenStream, TokenTree};

use crate::attributes::{ContractAttribute, Kind};
use crate::predicate::{is_variable, takes_no_expressions};
use crate::scope::{Inside, Scopes};
use crate::source::is_punct;

/// Those of all conditions of one function.
pub(crate) fn of_conditions(contracts: &[ContractAttribute]) -> Vec<Ident> {
    let mut found = Vec::new();
    for contract in contracts {
        let tokens = first_argument(&contract.args);
        match contract.kind {
            // An assignment, or a key without a condition, has its own message.
            Kind::Pre if is_assignment(&tokens) => {}
            Kind::Pre => walk(&tokens, &[], Inside::Code, &mut found),
            Kind::Post => walk(&closure(tokens), &[], Inside::Code, &mut found),
            Kind::Given | Kind::Tool | Kind::Verify => {}
        }
    }
    found
}

/// Those of one condition before the body.
pub(crate) fn of(condition: &TokenStream) -> Vec<Ident> {
    let mut found = Vec::new();
    walk(condition, &[], Inside::Code, &mut found);
    found
}

/// The condition, without its message and keys.
fn first_argument(args: &TokenStream) -> TokenStream {
    let mut bars = 0;
    let trees = args.clone().into_iter().take_while(|tree| {
        bars += usize::from(is_punct(Some(tree), '|'));
        bars == 1 || !is_punct(Some(tree), ',')
    });
    trees.collect()
}

fn is_assignment(tokens: &TokenStream) -> bool {
    let mut signs = tokens.clone().into_iter().skip(1);
    is_punct(signs.next().as_ref(), '=') && !is_punct(signs.next().as_ref(), '=')
}

/// A postcondition without `err`; nothing, if it gives the result no name.
fn closure(tokens: TokenStream) -> TokenStream {
    let mut trees = tokens.into_iter().peekable();
    trees.next_if(|tree| matches!(tree, TokenTree::Ident(word) if word == "err"));
    if is_punct(trees.peek(), '|') {
        trees.collect()
    } else {
        TokenStream::new()
    }
}

fn walk(tokens: &TokenStream, outside: &[String], inside: Inside, found: &mut Vec<Ident>) {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let scopes = Scopes::of(&trees, inside);
    for (at, tree) in trees.iter().enumerate() {
        let bound: Vec<String> = outside.iter().chain(scopes.names(at)).cloned().collect();
        match tree {
            TokenTree::Ident(word) if is_variable(&trees, at) => {
                let is_new = !bound.iter().any(|own| word == own) && !found.contains(word);
                if is_new && is_free(word) {
                    found.push(word.clone());
                }
            }
            TokenTree::Group(group) if !takes_no_expressions(&trees, at) => {
                walk(&group.stream(), &bound, scopes.inside(&trees, at), found);
            }
            _ => {}
        }
    }
}

/// No word of the language, and no type of it; what is an operator in other languages has its own message.
fn is_free(word: &Ident) -> bool {
    const TYPES: [&str; 17] = [
        "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8",
        "u16", "u32", "u64", "u128", "usize",
    ];
    let operator = ["and", "or", "not"].iter().any(|known| word == known);
    let is_word = syn::parse_str::<Ident>(&word.to_string()).is_err();
    !(is_word || operator || TYPES.iter().any(|ty| word == ty))
}
