//! Expands the portable form of a predicate to constant data.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ReturnType, Type};

use super::clauses::condition;
use super::shim::{anonymous_lifetimes, opened};
use super::span::SpanRange;
use crate::model::{Clause, Converted, KindSource, Opaque, Operator, Param, Portable};
use crate::spelling::holds_impl;

/// `rt::Expression::Compare(rt::Comparison::More, &rt::Expression::Parameter("count"), &rt::Expression::Integer(0))`
pub(super) fn expression(
    portable: &Portable,
    params: &[Param],
    runtime: &TokenStream,
) -> TokenStream {
    let sub = |part: &Portable| expression(part, params, runtime);
    let ident = |name: &str| Ident::new(name, Span::call_site());
    let read = match portable {
        Portable::Bool(value) => quote!(Bool(#value)),
        Portable::Integer(value) => quote!(Integer(#value)),
        Portable::Float(value) => quote!(Float(#value)),
        Portable::Text(value) => quote!(Text(#value)),
        Portable::Named {
            tokens,
            primitive: Some(kind),
            ..
        } => return typed(tokens, kind, runtime),
        Portable::Named { text, tokens, .. } => {
            quote!(Named { text: #text, value: || #runtime::Known::new(&#tokens).json(), })
        }
        Portable::Pattern {
            text,
            function,
            pattern,
        } => {
            let value =
                quote!(#runtime::pattern(&#function, #runtime::Known::new(&#pattern).json()));
            quote!(Named { text: #text, value: || #value, })
        }
        Portable::Parameter(index) => {
            let name = name(*index, params);
            quote!(Parameter(#name))
        }
        Portable::Variable(name) => quote!(Variable(#name)),
        Portable::Node(operator, parts) => {
            let is_number = matches!(operator, Operator::Arithmetic(_)) || parts.len() == 1;
            let parts = parts.iter().map(|part| match part {
                Portable::Converted(of) if is_number => conversion("widened", of, params, runtime),
                part => sub(part),
            });
            let parts: Vec<TokenStream> = parts.collect();
            let (head, parts) = match operator {
                Operator::Plain(name) => (*name, quote!(#(&#parts),*)),
                Operator::Compare(by) => {
                    let by = ident(by);
                    ("Compare", quote!(#runtime::Comparison::#by, #(&#parts),*))
                }
                Operator::Arithmetic(by) => {
                    let by = ident(by);
                    ("Arithmetic", quote!(#runtime::Operation::#by, #(&#parts),*))
                }
                Operator::InList => {
                    let (of, list) = parts.split_at(1);
                    ("Among", quote!(#(&#of,)* &[#(#list),*]))
                }
                Operator::Quantified(by, variable) => {
                    let (of, body) = parts.split_at(1);
                    (*by, quote!(#(&#of,)* #variable, #(&#body),*))
                }
            };
            let head = ident(head);
            quote!(#head(#parts))
        }
        Portable::Native {
            text,
            parameter,
            tokens,
        } => {
            let name = name(*parameter, params);
            let holds = probe(*parameter, params, tokens, runtime);
            quote!(Native { text: #text, parameter: #name, holds: #holds })
        }
        Portable::Either(index, both) => {
            let kind = params.get(*index).map(|param| type_kind(param, runtime));
            let both = both.iter().map(sub);
            return quote!(const { #runtime::either(#kind, #(#both),*) });
        }
        Portable::Converted(of) => return conversion("converted", of, params, runtime),
        Portable::Opaque(Opaque { text, .. }) => quote!(Opaque(#text)),
    };
    quote!(#runtime::Expression::#read)
}

/// `const { rt::converted(from, to, operand, opaque) }`, where the compiler chooses one of the last two by the kinds.
/// `widened` takes them by reference.
fn conversion(by: &str, of: &Converted, params: &[Param], runtime: &TokenStream) -> TokenStream {
    let (function, text) = (Ident::new(by, Span::call_site()), &of.text);
    let lent = (by == "widened").then(|| quote!(&));
    let from = kind_of(&of.from, params, runtime);
    let to = kind_written(&of.to, runtime);
    let read = expression(&of.of, params, runtime);
    quote!(const { #runtime::#function(#from, #lent #to, #lent #read, #runtime::Expression::Opaque(#text)) })
}

fn kind_of(source: &KindSource, params: &[Param], runtime: &TokenStream) -> TokenStream {
    match source {
        KindSource::Parameter(index) => {
            let kind = params.get(*index).map(|param| type_kind(param, runtime));
            kind.unwrap_or_else(|| quote!(#runtime::TypeKind::Opaque))
        }
        KindSource::Item(of) => {
            let of = kind_of(of, params, runtime);
            quote!(#runtime::item(#of))
        }
        KindSource::Count(of) => {
            let of = kind_of(of, params, runtime);
            quote!(#runtime::count(#of))
        }
        KindSource::Type(ty) => kind_written(ty, runtime),
    }
}

fn kind_written(ty: &Type, runtime: &TokenStream) -> TokenStream {
    quote! {{
        use #runtime::UnknownKind as _;
        #runtime::Shape::<#ty>::KIND
    }}
}

fn name(index: usize, params: &[Param]) -> &str {
    params.get(index).map_or("", |param| param.name.as_str())
}

/// `rt::Expression::Integer(LIMIT as i128)`: a cast, because a constant of another number's type is a mistake that the
/// compiler reports where the two are compared, and once is enough.
fn typed(tokens: &TokenStream, kind: &str, runtime: &TokenStream) -> TokenStream {
    let cast = |to| SpanRange::of(tokens).end(quote!(as ::core::primitive::#to));
    let (variant, cast) = match kind {
        "bool" => ("Bool", None),
        "f32" | "f64" => ("Float", Some(cast(quote!(f64)))),
        "u128" => {
            let cast = cast(quote!(u128));
            return quote!(const { #runtime::Expression::u128(#tokens #cast) });
        }
        _ => ("Integer", Some(cast(quote!(i128)))),
    };
    let variant = Ident::new(variant, Span::call_site());
    quote!(#runtime::Expression::#variant(#tokens #cast))
}

/// Allows the lints that casts of constants would trigger in generated code.
pub(super) fn lint_levels(clauses: &[Clause]) -> Option<TokenStream> {
    let casts = |portable: &Portable| matches!(portable, Portable::Named { primitive: Some(kind), .. } if *kind != "bool");
    let mut read = clauses.iter().filter_map(|clause| clause.portable.as_ref());
    read.any(|portable| portable.any(&casts)).then(|| {
        quote! {
            #[allow(
                trivial_numeric_casts,
                clippy::as_conversions,
                clippy::cast_lossless,
                clippy::cast_precision_loss,
                clippy::unnecessary_cast,
                reason = "a constant is kept as the widest number"
            )]
        }
    })
}

/// `|text| { let mut slot = ..; rt::probe(text, &mut slot)?; let mode = slot.take().ok()?; rt::asked(|| predicate) }`
pub(super) fn probe(
    index: usize,
    params: &[Param],
    predicate: &TokenStream,
    runtime: &TokenStream,
) -> TokenStream {
    let Some(param) = params.get(index) else {
        return TokenStream::new();
    };
    let (text, slot) = (super::local("text"), super::local("slot"));
    let (opened, ident) = (opened(param, runtime), &param.ident);
    let lent = SpanRange::of(&param.ty).lent(quote!(&mut), &slot);
    let taken = SpanRange::of(&param.ty).end(quote!(.take()));
    let span = predicate.clone().into_iter().next();
    let span = span.map_or_else(Span::call_site, |first| first.span());
    let condition = condition(predicate, runtime);
    let holds = quote_spanned!(span=> || #condition);
    quote! {
        |#text| {
            let mut #slot = #opened;
            #runtime::probe(#text, #lent)?;
            #[allow(unused_variables, reason = "the message alone may name it")]
            let #ident = #slot #taken.ok()?;
            #runtime::asked(#holds)
        }
    }
}

pub(super) fn type_kind(param: &Param, runtime: &TokenStream) -> TokenStream {
    let ty = anonymous_lifetimes(&param.ty);
    quote! {{
        use #runtime::UnknownKind as _;
        #runtime::kind(#runtime::Shape::<#ty>::KIND, #runtime::Container::<#ty>::KIND)
    }}
}

/// `.returning(kind)`, where the type that is returned has a name.
pub(super) fn returning(returned: &ReturnType, runtime: &TokenStream) -> Option<TokenStream> {
    let ReturnType::Type(_, ty) = returned else {
        return None;
    };
    let is_never = matches!(**ty, Type::Never(_));
    let ty = anonymous_lifetimes(ty);
    (!is_never && !holds_impl(&ty)).then(|| {
        quote! {
            .returning({
                use #runtime::UnknownKind as _;
                #runtime::Returned::<#ty>::KIND
            })
        }
    })
}

pub(super) fn named(portable: &Portable, found: &mut Vec<usize>) {
    if let Portable::Parameter(index) | Portable::Either(index, ..) = portable {
        found.push(*index);
    }
    for part in portable.parts() {
        named(part, found);
    }
}
