//! Converts method calls whose meaning is the same in every engine.

use quote::ToTokens;
use syn::{
    Block, Expr, ExprCall, ExprClosure, ExprLit, ExprMethodCall, ExprRange, Lit, Pat, RangeLimits,
    Stmt,
};

use super::opaque::opaque;
use super::operand::plain;
use super::{Reader, Variable};
use crate::closure;
use crate::model::{Arithmetic, Binary, Comparison, KindSource, Portable, Quantifier, Unary};
use crate::source;

/// Methods that give another view of the same value.
const VIEWS: [&str; 10] = [
    "as_ref",
    "as_deref",
    "as_str",
    "as_slice",
    "iter",
    "into_iter",
    "copied",
    "cloned",
    "clone",
    "to_owned",
];

pub(super) fn is_view(call: &ExprMethodCall) -> bool {
    call.args.is_empty() && VIEWS.iter().any(|view| call.method == view)
}

/// `x.iter()`, perhaps `.copied()`.
fn is_iterated(expr: &Expr) -> bool {
    receiver(expr, &["iter", "into_iter"]).is_some()
        || receiver(expr, &["copied", "cloned"]).is_some_and(is_iterated)
}

/// The receiver of a method without arguments.
fn receiver<'e>(expr: &'e Expr, methods: &[&str]) -> Option<&'e Expr> {
    match plain(expr) {
        Expr::MethodCall(call)
            if call.args.is_empty() && methods.iter().any(|name| call.method == name) =>
        {
            Some(&call.receiver)
        }
        _ => None,
    }
}

fn truth(expr: &Expr) -> Option<bool> {
    match plain(expr) {
        Expr::Lit(ExprLit {
            lit: Lit::Bool(value),
            ..
        }) => Some(value.value),
        _ => None,
    }
}

/// What `map_or(default, ..)` and `unwrap_or(default)` of an optional `bool` amount to.
fn where_absent(default: &Expr) -> Option<Quantifier> {
    truth(default).map(|default| {
        if default {
            Quantifier::NoneOr
        } else {
            Quantifier::SomeAnd
        }
    })
}

/// `n.is_multiple_of(5)` as `n % 5 == 0`; of zero the one has an answer and the other has none.
fn multiple(of: Portable, step: &Expr) -> Option<Portable> {
    let Expr::Lit(ExprLit {
        lit: Lit::Int(step),
        ..
    }) = plain(step)
    else {
        return None;
    };
    let step = step.base10_parse().ok().filter(|step| *step != 0)?;
    let rest = Portable::Arithmetic(
        Arithmetic::Remainder,
        Box::new(of),
        Box::new(Portable::Integer(step)),
    );
    Some(Portable::compare(
        Comparison::Equal,
        rest,
        Portable::Integer(0),
    ))
}

