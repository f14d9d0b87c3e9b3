//! Collects the errors of one item, which are reported together.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;
use syn::parse::{ParseStream, Parser};

pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn new() -> Self {
        Self(None)
    }

    pub(crate) fn at(&mut self, span: Span, message: impl Display) {
        self.add(Error::new(span, message));
    }

    pub(crate) fn each(&mut self, places: impl IntoIterator<Item = Span>, message: impl Display) {
        for place in places {
            self.at(place, &message);
        }
    }

    /// Reports under everything `tokens` covers.
    pub(crate) fn on(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.add(Error::new_spanned(tokens, message));
    }

    /// Reports under everything `tokens` covers and returns `None`.
    pub(crate) fn refuse<T>(&mut self, tokens: impl ToTokens, message: impl Display) -> Option<T> {
        self.on(tokens, message);
        None
    }

    pub(crate) fn add(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Reports the error of a result and returns its value.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// Parses tokens with `read`. If it returns `None`, it has reported a mistake, and the rest is ignored.
    pub(crate) fn read<T>(
        &mut self,
        tokens: TokenStream,
        read: impl FnOnce(&mut Self, ParseStream<'_>) -> Option<T>,
    ) -> Option<T> {
        let parser = |input: ParseStream<'_>| {
            let read = read(self, input);
            if read.is_none() {
                input.parse::<TokenStream>()?;
            }
            Ok(read)
        };
        let read = parser.parse2(tokens);
        self.ok(read)?
    }

    /// The barrier between parsing and expansion: returns what was read if there was no mistake.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Result<T, Error> {
        match (self.0, read) {
            (None, Some(read)) => Ok(read),
            (Some(error), _) => Err(error),
            (None, None) => Err(Error::new(Span::call_site(), "this item cannot be read")),
        }
    }
}
