//! Resolves names and literals in a predicate: parameters, closure variables, constants.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Expr, ExprBinary, ExprCall, ExprPath, Ident, Lit, Path, PathArguments};

use super::{Reader, Variable, opaque};
use crate::args;
use crate::model::{Param, Portable, Role};
use crate::source;

/// The expression behind references, parentheses and invisible groups.
pub(super) fn plain(expr: &Expr) -> &Expr {
    match args::ungrouped(expr) {
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => plain(&unary.expr),
        other => match same(other) {
            Some(inner) => plain(inner),
            None => other,
        },
    }
}

/// The expression inside parentheses, an invisible group or a `&`.
fn same(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Paren(paren) => Some(&paren.expr),
        Expr::Reference(reference) => Some(&reference.expr),
        Expr::Group(group) => Some(&group.expr),
        _ => None,
    }
}

/// Whether this is `None`.
pub(super) fn is_none(expr: &Expr) -> bool {
    matches!(plain(expr), Expr::Path(path) if path.path.is_ident("None"))
}

pub(super) fn in_some(expr: &Expr) -> Option<&Expr> {
    let Expr::Call(ExprCall { func, args, .. }) = plain(expr) else {
        return None;
    };
    let is_some = matches!(&**func, Expr::Path(path) if path.path.is_ident("Some"));
    args.first().filter(|_| is_some && args.len() == 1)
}

/// Whether a path is spelled as constants are. Only their types do not depend on the context.
pub(super) fn is_constant(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let name = last.ident.unraw().to_string();
        name.starts_with(|first: char| first.is_ascii_uppercase())
            && !name.chars().any(char::is_lowercase)
            && matches!(last.arguments, PathArguments::None)
    })
}

pub(super) fn is_function(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let name = last.ident.unraw().to_string();
        name.starts_with(|first: char| first.is_ascii_lowercase())
    })
}

pub(super) fn literal(expr: &Expr, literal: &Lit) -> Portable {
    let too_large = || opaque(expr, "this number is too large", "write a smaller one");
    match literal {
        Lit::Bool(value) => Portable::Bool(value.value),
        Lit::Int(number) if number.suffix().starts_with('f') => {
            float(number.suffix(), number.base10_digits()).map_or_else(too_large, Portable::Float)
        }
        Lit::Int(number) => number
            .base10_parse()
            .map_or_else(|_| too_large(), Portable::Integer),
        Lit::Byte(byte) => Portable::Integer(byte.value().into()),
        Lit::Float(number) => {
            float(number.suffix(), number.base10_digits()).map_or_else(too_large, Portable::Float)
        }
        Lit::Str(text) => Portable::Text(text.value()),
        Lit::Char(letter) => Portable::Text(letter.value().to_string()),
        _ => opaque(
            expr,
            "bytes and C strings have no form in JSON",
            "write a string",
        ),
    }
}

/// Parses a number in the precision of its type. `None` if it is not finite.
fn float(suffix: &str, digits: &str) -> Option<f64> {
    let number = match suffix {
        "f32" => digits.parse::<f32>().ok().map(f64::from),
        _ => digits.parse().ok(),
    };
    number.filter(|number| number.is_finite())
}

/// The form of an expression that is a constant.
pub(super) fn named(expr: &Expr) -> Portable {
    let tokens = expr.to_token_stream();
    Portable::Named {
        text: source::text(&tokens),
        tokens,
        primitive: None,
    }
}

impl Reader<'_> {
    pub(super) fn path(&self, expr: &Expr, path: &ExprPath) -> Portable {
        if let Some(name) = path.path.get_ident() {
            if self.variable(name).is_some() {
                return Portable::Variable(name.unraw().to_string());
            }
            if let Some(index) = self.parameter(expr) {
                return Portable::Parameter(index);
            }
            let name = name.unraw().to_string();
            if name == "self" || self.is_bound(&name) {
                return opaque(
                    expr,
                    "the model does not supply it",
                    "compare parameters that the model supplies",
                );
            }
        }
        if is_constant(&path.path) {
            return named(expr);
        }
        opaque(
            expr,
            "the only portable names are parameters and `CONSTANTS`",
            "name a constant",
        )
    }

    /// Converts an operand. A constant gets the type `kind` of the other operand, if that is known.
    pub(super) fn operand(&mut self, expr: &Expr, kind: Option<&'static str>) -> Portable {
        fn is_constant(expr: &Expr) -> bool {
            match same(expr) {
                Some(inner) => is_constant(inner),
                None => matches!(expr, Expr::Path(_) | Expr::Const(_)),
            }
        }
        match self.expression(expr) {
            Portable::Named { text, tokens, .. } if is_constant(expr) => Portable::Named {
                text,
                tokens,
                primitive: kind,
            },
            other => other,
        }
    }

    /// Converts both operands, each with the type of the other.
    pub(super) fn operands(&mut self, left: &Expr, right: &Expr) -> (Portable, Portable) {
        let kinds = (self.spelled(right), self.spelled(left));
        (self.operand(left, kinds.0), self.operand(right, kinds.1))
    }

    pub(super) fn arithmetic_operands(&mut self, binary: &ExprBinary) -> (Portable, Portable) {
        // `u32` alone can be multiplied by something that is not a number of its own type: by a `Duration`.
        let product = matches!(binary.op, syn::BinOp::Mul(_));
        let kind = |kind: Option<&'static str>| kind.filter(|kind| !(product && *kind == "u32"));
        let left = kind(self.spelled(&binary.right));
        let right = kind(self.spelled(&binary.left));
        (
            self.operand(&binary.left, left),
            self.operand(&binary.right, right),
        )
    }

    /// The closure's variable of that name.
    pub(super) fn variable(&self, name: &Ident) -> Option<&Variable> {
        let name = name.unraw().to_string();
        let mut inner = self.variables.iter().rev();
        inner.find(|variable| variable.name == name)
    }

    /// Returns a name that is not bound here.
    pub(super) fn fresh(&self) -> String {
        let mut name = String::from("value");
        while self.is_bound(&name) || self.variables.iter().any(|known| known.name == name) {
            name.push('_');
        }
        name
    }

    fn is_bound(&self, name: &str) -> bool {
        let mut bindings = self.params.iter().flat_map(|param| &param.bindings);
        bindings.any(|binding| binding == name)
    }

    /// The parameter that an expression is, behind references and parentheses.
    pub(super) fn parameter(&self, expr: &Expr) -> Option<usize> {
        let Expr::Path(path) = plain(expr) else {
            return None;
        };
        let name = path.path.get_ident()?;
        if self.variable(name).is_some() {
            return None;
        }
        let name = name.unraw().to_string();
        let is = |param: &Param| param.pattern.is_none() && param.bindings.contains(&name);
        let index = self.params.iter().position(is)?;
        let argument = matches!(self.params.get(index)?.role, Role::Argument { .. });
        argument.then_some(index)
    }

    pub(super) fn param(&self, expr: &Expr) -> Option<&Param> {
        self.parameter(expr)
            .and_then(|index| self.params.get(index))
    }
}
