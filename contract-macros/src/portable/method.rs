//! Converts method calls and `matches!` whose meaning is the same in every engine.

use quote::ToTokens;
use syn::{
    Expr, ExprCall, ExprClosure, ExprMacro, ExprMethodCall, ExprRange, LitBool, LitInt, Pat,
    RangeLimits,
};

use super::{Reader, Variable, is_constant, literal, named, opaque, plain};
use crate::facts::bindings;
use crate::model::{KindSource, Operator, Portable};
use crate::source::{self, Matches};

/// Methods that give another view of the same value.
const VIEWS: &str = "as_ref as_deref as_str as_slice iter into_iter copied cloned clone to_owned";

pub(super) fn is_view(call: &ExprMethodCall) -> bool {
    call.args.is_empty() && VIEWS.split(' ').any(|view| call.method == view)
}

/// `x.iter()`, perhaps `.copied()`.
fn is_iterated(expr: &Expr) -> bool {
    receiver(expr, &["iter", "into_iter"]).is_some()
        || receiver(expr, &["copied", "cloned"]).is_some_and(is_iterated)
}

/// Returns the receiver of a method that is called without arguments.
fn receiver<'e>(expr: &'e Expr, methods: &[&str]) -> Option<&'e Expr> {
    let Expr::MethodCall(call) = plain(expr) else {
        return None;
    };
    let is_called = call.args.is_empty() && methods.iter().any(|name| call.method == name);
    is_called.then_some(&call.receiver)
}

/// The quantifier that `map_or(default, ..)` and `unwrap_or(default)` of an optional `bool` stand for.
fn where_absent(default: &Expr) -> Option<&'static str> {
    let default: LitBool = syn::parse2(plain(default).to_token_stream()).ok()?;
    Some(if default.value { "NoneOr" } else { "SomeAnd" })
}

