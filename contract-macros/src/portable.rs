//! Converts a predicate to its portable form: an expression that is data.
//!
//! Everything else becomes `Opaque`, with the reason why; it is enforced all the same. Only what computes the same on any
//! day may be read: a constant is, a call without arguments may not be.

mod kind;
mod literal;
mod method;
mod native;
mod opaque;
mod operand;
mod pattern;
mod widened;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{BinOp, Expr, ExprBinary, ExprIf, ExprMethodCall, Type, UnOp};

use crate::args;
use crate::model::{
    Arithmetic, Binary, Comparison, KindSource, Param, Portable, Quantifier, Unary,
};
use crate::source::is_punct;
use literal::literal;
use opaque::{opaque, other};
use operand::{in_some, is_none, plain};

/// What is known where a predicate is read.
struct Reader<'p> {
    params: &'p [Param],
    /// What the closures around the current place have bound, the innermost last.
    variables: Vec<Variable>,
}

struct Variable {
    name: String,
    /// As written where the items come from.
    ty: Option<Type>,
    /// The type itself, as the compiler finds it.
    kind: Option<KindSource>,
}

/// Reads a precondition.
pub(crate) fn read(expr: &Expr, params: &[Param]) -> Portable {
    let mut reader = Reader {
        params,
        variables: Vec::new(),
    };
    if has_attribute(expr.to_token_stream()) {
        let read = opaque(
            expr,
            "an attribute decides when the program is compiled",
            "write one condition for each case",
        );
        return reader.native(expr).unwrap_or(read);
    }
    reader.condition(expr)
}

/// What the calls before this one decide.
pub(crate) fn of_history(expr: &Expr) -> Portable {
    opaque(
        expr,
        "only the run knows its earlier calls",
        "say what is demanded with `requires = \"..\"`",
    )
}

fn has_attribute(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        proc_macro2::TokenTree::Group(group) => has_attribute(group.stream()),
        other => is_punct(Some(&other), '#'),
    })
}

/// The names of the comparison and arithmetic operators in the runtime.
fn operator(op: &BinOp) -> Option<Operator> {
    Some(match op {
        BinOp::Eq(_) => Operator::Comparison(Comparison::Equal),
        BinOp::Ne(_) => Operator::Comparison(Comparison::NotEqual),
        BinOp::Lt(_) => Operator::Comparison(Comparison::Less),
        BinOp::Le(_) => Operator::Comparison(Comparison::AtMost),
        BinOp::Gt(_) => Operator::Comparison(Comparison::More),
        BinOp::Ge(_) => Operator::Comparison(Comparison::AtLeast),
        BinOp::Add(_) => Operator::Arithmetic(Arithmetic::Add),
        BinOp::Sub(_) => Operator::Arithmetic(Arithmetic::Subtract),
        BinOp::Mul(_) => Operator::Arithmetic(Arithmetic::Multiply),
        BinOp::Rem(_) => Operator::Arithmetic(Arithmetic::Remainder),
        _ => return None,
    })
}

enum Operator {
    Comparison(Comparison),
    Arithmetic(Arithmetic),
}

fn is_arithmetic(op: &BinOp) -> bool {
    matches!(operator(op), Some(Operator::Arithmetic(_)))
}

const UNKNOWN_OPERATOR: (&str, &str) = (
    "the only portable operators are comparisons, `+`, `-`, `*`, `%`, `!`, `&&` and `||`",
    "write it with one of these",
);

