//! Converts a predicate to its portable form: an expression that is data.
//!
//! Everything else becomes `Opaque`, with the reason why; it is enforced all the same. Only what computes the same on any
//! day may be read: a constant is, a call without arguments may not be.

mod kind;
mod method;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{BinOp, Block, Expr, ExprBinary, ExprCall, ExprClosure, ExprIf, ExprPath, Lit, Path};
use syn::{PathArguments, Stmt, Type, UnOp};

use crate::facts::Facts;
use crate::model::{KindSource, Opaque, Operator, Param, Portable};
use crate::source;
use crate::spelling::is_bool;

/// Converts the expressions of one predicate.
struct Reader<'p> {
    params: &'p [Param],
    /// The variables of the closures around the current expression, the innermost last.
    variables: Vec<Variable>,
}

#[derive(Default)]
struct Variable {
    name: String,
    /// As written where the items come from.
    ty: Option<Type>,
    /// The type itself, as the compiler finds it.
    kind: Option<KindSource>,
}

/// What a name in a predicate stands for.
enum Name<'r> {
    Variable(&'r Variable),
    Parameter(usize),
}

/// Converts a precondition.
pub(crate) fn read(expr: &Expr, params: &[Param]) -> Portable {
    whole(expr, params, Vec::new())
}

/// Converts a postcondition, if it gives the result one plain name: that becomes a variable.
pub(crate) fn read_post(closure: &ExprClosure, params: &[Param]) -> Option<Portable> {
    let result = Variable {
        name: method::variable(closure)?,
        ..Variable::default()
    };
    Some(whole(&closure.body, params, vec![result]))
}

fn whole(expr: &Expr, params: &[Param], variables: Vec<Variable>) -> Portable {
    let mut reader = Reader { params, variables };
    let facts = Facts::of(expr);
    if facts.history.is_some() {
        let why =
            "only the run knows its earlier calls; say what is demanded with `requires = \"..\"`";
        return opaque(expr, why);
    }
    if !facts.has_attribute {
        return reader.condition(expr);
    }
    let why =
        "an attribute decides when the program is compiled; write one condition for each case";
    let native = reader.native(expr).map(|(_, native)| native);
    native.unwrap_or_else(|| opaque(expr, why))
}

