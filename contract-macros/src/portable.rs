//! Converts a predicate to its portable form: an expression that is data.
//!
//! Everything else becomes `Opaque`, with the reason why; it is enforced all the same. Only what computes the same on any
//! day may be read: a constant is, a call without arguments may not be.

mod kind;
mod method;
mod operand;
mod pattern;

use quote::ToTokens;
use syn::{BinOp, Expr, ExprBinary, ExprClosure, ExprIf, ExprMethodCall, Type, UnOp};

use crate::facts::Facts;
use crate::model::{KindSource, Opaque, Operator, Param, Portable};
use crate::source;
use crate::spelling::is_bool;

use operand::{in_some, is_none, literal, plain};

/// Converts the expressions of one predicate.
struct Reader<'p> {
    params: &'p [Param],
    /// The variables of the closures around the current expression, the innermost last.
    variables: Vec<Variable>,
}

struct Variable {
    name: String,
    /// As written where the items come from.
    ty: Option<Type>,
    /// The type itself, as the compiler finds it.
    kind: Option<KindSource>,
}

/// Converts a precondition.
pub(crate) fn read(expr: &Expr, params: &[Param]) -> Portable {
    whole(expr, params, Vec::new())
}

/// Converts a postcondition, if it gives the result one plain name: that becomes a variable.
pub(crate) fn read_post(closure: &ExprClosure, params: &[Param]) -> Option<Portable> {
    let result = Variable {
        name: method::variable(closure)?,
        ty: None,
        kind: None,
    };
    Some(whole(&closure.body, params, vec![result]))
}

fn whole(expr: &Expr, params: &[Param], variables: Vec<Variable>) -> Portable {
    let mut reader = Reader { params, variables };
    if !Facts::of(expr).has_attribute {
        return reader.condition(expr);
    }
    match reader.native(expr) {
        Some((_, native)) => native,
        None => opaque(
            expr,
            "an attribute decides when the program is compiled",
            "write one condition for each case",
        ),
    }
}

/// The form of a condition over the history, which depends on earlier calls.
pub(crate) fn of_history(expr: &Expr) -> Portable {
    opaque(
        expr,
        "only the run knows its earlier calls",
        "say what is demanded with `requires = \"..\"`",
    )
}

/// A comparison or an arithmetic operator of Rust, as the runtime has it.
fn operator(op: &BinOp) -> Option<Operator> {
    Some(match op {
        BinOp::Eq(_) => Operator::Compare("Equal"),
        BinOp::Ne(_) => Operator::Compare("NotEqual"),
        BinOp::Lt(_) => Operator::Compare("Less"),
        BinOp::Le(_) => Operator::Compare("AtMost"),
        BinOp::Gt(_) => Operator::Compare("More"),
        BinOp::Ge(_) => Operator::Compare("AtLeast"),
        BinOp::Add(_) => Operator::Arithmetic("Add"),
        BinOp::Sub(_) => Operator::Arithmetic("Subtract"),
        BinOp::Mul(_) => Operator::Arithmetic("Multiply"),
        BinOp::Rem(_) => Operator::Arithmetic("Remainder"),
        _ => return None,
    })
}

fn opaque(expr: &Expr, reason: &'static str, advice: &'static str) -> Portable {
    let tokens = expr.to_token_stream();
    Portable::Opaque(Opaque {
        text: source::text(&tokens),
        tokens,
        reason,
        advice,
    })
}

/// Explains why an expression of another kind is not portable.
fn other(expr: &Expr) -> Portable {
    let (reason, advice) = match source::ungrouped(expr) {
        Expr::Binary(binary) if matches!(binary.op, BinOp::Div(_)) => (
            "a division may fail, and languages round it differently",
            "multiply the other side",
        ),
        Expr::Binary(_) | Expr::Unary(_) => (
            "the only portable operators are comparisons, `+`, `-`, `*`, `%`, `!`, `&&` and `||`",
            "write it with one of these",
        ),
        Expr::Cast(_) => (
            "a cast follows Rust's own conversion rules",
            "compare in the parameter's own type",
        ),
        Expr::Field(_) => (
            "only its type knows what JSON calls a field",
            "make it a parameter",
        ),
        Expr::Index(_) => (
            "an index may fail",
            "cover all items with `iter().all(|item| ..)`",
        ),
        Expr::If(_) | Expr::Match(_) | Expr::Let(_) => (
            "a branch that binds names is specific to Rust",
            "use `is_some_and(|value| ..)` or `matches!`",
        ),
        Expr::Block(_) | Expr::Unsafe(_) => (
            "a block with statements is specific to Rust",
            "write one expression",
        ),
        Expr::Closure(_) => (
            "a closure can be read only in a known method",
            "use `iter().all(|item| ..)` or `is_some_and(|value| ..)`",
        ),
        _ => (
            "this kind of expression is specific to Rust",
            "write it with comparisons",
        ),
    };
    opaque(expr, reason, advice)
}

