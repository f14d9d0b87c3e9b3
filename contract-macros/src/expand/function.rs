//! Expands the forms of one function: the public one, its body and the checked one.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ReturnType;

use super::clauses::Clauses;
use super::judged::Judged;
use super::local;
use super::types::{result_type, whole_result};
use crate::attributes;
use crate::model::{Function, Given, Param, Tool};

/// `cfgs ident: Type`, without `mut` and helper attributes.
fn plain(param: &Param) -> TokenStream {
    let (cfgs, ident, ty) = (&param.cfgs, &param.ident, &param.ty);
    quote!(#(#cfgs)* #ident: #ty)
}

/// `cfgs attrs mut ident: Type`, as the author wrote it.
fn parameter(param: &Param) -> TokenStream {
    let (cfgs, attrs, ident, ty) = (&param.cfgs, &param.attrs, &param.ident, &param.ty);
    let mutable = param.mutable.then(|| quote!(mut));
    quote!(#(#cfgs)* #(#attrs)* #mutable #ident: #ty)
}

/// The whole signature as the author wrote it, with the attributes of its parameters.
pub(super) fn signature(function: &Function) -> TokenStream {
    let sig = &function.sig;
    let (constness, asyncness) = (&sig.constness, &sig.asyncness);
    let (unsafety, abi) = (&sig.safety, &sig.abi);
    let (ident, generics) = (&sig.ident, &sig.generics);
    let (output, bounds) = (&sig.output, &sig.generics.where_clause);
    let receiver = function.receiver.iter().map(ToTokens::to_token_stream);
    let params = receiver.chain(function.params.iter().map(|param| match &param.pattern {
        None => parameter(param),
        Some(pattern) => {
            let (cfgs, attrs, ty) = (&param.cfgs, &param.attrs, &param.ty);
            quote!(#(#cfgs)* #(#attrs)* #pattern: #ty)
        }
    }));
    quote! {
        #constness #asyncness #unsafety #abi fn #ident #generics (#(#params),*) #output #bounds
    }
}

/// The arguments of a call that hands all parameters on, by the names they have there.
fn arguments(function: &Function, named: impl Fn(&Ident) -> Ident) -> Vec<TokenStream> {
    let argument = |param: &Param| {
        let (cfgs, ident) = (&param.cfgs, named(&param.ident));
        quote!(#(#cfgs)* #ident)
    };
    function.params.iter().map(argument).collect()
}

/// The frame of a direct call.
pub(super) fn direct_frame(
    function: &Function,
    givens: &[Given],
    contract: &TokenStream,
    runtime: &TokenStream,
) -> TokenStream {
    // What is looked up may wait.
    let direct = if function.is_async && !givens.is_empty() {
        quote!(direct_later)
    } else {
        quote!(direct)
    };
    quote!(#runtime::Frame::#direct(&#contract))
}

/// What ends a direct call. Where a given is absent and no value is returned, the code can go on.
pub(super) fn settle(function: &Function, givens: &[Given], runtime: &TokenStream) -> TokenStream {
    match function.sig.output {
        ReturnType::Default if !givens.is_empty() => quote!(#runtime::settle_unit),
        _ => quote!(#runtime::settle),
    }
}

/// The same within the visible function.
pub(super) fn handed_on(function: &Function) -> Vec<TokenStream> {
    arguments(function, |ident| visible_name(function, ident))
}

/// A parameter that is called like the function would hide it from its own registration, so there no other token sees it.
fn visible_name(function: &Function, ident: &Ident) -> Ident {
    let mut ident = ident.clone();
    if ident == function.sig.ident {
        ident.set_span(Span::mixed_site().located_at(ident.span()));
    }
    ident
}

/// The visible function around `inside`.
pub(super) fn visible(function: &Function, inside: &TokenStream) -> TokenStream {
    let (attrs, vis, sig) = (&function.attrs_outer, &function.vis, &function.sig);
    let (asyncness, ident, generics) = (&sig.asyncness, &sig.ident, &sig.generics);
    let (output, bounds) = (&sig.output, &sig.generics.where_clause);
    let receiver = &function.receiver;
    let receiver = receiver.iter().map(ToTokens::to_token_stream);
    let params = receiver.chain(function.params.iter().map(|param| {
        let (cfgs, ident, ty) = (&param.cfgs, visible_name(function, &param.ident), &param.ty);
        quote!(#(#cfgs)* #ident: #ty)
    }));
    let uses = attributes::run_on_nothing(&function.uses);
    quote! {
        #(#attrs)*
        #vis #asyncness fn #ident #generics (#(#params),*) #output #bounds {
            #uses
            #inside
        }
    }
}

/// The body of a tool and its checked form; one function, where the body names what is given.
pub(super) fn forms(
    tool: &Tool,
    body_name: &Ident,
    checked_name: &Ident,
    called: &TokenStream,
    runtime: &TokenStream,
    head: &TokenStream,
) -> TokenStream {
    let function = &tool.function;
    let body_in_place = !tool.givens.is_empty();
    let clauses = Clauses {
        all: &tool.clauses,
        params: &function.params,
        runtime,
        body_in_place,
        given_self: None,
        confirm: tool.confirm.as_ref().map(|(question, _)| question),
    };
    if body_in_place {
        return checked_in_place(
            &Judged::new(function, &tool.givens, clauses),
            checked_name,
            head,
        );
    }
    let body = body(tool, body_name, head);
    let checked = checked(function, checked_name, called, &clauses, head);
    quote!(#body #checked)
}

/// The author's body under another name, with every attribute that acts on it.
///
/// A parameter that only a condition looks at is used, though not in the body.
fn body(tool: &Tool, name: &Ident, head: &TokenStream) -> TokenStream {
    let function = &tool.function;
    let (attrs, sig, body) = (&function.attrs_inner, &function.sig, &function.body);
    let (asyncness, generics) = (&sig.asyncness, &sig.generics);
    let (output, bounds) = (&sig.output, &sig.generics.where_clause);
    let receiver = function.receiver.iter().map(ToTokens::to_token_stream);
    let named = |index: usize| {
        let in_conditions = tool.clauses.iter().flat_map(|clause| &clause.mentions);
        let in_question = tool.confirm.iter().flat_map(|(_, mentions)| mentions);
        in_conditions
            .chain(in_question)
            .any(|&named| named == index)
    };
    let params = function.params.iter().enumerate().map(|(index, param)| {
        let used = named(index)
            .then(|| quote!(#[allow(unused_variables, reason = "a condition looks at it")]));
        let param = parameter(param);
        quote!(#used #param)
    });
    let params = receiver.chain(params);
    quote! {
        #head
        #(#attrs)*
        #asyncness fn #name #generics (#(#params),*) #output #bounds #body
    }
}

/// The same with the body in place, where it can name what is given.
fn checked_in_place(judged: &Judged<'_>, name: &Ident, head: &TokenStream) -> TokenStream {
    let runtime = judged.clauses.runtime;
    let function = judged.function;
    let sig = &function.sig;
    let (asyncness, generics) = (&sig.asyncness, &sig.generics);
    let bounds = &sig.generics.where_clause;
    let output = result_type(&sig.output);
    let frame = local("frame");
    let receiver = function.receiver.iter().map(ToTokens::to_token_stream);
    let params =
        receiver
            .chain([quote!(mut #frame: #runtime::Frame)])
            .chain(function.params.iter().map(|param| {
                let used = quote!(#[allow(unused_variables, reason = "a condition looks at it")]);
                let param = parameter(param);
                quote!(#used #param)
            }));
    let expression = judged.expression();
    let many = many_arguments(function);
    let attrs = &function.attrs_inner;
    quote! {
        #head
        #many
        #(#attrs)*
        #asyncness fn #name #generics (#(#params),*)
            -> ::core::result::Result<#output, #runtime::Stop> #bounds
        {
            #expression
        }
    }
}

/// The frame is one argument more than the author has written.
fn many_arguments(function: &Function) -> Option<TokenStream> {
    (function.sig.inputs.len() == 7)
        .then(|| quote!(#[allow(clippy::too_many_arguments, reason = "one of them is ours")]))
}

/// The function that judges every condition around the body and gives a violation back as a value.
fn checked(
    function: &Function,
    name: &Ident,
    body: &TokenStream,
    clauses: &Clauses<'_>,
    head: &TokenStream,
) -> TokenStream {
    let runtime = clauses.runtime;
    let sig = &function.sig;
    let (asyncness, generics) = (&sig.asyncness, &sig.generics);
    let bounds = &sig.generics.where_clause;
    let output = result_type(&sig.output);
    let (frame, out) = (local("frame"), local("out"));
    let receiver = function.receiver.iter().map(ToTokens::to_token_stream);
    let params = receiver
        .chain([quote!(mut #frame: #runtime::Frame)])
        .chain(function.params.iter().map(plain));
    let handed_on = arguments(function, Ident::clone);
    let waited = asyncness.as_ref().map(|_| quote!(.await));
    let before = clauses.before();
    let (keep, confirm) = (clauses.keep(), clauses.confirm());
    let after = clauses.after(whole_result(sig));
    let many = many_arguments(function);
    quote! {
        #head
        #many
        #asyncness fn #name #generics (#(#params),*)
            -> ::core::result::Result<#output, #runtime::Stop> #bounds
        {
            #(#before?;)*
            #confirm
            #frame.enter()?;
            #(#keep)*
            let #out = #body(#(#handed_on),*) #waited;
            #(#after?;)*
            #frame.close();
            #runtime::end(#frame);
            ::core::result::Result::Ok(#out)
        }
    }
}
