//! Expands a free function as a tool: generated items live inside its own body.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::{data, findings, function, local, portable, shim};
use crate::model::Tool;
use crate::names;

pub(super) fn expand(tool: &Tool) -> TokenStream {
    let (runtime, import) = names::runtime_in_body(&tool.krate);
    let runtime = &runtime;
    let function = &tool.function;
    let item = |name: &str| Ident::new(&format!("{}{name}", names::PREFIX), Span::call_site());
    let (body_name, checked_name) = (item("body"), item("checked"));
    let (call_name, output_name) = (item("call"), item("output"));
    let none = TokenStream::new();
    let forms = function::forms(
        tool,
        &body_name,
        &checked_name,
        &quote!(#body_name),
        runtime,
        &none,
    );
    let call = local("call");
    let running = shim::running(function, &quote!(#checked_name), runtime);
    let output = shim::output(tool, runtime);
    let spec = data::spec(tool, runtime);
    let levels = portable::lint_levels(&tool.clauses);
    let findings = findings::of_tool(tool, &quote!(__CONTRACT_SPEC), runtime);
    let name = &function.sig.ident;
    let contract = quote!(__CONTRACT_SPEC.contract);
    let frame = function::direct_frame(function, &tool.givens, &contract, runtime);
    let handed_on = function::handed_on(function);
    let settle = function::settle(function, &tool.givens, runtime);
    let waited = function.is_async.then(|| quote!(.await));
    let inside = quote! {
        #import
        #forms
        fn #call_name(#call: #runtime::Call<'_>) -> #runtime::Running<'_> {
            #running
        }
        fn #output_name() -> ::core::option::Option<#runtime::Describe> {
            #output
        }
        #levels
        static __CONTRACT_SPEC: #runtime::Spec = #spec;
        #findings
        #runtime::inventory::submit! {
            #runtime::Registered {
                spec: &__CONTRACT_SPEC,
                call: #call_name,
                output: #output_name,
                function: || #runtime::type_of(&#name),
            }
        }
        #settle(#checked_name(#frame, #(#handed_on),*) #waited)
    };
    function::visible(function, &inside)
}
