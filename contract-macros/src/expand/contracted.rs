//! Expands an ordinary function with conditions: the checks wrap its body in place.
//!
//! ```text
//! fn half(&self, number: u32) -> u32 {
//!     static __CONTRACT: rt::Contract = ..;
//!     let mut frame = rt::Frame::direct(&__CONTRACT);
//!     rt::settle(frame.pre(0, 1, None, &|pass, details| ..));
//!     rt::settle(frame.enter());
//!     let out = rt::run(|| -> u32 { number / 2 });
//!     rt::settle(frame.post(1, ..));
//!     frame.close();
//!     rt::end(frame);
//!     out
//! }
//! ```
//!
//! A nested function would be simpler, but inside a method it could name neither `self` nor `Self`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Receiver, ReceiverKind, ReturnType, Token, Type};

use super::clauses::Clauses;
use super::function::{direct_frame, settle, signature};
use super::judged::Judged;
use super::types::{mentions_impl, result_type, whole_result};
use super::{data, findings, local};
use crate::attributes;
use crate::model::Contracted;
use crate::names;

pub(super) fn expand(contracted: &Contracted) -> TokenStream {
    let (runtime, import) = names::runtime_in_body(&contracted.krate);
    let runtime = &runtime;
    let function = &contracted.function;
    let sig = &function.sig;
    let name = sig.ident.unraw().to_string();
    let contract = data::contract(
        &name,
        None,
        (&contracted.clauses, &contracted.givens),
        &function.params,
        None,
        runtime,
    );
    let findings = findings::of_contracted(contracted, runtime);
    let clauses = Clauses {
        all: &contracted.clauses,
        params: &function.params,
        runtime,
        body_in_place: true,
        given_self: function.receiver.as_ref().and_then(self_by_value),
        confirm: None,
    };
    let (outer, inner, vis) = (&function.attrs_outer, &function.attrs_inner, &function.vis);
    let (signature, uses) = (
        signature(function),
        attributes::run_on_nothing(&function.uses),
    );
    let frame = local("frame");
    let givens = &contracted.givens;
    let opened = direct_frame(function, givens, &quote!(__CONTRACT), runtime);
    let begin = quote! {
        #(#outer)*
        #(#inner)*
        #vis #signature
    };
    if !givens.is_empty() {
        let judged = Judged::new(function, givens, clauses);
        let expression = judged.expression();
        let settle = settle(function, givens, runtime);
        return quote! {
            #begin {
                #uses
                #import
                static __CONTRACT: #runtime::Contract = #contract;
                #findings
                let mut #frame = #opened;
                #settle(#expression)
            }
        };
    }
    let (before, keep) = (clauses.before(), clauses.keep());
    let ty = result_type(&sig.output);
    let after = clauses.after(whole_result(sig));
    let out = local("out");
    let body = &function.body;
    // `impl Trait` has no name, so the closure's own type has to do.
    let opaque = mentions_impl(&ty);
    let run = match (function.is_async, opaque) {
        (false, false) => quote!(#runtime::run(|| -> #ty #body)),
        (false, true) => quote!(#runtime::run(|| #body)),
        (true, false) => quote!(#runtime::run_async::<#ty, _>(async #body).await),
        (true, true) => quote!(#runtime::run_async(async #body).await),
    };
    // After a body that never returns, nothing can be judged.
    let ending = if matches!(&sig.output, ReturnType::Type(_, ty) if matches!(**ty, Type::Never(_)))
    {
        quote!(#run)
    } else {
        quote! {
            let #out = #run;
            #(#runtime::settle(#after);)*
            #frame.close();
            #runtime::end(#frame);
            #out
        }
    };
    quote! {
        #begin {
            #uses
            #import
            static __CONTRACT: #runtime::Contract = #contract;
            #findings
            let mut #frame = #opened;
            #(#runtime::settle(#before);)*
            #runtime::settle(#frame.enter());
            #(#keep)*
            #ending
        }
    }
}

/// `self`, unless it is a reference.
fn self_by_value(receiver: &Receiver) -> Option<&Token![self]> {
    let is_reference = match &receiver.kind {
        ReceiverKind::Reference(..) => true,
        ReceiverKind::Typed(_, ty) => matches!(**ty, Type::Reference(_)),
        _ => false,
    };
    (!is_reference).then_some(&receiver.self_token)
}
