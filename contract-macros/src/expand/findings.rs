//! Expands compile-time checks: constants that fail to evaluate when a contract cannot be satisfied.
//!
//! ```text
//! const _: () = {
//!     let judged = rt::judge_tool(&__CONTRACT_SPEC);
//!     rt::report(&judged, 0);        // placed at the first condition, so that an error lands there
//!     rt::report(&judged, 1);
//!     rt::report_default(&__CONTRACT_SPEC, "size");
//! };
//! ```

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Generics;

use super::span::SpanRange;
use super::{data, local, portable};
use crate::model::{Clause, ClauseKind, Contracted, Opaque, Operator, Param, Portable, Role, Tool};
use crate::source::is_punct;

/// For a free function, whose static data may be read.
pub(super) fn of_tool(tool: &Tool, spec: &TokenStream, runtime: &TokenStream) -> TokenStream {
    let judged = local("judged");
    let clauses = tool.clauses.iter().enumerate();
    let reports = reports(clauses.filter(|(_, clause)| judgeable(clause)), runtime);
    let defaults = defaults(tool, spec, runtime);
    if reports.is_empty() && defaults.is_empty() {
        return TokenStream::new();
    }
    quote! {
        const _: () = {
            let #judged = #runtime::judge_tool(&#spec);
            #(#reports)*
            #(#defaults)*
        };
    }
}

/// For a method. Its data may name `Self` and generic parameters, which a constant that is always evaluated cannot.
pub(super) fn of_method(tool: &Tool, generics: &Generics, runtime: &TokenStream) -> TokenStream {
    let free = generics.params.is_empty();
    apart(&tool.clauses, &tool.function.params, free, runtime)
}

/// For an ordinary function, which may stand in a generic block.
pub(super) fn of_contracted(contracted: &Contracted, runtime: &TokenStream) -> TokenStream {
    let params = &contracted.function.params;
    apart(&contracted.clauses, params, false, runtime)
}

/// Judges a copy of the conditions. Unless names are `free`, it contains only names that cannot be generic parameters.
fn apart(all: &[Clause], params: &[Param], free: bool, runtime: &TokenStream) -> TokenStream {
    let clauses = all.iter().filter(|clause| judgeable(clause));
    let reports = reports(clauses.clone().enumerate(), runtime);
    if reports.is_empty() {
        return TokenStream::new();
    }
    let judged = local("judged");
    let mut named = Vec::new();
    let conditions = clauses.filter_map(|clause| {
        let portable = clause.portable.as_ref()?;
        portable::named(portable, &mut named);
        let condition = data::condition(clause, params, runtime);
        let expression = portable::expression(&known_here(portable, free), params, runtime);
        Some(quote!(#condition.reading(&#expression)))
    });
    let conditions: Vec<_> = conditions.collect();
    let typed = params.iter().enumerate();
    let typed = typed.filter(|(index, param)| named.contains(index) && nameable(&param.ty, free));
    let typed = typed.map(|(_, param)| {
        let (cfgs, name) = (&param.cfgs, &param.name);
        let kind = portable::type_kind(param, runtime);
        quote!(#(#cfgs)* (#name, #kind))
    });
    let levels = portable::lint_levels(all);
    quote! {
        #levels
        const _: () = {
            let #judged = #runtime::judge(const { &[#(#conditions),*] }, &[#(#typed),*]);
            #(#reports)*
        };
    }
}

/// `rt::report(&judged, 0);` from the first token of the condition to its last.
fn reports<'c>(
    clauses: impl Iterator<Item = (usize, &'c Clause)>,
    runtime: &TokenStream,
) -> Vec<TokenStream> {
    let judged = local("judged");
    let report = |(index, clause): (usize, &Clause)| {
        let place = SpanRange::of(&clause.predicate);
        let call = place.called(quote!(#runtime::), "report", quote!(&#judged, #index));
        quote!(#call;)
    };
    clauses.map(report).collect()
}

/// Whether the compiler could find anything wrong with a condition.
fn judgeable(clause: &Clause) -> bool {
    fn compares(portable: &Portable) -> bool {
        match portable {
            Portable::Native { .. } | Portable::Converted(_) | Portable::Opaque(_) => false,
            Portable::Parameter(_) | Portable::Node(Operator::Compare(_) | Operator::InList, _) => {
                true
            }
            other => other.parts().iter().any(compares),
        }
    }
    clause.kind == ClauseKind::Pre && clause.portable.as_ref().is_some_and(compares)
}

/// `rt::report_default(&SPEC, "size");` where the default of a parameter is written.
fn defaults(tool: &Tool, spec: &TokenStream, runtime: &TokenStream) -> Vec<TokenStream> {
    let params = tool.function.params.iter().enumerate();
    let report = |(index, param): (usize, &Param)| {
        let default = match &param.role {
            Role::Argument { default, .. } => default.as_ref()?,
            Role::Context => return None,
        };
        let mut clauses = tool.clauses.iter();
        let is_judged = clauses.any(|one| judgeable(one) && one.mentions.contains(&index));
        data::literal(default).filter(|_| is_judged)?;
        let (cfgs, name) = (&param.cfgs, &param.name);
        let arguments = quote!(&#spec, #name);
        let call = SpanRange::of(default).called(quote!(#runtime::), "report_default", arguments);
        Some(quote!(#(#cfgs)* #call;))
    };
    params.filter_map(report).collect()
}

/// The part of a predicate that means the same in a separate item.
fn known_here(portable: &Portable, free: bool) -> Portable {
    match portable {
        Portable::Node(operator, parts) => {
            let parts = parts.iter().map(|part| known_here(part, free));
            Portable::Node(operator.clone(), parts.collect())
        }
        // Where its type is one of Rust's own; elsewhere nothing is known of the parameter at all.
        Portable::Either(_, both) => known_here(&both[0], free),
        Portable::Named {
            tokens,
            primitive: Some(_),
            ..
        } if nameable(tokens, free) => portable.clone(),
        Portable::Named { .. }
        | Portable::Pattern { .. }
        | Portable::Native { .. }
        | Portable::Converted(_)
        | Portable::Opaque(_) => Portable::Opaque(Opaque {
            text: String::new(),
            tokens: TokenStream::new(),
            reason: "",
            advice: "",
        }),
        known => known.clone(),
    }
}

/// Whether a type or a constant means the same in a separate item, where `Self` and generic parameters are unknown.
fn nameable(what: impl ToTokens, free: bool) -> bool {
    /// Names that are not used for generic parameters.
    const PLAIN: [&str; 25] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
        "f32", "f64", "bool", "char", "str", "String", "Vec", "VecDeque", "Option", "Box", "Arc",
        "Rc", "Cow",
    ];
    fn plain(tokens: TokenStream, free: bool) -> bool {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        trees.iter().enumerate().all(|(at, tree)| match tree {
            TokenTree::Group(group) => plain(group.stream(), free),
            TokenTree::Ident(word) => {
                let name = word.to_string();
                let inside = at
                    .checked_sub(1)
                    .is_some_and(|before| is_punct(trees.get(before), ':'));
                let lifetime = at
                    .checked_sub(1)
                    .is_some_and(|before| is_punct(trees.get(before), '\''));
                // Behind a module or a type of Rust's own stands no generic parameter.
                let module = is_punct(trees.get(at + 1), ':')
                    && name.starts_with(|first: char| first.is_ascii_lowercase());
                let known = inside || lifetime || module || PLAIN.contains(&name.as_str());
                name != "Self" && (free || known)
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => true,
        })
    }
    plain(what.into_token_stream(), free)
}
