//! Converts method calls whose meaning is the same in every engine.

use quote::ToTokens;
use syn::{
    Block, Expr, ExprCall, ExprClosure, ExprLit, ExprMethodCall, ExprRange, Lit, Pat, RangeLimits,
    Stmt,
};

use super::operand::plain;
use super::{Reader, Variable, opaque};
use crate::facts::bindings;
use crate::model::{KindSource, Operator, Portable};
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

/// Returns the receiver of a method that is called without arguments.
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

/// The quantifier that `map_or(default, ..)` and `unwrap_or(default)` of an optional `bool` stand for.
fn where_absent(default: &Expr) -> Option<&'static str> {
    match plain(default) {
        Expr::Lit(ExprLit {
            lit: Lit::Bool(default),
            ..
        }) => Some(if default.value { "NoneOr" } else { "SomeAnd" }),
        _ => None,
    }
}

/// `n.is_multiple_of(5)` as `n % 5 == 0`. For zero, the first is defined and the second is not.
fn multiple(of: Portable, step: &Expr) -> Option<Portable> {
    let Expr::Lit(ExprLit {
        lit: Lit::Int(step),
        ..
    }) = plain(step)
    else {
        return None;
    };
    let step = step.base10_parse().ok().filter(|step| *step != 0)?;
    let parts = vec![of, Portable::Integer(step)];
    let rest = Portable::Node(Operator::Arithmetic("Remainder"), parts);
    Some(Portable::compare("Equal", rest, Portable::Integer(0)))
}

