//! Expands `verify!` and `verify_all!`: the crate's path and `;`, what to verify, then `key = value`.
//!
//! ```text
//! verify!(tools::divide, cases = 1_000)
//!
//! #[test]
//! fn verify_divide() {
//!     rt::verifier_of_function(tools::divide, env!("CARGO_MANIFEST_DIR")).cases(1_000).run().assert();
//! }
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Path, Token};

use crate::args;
use crate::errors::Errors;
use crate::expand::data;
use crate::names;
use crate::source;

const KEYS: &str = "run setup cases seed sequences strict";

enum Subject {
    Tool(Path),
    /// All tools of the calling package.
    Package,
    /// A registry, or a builder of one.
    Registry(TokenStream),
}

/// Expands `verify!(tools::divide, cases = 1_000)`.
pub(crate) fn of_one(errors: &mut Errors, tokens: TokenStream) -> Option<TokenStream> {
    expand(errors, tokens, "`verify!`", |errors, input| {
        if input.is_empty() {
            let message = "`verify!` needs a tool; write `verify!(divide)`, or `verify_all!()` for the whole package";
            errors.at(Span::call_site(), message);
            return None;
        }
        let (expr, tokens) = errors.ok(source::expression(input))?;
        let path = Path::parse_mod_style
            .parse2(source::without_invisible_group(tokens))
            .ok();
        if path.is_none() {
            let message = "this is not the path of a tool; write `verify!(divide)` or `verify!(tools::divide)`";
            errors.on(expr, message);
        }
        path.map(Subject::Tool)
    })
}

/// Expands `verify_all!()` and `verify_all!(registry!().context(store), cases = 1_000)`.
pub(crate) fn of_all(errors: &mut Errors, tokens: TokenStream) -> Option<TokenStream> {
    expand(errors, tokens, "`verify_all!`", |errors, input| {
        if input.is_empty() || args::is_keyed(input) {
            return Some(Subject::Package);
        }
        let (_, tokens) = errors.ok(source::expression(input))?;
        Some(Subject::Registry(tokens))
    })
}

fn expand(
    errors: &mut Errors,
    tokens: TokenStream,
    owner: &str,
    subject: fn(&mut Errors, ParseStream<'_>) -> Option<Subject>,
) -> Option<TokenStream> {
    errors.read(source::grouped(tokens), |errors, input| {
        let krate = Path::parse_mod_style(input).unwrap_or_else(|_| names::default_crate());
        let _ = input.parse::<Token![;]>();
        let subject = subject(errors, input)?;
        if !matches!(subject, Subject::Package) && !input.is_empty() {
            errors.ok(input.parse::<Token![,]>())?;
        }
        let runtime = names::runtime(&krate);
        let calls = calls(errors, input, owner, &runtime);
        Some(test(&subject, &calls, &runtime))
    })
}

fn test(subject: &Subject, calls: &TokenStream, runtime: &TokenStream) -> TokenStream {
    let mut name = String::from("verify_all");
    let home = quote!(::core::option_env!("CARGO_MANIFEST_DIR").unwrap_or("."));
    let verifier = match subject {
        Subject::Tool(path) => {
            let last = path.segments.last();
            let function = last.map_or_else(String::new, |last| last.ident.unraw().to_string());
            name = format!("verify_{function}");
            quote!(#runtime::verifier_of_function(#path, #home))
        }
        Subject::Package => quote! {
            #runtime::verifier_of_package(
                #runtime::package(::core::option_env!("CARGO_PKG_NAME"), ::core::module_path!()),
                #home
            )
        },
        Subject::Registry(registry) => quote!(#runtime::verifier_of_registry(#registry, #home)),
    };
    let name = Ident::new(&name, Span::call_site());
    quote! {
        #[::core::prelude::v1::test]
        fn #name() {
            #verifier #calls.run().assert();
        }
    }
}

/// `.run_bodies(true).cases(1_000)`
fn calls(
    errors: &mut Errors,
    input: ParseStream<'_>,
    owner: &str,
    runtime: &TokenStream,
) -> TokenStream {
    let (mut run, mut strict, mut setup) = (None, None, None);
    let (mut cases, mut seed, mut sequences) = (None, None, None);
    let number = |errors: &mut Errors, entry: &args::Entry| args::value(errors, entry, "1_000");
    for entry in args::entries(errors, input) {
        match entry.name().as_str() {
            "run" => args::set(errors, &mut run, &entry, args::flag),
            "strict" => args::set(errors, &mut strict, &entry, args::flag),
            "setup" => args::set(errors, &mut setup, &entry, args::setup),
            "cases" => args::set(errors, &mut cases, &entry, number),
            "sequences" => args::set(errors, &mut sequences, &entry, number),
            "seed" => args::set(errors, &mut seed, &entry, |errors, entry| {
                args::value(errors, entry, "42")
            }),
            _ => args::unknown(errors, &entry, owner, KEYS),
        }
    }
    let setup = setup.iter().map(|setup| data::setup(&setup.value, runtime));
    let (run, strict, seed) = (run.iter(), strict.iter(), seed.iter());
    let (cases, sequences) = (cases.iter(), sequences.iter());
    quote! {
        #(.run_bodies(#run))* #(.setup(#setup))* #(.cases(#cases))* #(.seed(#seed))*
        #(.sequences(#sequences))* #(.strict(#strict))*
    }
}
