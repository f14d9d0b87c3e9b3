//! Collects the errors of one item, which are reported together.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;
use syn::parse::{ParseStream, Parser};

/// The mistakes found so far.
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn new() -> Self {
        Self(None)
    }

    /// Reports at one place.
    pub(crate) fn at(&mut self, span: Span, message: impl Display) {
        self.add(Error::new(span, message));
    }

    /// Reports at each of the places.
    pub(crate) fn each(&mut self, places: impl IntoIterator<Item = Span>, message: impl Display) {
        places
            .into_iter()
            .for_each(|place| self.at(place, &message));
    }

    /// Reports under everything `tokens` covers.
    pub(crate) fn on(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.add(Error::new_spanned(tokens, message));
    }

    /// Reports under everything `tokens` covers, where nothing more can be read.
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

    /// Takes a result apart, and reports its error.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// Reads all tokens; what is left after a mistake is dropped.
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

    /// The barrier: what was read, if nothing at all was wrong with it.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Result<T, Error> {
        match (self.0, read) {
            (None, Some(read)) => Ok(read),
            (Some(error), _) => Err(error),
            (None, None) => Err(Error::new(Span::call_site(), "this item cannot be read")),
        }
    }
}