/// An operator of Rust, as the runtime has it.
fn operator(op: &BinOp) -> Option<Operator> {
    Some(match op {
        BinOp::And(_) => Operator::Plain("And"),
        BinOp::Or(_) => Operator::Plain("Or"),
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

/// What is not portable: `why` is the reason and, behind a semicolon, what to write instead.
fn opaque(expr: &Expr, why: &'static str) -> Portable {
    let tokens = expr.to_token_stream();
    let (reason, advice) = why.split_once("; ").unwrap_or((why, ""));
    Portable::Opaque(Opaque {
        text: source::text(&tokens),
        tokens,
        reason,
        advice,
    })
}

/// Explains why an expression of another kind is not portable.
fn other(expr: &Expr) -> Portable {
    let why = match source::ungrouped(expr) {
        Expr::Binary(binary) if matches!(binary.op, BinOp::Div(_)) => {
            "a division may fail, and languages round it differently; multiply the other side"
        }
        Expr::Binary(_) | Expr::Unary(_) => {
            "the only portable operators are comparisons, `+`, `-`, `*`, `%`, `!`, `&&` and `||`; write it with one of these"
        }
        Expr::Cast(_) => {
            "a cast follows Rust's own conversion rules; compare in the parameter's own type"
        }
        Expr::Field(_) => "only its type knows what JSON calls a field; make it a parameter",
        Expr::Index(_) => "an index may fail; cover all items with `iter().all(|item| ..)`",
        Expr::If(_) | Expr::Match(_) | Expr::Let(_) => {
            "a branch that binds names is specific to Rust; use `is_some_and(|value| ..)` or `matches!`"
        }
        Expr::Block(_) | Expr::Unsafe(_) => {
            "a block with statements is specific to Rust; write one expression"
        }
        Expr::Closure(_) => {
            "a closure can be read only in a known method; use `iter().all(|item| ..)` or `is_some_and(|value| ..)`"
        }
        _ => "this kind of expression is specific to Rust; write it with comparisons",
    };
    opaque(expr, why)
}

impl Reader<'_> {
    /// Converts a condition. A part that is not portable may still be tabulated, value by value.
    fn condition(&mut self, expr: &Expr) -> Portable {
        if let Some(inner) = inner(expr) {
            return self.condition(inner);
        }
        let read = match source::ungrouped(expr) {
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                Some(Portable::not(self.condition(&unary.expr)))
            }
            Expr::Binary(ExprBinary {
                left, op, right, ..
            }) => match operator(op) {
                Some(Operator::Plain(name)) => {
                    let sides = [left, right].map(|side| self.condition(side));
                    Some(Portable::of(name, sides))
                }
                _ => None,
            },
            Expr::If(choice) => self.choice(choice),
            _ => None,
        };
        read.unwrap_or_else(|| self.leaf(expr))
    }

    /// `if a { b } else { c }` as `a && b || !a && c`.
    fn choice(&mut self, choice: &ExprIf) -> Option<Portable> {
        let (_, other) = choice.else_branch.as_ref()?;
        let then = alone(&choice.then_branch)?;
        if matches!(plain(&choice.cond), Expr::Let(_)) {
            return None;
        }
        let [when, then, other] = [&choice.cond, then, other].map(|part| self.condition(part));
        let then = Portable::of("And", [when.clone(), then]);
        let otherwise = Portable::of("And", [Portable::not(when), other]);
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
        if let Some(inner) = inner(expr) {
            return self.expression(inner);
        }
        let read = match source::ungrouped(expr) {
            Expr::Reference(reference) if reference.mutability.is_none() => {
                Some(self.expression(&reference.expr))
            }
            Expr::Unary(unary) => match (unary.op, self.expression(&unary.expr)) {
                // Of a constant, `*x` may be another type than `x`.
                (UnOp::Deref(_), Portable::Named { .. }) => Some(named(expr)),
                (UnOp::Deref(_), same) => Some(same),
                (UnOp::Not(_), of) => Some(Portable::not(of)),
                (UnOp::Neg(_), Portable::Integer(value)) => Some(Portable::Integer(-value)),
                (UnOp::Neg(_), Portable::Float(value)) => Some(Portable::Float(-value)),
                (UnOp::Neg(_), of) => Some(Portable::of("Negative", [of])),
                _ => None,
            },
            Expr::Lit(value) => Some(literal(expr, &value.lit)),
            Expr::Path(path) => Some(self.path(expr, path)),
            // Whatever stands in `const { .. }` is a constant.
            Expr::Const(_) => Some(named(expr)),
            Expr::Binary(binary) => match operator(&binary.op) {
                Some(Operator::Plain(_)) => Some(self.condition(expr)),
                Some(Operator::Compare(by)) => Some(self.comparison(expr, binary, by)),
                Some(operator) => {
                    let is_product = matches!(binary.op, BinOp::Mul(_));
                    let sides = self.operands(&binary.left, &binary.right, is_product);
                    Some(Portable::Node(operator, sides.into()))
                }
                None => None,
            },
            Expr::MethodCall(call) => Some(self.method(expr, call)),
            Expr::Call(call) => {
                let widened = self.widened_by_call(expr, call);
                Some(widened.unwrap_or_else(|| self.call(expr, call)))
            }
            Expr::Cast(cast) => self.widened(expr, &cast.expr, &cast.ty),
            Expr::Macro(called) => Some(self.called_macro(expr, called)),
            _ => None,
        };
        read.unwrap_or_else(|| other(expr))
    }

    fn comparison(&mut self, expr: &Expr, binary: &ExprBinary, by: &'static str) -> Portable {
        let (left, right) = (&*binary.left, &*binary.right);
        for (side, other) in [(left, right), (right, left)] {
            let is_equal = match in_some(side) {
                Some(value) => {
                    let (value, name) = (self.expression(value), self.fresh());
                    let same = Portable::compare("Equal", Portable::Variable(name.clone()), value);
                    Portable::quantified("SomeAnd", self.expression(other), name, same)
                }
                None if is_none(side) => Portable::is_none(self.expression(other)),
                None => continue,
            };
            let why = "the order of optionals is specific to Rust; use `is_some_and(|value| ..)`";
            return match by {
                "Equal" => is_equal,
                "NotEqual" => Portable::not(is_equal),
                _ => opaque(expr, why),
            };
        }
        // `of.unwrap_or(default) < n` as `of.is_none() && default < n || of.is_some_and(|value| value < n)`.
        for (side, other, is_left) in [(left, right, true), (right, left, false)] {
            let Some((of, default)) = or_default(side) else {
                continue;
            };
            let [of, default, other] = [of, default, other].map(|part| self.expression(part));
            let compare = |value| {
                let (mut left, mut right) = (value, other.clone());
                if !is_left {
                    std::mem::swap(&mut left, &mut right);
                }
                Portable::compare(by, left, right)
            };
            let absent = Portable::is_none(of.clone());
            let absent = Portable::of("And", [absent, compare(default)]);
            let (name, variable) = (self.fresh(), Portable::Variable(self.fresh()));
            let given = Portable::quantified("SomeAnd", of, name, compare(variable));
            return Portable::of("Or", [absent, given]);
        }
        let [left, right] = self.operands(left, right, false);
        Portable::compare(by, left, right)
    }

    fn path(&self, expr: &Expr, path: &ExprPath) -> Portable {
        let name = path.path.get_ident().map(|name| name.unraw().to_string());
        let why = match self.resolve(expr) {
            Some(Name::Variable(variable)) => return Portable::Variable(variable.name.clone()),
            Some(Name::Parameter(index)) => return Portable::Parameter(index),
            None if name.is_some_and(|name| name == "self" || self.is_bound(&name)) => {
                "the model does not supply it; compare parameters that the model supplies"
            }
            None if is_constant(&path.path) => return named(expr),
            None => "the only portable names are parameters and `CONSTANTS`; name a constant",
        };
        opaque(expr, why)
    }

    /// Converts an operand. A constant gets the type `kind` of the other operand, if that is known.
    fn operand(&mut self, expr: &Expr, kind: Option<&'static str>) -> Portable {
        let mut read = self.expression(expr);
        if let Portable::Named { primitive, .. } = &mut read
            && matches!(same(expr), Expr::Path(_) | Expr::Const(_))
        {
            *primitive = kind;
        }
        read
    }

    /// Converts both operands, each with the type of the other.
    fn operands(&mut self, left: &Expr, right: &Expr, is_product: bool) -> [Portable; 2] {
        // `u32` alone can be multiplied by something that is not a number of its own type: by a `Duration`.
        let kind = |side| {
            self.spelled(side)
                .filter(|kind| !(is_product && *kind == "u32"))
        };
        let (of_right, of_left) = (kind(right), kind(left));
        [self.operand(left, of_right), self.operand(right, of_left)]
    }

    /// Returns a name that is not bound here.
    fn fresh(&self) -> String {
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
    fn resolve(&self, expr: &Expr) -> Option<Name<'_>> {
        let Expr::Path(path) = plain(expr) else {
            return None;
        };
        let name = path.path.get_ident()?.unraw().to_string();
        let mut inner = self.variables.iter().rev();
        if let Some(variable) = inner.find(|variable| variable.name == name) {
            return Some(Name::Variable(variable));
        }
        let mut params = self.params.iter().enumerate();
        let is = |param: &Param| param.pattern.is_none() && param.bindings.contains(&name);
        let (index, param) = params.find(|(_, param)| is(param))?;
        param.is_argument().then_some(Name::Parameter(index))
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
    let Expr::MethodCall(call) = plain(expr) else {
        return None;
    };
    // What `map` makes of the value has no name in an expression.
    let mapped = matches!(plain(&call.receiver), Expr::MethodCall(call) if call.method == "map");
    let is_default = call.method == "unwrap_or" && call.args.len() == 1 && !mapped;
    Some((&call.receiver, call.args.first().filter(|_| is_default)?))
}

/// The expression in parentheses, or alone in a block.
fn inner(expr: &Expr) -> Option<&Expr> {
    match source::ungrouped(expr) {
        Expr::Paren(paren) => Some(&paren.expr),
        Expr::Block(block) if block.label.is_none() => alone(&block.block),
        _ => None,
    }
}

fn alone(block: &Block) -> Option<&Expr> {
    match block.stmts.as_slice() {
        [Stmt::Expr(expr, None)] => Some(expr),
        _ => None,
    }
}

/// The expression behind references, parentheses and invisible groups.
fn plain(expr: &Expr) -> &Expr {
    match same(expr) {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => plain(&unary.expr),
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
fn is_none(expr: &Expr) -> bool {
    matches!(plain(expr), Expr::Path(path) if path.path.is_ident("None"))
}

fn in_some(expr: &Expr) -> Option<&Expr> {
    let Expr::Call(ExprCall { func, args, .. }) = plain(expr) else {
        return None;
    };
    let is_some = matches!(&**func, Expr::Path(path) if path.path.is_ident("Some"));
    args.first().filter(|_| is_some && args.len() == 1)
}

/// Whether a path is spelled as constants are. Only their types do not depend on the context.
fn is_constant(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let name = last.ident.unraw().to_string();
        name.starts_with(|first: char| first.is_ascii_uppercase())
            && !name.chars().any(char::is_lowercase)
            && matches!(last.arguments, PathArguments::None)
    })
}

fn is_function(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let name = last.ident.unraw().to_string();
        name.starts_with(|first: char| first.is_ascii_lowercase())
    })
}

fn literal(expr: &Expr, literal: &Lit) -> Portable {
    // In the precision of its type.
    let float = |suffix: &str, digits: &str| {
        let number: Option<f64> = match suffix {
            "f32" => digits.parse::<f32>().ok().map(f64::from),
            _ => digits.parse().ok(),
        };
        let number = number.filter(|number| number.is_finite());
        number.map(Portable::Float)
    };
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
            return opaque(
                expr,
                "bytes and C strings have no form in JSON; write a string",
            );
        }
    };
    number.unwrap_or_else(|| opaque(expr, "this number is too large; write a smaller one"))
}

/// The form of an expression that is a constant.
fn named(expr: &Expr) -> Portable {
    let tokens = expr.to_token_stream();
    Portable::Named {
        text: source::text(&tokens),
        tokens,
        primitive: None,
    }
}
