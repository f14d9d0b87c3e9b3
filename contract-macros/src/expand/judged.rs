//! Expands the judged form of a function with givens: lookups, conditions and the body in one place.
//!
//! ```text
//! rt::run(|| -> Result<Receipt, rt::Stop> {
//!     frame.look_up(2);
//!     let order = match rt::Present::present(self.order(&id)) { Some(found) => found, None => return Err(frame.absent(2, ..)) };
//!     frame.pre(0, 1, ..)?;
//!     frame.enter()?;
//!     let out = rt::run(|| -> Receipt { .. });
//!     frame.post(1, ..)?;
//!     frame.close();
//!     rt::end(frame);
//!     Ok(out)
//! })
//! ```
//!
//! Where a `?` of a given returns the function's own error, the closure returns that error, and in its `Ok` the above.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::clauses::Clauses;
use super::local;
use super::span::SpanRange;
use super::types::{mentions_impl, result_type, whole_result};
use crate::given;
use crate::model::{Absent, Function, Given};

/// A function with everything that is judged around its body.
pub(super) struct Judged<'m> {
    pub(super) function: &'m Function,
    pub(super) givens: &'m [Given],
    pub(super) clauses: Clauses<'m>,
    can_fail: bool,
}

impl<'m> Judged<'m> {
    pub(super) fn new(function: &'m Function, givens: &'m [Given], clauses: Clauses<'m>) -> Self {
        Self {
            function,
            givens,
            clauses,
            can_fail: given::can_fail(givens),
        }
    }

