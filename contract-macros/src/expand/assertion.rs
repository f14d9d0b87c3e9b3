//! Expands `contract_assert!(total >= 0, "the total is {total}")`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::span::SpanRange;
use super::{clauses, data, local};
use crate::model::Assertion;
use crate::names;

pub(crate) fn assertion(assertion: &Assertion) -> TokenStream {
    let runtime = names::runtime(&assertion.krate);
    let (text, condition) = (&assertion.text, &assertion.condition);
    let message = data::option(
        assertion
            .format
            .clone()
            .and_then(|format| format.into_iter().next()),
    );
    let policy = data::policy(assertion.policy.as_ref(), &runtime);
    let (line, column) = data::position(assertion.span);
    let seen = local("details");
    let (shown, say) = match &assertion.format {
        None => (quote!(_), None),
        Some(format) => (
            quote!(#seen),
            Some(quote!(#seen.message(::core::format_args!(#format));)),
        ),
    };
    // Not by a path: `$crate` in it would keep its place, and every error would point at all of the macro.
    let result = Ident::new("__ContractConditionResult", Span::mixed_site());
    let place = SpanRange::of(condition);
    let inside = clauses::returning(condition, place);
    let condition = place.called(quote!(#result::), "checked", inside);
    let holds = quote::quote_spanned!(assertion.span=> || #condition);
    quote! {{
        use #runtime::ConditionResult as #result;
        static __CONTRACT_CONDITION: #runtime::Condition = #runtime::Condition::new(
            #runtime::ConditionKind::Assert, #text, #message, #policy, &[], (#line, #column),
        );
        #runtime::assert(&__CONTRACT_CONDITION, ::core::file!(), #holds, |#shown| { #say });
    }}
}
