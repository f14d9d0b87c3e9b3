//! The only file that spells the hidden module and the prefix of generated items.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Path;

/// How the name of every generated item begins.
pub(crate) const PREFIX: &str = "__contract_";

/// The argument with which an attribute expands to nothing.
pub(crate) const ON_NOTHING: &str = "__contract_on_nothing";

/// The hidden module of the runtime crate that generated code may touch.
pub(crate) fn runtime(krate: &Path) -> TokenStream {
    quote!(#krate::__private)
}

/// How the body of one function names that module, and the import that makes the name known: where the author's path leads
/// nowhere, the compiler says so of the import alone, and not of everything that uses it.
pub(crate) fn runtime_in_body(krate: &Path) -> (TokenStream, Option<TokenStream>) {
    imported(krate, &format!("{PREFIX}runtime"))
}

/// The same beside an `impl` block of this text, whose module may hold others.
pub(crate) fn runtime_beside(krate: &Path, block: &str) -> (TokenStream, Option<TokenStream>) {
    let mut hasher = DefaultHasher::new();
    block.hash(&mut hasher);
    imported(krate, &format!("{PREFIX}runtime_{:x}", hasher.finish()))
}

fn imported(krate: &Path, name: &str) -> (TokenStream, Option<TokenStream>) {
    let runtime = runtime(krate);
    let is_default = quote!(#krate).to_string().replace(' ', "") == "::contract_runtime";
    if is_default {
        return (runtime, None);
    }
    let name = Ident::new(name, Span::call_site());
    (quote!(#name), Some(quote!(use #runtime as #name;)))
}

/// Where the runtime crate is when no attribute says otherwise.
pub(crate) fn default_crate() -> Path {
    syn::parse_quote!(::contract_runtime)
}

/// The name of a generated local, such as `__contract_old_0`.
pub(crate) fn local(what: &str, index: usize) -> String {
    format!("{PREFIX}{what}_{index}")
}
