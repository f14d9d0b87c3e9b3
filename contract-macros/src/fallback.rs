//! Expands an item with errors: the errors, and the item itself, so that callers get no second error.

use proc_macro2::{Group, TokenStream};
use quote::quote;

use crate::attributes::{self, AttributeSet, ContractAttribute, Kind, of_kind};
use crate::item::{FunctionItem, Item, RawMember};
use crate::options;
use crate::predicate;
use crate::source::is_punct;

/// The mistakes, and the item without our attributes.
pub(crate) fn expand(
    attributes: &AttributeSet,
    item: Option<&Item>,
    report: &syn::Error,
) -> TokenStream {
    let (report, attrs) = (report.to_compile_error(), &attributes.attrs);
    let item = match item {
        None => attributes.rest.clone(),
        Some(Item::Function(item)) => {
            let (item, left) = function(&attributes.contracts, item, report);
            return quote!(#left #(#attrs)* #item);
        }
        Some(Item::Impl(block)) => {
            let head = &block.head;
            let members = block.members.iter().map(member);
            quote!(#head { #(#members)* })
        }
    };
    quote!(#report #(#attrs)* #item)
}

fn member(member: &RawMember) -> TokenStream {
    match member {
        RawMember::Function(method) if member.tool().is_none() && !method.contracts.is_empty() => {
            method.tokens.clone()
        }
        RawMember::Function(method) => {
            let attrs = method.attrs.iter();
            let attrs = attrs.filter(|attr| options::conditional_siblings(attr).is_empty());
            let (function, _) = function(&method.contracts, &method.function, TokenStream::new());
            quote!(#(#attrs)* #function)
        }
        RawMember::Other(tokens) => tokens.clone(),
    }
}

/// The function with the report in its body, or beside it. Beside it, the compiler would not report unknown names, such as
/// those in conditions. The imports of the attributes that were taken stay used.
fn function(
    contracts: &[ContractAttribute],
    item: &FunctionItem,
    report: TokenStream,
) -> (TokenStream, TokenStream) {
    let mut item = item.clone();
    // Inner attributes must stay in front.
    let begins = |body: &mut Group| !is_punct(body.stream().into_iter().next().as_ref(), '#');
    let Some(body) = item.body.take_if(begins) else {
        return (item.plain(), report);
    };
    let uses = attributes::run_on_nothing(&attributes::uses(contracts));
    // The body may name what is given, which the compiler would report as unknown.
    let (added, left) = if of_kind(contracts, Kind::Given).next().is_some() {
        (uses, report)
    } else {
        let named = predicate::variables(contracts);
        let added = quote!(#report #uses #(let _ = &#named;)*);
        (added, TokenStream::new())
    };
    let inside = body.stream();
    let mut again = Group::new(body.delimiter(), quote!(#added #inside));
    again.set_span(body.span());
    item.body = Some(again);
    (item.plain(), left)
}