/// `n.is_multiple_of(5)` as `n % 5 == 0`. For zero, the first is defined and the second is not.
fn multiple(of: Portable, step: &Expr) -> Option<Portable> {
    let step: LitInt = syn::parse2(plain(step).to_token_stream()).ok()?;
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
        let why = "this method is specific to Rust; compare, count, or ask `matches_pattern`";
        self.known_method(expr, call)
            .unwrap_or_else(|| opaque(expr, why))
    }

    fn known_method(&mut self, expr: &Expr, call: &ExprMethodCall) -> Option<Portable> {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let (name, of) = (call.method.to_string(), &*call.receiver);
        let mut with = |by, parts: &[&Expr]| {
            let parts = parts.iter().map(|part| self.expression(part)).collect();
            Portable::Node(Operator::Plain(by), parts)
        };
        Some(match (name.as_str(), arguments.as_slice()) {
            ("len", []) => with("Length", &[bytes(of)]),
            ("is_empty", []) => {
                let text = receiver(of, &["trim", "trim_start", "trim_end"]);
                let length = with("Length", &[bytes(text.unwrap_or(of))]);
                let is_empty = Portable::compare("Equal", length, Portable::Integer(0));
                if text.is_none() {
                    return Some(is_empty);
                }
                // What is blank is something that only Rust decides; what is empty is blank.
                let why = "what is blank is decided by Rust alone; ask `matches_pattern`";
                Portable::of("Or", [is_empty, opaque(expr, why)])
            }
            ("count", []) => match receiver(of, &["chars"]) {
                Some(text) => with("Characters", &[text]),
                None => with("Length", &[receiver(of, &["bytes", "iter"])?]),
            },
            ("is_none", []) => Portable::is_none(self.expression(of)),
            ("is_some", []) => with("IsSome", &[of]),
            ("is_ascii", []) => with("IsAscii", &[of]),
            ("abs", []) => with("Absolute", &[of]),
            ("unsigned_abs", []) => with("UnsignedAbsolute", &[of]),
            ("is_finite", []) => with("IsFinite", &[of]),
            // The one value that differs from itself: IEEE 754-2019, 5.11.
            ("is_nan", []) => {
                let number = self.expression(of);
                Portable::compare("NotEqual", number.clone(), number)
            }
            ("to_string" | "into", []) => Portable::Text(source::literal_text(plain(of))?.value()),
            ("contains", [argument]) => self.contains(of, argument),
            ("starts_with", [argument]) => with("StartsWith", &[of, argument]),
            ("ends_with", [argument]) => with("EndsWith", &[of, argument]),
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

    /// `flag.unwrap_or(true)`, and `x.map(|x| ..).unwrap_or(true)`.
    fn or_else(&mut self, expr: &Expr, by: &'static str, of: &Expr) -> Portable {
        if let Expr::MethodCall(call) = plain(of)
            && call.method == "map"
        {
            return match call.args.first() {
                Some(argument) => self.each(by, &call.receiver, argument),
                None => opaque(expr, "`map` has no closure; give it one"),
            };
        }
        let body = Portable::Variable(self.fresh());
        Portable::quantified(by, self.expression(of), self.fresh(), body)
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
        let why = match (names.join("::").as_str(), arguments.as_slice()) {
            (_, [text, pattern]) if names.last().is_some_and(|last| last == "matches_pattern") => {
                let text = self.expression(text);
                return Portable::of("Matches", [text, self.regular(&call.func, pattern)]);
            }
            ("String::from", [text]) if matches!(plain(text), Expr::Lit(_)) => {
                return self.expression(text);
            }
            (_, []) => {
                "a call may return a different value each time; name a constant, or write `const { .. }` around the call of a `const fn`"
            }
            _ => "a function call is specific to Rust; write the comparison itself",
        };
        opaque(expr, why)
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
                let [item, end] = reader.operands(item, end, false);
                Portable::compare(name, item, end)
            }),
            Expr::Array(array) => {
                let kind = self.spelled(item);
                let item = self.expression(item);
                let list = array.elems.iter().map(|one| self.operand(one, kind));
                Portable::Node(
                    Operator::InList,
                    std::iter::once(item).chain(list).collect(),
                )
            }
            _ => Portable::of("Contains", [of, item].map(|side| self.expression(side))),
        }
    }

    /// `(a..=b).contains(&x)` as `x >= a && x <= b`; `compare` is what is demanded of one end.
    fn within(
        &mut self,
        range: &ExprRange,
        mut compare: impl FnMut(&mut Self, &'static str, &Expr) -> Portable,
    ) -> Portable {
        let most = match range.limits {
            RangeLimits::HalfOpen(_) => "Less",
            RangeLimits::Closed(_) => "AtMost",
        };
        let ends = [("AtLeast", &range.start), (most, &range.end)].into_iter();
        let both = ends.filter_map(|(name, end)| Some(compare(self, name, end.as_deref()?)));
        let both = both.reduce(|low, high| Portable::of("And", [low, high]));
        both.unwrap_or(Portable::Bool(true))
    }

    /// `of.iter().all(|name| ..)` and what else takes a closure over one plain name.
    fn each(&mut self, by: &'static str, of: &Expr, argument: &Expr) -> Portable {
        let Expr::Closure(inner) = plain(argument) else {
            return opaque(
                argument,
                "only a closure written here can be read; write `|item| ..`",
            );
        };
        let Some(name) = variable(inner) else {
            return opaque(
                argument,
                "a closure that takes its value apart cannot be read; give the value a plain name",
            );
        };
        let kind = self.kind_source(of);
        let bound = Variable {
            name: name.clone(),
            ty: self.element_of(of),
            kind: kind.map(|kind| KindSource::Item(Box::new(kind))),
        };
        let of = self.expression(of);
        let body = self.bound(bound, |reader| reader.condition(&inner.body));
        Portable::quantified(by, of, name, body)
    }

    fn bound<T>(&mut self, variable: Variable, read: impl FnOnce(&mut Self) -> T) -> T {
        self.variables.push(variable);
        let read = read(self);
        self.variables.pop();
        read
    }

    pub(super) fn called_macro(&mut self, expr: &Expr, called: &ExprMacro) -> Portable {
        let Some(matches) = Matches::parse(&called.mac) else {
            return opaque(
                expr,
                "the contents of a macro are not visible; write what it stands for",
            );
        };
        if let Some(guard) = &matches.guard {
            return opaque(guard, "a guard is specific to Rust; join it with `&&`");
        }
        let subject = self.expression(&matches.subject);
        let why = "the only portable patterns are literals, ranges, `Some(..)`, `None` and, over one parameter, the variants of an enum; compare with `==`";
        self.pattern(&matches.pattern, &subject)
            .unwrap_or_else(|| opaque(expr, why))
    }

    /// `matches!` over literals, ranges and optionals.
    fn pattern(&mut self, pattern: &Pat, subject: &Portable) -> Option<Portable> {
        let equal = |value| Portable::compare("Equal", subject.clone(), value);
        Some(match pattern {
            Pat::Paren(inner) => self.pattern(&inner.pat, subject)?,
            Pat::Reference(inner) => self.pattern(&inner.pat, subject)?,
            Pat::Wild(_) => Portable::Bool(true),
            Pat::Lit(value) => equal(literal(&Expr::Lit(value.clone()), &value.lit)),
            Pat::Path(path) if path.path.segments.len() > 1 && is_constant(&path.path) => {
                equal(named(&Expr::Path(path.clone())))
            }
            Pat::Range(range) => self.within(range, |reader, name, end| {
                Portable::compare(name, subject.clone(), reader.expression(end))
            }),
            Pat::Ident(name) if name.ident == "None" && name.subpat.is_none() => {
                Portable::is_none(subject.clone())
            }
            Pat::TupleStruct(some) if some.path.is_ident("Some") && some.elems.len() == 1 => {
                let inner = some.elems.first()?;
                if matches!(inner, Pat::Wild(_) | Pat::Rest(_)) {
                    return Some(Portable::of("IsSome", [subject.clone()]));
                }
                let (name, variable) = (self.fresh(), Portable::Variable(self.fresh()));
                let bound = Variable {
                    name: name.clone(),
                    ..Variable::default()
                };
                let body = self.bound(bound, |reader| reader.pattern(inner, &variable))?;
                Portable::quantified("SomeAnd", subject.clone(), name, body)
            }
            Pat::Or(any) => {
                let cases = any.cases.iter().map(|one| self.pattern(one, subject));
                let cases: Vec<Portable> = cases.collect::<Option<_>>()?;
                // A list if all cases are values.
                let values = cases.iter().map(|case| match case {
                    Portable::Node(Operator::Compare("Equal"), sides) => sides.get(1).cloned(),
                    _ => None,
                });
                let list = std::iter::once(Some(subject.clone())).chain(values);
                if let Some(list) = list.collect() {
                    return Some(Portable::Node(Operator::InList, list));
                }
                let either = |left, right| Portable::of("Or", [left, right]);
                cases.into_iter().reduce(either)?
            }
            _ => return None,
        })
    }
}

/// The receiver of `.as_bytes()`: `x.as_bytes().len()` is `x.len()`.
fn bytes(of: &Expr) -> &Expr {
    receiver(of, &["as_bytes", "bytes"]).unwrap_or(of)
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
    let one = closure.inputs.first().filter(|_| closure.inputs.len() == 1);
    one.and_then(name)
}
