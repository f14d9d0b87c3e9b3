//! Expands methods as tools; generated items stand beside them, since items in a method cannot name `Self`.
//!
//! ```text
//! impl Store {
//!     fn get(&self, key: &str) -> Option<String> { rt::settle(self.__contract_checked_get(..)) }
//!     fn __contract_body_get(&self, key: &str) -> Option<String> { .. }
//!     fn __contract_checked_get(&self, frame: rt::Frame, key: &str) -> Result<Option<String>, rt::Stop> { .. }
//!     fn __contract_call_get<'c>(&'c self, call: rt::Call<'c>) -> rt::Running<'c> { .. }
//!     fn __contract_output_get() -> Option<rt::Describe> { .. }
//!     fn __contract_spec_get() -> &'static rt::Spec { .. }
//! }
//! const _: () = { rt::inventory::submit! { .. } };
//! impl rt::SharedToolSet for Store { .. }
//! impl rt::ToolSet for Store { .. }
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Generics, MetaList};

use super::{data, findings, function, local, portable, shim};
use crate::attributes;
use crate::model::{Member, Tool, ToolSet};
use crate::names;
use crate::source;

pub(super) fn expand(set: &ToolSet) -> TokenStream {
    let (attrs, self_ty) = (&set.attrs, &set.self_ty);
    let (runtime, import) = names::runtime_beside(&set.krate, &identity(set));
    let runtime = &runtime;
    let (generics, _, bounds) = set.generics.split_for_impl();
    let members = set.members.iter().map(|member| match member {
        Member::Tool(tool) => method(tool, &set.generics, runtime),
        Member::Other(tokens) => tokens.clone(),
    });
    let (this, tools) = (local("this"), local("tools"));
    let registrations = set.tools();
    let registrations = registrations.map(|tool| registration(tool, &this, &tools, runtime));
    let cfgs = cfgs(attrs);
    let uses = attributes::run_on_nothing(&set.uses);
    let registered = registered(set, runtime);
    let import = import.map(|import| quote!(#(#cfgs)* #[allow(unused_imports)] #import));
    quote! {
        #import
        const _: () = { #uses };

        #(#cfgs)*
        const _: () = { #registered };

        #(#attrs)*
        impl #generics #self_ty #bounds { #(#members)* }

        #(#cfgs)*
        impl #generics #runtime::SharedToolSet for #self_ty #bounds {
            fn shared_tools(#this: &#runtime::Arc<Self>) -> #runtime::Vec<#runtime::Tool> {
                let mut #tools = #runtime::Vec::new();
                #(#registrations)*
                #tools
            }
        }

        #(#cfgs)*
        impl #generics #runtime::ToolSet for #self_ty #bounds {
            fn into_tools(self) -> #runtime::Vec<#runtime::Tool> {
                #runtime::ToolSet::into_tools(#runtime::Arc::new(self))
            }
        }
    }
}

/// A text that no other block of the same module has, because a type has one method of each name.
fn identity(set: &ToolSet) -> String {
    let methods = set.tools().map(|tool| tool.function.sig.ident.to_string());
    let state = std::iter::once(set.self_ty.to_token_stream().to_string());
    state.chain(methods).collect::<Vec<_>>().join(" ")
}

/// Registers the block without a value of its type, so that a test of the package can report tools that it does not cover.
fn registered(set: &ToolSet, runtime: &TokenStream) -> TokenStream {
    let state = source::text(&set.self_ty.to_token_stream());
    let (line, column) = data::position(set.self_ty.span());
    let names = set.tools().map(|tool| {
        let (cfgs, name) = (self::cfgs(&tool.function.attrs_outer), &tool.name.text);
        quote!(#(#cfgs)* #name)
    });
    quote! {
        #runtime::inventory::submit! {
            #runtime::RegisteredSet {
                package: #runtime::package(::core::option_env!("CARGO_PKG_NAME"), ::core::module_path!()),
                state: #state,
                tools: &[#(#names),*],
                file: ::core::file!(),
                position: (#line, #column),
            }
        }
    }
}

/// The name of what is generated for one method.
fn name(tool: &Tool, what: &str) -> Ident {
    let (prefix, method) = (names::PREFIX, tool.function.sig.ident.unraw());
    Ident::new(&format!("{prefix}{what}_{method}"), Span::call_site())
}

fn method(tool: &Tool, generics: &Generics, runtime: &TokenStream) -> TokenStream {
    let function = &tool.function;
    let [body, checked, call, output, spec] =
        ["body", "checked", "call", "output", "spec"].map(|what| name(tool, what));
    let cfgs = cfgs(&function.attrs_outer);
    let levels = lint_levels(&function.attrs_outer);
    let head = &quote!(#(#cfgs)* #(#levels)* #[doc(hidden)]);
    let contract = quote!(Self::#spec().contract);
    let direct = function::direct(tool, &contract, &quote!(self.#checked), runtime);
    let visible = function::visible(function, &direct);
    let own = quote!(self.#body);
    let forms = function::forms(tool, &body, &checked, &own, runtime, Some(head));
    let call_local = local("call");
    let running = shim::running(function, &quote!(Self::#checked), runtime);
    let output_body = shim::output(tool, runtime);
    let data = data::spec(tool, runtime);
    let findings = findings::of_method(tool, generics, runtime);
    let casts = portable::lint_levels(&tool.clauses);
    quote! {
        #visible
        #forms
        #head
        fn #call<'__contract>(&'__contract self, #call_local: #runtime::Call<'__contract>) -> #runtime::Running<'__contract> {
            #running
        }
        #head
        fn #output() -> ::core::option::Option<#runtime::Describe> {
            #output_body
        }
        #head
        #casts
        fn #spec() -> &'static #runtime::Spec {
            #findings
            // Not a `static`, which could name neither `Self` nor what the block is generic over.
            const { &#data }
        }
    }
}

fn registration(tool: &Tool, this: &Ident, tools: &Ident, runtime: &TokenStream) -> TokenStream {
    let [call, output, spec] = ["call", "output", "spec"].map(|what| name(tool, what));
    let cfgs = cfgs(&tool.function.attrs_outer);
    let method = &tool.function.sig.ident;
    let outer = &tool.function.attrs_outer;
    let is_deprecated = outer.iter().any(|attr| attr.path().is_ident("deprecated"));
    // Only where it is needed, because nothing may be allowed where it is forbidden.
    let level = is_deprecated.then(|| quote!(#[allow(deprecated)]));
    quote! {
        #(#cfgs)*
        #level
        #tools.push(#runtime::method(#this, Self::#spec(), #runtime::type_of(&Self::#method), Self::#call, Self::#output));
    }
}

/// The lints that the author allows or expects for a method are allowed in the items generated beside it.
fn lint_levels(attrs: &[Attribute]) -> Vec<TokenStream> {
    let levels = ["allow", "expect"];
    let lists = attrs
        .iter()
        .filter_map(|attr| attr.meta.require_list().ok());
    let lists = lists.filter(|list| levels.iter().any(|level| list.path.is_ident(level)));
    let allowed = lists.map(|MetaList { tokens, .. }| quote!(#[allow(#tokens)]));
    allowed.collect()
}

fn cfgs(attrs: &[Attribute]) -> Vec<&Attribute> {
    let attrs = attrs.iter();
    attrs.filter(|attr| attr.path().is_ident("cfg")).collect()
}
