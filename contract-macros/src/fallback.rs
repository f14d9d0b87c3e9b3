//! Expands an item with errors: the errors, and the item itself, so that callers get no second error.

use proc_macro2::{Group, TokenStream};
use quote::quote;

use crate::attributes::{self, AttributeSet, ContractAttribute};
use crate::item::{FunctionItem, Item, RawMember};
use crate::source::is_punct;
use crate::verify;

/// The mistakes, and the item without our attributes.
pub(crate) fn expand(
    attributes: &AttributeSet,
    item: Option<&Item>,
    report: &syn::Error,
) -> TokenStream {
    let report = report.to_compile_error();
    let AttributeSet {
        contracts,
        attrs,
        rest,
        ..
    } = attributes;
    let item = match item {
        None => rest.clone(),
        Some(Item::Function(item)) => function(contracts, item),
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
        RawMember::Method(method) if !method.contracts.is_empty() => method.tokens.clone(),
        RawMember::Tool(method) | RawMember::Method(method) => {
            let attrs = method.attrs.iter();
            let attrs = attrs.filter(|attr| verify::conditional_siblings(attr).is_empty());
            let function = function(&method.contracts, &method.function);
            quote!(#(#attrs)* #function)
        }
        RawMember::Other(tokens) => tokens.clone(),
    }
}

/// The function again; the imports of the attributes that were taken from it stay used.
fn function(contracts: &[ContractAttribute], item: &FunctionItem) -> TokenStream {
    let uses = attributes::uses(contracts);
    let mut item = item.clone();
    // Inner attributes must stay in front.
    let begins = |body: &Group| !is_punct(body.stream().into_iter().next().as_ref(), '#');
    if let Some(body) = item.body.take_if(|body| !uses.is_empty() && begins(body)) {
        let inside = body.stream();
        let mut again = Group::new(body.delimiter(), quote!(#(use #uses as _;)* #inside));
        again.set_span(body.span());
        item.body = Some(again);
    }
    item.plain()
}

/// An expression of the type of `contract_assert!`.
pub(crate) fn assertion(report: &syn::Error) -> TokenStream {
    let report = report.to_compile_error();
    quote!({ #report })
}