impl Reader<'_> {
    pub(super) fn method(&mut self, expr: &Expr, call: &ExprMethodCall) -> Portable {
        if is_view(call) {
            return self.expression(&call.receiver);
        }
        self.known_method(expr, call).unwrap_or_else(|| {
            opaque(
                expr,
                "this method is specific to Rust",
                "compare, count, or ask `matches_pattern`",
            )
        })
    }

    fn known_method(&mut self, expr: &Expr, call: &ExprMethodCall) -> Option<Portable> {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let name = call.method.to_string();
        let of = &*call.receiver;
        Some(match (name.as_str(), arguments.as_slice()) {
            ("len", []) => self.length(of),
            ("is_empty", []) => {
                let text = receiver(of, &["trim", "trim_start", "trim_end"]);
                let length = self.length(text.unwrap_or(of));
                let is_empty = Portable::compare("Equal", length, Portable::Integer(0));
                if text.is_none() {
                    return Some(is_empty);
                }
                // What is blank is something that only Rust decides; what is empty is blank.
                let blank = opaque(
                    expr,
                    "what is blank is decided by Rust alone",
                    "ask `matches_pattern`",
                );
                Portable::of("Or", [is_empty, blank])
            }
            ("count", []) => match (receiver(of, &["chars"]), receiver(of, &["bytes", "iter"])) {
                (Some(text), _) => Portable::of("Characters", [self.expression(text)]),
                (_, Some(counted)) => Portable::of("Length", [self.expression(counted)]),
                _ => return None,
            },
            ("is_none", []) => Portable::not(Portable::of("IsSome", [self.expression(of)])),
            ("is_some", []) => Portable::of("IsSome", [self.expression(of)]),
            ("is_ascii", []) => Portable::of("IsAscii", [self.expression(of)]),
            ("abs", []) => Portable::of("Absolute", [self.expression(of)]),
            ("unsigned_abs", []) => Portable::of("UnsignedAbsolute", [self.expression(of)]),
            ("is_finite", []) => Portable::of("IsFinite", [self.expression(of)]),
            // The one value that differs from itself: IEEE 754-2019, 5.11.
            ("is_nan", []) => {
                let number = self.expression(of);
                Portable::compare("NotEqual", number.clone(), number)
            }
            ("to_string" | "into", []) => Portable::Text(source::literal_text(plain(of))?.value()),
            ("contains", [argument]) => self.contains(of, argument),
            ("starts_with", [argument]) => Portable::of(
                "StartsWith",
                [of, argument].map(|side| self.expression(side)),
            ),
            ("ends_with", [argument]) => {
                Portable::of("EndsWith", [of, argument].map(|side| self.expression(side)))
            }
            // Of an iterator only.
            ("all", [argument]) if is_iterated(of) => self.each("All", of, argument),
            ("any", [argument]) if is_iterated(of) => self.each("Any", of, argument),
            ("is_some_and", [argument]) => self.each("SomeAnd", of, argument),
            ("is_none_or", [argument]) => self.each("NoneOr", of, argument),
            ("is_multiple_of", [argument]) => multiple(self.expression(of), argument)?,
            ("unwrap_or", [argument]) => self.or_else(expr, where_absent(argument)?, of),
            ("map_or", [default, argument]) => self.each(where_absent(default)?, of, argument),
            _ => return None,
        })
    }

    /// `x.as_bytes().len()` is `x.len()`.
    fn length(&mut self, of: &Expr) -> Portable {
        let of = receiver(of, &["as_bytes", "bytes"]).unwrap_or(of);
        Portable::of("Length", [self.expression(of)])
    }

    /// `flag.unwrap_or(true)`, and `x.map(|x| ..).unwrap_or(true)`.
    fn or_else(&mut self, expr: &Expr, by: &'static str, of: &Expr) -> Portable {
        if let Expr::MethodCall(call) = plain(of)
            && call.method == "map"
        {
            return match call.args.first() {
                Some(argument) => self.each(by, &call.receiver, argument),
                None => opaque(expr, "`map` has no closure", "give it one"),
            };
        }
        let variable = self.fresh();
        let body = Portable::Variable(variable.clone());
        Portable::quantified(by, self.expression(of), variable, body)
    }

    pub(super) fn call(&mut self, expr: &Expr, call: &ExprCall) -> Portable {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let names = match &*call.func {
            Expr::Path(path) => path
                .path
                .segments
                .iter()
                .map(|one| one.ident.to_string())
                .collect(),
            _ => Vec::new(),
        };
        match (names.join("::").as_str(), arguments.as_slice()) {
            (_, [text, pattern]) if names.last().is_some_and(|last| last == "matches_pattern") => {
                let text = self.expression(text);
                Portable::of("Matches", [text, self.regular(&call.func, pattern)])
            }
            ("String::from", [text]) if matches!(plain(text), Expr::Lit(_)) => {
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
            Expr::Range(range) => self.within(range, |reader, name, end| {
                let (item, end) = reader.operands(item, end);
                Portable::compare(name, item, end)
            }),
            Expr::Array(array) => {
                let kind = self.spelled(item);
                let item = self.expression(item);
                let list = array.elems.iter().map(|one| self.operand(one, kind));
                let parts = std::iter::once(item).chain(list).collect();
                Portable::Node(Operator::InList, parts)
            }
            _ => Portable::of("Contains", [of, item].map(|side| self.expression(side))),
        }
    }

    /// `(a..=b).contains(&x)` as `x >= a && x <= b`; `compare` is what is demanded of one end.
    pub(super) fn within(
        &mut self,
        range: &ExprRange,
        mut compare: impl FnMut(&mut Self, &'static str, &Expr) -> Portable,
    ) -> Portable {
        let most = match range.limits {
            RangeLimits::HalfOpen(_) => "Less",
            RangeLimits::Closed(_) => "AtMost",
        };
        let ends = [("AtLeast", &range.start), (most, &range.end)];
        let mut ends = ends
            .into_iter()
            .filter_map(|(name, end)| Some(compare(self, name, end.as_deref()?)));
        match (ends.next(), ends.next()) {
            (Some(low), Some(high)) => Portable::of("And", [low, high]),
            (Some(one), None) => one,
            (None, _) => Portable::Bool(true),
        }
    }

    /// `of.iter().all(|name| ..)` and what else takes a closure over one plain name.
    fn each(&mut self, by: &'static str, of: &Expr, argument: &Expr) -> Portable {
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
        Portable::quantified(by, of, variable, body)
    }

    pub(super) fn bound<T>(&mut self, variable: Variable, read: impl FnOnce(&mut Self) -> T) -> T {
        self.variables.push(variable);
        let read = read(self);
        self.variables.pop();
        read
    }
}

/// The one name a closure binds: `|tag|`, `|&tag|`, `|tag: &String|`.
pub(super) fn variable(closure: &ExprClosure) -> Option<String> {
    fn name(pattern: &Pat) -> Option<String> {
        match pattern {
            Pat::Ident(name) if name.subpat.is_none() => bindings(pattern).pop(),
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

pub(super) fn alone(block: &Block) -> Option<&Expr> {
    match block.stmts.as_slice() {
        [Stmt::Expr(expr, None)] => Some(expr),
        _ => None,
    }
}