impl Reader<'_> {
    pub(super) fn method(&mut self, expr: &Expr, call: &ExprMethodCall) -> Portable {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        if is_view(call) {
            return self.expression(&call.receiver);
        }
        let read = match arguments.as_slice() {
            [] => self.plain_method(call),
            [argument] => self.method_with(expr, call, argument),
            [default, argument] if call.method == "map_or" => {
                where_absent(default).map(|by| self.each(by, &call.receiver, argument))
            }
            _ => None,
        };
        read.unwrap_or_else(|| {
            opaque(
                expr,
                "this method is specific to Rust",
                "compare, count, or ask `matches_pattern`",
            )
        })
    }

    fn plain_method(&mut self, call: &ExprMethodCall) -> Option<Portable> {
        let name = call.method.to_string();
        let of = &*call.receiver;
        Some(match name.as_str() {
            "len" => self.length(of),
            "is_empty" => {
                let is_empty =
                    |length| Portable::compare(Comparison::Equal, length, Portable::Integer(0));
                match receiver(of, &["trim", "trim_start", "trim_end"]) {
                    // What is blank is something that only Rust decides; what is empty is blank.
                    Some(text) => {
                        let blank = opaque(
                            &Expr::MethodCall(call.clone()),
                            "what is blank is decided by Rust alone",
                            "ask `matches_pattern`",
                        );
                        Portable::binary(Binary::Or, is_empty(self.length(text)), blank)
                    }
                    None => is_empty(self.length(of)),
                }
            }
            "count" => match (receiver(of, &["chars"]), receiver(of, &["bytes", "iter"])) {
                (Some(text), _) => Portable::unary(Unary::Characters, self.expression(text)),
                (_, Some(counted)) => Portable::unary(Unary::Length, self.expression(counted)),
                _ => return None,
            },
            "is_some" => Portable::unary(Unary::IsSome, self.expression(of)),
            "is_none" => Portable::not(Portable::unary(Unary::IsSome, self.expression(of))),
            "is_ascii" => Portable::unary(Unary::IsAscii, self.expression(of)),
            "abs" => Portable::unary(Unary::Absolute, self.expression(of)),
            "unsigned_abs" => Portable::unary(Unary::UnsignedAbsolute, self.expression(of)),
            "is_finite" => Portable::unary(Unary::IsFinite, self.expression(of)),
            // The one value that differs from itself: IEEE 754-2019, 5.11.
            "is_nan" => {
                let number = self.expression(of);
                Portable::compare(Comparison::NotEqual, number.clone(), number)
            }
            "to_string" | "into" => match plain(of) {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => Portable::Text(text.value()),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn method_with(
        &mut self,
        expr: &Expr,
        call: &ExprMethodCall,
        argument: &Expr,
    ) -> Option<Portable> {
        let name = call.method.to_string();
        let of = &*call.receiver;
        Some(match name.as_str() {
            "contains" => self.contains(of, argument),
            "starts_with" => Portable::binary(
                Binary::StartsWith,
                self.expression(of),
                self.expression(argument),
            ),
            "ends_with" => Portable::binary(
                Binary::EndsWith,
                self.expression(of),
                self.expression(argument),
            ),
            // An iterator's, and nobody else's.
            "all" if is_iterated(of) => self.each(Quantifier::All, of, argument),
            "any" if is_iterated(of) => self.each(Quantifier::Any, of, argument),
            "is_some_and" => self.each(Quantifier::SomeAnd, of, argument),
            "is_none_or" => self.each(Quantifier::NoneOr, of, argument),
            "is_multiple_of" => multiple(self.expression(of), argument)?,
            "unwrap_or" => self.or_else(expr, where_absent(argument)?, of),
            _ => return None,
        })
    }

    /// `x.as_bytes().len()` is `x.len()`.
    fn length(&mut self, of: &Expr) -> Portable {
        let of = receiver(of, &["as_bytes", "bytes"]).unwrap_or(of);
        Portable::unary(Unary::Length, self.expression(of))
    }

    /// `flag.unwrap_or(true)`, and `x.map(|x| ..).unwrap_or(true)`.
    fn or_else(&mut self, expr: &Expr, by: Quantifier, of: &Expr) -> Portable {
        if let Expr::MethodCall(call) = plain(of)
            && call.method == "map"
        {
            return match call.args.first() {
                Some(argument) => self.each(by, &call.receiver, argument),
                None => opaque(expr, "`map` has no closure", "give it one"),
            };
        }
        let variable = self.fresh();
        let body = Box::new(Portable::Variable(variable.clone()));
        Portable::Quantified(by, Box::new(self.expression(of)), variable, body)
    }

    pub(super) fn call(&mut self, expr: &Expr, call: &ExprCall) -> Portable {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let names: Vec<String> = match &*call.func {
            Expr::Path(path) => {
                let segments = path.path.segments.iter();
                segments.map(|one| one.ident.to_string()).collect()
            }
            _ => Vec::new(),
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match (names.as_slice(), arguments.as_slice()) {
            ([.., "matches_pattern"], [text, pattern]) => {
                let text = self.expression(text);
                Portable::binary(Binary::Matches, text, self.regular(&call.func, pattern))
            }
            (["String", "from"], [text]) if matches!(plain(text), Expr::Lit(_)) => {
                self.expression(text)
            }
            (_, []) => opaque(
                expr,
                "a call may return a different value each time",
                "name a constant, or write `const { .. }` around the call of a `const fn`",
            ),
            _ => opaque(
                expr,
                "a function call is specific to Rust",
                "write the comparison itself",
            ),
        }
    }

    fn regular(&mut self, function: &Expr, pattern: &Expr) -> Portable {
        match self.expression(pattern) {
            Portable::Text(_) | Portable::Named { .. } => Portable::Pattern {
                text: source::text(&pattern.to_token_stream()),
                function: function.to_token_stream(),
                pattern: pattern.to_token_stream(),
            },
            other => other,
        }
    }

    fn contains(&mut self, of: &Expr, item: &Expr) -> Portable {
        match plain(of) {
            Expr::Range(range) => self.within(range, item),
            Expr::Array(array) => {
                let kind = self.spelled(item);
                let item = self.expression(item);
                let list = array.elems.iter();
                let list = list.map(|one| self.operand(one, kind)).collect();
                Portable::InList(Box::new(item), list)
            }
            _ => Portable::binary(Binary::Contains, self.expression(of), self.expression(item)),
        }
    }

    /// `(a..=b).contains(&x)` as `x >= a && x <= b`.
    fn within(&mut self, range: &ExprRange, item: &Expr) -> Portable {
        let mut end = |name, end: &Expr| {
            let (item, end) = self.operands(item, end);
            Portable::compare(name, item, end)
        };
        let low = range
            .start
            .as_deref()
            .map(|start| end(Comparison::AtLeast, start));
        let name = match range.limits {
            RangeLimits::HalfOpen(_) => Comparison::Less,
            RangeLimits::Closed(_) => Comparison::AtMost,
        };
        let high = range.end.as_deref().map(|high| end(name, high));
        Portable::both(low, high)
    }

    /// `of.iter().all(|name| ..)` and what else takes a closure over one plain name.
    fn each(&mut self, by: Quantifier, of: &Expr, argument: &Expr) -> Portable {
        let Expr::Closure(inner) = plain(argument) else {
            return opaque(
                argument,
                "only a closure written here can be read",
                "write `|item| ..`",
            );
        };
        let Some(variable) = variable(inner) else {
            return opaque(
                argument,
                "a closure that takes its value apart cannot be read",
                "give the value a plain name",
            );
        };
        let ty = self.element_of(of);
        let kind = self
            .kind_source(of)
            .map(|kind| KindSource::Item(Box::new(kind)));
        let of = self.expression(of);
        let bound = Variable {
            name: variable.clone(),
            ty,
            kind,
        };
        let body = self.bound(bound, |reader| reader.condition(&inner.body));
        Portable::Quantified(by, Box::new(of), variable, Box::new(body))
    }

    /// Reads with one more variable.
    pub(super) fn bound<T>(&mut self, variable: Variable, read: impl FnOnce(&mut Self) -> T) -> T {
        self.variables.push(variable);
        let read = read(self);
        self.variables.pop();
        read
    }
}

/// The one name a closure binds: `|tag|`, `|&tag|`, `|tag: &String|`.
fn variable(closure: &ExprClosure) -> Option<String> {
    fn name(pattern: &Pat) -> Option<String> {
        match pattern {
            Pat::Ident(name) if name.subpat.is_none() => closure::bindings(pattern).pop(),
            Pat::Reference(inner) => name(&inner.pat),
            Pat::Type(inner) => name(&inner.pat),
            Pat::Paren(inner) => name(&inner.pat),
            _ => None,
        }
    }
    let mut inputs = closure.inputs.iter();
    match (inputs.next(), inputs.next()) {
        (Some(one), None) => name(one),
        _ => None,
    }
}

/// The one expression of a block.
pub(super) fn alone(block: &Block) -> Option<&Expr> {
    match block.stmts.as_slice() {
        [Stmt::Expr(expr, None)] => Some(expr),
        _ => None,
    }
}
