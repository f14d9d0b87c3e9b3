//! Types of a signature, as generated code uses them.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{ReturnType, Signature};

use super::span::SpanRange;
use crate::model::{Param, Role};
use crate::source::replaced;
use crate::spelling::applied;

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
    match types.as_slice() {
        [value, error] => (SpanRange::of(value), SpanRange::of(error)),
        [value] => (SpanRange::of(value), whole),
        _ => (whole, whole),
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