impl Reader<'_> {
    /// Where a `bool` stands: what cannot be read there may still be asked of Rust, value by value.
    fn condition(&mut self, expr: &Expr) -> Portable {
        match args::ungrouped(expr) {
            Expr::Paren(paren) => self.condition(&paren.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                Portable::not(self.condition(&unary.expr))
            }
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
                let (left, right) = (self.condition(&binary.left), self.condition(&binary.right));
                Portable::binary(Binary::And, left, right)
            }
            Expr::Binary(binary) if matches!(binary.op, BinOp::Or(_)) => {
                let (left, right) = (self.condition(&binary.left), self.condition(&binary.right));
                Portable::binary(Binary::Or, left, right)
            }
            Expr::Block(block) if block.label.is_none() => match method::alone(&block.block) {
                Some(inner) => self.condition(inner),
                None => self.leaf(expr),
            },
            Expr::If(choice) => match self.choice(choice) {
                Some(read) => read,
                None => self.leaf(expr),
            },
            _ => self.leaf(expr),
        }
    }

    /// `if a { b } else { c }` as `a && b || !a && c`.
    fn choice(&mut self, choice: &ExprIf) -> Option<Portable> {
        let (_, other) = choice.else_branch.as_ref()?;
        if matches!(plain(&choice.cond), Expr::Let(_)) {
            return None;
        }
        let when = self.condition(&choice.cond);
        let then = self.condition(method::alone(&choice.then_branch)?);
        let otherwise = self.condition(other);
        Some(Portable::binary(
            Binary::Or,
            Portable::binary(Binary::And, when.clone(), then),
            Portable::binary(Binary::And, Portable::not(when), otherwise),
        ))
    }

    /// One test. Of a parameter whose type only the compiler knows, it is chosen there how to ask it.
    fn leaf(&mut self, expr: &Expr) -> Portable {
        let read = self.expression(expr);
        if asks_presence(&read) {
            return read;
        }
        let Some(native) = self.native(expr) else {
            return read;
        };
        let Portable::Native { parameter, .. } = native else {
            return read;
        };
        let is_bool = self
            .params
            .get(parameter)
            .is_some_and(|param| kind::is_bool(&param.ty));
        match read.is_partly_opaque() {
            true => native,
            false if is_bool => read,
            false => Portable::Either(parameter, Box::new(read), Box::new(native)),
        }
    }

    fn expression(&mut self, expr: &Expr) -> Portable {
        match args::ungrouped(expr) {
            Expr::Paren(paren) => self.expression(&paren.expr),
            Expr::Reference(reference) if reference.mutability.is_none() => {
                self.expression(&reference.expr)
            }
            Expr::Unary(unary) => match unary.op {
                UnOp::Deref(_) => self.dereferenced(expr, &unary.expr),
                UnOp::Not(_) => Portable::not(self.expression(&unary.expr)),
                UnOp::Neg(_) => self.negative(&unary.expr),
                _ => opaque(expr, UNKNOWN_OPERATOR.0, UNKNOWN_OPERATOR.1),
            },
            Expr::Lit(value) => literal(expr, &value.lit),
            Expr::Path(path) => self.path(expr, path),
            Expr::Const(_) => Self::constant(expr),
            Expr::Binary(binary) => self.binary(expr, binary),
            Expr::MethodCall(call) => self.method(expr, call),
            Expr::Call(call) => match self.widened_by_call(expr, call) {
                Some(read) => read,
                None => self.call(expr, call),
            },
            Expr::Cast(cast) => self
                .widened(expr, &cast.expr, &cast.ty)
                .unwrap_or_else(|| other(expr)),
            Expr::Macro(called) => self.called_macro(expr, called),
            Expr::Block(block) if block.label.is_none() => match method::alone(&block.block) {
                Some(inner) => self.expression(inner),
                None => other(expr),
            },
            _ => other(expr),
        }
    }

    fn binary(&mut self, expr: &Expr, binary: &ExprBinary) -> Portable {
        match &binary.op {
            BinOp::And(_) | BinOp::Or(_) => self.condition(expr),
            BinOp::Div(_) => opaque(
                expr,
                "a division may fail, and languages round it differently",
                "multiply the other side",
            ),
            op => match operator(op) {
                Some(Operator::Comparison(name)) => self.comparison(expr, binary, name),
                Some(Operator::Arithmetic(name)) => {
                    let (left, right) = self.arithmetic_operands(binary);
                    Portable::Arithmetic(name, Box::new(left), Box::new(right))
                }
                None => opaque(expr, UNKNOWN_OPERATOR.0, UNKNOWN_OPERATOR.1),
            },
        }
    }

    fn comparison(&mut self, expr: &Expr, binary: &ExprBinary, by: Comparison) -> Portable {
        let (left, right) = (&*binary.left, &*binary.right);
        for (side, other) in [(left, right), (right, left)] {
            if !is_none(side) && in_some(side).is_none() {
                continue;
            }
            let is_equal = match in_some(side) {
                Some(value) => self.holds(other, value),
                None => Portable::not(Portable::unary(Unary::IsSome, self.expression(other))),
            };
            return match by {
                Comparison::Equal => is_equal,
                Comparison::NotEqual => Portable::not(is_equal),
                _ => opaque(
                    expr,
                    "the order of optionals is specific to Rust",
                    "use `is_some_and(|value| ..)`",
                ),
            };
        }
        if let Some((of, default)) = or_default(left) {
            let (right, default) = (self.expression(right), self.expression(default));
            let compare = |left| Portable::compare(by, left, right.clone());
            return self.with_default(of, default, compare);
        }
        if let Some((of, default)) = or_default(right) {
            let (left, default) = (self.expression(left), self.expression(default));
            let compare = |right| Portable::compare(by, left.clone(), right);
            return self.with_default(of, default, compare);
        }
        let (left, right) = self.operands(left, right);
        Portable::compare(by, left, right)
    }

    /// `of == Some(value)`
    fn holds(&mut self, of: &Expr, value: &Expr) -> Portable {
        let value = self.expression(value);
        let variable = self.fresh();
        let same = Portable::compare(
            Comparison::Equal,
            Portable::Variable(variable.clone()),
            value,
        );
        Portable::Quantified(
            Quantifier::SomeAnd,
            Box::new(self.expression(of)),
            variable,
            Box::new(same),
        )
    }

    /// `of.unwrap_or(default) < n` as `of.is_none() && default < n || of.is_some_and(|value| value < n)`.
    fn with_default(
        &mut self,
        of: &Expr,
        default: Portable,
        compare: impl Fn(Portable) -> Portable,
    ) -> Portable {
        let of = self.expression(of);
        let variable = self.fresh();
        let given = compare(Portable::Variable(variable.clone()));
        let absent = Portable::not(Portable::unary(Unary::IsSome, of.clone()));
        Portable::binary(
            Binary::Or,
            Portable::binary(Binary::And, absent, compare(default)),
            Portable::Quantified(Quantifier::SomeAnd, Box::new(of), variable, Box::new(given)),
        )
    }

    fn negative(&mut self, of: &Expr) -> Portable {
        match self.expression(of) {
            Portable::Integer(value) => Portable::Integer(-value),
            Portable::Float(value) => Portable::Float(-value),
            other => Portable::unary(Unary::Negative, other),
        }
    }
}

fn asks_presence(read: &Portable) -> bool {
    match read {
        Portable::Unary(Unary::Not, of) => asks_presence(of),
        Portable::Unary(Unary::IsSome, of) => matches!(**of, Portable::Parameter(_)),
        _ => false,
    }
}

/// The optional and the default of `x.unwrap_or(default)`.
fn or_default(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match plain(expr) {
        Expr::MethodCall(ExprMethodCall {
            receiver,
            method,
            args,
            ..
        }) if method.unraw() == "unwrap_or" && args.len() == 1 => {
            // What `map` makes of the value has no name in an expression.
            let mapped = matches!(plain(receiver), Expr::MethodCall(call) if call.method == "map");
            args.first()
                .filter(|_| !mapped)
                .map(|default| (&**receiver, default))
        }
        _ => None,
    }
}