    /// An expression of the type `Result<Output, rt::Stop>`, where a frame and the parameters are at hand.
    pub(super) fn expression(&self) -> TokenStream {
        let runtime = self.clauses.runtime;
        let ty = result_type(&self.function.sig.output);
        // `impl Trait` has no name.
        let output = if mentions_impl(&ty) { quote!(_) } else { ty };
        let inside = self.inside();
        let result = quote!(::core::result::Result);
        let of = whole_result(&self.function.sig);
        let returned = if self.can_fail {
            let (begin, end) = (
                of.begin(quote!(#runtime::JudgedForm<#output)),
                of.end(quote!(>)),
            );
            quote!(#begin #end)
        } else {
            quote!(#result<#output, #runtime::Stop>)
        };
        let judged = if self.function.is_async {
            quote!(#runtime::run_async::<#returned, _>(async { #inside }).await)
        } else {
            let (run, head) = (of.begin(quote!(#runtime::run)), of.begin(quote!(|| ->)));
            let closure = of.holding(quote!(#head #returned { #inside }));
            quote!(#run #closure)
        };
        if self.can_fail {
            let form = Ident::new(&local("judged").to_string(), of.place());
            let flatten = of.called(quote!(<#output as #runtime::Fallible>::), "flatten", &form);
            quote!({
                let #form = #judged;
                #flatten
            })
        } else {
            judged
        }
    }

    fn inside(&self) -> TokenStream {
        let runtime = self.clauses.runtime;
        let (frame, out) = (local("frame"), local("out"));
        let steps = self.steps();
        let enter = self.or_end(&quote!(#frame.enter()));
        let (keep, confirm) = (self.clauses.keep(), self.clauses.confirm());
        let body = self.body();
        let after = self.clauses.after(whole_result(&self.function.sig));
        let after = after.iter().map(|judged| self.or_end(judged));
        let then = self.givens.iter().filter_map(|given| {
            let then = given.then.as_ref()?;
            Some(quote! {
                if #frame.is_awaited() && #runtime::SuccessProbe::new(&#out).success().is_some() {
                    #then;
                }
            })
        });
        let end = if self.can_fail {
            let of = whole_result(&self.function.sig);
            let output = result_type(&self.function.sig.output);
            of.called(quote!(<#output as #runtime::Fallible>::), "judged", &out)
        } else {
            quote!(::core::result::Result::Ok(#out))
        };
        quote! {
            #(#steps)*
            #confirm
            #enter
            #(#keep)*
            let #out = #body;
            #(#after)*
            #(#then)*
            #frame.close();
            #runtime::end(#frame);
            #end
        }
    }

    fn body(&self) -> TokenStream {
        let (runtime, body) = (self.clauses.runtime, &self.function.body);
        let ty = result_type(&self.function.sig.output);
        match (self.function.is_async, mentions_impl(&ty)) {
            (false, false) => quote!(#runtime::run(|| -> #ty #body)),
            (false, true) => quote!(#runtime::run(|| #body)),
            (true, false) => quote!(#runtime::run_async::<#ty, _>(async #body).await),
            (true, true) => quote!(#runtime::run_async(async #body).await),
        }
    }

    /// Givens and preconditions, in their order.
    fn steps(&self) -> Vec<TokenStream> {
        let all = self.clauses.all.len();
        let mut steps = Vec::new();
        let mut givens = self.givens.iter().peekable();
        let mut index = all;
        let mut position = 0;
        loop {
            while let Some(given) = givens.next_if(|given| given.position == position) {
                steps.push(self.given(given, index));
                index += usize::from(given.is_condition());
            }
            let next = givens.peek().map_or(all, |given| given.position);
            let judged = self.clauses.pres(position..next);
            steps.extend(judged.iter().map(|judged| self.or_end(judged)));
            if givens.peek().is_none() {
                break;
            }
            position = next;
        }
        steps
    }

    /// One given, and whether the history has answered what it asks.
    fn given(&self, given: &Given, index: usize) -> TokenStream {
        let looked_up = self.look_up(given, index);
        if given.history.is_none() {
            return looked_up;
        }
        let frame = local("frame");
        let ask = self.or_end(&quote!(#frame.ask_history(#index)));
        let answered = self.or_end(&quote!(#frame.history_asked(#index)));
        quote!(#ask #looked_up #answered)
    }

    /// One given; it stands at `index` among the conditions, if it can end the call.
    fn look_up(&self, given: &Given, index: usize) -> TokenStream {
        let runtime = self.clauses.runtime;
        let Given {
            ident,
            mutable,
            value,
            ..
        } = given;
        let Some(absent) = &given.absent else {
            return quote!(let #mutable #ident = #value;);
        };
        let (frame, details) = (local("frame"), local("details"));
        let (found, why) = (local("found"), local("why"));
        let place = SpanRange::of(value);
        let (opened, present, missing, sentence, message) = match absent {
            Absent::Message(message) => (
                place.called(quote!(#runtime::Present::), "present", value),
                quote!(::core::option::Option::Some(#found)),
                quote!(::core::option::Option::None),
                quote!(::core::option::Option::None),
                Some(message),
            ),
            Absent::Error => (
                place.called(quote!(#runtime::Opened::), "opened", value),
                quote!(::core::result::Result::Ok(#found)),
                quote!(::core::result::Result::Err(#why)),
                quote!(::core::option::Option::Some(#why)),
                None,
            ),
        };
        let shown = self.clauses.details_of(&given.mentions, message, &details);
        let end = self.end(&quote!(#frame.absent(#index, #sentence, |#details| { #shown })));
        quote! {
            #frame.look_up(#index);
            let #mutable #ident = match #opened {
                #present => #found,
                #missing => { #end }
            };
        }
    }

    /// `frame.pre(..)?;`, or the same by hand where `?` returns the function's own error.
    fn or_end(&self, judged: &TokenStream) -> TokenStream {
        if !self.can_fail {
            return quote!(#judged?;);
        }
        let stop = local("stop");
        let end = self.end(&quote!(#stop));
        quote!(if let ::core::result::Result::Err(#stop) = #judged { #end })
    }

    fn end(&self, stop: &TokenStream) -> TokenStream {
        let stopped = quote!(::core::result::Result::Err(#stop));
        if self.can_fail {
            quote!(return ::core::result::Result::Ok(#stopped);)
        } else {
            quote!(return #stopped;)
        }
    }
}
