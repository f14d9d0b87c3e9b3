//! Expands questions: pieces of the author's text, and values that a model may have written.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::LitStr;

use super::local;
use crate::format_string::{Piece, pieces};
use crate::model::Message;

/// `|text| { text.text("Refund "); text.value(&cents, format_args!("{cents}")); text.text("?"); }`
///
/// A value that names no argument of the model is written with `text.computed(format_args!(..));`.
pub(super) fn write(question: &Message) -> TokenStream {
    let text = local("text");
    let span = question.literal.span();
    let pieces = pieces(&question.literal.value()).unwrap_or_default();
    let pieces = pieces.iter().map(|piece| match piece {
        Piece::Text(plain) => quote!(#text.text(#plain);),
        Piece::Value(shown) => {
            let key = shown.key();
            let placeholder = LitStr::new(&shown.written(), span);
            let arg = shown.position.and_then(|at| question.args.get(at));
            let is_from_model = question.from_model.contains(&key);
            match arg {
                None if is_from_model => {
                    let ident = ident(&key, span);
                    quote!(#text.value(
                        &#ident,
                        ::core::format_args!(#placeholder),
                    );)
                }
                // Evaluated once: its size is looked at as well.
                Some(arg) if is_from_model => {
                    let first = arg.clone().into_iter().next();
                    let mut value = local("value");
                    if let Some(first) = first {
                        value.set_span(value.span().located_at(first.span()));
                    }
                    quote! {
                        match &(#arg) {
                            #value => #text.value(
                                #value,
                                ::core::format_args!(#placeholder, #value),
                            ),
                        }
                    }
                }
                arg => {
                    let arg = arg.map(|arg| quote!(, #arg));
                    quote!(#text.computed(::core::format_args!(#placeholder #arg));)
                }
            }
        }
    });
    quote!(|#text| { #(#pieces)* })
}

/// The parameter that a placeholder names; the placeholder omits `r#`.
fn ident(name: &str, span: Span) -> Ident {
    match syn::parse_str::<Ident>(name) {
        Ok(_) => Ident::new(name, span),
        Err(_) => Ident::new_raw(name, span),
    }
}
