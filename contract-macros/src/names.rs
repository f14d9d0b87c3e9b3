//! The only file that spells the hidden module and the prefix of generated items.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

/// How the name of every generated item begins.
pub(crate) const PREFIX: &str = "__contract_";

/// The hidden module of the runtime crate that generated code may touch.
pub(crate) fn runtime(krate: &Path) -> TokenStream {
    quote!(#krate::__private)
}

/// Where the runtime crate is when no attribute says otherwise.
pub(crate) fn default_crate() -> Path {
    syn::parse_quote!(::contract_runtime)
}

/// The name of a generated local, such as `__contract_old_0`.
pub(crate) fn local(what: &str, index: usize) -> String {
    format!("{PREFIX}{what}_{index}")
}
