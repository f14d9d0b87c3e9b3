//! How a call by name reaches a body: slots, one decode, one checked call, one reply.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::function::{anonymous_lifetimes, result_spans, result_type};
use super::local;
use crate::model::{Function, Param, Role};

/// The statements and the final expression that turn a `call` into a reply.
pub(super) fn reply(
    function: &Function,
    checked: &TokenStream,
    runtime: &TokenStream,
) -> TokenStream {
    let (call, frame, out) = (local("call"), local("frame"), local("out"));
    let params = &function.params;
    let open = params
        .iter()
        .enumerate()
        .map(|(index, param)| open(index, param, runtime));
    let arguments = slots(params, |role| matches!(role, Role::Argument { .. }));
    let contexts = slots(params, |role| matches!(role, Role::Context));
    let taken = params
        .iter()
        .enumerate()
        .map(|(index, param)| take(index, param));
    let waited = function.is_async.then(|| quote!(.await));
    let (value_span, error_span) = result_spans(&function.sig.output);
    let value = quote_spanned!(error_span=> .value());
    let reply = quote_spanned!(value_span=> .reply());
    let receiver = function.receiver.as_ref().map(|receiver| {
        let this = &receiver.self_token;
        quote!(#this,)
    });
    quote! {
        #(#open)*
        let #frame = #call.decode(&mut [#(#arguments),*], &mut [#(#contexts),*])?;
        let #out = #checked(#receiver #frame, #(#taken),*) #waited?;
        let #out = #runtime::Sort::of(&#out).split(#out) #value?;
        #runtime::Sort::of(&#out).form(#out) #reply
    }
}

/// `let mut slot_0 = rt::Type::<f64>::NEW.kind().open();`
fn open(index: usize, param: &Param, runtime: &TokenStream) -> TokenStream {
    let (cfgs, slot) = (&param.cfgs, slot(index));
    let ty = anonymous_lifetimes(&param.ty);
    let open = match param.role {
        Role::Argument { .. } => quote_spanned!(param.ty.span()=> .open()),
        Role::Context => quote_spanned!(param.ty.span()=> .context()),
    };
    quote!(#(#cfgs)* let mut #slot = #runtime::Type::<#ty>::NEW.kind()#open;)
}

fn slots(params: &[Param], wanted: impl Fn(&Role) -> bool) -> Vec<TokenStream> {
    params
        .iter()
        .enumerate()
        .filter(|(_, param)| wanted(&param.role))
        .map(|(index, param)| {
            let (cfgs, slot) = (&param.cfgs, slot(index));
            quote!(#(#cfgs)* &mut #slot)
        })
        .collect()
}

/// `slot_0.take()?`, or `slot_0.take_or(|| 50)?`
fn take(index: usize, param: &Param) -> TokenStream {
    let (cfgs, slot) = (&param.cfgs, slot(index));
    match &param.role {
        Role::Argument {
            default: Some(default),
            ..
        } => quote!(#(#cfgs)* #slot.take_or(|| #default)?),
        _ => quote!(#(#cfgs)* #slot.take()?),
    }
}

fn slot(index: usize) -> Ident {
    Ident::new(&format!("slot_{index}"), Span::mixed_site())
}

/// The body of the function that describes the result.
pub(super) fn output(function: &Function, demanded: bool, runtime: &TokenStream) -> TokenStream {
    let generator = local("generator");
    let ty = anonymous_lifetimes(result_type(&function.sig.output));
    let (value_span, _) = result_spans(&function.sig.output);
    let schema = if demanded {
        quote_spanned!(value_span=> .demanded_schema(#generator))
    } else {
        quote!(.schema(#generator))
    };
    quote!(#runtime::Type::<#ty>::NEW.success()#schema)
}
