//! Converts `matches!(x, ..)` over literals, ranges and optionals.

use syn::parse::{ParseStream, Parser};
use syn::{Expr, ExprMacro, ExprRange, Macro, Pat, RangeLimits, Token};

use super::literal::literal;
use super::opaque::opaque;
use super::operand::is_constant;
use super::{Reader, Variable};
use crate::model::{Binary, Comparison, Portable, Quantifier, Unary};

/// The arguments of a `matches!`.
pub(super) struct Matches {
    pub(super) subject: Expr,
    pattern: Pat,
    pub(super) guard: Option<Expr>,
}

impl Matches {
    pub(super) fn parse(called: &Macro) -> Option<Self> {
        let parser = |input: ParseStream<'_>| {
            let subject = input.parse()?;
            input.parse::<Token![,]>()?;
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            let guard = match input.parse::<Option<Token![if]>>()? {
                Some(_) => Some(input.parse()?),
                None => None,
            };
            input.parse::<Option<Token![,]>>()?;
            Ok(Self {
                subject,
                pattern,
                guard,
            })
        };
        let is_matches = called
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "matches");
        is_matches.then(|| parser.parse2(called.tokens.clone()).ok())?
    }
}

impl Reader<'_> {
    pub(super) fn called_macro(&mut self, expr: &Expr, called: &ExprMacro) -> Portable {
        let Some(matches) = Matches::parse(&called.mac) else {
            return opaque(
                expr,
                "the contents of a macro are not visible",
                "write what it stands for",
            );
        };
        if let Some(guard) = &matches.guard {
            return opaque(guard, "a guard is specific to Rust", "join it with `&&`");
        }
        let subject = self.expression(&matches.subject);
        match self.pattern(&matches.pattern, &subject) {
            Some(read) => read,
            None => opaque(
                expr,
                "the only portable patterns are literals, ranges, `Some(..)`, `None` and, over one parameter, the variants of an enum",
                "compare with `==`",
            ),
        }
    }

    fn pattern(&mut self, pattern: &Pat, subject: &Portable) -> Option<Portable> {
        let equal = |value| Portable::compare(Comparison::Equal, subject.clone(), value);
        Some(match pattern {
            Pat::Paren(inner) => self.pattern(&inner.pat, subject)?,
            Pat::Reference(inner) => self.pattern(&inner.pat, subject)?,
            Pat::Wild(_) => Portable::Bool(true),
            Pat::Lit(value) => equal(literal(&Expr::Lit(value.clone()), &value.lit)),
            Pat::Path(path) if path.path.segments.len() > 1 && is_constant(&path.path) => {
                equal(Self::constant(&Expr::Path(path.clone())))
            }
            Pat::Range(range) => self.pattern_range(range, subject),
            Pat::Ident(name) if name.ident == "None" && name.subpat.is_none() => {
                Portable::not(Portable::unary(Unary::IsSome, subject.clone()))
            }
            Pat::TupleStruct(some) if some.path.is_ident("Some") && some.elems.len() == 1 => {
                match some.elems.first()? {
                    Pat::Wild(_) | Pat::Rest(_) => Portable::unary(Unary::IsSome, subject.clone()),
                    inner => {
                        let name = self.fresh();
                        let bound = Variable {
                            name: name.clone(),
                            ty: None,
                            kind: None,
                        };
                        let body = self.bound(bound, |reader| {
                            reader.pattern(inner, &Portable::Variable(name.clone()))
                        })?;
                        Portable::Quantified(
                            Quantifier::SomeAnd,
                            Box::new(subject.clone()),
                            name,
                            Box::new(body),
                        )
                    }
                }
            }
            Pat::Or(any) => {
                let read: Option<Vec<Portable>> = any
                    .cases
                    .iter()
                    .map(|one| self.pattern(one, subject))
                    .collect();
                either(read?, subject)?
            }
            _ => return None,
        })
    }

    fn pattern_range(&mut self, range: &ExprRange, subject: &Portable) -> Portable {
        let low = range.start.as_deref().map(|start| {
            Portable::compare(Comparison::AtLeast, subject.clone(), self.expression(start))
        });
        let name = match range.limits {
            RangeLimits::HalfOpen(_) => Comparison::Less,
            RangeLimits::Closed(_) => Comparison::AtMost,
        };
        let high = range
            .end
            .as_deref()
            .map(|end| Portable::compare(name, subject.clone(), self.expression(end)));
        Portable::both(low, high)
    }
}

/// `a | b`: a list of values where all are values, else one after the other.
fn either(cases: Vec<Portable>, subject: &Portable) -> Option<Portable> {
    let values: Option<Vec<Portable>> = cases
        .iter()
        .map(|case| match case {
            Portable::Compare(Comparison::Equal, _, value) => Some((**value).clone()),
            _ => None,
        })
        .collect();
    match values {
        Some(values) => Some(Portable::InList(Box::new(subject.clone()), values)),
        None => cases
            .into_iter()
            .reduce(|left, right| Portable::binary(Binary::Or, left, right)),
    }
}
