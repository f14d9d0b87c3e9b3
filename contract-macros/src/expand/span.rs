//! Spans for type errors in generated code.
//!
//! It points from the first token of an expression to its last, and at the whole attribute as soon as one of the two is
//! of the macro's making. So an expression whose types may not fit begins and ends with tokens placed at the author's.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

/// The first and the last token of what the author wrote.
#[derive(Clone, Copy)]
pub(super) struct SpanRange {
    first: Span,
    last: Span,
}

impl SpanRange {
    pub(super) fn of(written: impl ToTokens) -> Self {
        let mut spans = written.into_token_stream().into_iter();
        let first = spans
            .next()
            .map_or_else(Span::call_site, |tree| tree.span());
        let last = spans.last().map_or(first, |tree| tree.span());
        Self { first, last }
    }

    /// The place of a generated local that stands for the author's tokens.
    pub(super) fn place(self) -> Span {
        Span::mixed_site().located_at(self.first)
    }

    /// Generated tokens at the place of the author's first token.
    pub(super) fn begin(self, tokens: TokenStream) -> TokenStream {
        moved(tokens, self.first)
    }

    /// Generated tokens at the place of the author's last token.
    pub(super) fn end(self, tokens: TokenStream) -> TokenStream {
        moved(tokens, self.last)
    }

    /// Generated tokens at the places of the author's first and last token, around others.
    pub(super) fn around(
        self,
        begin: TokenStream,
        inside: impl ToTokens,
        end: TokenStream,
    ) -> TokenStream {
        let (begin, end) = (self.begin(begin), self.end(end));
        quote!(#begin #inside #end)
    }

    /// `(inside)`, with the parentheses where the author's tokens end; what is inside stays where it is.
    pub(super) fn holding(self, inside: impl ToTokens) -> TokenStream {
        quote_spanned!(self.last=> (#inside))
    }

    /// `path::function(inside)` from the first token to the last, so that an unmet bound is reported once, at all of it.
    pub(super) fn called(
        self,
        path: TokenStream,
        function: &str,
        inside: impl ToTokens,
    ) -> TokenStream {
        let (begin, function) = (self.begin(path), Ident::new(function, self.last));
        let held = self.holding(inside);
        quote!(#begin #function #held)
    }

    /// `&local` or `&mut local` for a generated local.
    pub(super) fn lent(self, sign: TokenStream, local: impl ToTokens) -> TokenStream {
        let (sign, local) = (self.begin(sign), self.holding(local));
        quote!(#sign #local)
    }
}

/// Moves tokens to a place. Only `$crate` keeps its span, by which it is resolved.
fn moved(tokens: TokenStream, to: Span) -> TokenStream {
    let place = |tree| match tree {
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), moved(group.stream(), to));
            inside.set_span(to);
            TokenTree::Group(inside)
        }
        TokenTree::Ident(word) if word == "$crate" => TokenTree::Ident(word),
        mut other => {
            other.set_span(to);
            other
        }
    };
    tokens.into_iter().map(place).collect()
}