impl Reader<'_> {
    /// Converts a condition. A part that is not portable may still be tabulated, value by value.
    fn condition(&mut self, expr: &Expr) -> Portable {
        let read = match source::ungrouped(expr) {
            Expr::Paren(paren) => Some(self.condition(&paren.expr)),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                Some(Portable::not(self.condition(&unary.expr)))
            }
            Expr::Binary(binary) => {
                let name = match binary.op {
                    BinOp::And(_) => Some("And"),
                    BinOp::Or(_) => Some("Or"),
                    _ => None,
                };
                name.map(|name| {
                    let sides = [&binary.left, &binary.right];
                    Portable::of(name, sides.map(|side| self.condition(side)))
                })
            }
            Expr::Block(block) if block.label.is_none() => {
                method::alone(&block.block).map(|inner| self.condition(inner))
            }
            Expr::If(choice) => self.choice(choice),
            _ => None,
        };
        read.unwrap_or_else(|| self.leaf(expr))
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
        let then = Portable::of("And", [when.clone(), then]);
        let otherwise = Portable::of("And", [Portable::not(when), otherwise]);
        Some(Portable::of("Or", [then, otherwise]))
    }

    /// Converts one test. If only the compiler knows the type of its parameter, the compiler chooses between two forms.
    fn leaf(&mut self, expr: &Expr) -> Portable {
        let read = self.expression(expr);
        if asks_presence(&read) {
            return read;
        }
        let Some((index, native)) = self.native(expr) else {
            return read;
        };
        let param = self.params.get(index);
        if read.any(&|part| matches!(part, Portable::Opaque(_))) {
            native
        } else if param.is_some_and(|param| is_bool(&param.ty)) {
            read
        } else {
            Portable::Either(index, Box::new([read, native]))
        }
    }

    fn expression(&mut self, expr: &Expr) -> Portable {
        match source::ungrouped(expr) {
            Expr::Paren(paren) => self.expression(&paren.expr),
            Expr::Reference(reference) if reference.mutability.is_none() => {
                self.expression(&reference.expr)
            }
            Expr::Unary(unary) => match (unary.op, self.expression(&unary.expr)) {
                // Of a constant, `*x` may be another type than `x`.
                (UnOp::Deref(_), Portable::Named { .. }) => operand::named(expr),
                (UnOp::Deref(_), same) => same,
                (UnOp::Not(_), of) => Portable::not(of),
                (UnOp::Neg(_), Portable::Integer(value)) => Portable::Integer(-value),
                (UnOp::Neg(_), Portable::Float(value)) => Portable::Float(-value),
                (UnOp::Neg(_), of) => Portable::of("Negative", [of]),
                _ => other(expr),
            },
            Expr::Lit(value) => literal(expr, &value.lit),
            Expr::Path(path) => self.path(expr, path),
            // Whatever stands in `const { .. }` is a constant.
            Expr::Const(_) => operand::named(expr),
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
        match (&binary.op, operator(&binary.op)) {
            (BinOp::And(_) | BinOp::Or(_), _) => self.condition(expr),
            (_, Some(Operator::Compare(by))) => self.comparison(expr, binary, by),
            (_, Some(operator)) => {
                let (left, right) = self.arithmetic_operands(binary);
                Portable::Node(operator, vec![left, right])
            }
            (_, None) => other(expr),
        }
    }

    fn comparison(&mut self, expr: &Expr, binary: &ExprBinary, by: &'static str) -> Portable {
        let (left, right) = (&*binary.left, &*binary.right);
        for (side, other) in [(left, right), (right, left)] {
            let value = in_some(side);
            if value.is_none() && !is_none(side) {
                continue;
            }
            let is_equal = match value {
                Some(value) => {
                    let (value, name) = (self.expression(value), self.fresh());
                    let same = Portable::compare("Equal", Portable::Variable(name.clone()), value);
                    Portable::quantified("SomeAnd", self.expression(other), name, same)
                }
                None => Portable::not(Portable::of("IsSome", [self.expression(other)])),
            };
            return match by {
                "Equal" => is_equal,
                "NotEqual" => Portable::not(is_equal),
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

    /// `of.unwrap_or(default) < n` as `of.is_none() && default < n || of.is_some_and(|value| value < n)`.
    fn with_default(
        &mut self,
        of: &Expr,
        default: Portable,
        compare: impl Fn(Portable) -> Portable,
    ) -> Portable {
        let (of, variable) = (self.expression(of), self.fresh());
        let given = compare(Portable::Variable(variable.clone()));
        let absent = Portable::not(Portable::of("IsSome", [of.clone()]));
        let absent = Portable::of("And", [absent, compare(default)]);
        let given = Portable::quantified("SomeAnd", of, variable, given);
        Portable::of("Or", [absent, given])
    }
}

fn asks_presence(read: &Portable) -> bool {
    match read {
        Portable::Node(Operator::Plain("Not"), of) => of.iter().all(asks_presence),
        Portable::Node(Operator::Plain("IsSome"), of) => {
            matches!(&of[..], [Portable::Parameter(_)])
        }
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
        }) if method == "unwrap_or" && args.len() == 1 => {
            // What `map` makes of the value has no name in an expression.
            let mapped = matches!(plain(receiver), Expr::MethodCall(call) if call.method == "map");
            args.first()
                .filter(|_| !mapped)
                .map(|default| (&**receiver, default))
        }
        _ => None,
    }
}
