//! Expands the portable form of a predicate to constant data.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ReturnType, Type};

use super::clauses::condition;
use super::span::SpanRange;
use super::types::{anonymous_lifetimes, mentions_impl, opened};
use crate::model::{Clause, Converted, KindSource, Param, Portable};

/// `rt::Expression::Compare(rt::Comparison::More, &rt::Expression::Parameter("count"), &rt::Expression::Integer(0))`
pub(super) fn expression(
    portable: &Portable,
    params: &[Param],
    runtime: &TokenStream,
) -> TokenStream {
    let sub = |part: &Portable| expression(part, params, runtime);
    let operand = |part: &Portable| match part {
        Portable::Converted(converted) => {
            let [from, to, read, opaque] = conversion(converted, params, runtime);
            quote!(const { #runtime::widened(#from, &#to, &#read, #opaque) })
        }
        other => sub(other),
    };
    let ident = |name: &str| Ident::new(name, Span::call_site());
    let head = |name: &str| {
        let name = ident(name);
        quote!(#runtime::Expression::#name)
    };
    match portable {
        Portable::Bool(value) => quote!(#runtime::Expression::Bool(#value)),
        Portable::Integer(value) => quote!(#runtime::Expression::Integer(#value)),
        Portable::Float(value) => quote!(#runtime::Expression::Float(#value)),
        Portable::Text(value) => quote!(#runtime::Expression::Text(#value)),
        Portable::Named {
            tokens,
            primitive: Some(kind),
            ..
        } => typed(tokens, kind, runtime),
        Portable::Named { text, tokens, .. } => quote! {
            #runtime::Expression::Named {
                text: #text,
                value: || #runtime::Known::new(&#tokens).json(),
            }
        },
        Portable::Pattern {
            text,
            function,
            pattern,
        } => quote! {
            #runtime::Expression::Named {
                text: #text,
                value: || #runtime::pattern(&#function, #runtime::Known::new(&#pattern).json()),
            }
        },
        Portable::Parameter(index) => {
            let name = name(*index, params);
            quote!(#runtime::Expression::Parameter(#name))
        }
        Portable::Variable(name) => quote!(#runtime::Expression::Variable(#name)),
        Portable::Unary(operator, of) => {
            let (head, of) = (head(operator.name()), operand(of));
            quote!(#head(&#of))
        }
        Portable::Binary(operator, a, b) => {
            let (head, a, b) = (head(operator.name()), sub(a), sub(b));
            quote!(#head(&#a, &#b))
        }
        Portable::Compare(by, a, b) => {
            let (by, a, b) = (ident(by.name()), sub(a), sub(b));
            quote!(#runtime::Expression::Compare(#runtime::Comparison::#by, &#a, &#b))
        }
        Portable::Arithmetic(by, a, b) => {
            let (by, a, b) = (ident(by.name()), operand(a), operand(b));
            quote!(#runtime::Expression::Arithmetic(#runtime::Operation::#by, &#a, &#b))
        }
        Portable::InList(of, list) => {
            let (of, list) = (sub(of), list.iter().map(sub));
            quote!(#runtime::Expression::Among(&#of, &[#(#list),*]))
        }
        Portable::Quantified(by, of, variable, body) => {
            let (head, of, body) = (head(by.name()), sub(of), sub(body));
            quote!(#head(&#of, #variable, &#body))
        }
        Portable::Native {
            text,
            parameter,
            tokens,
        } => {
            let name = name(*parameter, params);
            let holds = probe(*parameter, params, tokens, runtime);
            quote!(#runtime::Expression::Native { text: #text, parameter: #name, holds: #holds })
        }
        Portable::Either(index, known, unknown) => {
            let kind = params.get(*index).map(|param| type_kind(param, runtime));
            let (known, unknown) = (sub(known), sub(unknown));
            quote!(const { #runtime::either(#kind, #known, #unknown) })
        }
        Portable::Converted(converted) => {
            let [from, to, read, opaque] = conversion(converted, params, runtime);
            quote!(const { #runtime::converted(#from, #to, #read, #opaque) })
        }
        Portable::Opaque(opaque) => {
            let text = &opaque.text;
            quote!(#runtime::Expression::Opaque(#text))
        }
    }
}

/// The kinds of both types, what is converted, and the conversion as typed.
fn conversion(of: &Converted, params: &[Param], runtime: &TokenStream) -> [TokenStream; 4] {
    let text = &of.text;
    [
        kind_of(&of.from, params, runtime),
        kind_written(&of.to, runtime),
        expression(&of.of, params, runtime),
        quote!(#runtime::Expression::Opaque(#text)),
    ]
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
    let place = SpanRange::of(tokens);
    let cast = |to: TokenStream| place.end(quote!(as ::core::primitive::#to));
    match kind {
        "bool" => quote!(#runtime::Expression::Bool(#tokens)),
        "f32" | "f64" => {
            let cast = cast(quote!(f64));
            quote!(#runtime::Expression::Float(#tokens #cast))
        }
        "u128" => {
            let cast = cast(quote!(u128));
            quote!(const { #runtime::Expression::u128(#tokens #cast) })
        }
        _ => {
            let cast = cast(quote!(i128));
            quote!(#runtime::Expression::Integer(#tokens #cast))
        }
    }
}

/// What the casts of constants would be told by a strict linter, in code that nobody wrote.
pub(super) fn lint_levels(clauses: &[Clause]) -> Option<TokenStream> {
    fn casts(portable: &Portable) -> bool {
        matches!(portable, Portable::Named { primitive: Some(kind), .. } if *kind != "bool")
            || portable.parts().into_iter().any(casts)
    }
    let mut read = clauses.iter().filter_map(|clause| clause.portable.as_ref());
    read.any(casts).then(|| {
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

/// What is known of a parameter's type, as a constant.
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
    (!is_never && !mentions_impl(&ty)).then(|| {
        quote! {
            .returning({
                use #runtime::UnknownKind as _;
                #runtime::Returned::<#ty>::KIND
            })
        }
    })
}

/// The parameters that a portable condition names.
pub(super) fn named(portable: &Portable, found: &mut Vec<usize>) {
    if let Portable::Parameter(index) | Portable::Either(index, ..) = portable {
        found.push(*index);
    }
    for part in portable.parts() {
        named(part, found);
    }
}
