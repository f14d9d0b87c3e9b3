//! Expands questions: pieces of the author's text, and values that a model may have written.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use super::local;
use crate::ask::{self, Piece};
use crate::model::Message;

/// `|text| { text.text("Refund "); text.value(format_args!("{cents}")); text.text("?"); }`
pub(super) fn write(question: &Message) -> TokenStream {
    let text = local("text");
    let span = question.literal.span();
    let pieces = ask::pieces(&question.literal.value());
    let pieces = pieces.iter().map(|piece| match piece {
        Piece::Text(plain) => quote!(#text.text(#plain);),
        Piece::Value(placeholder, position) => {
            let placeholder = LitStr::new(placeholder, span);
            let arg = position.and_then(|at| question.args.get(at));
            let arg = arg.map(|arg| quote!(, #arg));
            quote!(#text.value(::core::format_args!(#placeholder #arg));)
        }
    });
    quote!(|#text| { #(#pieces)* })
}
