//! Reads conversions that lose nothing as what they convert, and magnitudes as two bounds.

use syn::{Expr, ExprCall, Type};

use super::Reader;
use super::kind::primitive;
use super::operand::plain;
use crate::model::{Binary, Comparison, Portable, Unary};

impl Reader<'_> {
    /// `count as usize` and `list.len() as u64`, where the type that is written holds every value of the one that is converted.
    pub(super) fn widened(&mut self, of: &Expr, ty: &Type) -> Option<Portable> {
        let (from, to) = (self.spelled(of)?, primitive(ty)?);
        let read = self.expression(of);
        let is_value = matches!(
            &read,
            Portable::Parameter(_)
                | Portable::Variable(_)
                | Portable::Unary(Unary::Length | Unary::Characters, _)
        );
        (is_value && (to == from || holds_all(to, from))).then_some(read)
    }

    /// `usize::from(count)`, the same as a call.
    pub(super) fn widened_by_call(&mut self, call: &ExprCall) -> Option<Portable> {
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
        self.widened(of, &syn::parse_quote!(#ty))
    }

    /// `x.abs() <= k` of a float as `x <= k && x >= -k`, and `x.abs() > k` as `x > k || x < -k`. Of an integer `abs` has no
    /// answer for the least value, and `unsigned_abs` has one.
    pub(super) fn magnitude(
        &mut self,
        of: &Expr,
        by: Comparison,
        limit: &Expr,
    ) -> Option<Portable> {
        let Expr::MethodCall(call) = plain(of) else {
            return None;
        };
        let is_float = self.spelled(&call.receiver)?.starts_with('f');
        let is_literal = matches!(plain(limit), Expr::Lit(_));
        let is_read = match call.method.to_string().as_str() {
            "abs" => is_float,
            "unsigned_abs" => !is_float && is_literal,
            _ => false,
        };
        if !is_read || !call.args.is_empty() {
            return None;
        }
        let (joined, below) = match by {
            Comparison::Less => (Binary::And, Comparison::More),
            Comparison::AtMost => (Binary::And, Comparison::AtLeast),
            Comparison::More => (Binary::Or, Comparison::Less),
            Comparison::AtLeast => (Binary::Or, Comparison::AtMost),
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        let (value, limit_read) = self.operands(&call.receiver, limit);
        let negative = self.negative(limit);
        Some(Portable::binary(
            joined,
            Portable::compare(by, value.clone(), limit_read),
            Portable::compare(below, value, negative),
        ))
    }
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
