//! Expands `verify!(tools::divide, cases = 1_000)`.
//!
//! ```text
//! #[test]
//! fn verify_divide() {
//!     rt::assert_verified(rt::verifier_of(tools::divide, env!("CARGO_MANIFEST_DIR")).cases(1_000));
//! }
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use super::data;
use crate::model::{Effort, VerifySubject, VerifyTest};
use crate::names;

pub(crate) fn verify_test(test: &VerifyTest) -> TokenStream {
    let runtime = &names::runtime(&test.krate);
    let home = quote!(::core::option_env!("CARGO_MANIFEST_DIR").unwrap_or("."));
    let package = quote! {
        #runtime::package(::core::option_env!("CARGO_PKG_NAME"), ::core::module_path!())
    };
    let (name, verifier) = match &test.subject {
        VerifySubject::Tool(path) => {
            let last = path.segments.last();
            let function = last.map_or_else(String::new, |last| last.ident.unraw().to_string());
            let name = Ident::new(&format!("verify_{function}"), Span::call_site());
            (name, quote!(#runtime::verifier_of_function(#path, #home)))
        }
        VerifySubject::Package => (
            Ident::new("verify_all", Span::call_site()),
            quote!(#runtime::verifier_of_package(#package, #home)),
        ),
        VerifySubject::Registry(registry) => (
            Ident::new("verify_all", Span::call_site()),
            quote!(#runtime::verifier_of_registry(#registry, #home)),
        ),
    };
    let effort = effort(&test.effort, runtime);
    quote! {
        #[::core::prelude::v1::test]
        fn #name() {
            #verifier #effort.run().assert();
        }
    }
}

fn effort(effort: &Effort, runtime: &TokenStream) -> TokenStream {
    let Effort {
        run,
        setup,
        cases,
        seed,
        sequences,
        strict,
    } = effort;
    let run = run.as_ref().map(|run| {
        let run = run.value;
        quote!(.run_bodies(#run))
    });
    let setup = setup.as_ref().map(|setup| {
        let setup = data::setup(&setup.value, runtime);
        quote!(.setup(#setup))
    });
    let cases = cases.as_ref().map(|cases| {
        let cases = &cases.value;
        quote!(.cases(#cases))
    });
    let seed = seed.as_ref().map(|seed| {
        let seed = &seed.value;
        quote!(.seed(#seed))
    });
    let sequences = sequences.as_ref().map(|sequences| {
        let sequences = &sequences.value;
        quote!(.sequences(#sequences))
    });
    let strict = strict.as_ref().map(|strict| {
        let strict = strict.value;
        quote!(.strict(#strict))
    });
    quote!(#run #setup #cases #seed #sequences #strict)
}
