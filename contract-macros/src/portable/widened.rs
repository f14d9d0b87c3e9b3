//! Reads conversions that lose nothing as what they convert.

use quote::ToTokens;
use syn::{Expr, ExprCall, Type, TypePath};

use super::Reader;
use super::kind::primitive;
use crate::model::{Converted, Portable, Unary};
use crate::source;

impl Reader<'_> {
    /// `count as usize` and `list.len() as u64`, where the type that is written holds every value of the one that is converted.
    ///
    /// The compiler decides that; a spelling says at most that it is not so.
    pub(super) fn widened(&mut self, expr: &Expr, of: &Expr, ty: &Type) -> Option<Portable> {
        let is_lossy = match (self.spelled(of), primitive(ty)) {
            (Some(from), Some(to)) => to != from && !holds_all(to, from),
            _ => false,
        };
        let from = self.kind_source(of).filter(|_| !is_lossy && is_named(ty))?;
        let read = self.expression(of);
        let is_value = matches!(
            &read,
            Portable::Parameter(_)
                | Portable::Variable(_)
                | Portable::Unary(Unary::Length | Unary::Characters, _)
        );
        is_value.then(|| {
            Portable::Converted(Box::new(Converted {
                from,
                to: ty.clone(),
                of: read,
                text: source::text(&expr.to_token_stream()),
            }))
        })
    }

    /// `usize::from(count)`, the same as a call.
    pub(super) fn widened_by_call(&mut self, expr: &Expr, call: &ExprCall) -> Option<Portable> {
        let Expr::Path(path) = &*call.func else {
            return None;
        };
        let mut segments = path.path.segments.iter().map(|one| &one.ident);
        let (ty, function) = (segments.next()?, segments.next()?);
        let is_conversion = function == "from" && segments.next().is_none();
        let of = call
            .args
            .first()
            .filter(|_| is_conversion && call.args.len() == 1)?;
        // What stands before `::` may be a module, or a type without its parameters.
        let ty: Type = syn::parse_quote!(#ty);
        primitive(&ty)?;
        self.widened(expr, of, &ty)
    }
}

/// Whether a type has a name that means the same in an item of its own.
pub(super) fn is_named(ty: &Type) -> bool {
    let Type::Path(TypePath {
        qself: None, path, ..
    }) = ty
    else {
        return false;
    };
    path.segments
        .first()
        .is_some_and(|first| first.ident != "Self")
}

/// Whether every value of one integer type is one of the other, on every machine of 32 bits and more.
fn holds_all(wide: &str, narrow: &str) -> bool {
    /// Signed, the least bits that it has, the most.
    fn size(name: &str) -> Option<(bool, u32, u32)> {
        let (signed, width) = (name.starts_with('i'), name.get(1..)?);
        match width {
            "size" => Some((signed, 32, 64)),
            width => width.parse().ok().map(|bits| (signed, bits, bits)),
        }
    }
    let is_integer = |name: &str| name.starts_with(['i', 'u']);
    let (Some(wide), Some(narrow)) = (
        size(wide).filter(|_| is_integer(wide)),
        size(narrow).filter(|_| is_integer(narrow)),
    ) else {
        return false;
    };
    match (wide, narrow) {
        ((true, least, _), (false, _, most)) => least > most,
        ((false, ..), (true, ..)) => false,
        ((_, least, _), (_, _, most)) => least >= most,
    }
}
