//! Expands the shim between a call by name and a body: slots, one decode, one checked call, one reply.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ReturnType, Signature};

use super::local;
use super::span::SpanRange;
use crate::model::{Function, Param, Role, Tool};
use crate::source::{literal_text, replaced};
use crate::spelling::applied;

/// Turns a `call` into a reply, or into a future of one.
pub(super) fn running(
    function: &Function,
    checked: &TokenStream,
    runtime: &TokenStream,
) -> TokenStream {
    let (call, reply) = (local("call"), reply(function, checked, runtime));
    if !function.is_async {
        return quote!(#runtime::ready(&#call, |#call| { #reply }));
    }
    // The block stands at the author's `async`: that is where a future that is not `Send` is seen.
    let written = function.sig.asyncness.as_ref();
    let span = written.map_or_else(Span::call_site, Spanned::span);
    let body = quote!(let #call = #call; #reply);
    let block = quote_spanned!(span=> async move { #body });
    let place = SpanRange::of(written);
    let (later, block) = (place.begin(quote!(#runtime::later)), place.holding(block));
    quote!(#later #block)
}

/// The statements and the final expression that turn a `call` into a reply.
fn reply(function: &Function, checked: &TokenStream, runtime: &TokenStream) -> TokenStream {
    let (call, frame, out) = (local("call"), local("frame"), local("out"));
    let (mut open, mut taken) = (Vec::new(), Vec::new());
    let (mut arguments, mut contexts) = (Vec::new(), Vec::new());
    for (index, param) in function.params.iter().enumerate() {
        let (cfgs, slot) = (&param.cfgs, local(&format!("slot_{index}")));
        let (place, opened) = (SpanRange::of(&param.ty), opened(param, runtime));
        open.push(quote!(#(#cfgs)* let mut #slot = #opened;));
        let lent = place.lent(quote!(&mut), &slot);
        let (slots, default) = match &param.role {
            Role::Argument { default, .. } => (&mut arguments, default.as_ref()),
            Role::Context => (&mut contexts, None),
        };
        slots.push(quote!(#(#cfgs)* #lent));
        taken.push(if let Some(default) = default {
            let (take_or, default) = (place.end(quote!(.take_or)), text(default, runtime));
            quote!(#(#cfgs)* #slot #take_or(|| #default)?)
        } else {
            let take = place.end(quote!(.take()));
            quote!(#(#cfgs)* #slot #take?)
        });
    }
    let waited = function.is_async.then(|| quote!(.await));
    let (value, error) = result_places(&function.sig);
    let sorted = quote!(#runtime::Type::of);
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

/// A default. A text stands for every type that is made of text, as it does in the schema.
fn text(default: &Expr, runtime: &TokenStream) -> TokenStream {
    if literal_text(default).is_none() {
        return quote!(#default);
    }
    let place = SpanRange::of(default);
    let (text, held) = (place.begin(quote!(#runtime::text)), place.holding(default));
    quote!(#text #held)
}

/// The body of the function that returns the schema of the result.
pub(super) fn output(tool: &Tool, runtime: &TokenStream) -> TokenStream {
    let function = &tool.function;
    let ty = anonymous_lifetimes(result_type(&function.sig.output));
    let (value, _) = result_places(&function.sig);
    if tool.options.on("output_schema").is_some() {
        let described = quote!(>::NEW.success().demanded_schema);
        let described = value.around(quote!(#runtime::Type::<), ty, described);
        quote!(#described())
    } else {
        quote!(#runtime::Type::<#ty>::NEW.success().schema())
    }
}

/// `rt::ToolArgument::of(rt::Described::of(rt::Type::<f64>::NEW.kind().argument())).open()`
///
/// A function that asks for a trait spans all of the type, as does what it is given: else the compiler points at both.
pub(super) fn opened(param: &Param, runtime: &TokenStream) -> TokenStream {
    let ty = anonymous_lifetimes(&param.ty);
    let place = SpanRange::of(&param.ty);
    let typed = |sorted| place.around(quote!(#runtime::Type::<), &ty, sorted);
    let ask = |wanted, of: TokenStream| place.called(quote!(#runtime::#wanted::), "of", of);
    match param.role {
        Role::Argument { .. } => {
            let sorted = typed(quote!(>::NEW.kind().argument()));
            let asked = ask(quote!(ToolArgument), ask(quote!(Described), sorted));
            let open = place.end(quote!(.open()));
            quote!(#asked #open)
        }
        Role::Context => {
            let sorted = typed(quote!(>::NEW.kind().context()));
            ask(quote!(ContextParameter), ask(quote!(SharedContext), sorted))
        }
    }
}

pub(super) fn result_type(output: &ReturnType) -> TokenStream {
    match output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) => quote!(#ty),
    }
}

/// The place of errors about the whole result.
pub(super) fn whole_result(sig: &Signature) -> SpanRange {
    match &sig.output {
        ReturnType::Default => SpanRange::of(&sig.ident),
        ReturnType::Type(_, ty) => SpanRange::of(ty),
    }
}

/// The places of errors about the `Ok` value and about the error of a result, by the spelling of the type.
pub(super) fn result_places(sig: &Signature) -> (SpanRange, SpanRange) {
    let ReturnType::Type(_, ty) = &sig.output else {
        return (SpanRange::of(&sig.ident), SpanRange::of(&sig.ident));
    };
    let whole = SpanRange::of(ty);
    let types = match applied(ty) {
        Some((name, types)) if name == "Result" => types,
        _ => Vec::new(),
    };
    let place = |at: usize| types.get(at).copied().map_or(whole, SpanRange::of);
    if types.len() > 2 {
        (whole, whole)
    } else {
        (place(0), place(1))
    }
}

/// Replaces named lifetimes by `'_`, for use outside of the signature.
pub(super) fn anonymous_lifetimes(ty: impl ToTokens) -> TokenStream {
    replaced(
        ty.into_token_stream(),
        &mut |trees, at| match (trees.get(at)?, trees.get(at + 1)?) {
            (TokenTree::Punct(mark), TokenTree::Ident(name))
                if mark.as_char() == '\'' && name != "static" =>
            {
                let name = Ident::new("_", name.span());
                Some((quote!(#mark #name), 2))
            }
            _ => None,
        },
    )
}
