//! Expands the shim between a call by name and a body: slots, one decode, one checked call, one reply.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::local;
use super::span::SpanRange;
use super::types::{anonymous_lifetimes, opened, result_places, result_type};
use crate::describe;
use crate::model::{Function, Param, Role, Tool};

/// Turns a `call` into a reply, or into a future of one.
pub(super) fn running(
    function: &Function,
    checked: &TokenStream,
    runtime: &TokenStream,
) -> TokenStream {
    let call = local("call");
    let reply = reply(function, checked, runtime);
    if function.is_async {
        return later(function, &call, &reply, runtime);
    }
    quote!(#runtime::ready(&#call, |#call| { #reply }))
}

/// The statements and the final expression that turn a `call` into a reply.
fn reply(function: &Function, checked: &TokenStream, runtime: &TokenStream) -> TokenStream {
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
        .map(|(index, param)| take(index, param, runtime));
    let waited = function.is_async.then(|| quote!(.await));
    let (value, error) = result_places(&function.sig);
    let sorted = quote!(#runtime::ResultProbe::of);
    let of = quote!((&#out));
    let split = error.around(sorted.clone(), &of, quote!(.split));
    let (held, success) = (error.holding(&out), error.end(quote!(.value())));
    let split = quote!(#split #held #success);
    let reply = value.around(sorted, of, quote!(.form));
    let (held, end) = (value.holding(&out), value.end(quote!(.reply())));
    let reply = quote!(#reply #held #end);
    let receiver = function.receiver.as_ref().map(|receiver| {
        let this = &receiver.self_token;
        quote!(#this,)
    });
    quote! {
        #(#open)*
        let #frame = #call.decode(&mut [#(#arguments),*], &mut [#(#contexts),*])?;
        let #out = #checked(#receiver #frame, #(#taken),*) #waited?;
        let #out = #split?;
        #reply
    }
}

/// `rt::later(async move { .. })`, with the block at the author's `async`: that is where a future that is not `Send` is seen.
fn later(
    function: &Function,
    call: &Ident,
    reply: &TokenStream,
    runtime: &TokenStream,
) -> TokenStream {
    let written = function.sig.asyncness.as_ref();
    let span = written.map_or_else(Span::call_site, Spanned::span);
    let body = quote!(let #call = #call; #reply);
    let block = quote_spanned!(span=> async move { #body });
    let place = SpanRange::of(written);
    let (later, block) = (place.begin(quote!(#runtime::later)), place.holding(block));
    quote!(#later #block)
}

fn open(index: usize, param: &Param, runtime: &TokenStream) -> TokenStream {
    let (cfgs, slot, opened) = (&param.cfgs, slot(index), opened(param, runtime));
    quote!(#(#cfgs)* let mut #slot = #opened;)
}

fn slots(params: &[Param], wanted: impl Fn(&Role) -> bool) -> Vec<TokenStream> {
    params
        .iter()
        .enumerate()
        .filter(|(_, param)| wanted(&param.role))
        .map(|(index, param)| {
            let (cfgs, slot) = (
                &param.cfgs,
                SpanRange::of(&param.ty).lent(quote!(&mut), slot(index)),
            );
            quote!(#(#cfgs)* #slot)
        })
        .collect()
}

/// `slot_0.take()?`, or `slot_0.take_or(|| 50)?`
fn take(index: usize, param: &Param, runtime: &TokenStream) -> TokenStream {
    let (cfgs, slot, place) = (&param.cfgs, slot(index), SpanRange::of(&param.ty));
    if let Role::Argument {
        default: Some(default),
        ..
    } = &param.role
    {
        let take_or = place.end(quote!(.take_or));
        // Text stands for every type that is made of text, as it does in the schema.
        let default = if describe::literal(default).is_some() {
            let place = SpanRange::of(default);
            let (text, held) = (place.begin(quote!(#runtime::text)), place.holding(default));
            quote!(#text #held)
        } else {
            quote!(#default)
        };
        quote!(#(#cfgs)* #slot #take_or(|| #default)?)
    } else {
        let take = place.end(quote!(.take()));
        quote!(#(#cfgs)* #slot #take?)
    }
}

fn slot(index: usize) -> Ident {
    local(&format!("slot_{index}"))
}

/// The body of the function that returns the schema of the result.
pub(super) fn output(tool: &Tool, runtime: &TokenStream) -> TokenStream {
    let function = &tool.function;
    let demanded = tool.options.output_schema.as_ref();
    let ty = anonymous_lifetimes(result_type(&function.sig.output));
    let (value, _) = result_places(&function.sig);
    if demanded.is_some_and(|set| set.value) {
        let described = quote!(>::NEW.success().demanded_schema);
        let described = value.around(quote!(#runtime::Type::<), ty, described);
        quote!(#described())
    } else {
        quote!(#runtime::Type::<#ty>::NEW.success().schema())
    }
}
