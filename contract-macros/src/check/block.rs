//! Rules for `#[tool]` on an `impl` block, whose state a registry shares between threads.

use quote::ToTokens;
use syn::visit::Visit;
use syn::{
    GenericParam, Ident, Lifetime, ReturnType, Type, TypeParam, TypeParamBound, WherePredicate,
};

use crate::errors::Errors;
use crate::model::ToolSet;
use crate::source;
use crate::spelling::{find_word, holds};

pub(super) fn owns_its_state(errors: &mut Errors, set: &ToolSet) {
    let named = set.generics.params.iter().find_map(|param| match param {
        GenericParam::Lifetime(param) if param.bounds.is_empty() => Some(param.lifetime.clone()),
        _ => None,
    });
    let mut borrowed = Borrowed(named);
    borrowed.visit_type(&set.self_ty);
    if let Some(lifetime) = borrowed.0 {
        let message = format!(
            "a state with tools cannot borrow, because a registry keeps it; own what `{lifetime}` borrows, or share it in an `Arc`"
        );
        errors.on(lifetime, message);
    }
}

/// A lifetime by which a state borrows: a parameter of the block, or `'_`.
struct Borrowed(Option<Lifetime>);

impl Visit<'_> for Borrowed {
    fn visit_lifetime(&mut self, lifetime: &Lifetime) {
        if lifetime.ident == "_" {
            self.0.get_or_insert_with(|| lifetime.clone());
        }
    }
}

/// Traits without bounds on threads and lifetimes. What another trait requires, only the compiler knows.
const PLAIN: &str = "Clone Copy Debug Default Deserialize DeserializeOwned Display Eq Fn FnMut FnOnce Hash JsonSchema Ord \
    PartialEq PartialOrd Send Serialize Sized Sync ToString";

pub(super) fn bounds_suffice(errors: &mut Errors, set: &ToolSet) {
    for param in set.generics.type_params() {
        let Some(bounds) = bounds_of(param, set) else {
            continue;
        };
        let names: Vec<String> = bounds.iter().filter_map(name).collect();
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        let (read, written) = (is_argument(set, &param.ident), is_result(set, &param.ident));
        // A state need not be of its `T`, as one of `PhantomData<fn() -> T>`: then it lives as long, and no more.
        let kept = has("static");
        let needed = [
            ("DeserializeOwned", read && !has("Deserialize")),
            ("JsonSchema", read),
            ("Serialize", written),
            ("Send", !kept),
            ("Sync", !kept),
            ("'static", !kept),
        ];
        let missing = needed
            .iter()
            .filter(|(bound, is_needed)| *is_needed && !has(bound));
        let missing: Vec<String> = missing.map(|(bound, _)| String::from(*bound)).collect();
        if missing.is_empty() {
            continue;
        }
        let why = if kept {
            "what a tool takes and gives is read from JSON and written as JSON"
        } else {
            "a state with tools is kept and shared between threads"
        };
        let bounds = bounds
            .iter()
            .map(|bound| source::text(&bound.to_token_stream()));
        let all: Vec<String> = bounds.chain(missing).collect();
        let ident = &param.ident;
        let message = format!("{why}; write `{ident}: {}`", all.join(" + "));
        errors.on(ident, message);
    }
}

/// The bounds of a type parameter, if all of them are plain and no other predicate mentions it.
fn bounds_of(param: &TypeParam, set: &ToolSet) -> Option<Vec<TypeParamBound>> {
    let mut bounds: Vec<TypeParamBound> = param.bounds.iter().cloned().collect();
    let predicates = set.generics.where_clause.iter();
    for predicate in predicates.flat_map(|clause| &clause.predicates) {
        match predicate {
            WherePredicate::Type(of) if matches!(&of.bounded_ty, Type::Path(path) if path.path.is_ident(&param.ident)) =>
            {
                bounds.extend(of.bounds.iter().cloned());
            }
            other if find_word(other.to_token_stream(), &param.ident.to_string()).is_some() => {
                return None;
            }
            _ => {}
        }
    }
    let plain = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(_) => {
            name(bound).is_some_and(|name| PLAIN.split(' ').any(|plain| name == plain))
        }
        other => matches!(other, TypeParamBound::Lifetime(_)),
    };
    bounds.iter().all(plain).then_some(bounds)
}

fn name(bound: &TypeParamBound) -> Option<String> {
    match bound {
        TypeParamBound::Trait(bound) => Some(bound.path.segments.last()?.ident.to_string()),
        TypeParamBound::Lifetime(lifetime) => Some(lifetime.ident.to_string()),
        _ => None,
    }
}

fn is_argument(set: &ToolSet, ident: &Ident) -> bool {
    set.tools()
        .flat_map(|tool| &tool.function.params)
        .any(|param| param.is_argument() && holds(&param.ty, ident))
}

fn is_result(set: &ToolSet, ident: &Ident) -> bool {
    set.tools().any(|tool| match &tool.function.sig.output {
        ReturnType::Type(_, ty) => holds(ty, ident),
        ReturnType::Default => false,
    })
}
