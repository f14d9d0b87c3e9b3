//! Resolves names and literals in a predicate: parameters, closure variables, constants.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Expr, ExprBinary, ExprCall, ExprPath, Lit, Path, PathArguments};

use super::{Reader, Variable, opaque};
use crate::model::{Param, Portable};
use crate::source;

/// The expression behind references, parentheses and invisible groups.
pub(super) fn plain(expr: &Expr) -> &Expr {
    match same(expr) {
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => plain(&unary.expr),
        other => other,
    }
}

/// The expression behind `&`, parentheses and invisible groups.
fn same(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => same(&paren.expr),
        Expr::Reference(reference) => same(&reference.expr),
        Expr::Group(group) => same(&group.expr),
        other => other,
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
    let number = match literal {
        Lit::Bool(value) => return Portable::Bool(value.value),
        Lit::Str(text) => return Portable::Text(text.value()),
        Lit::Char(letter) => return Portable::Text(letter.value().to_string()),
        Lit::Byte(byte) => return Portable::Integer(byte.value().into()),
        Lit::Int(number) if number.suffix().starts_with('f') => {
            float(number.suffix(), number.base10_digits())
        }
        Lit::Int(number) => number.base10_parse().ok().map(Portable::Integer),
        Lit::Float(number) => float(number.suffix(), number.base10_digits()),
        _ => {
            let reason = "bytes and C strings have no form in JSON";
            return opaque(expr, reason, "write a string");
        }
    };
    number.unwrap_or_else(|| opaque(expr, "this number is too large", "write a smaller one"))
}

/// Parses a number in the precision of its type. `None` if it is not finite.
fn float(suffix: &str, digits: &str) -> Option<Portable> {
    let number: Option<f64> = match suffix {
        "f32" => digits.parse::<f32>().ok().map(f64::from),
        _ => digits.parse().ok(),
    };
    number
        .filter(|number| number.is_finite())
        .map(Portable::Float)
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
        let name = path.path.get_ident().map(|name| name.unraw().to_string());
        match self.resolve(expr) {
            Some(Name::Variable(variable)) => Portable::Variable(variable.name.clone()),
            Some(Name::Parameter(index)) => Portable::Parameter(index),
            None if name.is_some_and(|name| name == "self" || self.is_bound(&name)) => opaque(
                expr,
                "the model does not supply it",
                "compare parameters that the model supplies",
            ),
            None if is_constant(&path.path) => named(expr),
            None => opaque(
                expr,
                "the only portable names are parameters and `CONSTANTS`",
                "name a constant",
            ),
        }
    }

    /// Converts an operand. A constant gets the type `kind` of the other operand, if that is known.
    pub(super) fn operand(&mut self, expr: &Expr, kind: Option<&'static str>) -> Portable {
        let mut read = self.expression(expr);
        if let Portable::Named { primitive, .. } = &mut read
            && matches!(same(expr), Expr::Path(_) | Expr::Const(_))
        {
            *primitive = kind;
        }
        read
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

    /// What an expression names, behind references and parentheses: a variable of a closure, or a parameter.
    pub(super) fn resolve(&self, expr: &Expr) -> Option<Name<'_>> {
        let Expr::Path(path) = plain(expr) else {
            return None;
        };
        let name = path.path.get_ident()?.unraw().to_string();
        let mut inner = self.variables.iter().rev();
        if let Some(variable) = inner.find(|variable| variable.name == name) {
            return Some(Name::Variable(variable));
        }
        let is = |param: &Param| param.pattern.is_none() && param.bindings.contains(&name);
        let index = self.params.iter().position(is)?;
        self.params
            .get(index)?
            .is_argument()
            .then_some(Name::Parameter(index))
    }
}

/// What a name in a predicate stands for.
pub(super) enum Name<'r> {
    Variable(&'r Variable),
    Parameter(usize),
}
