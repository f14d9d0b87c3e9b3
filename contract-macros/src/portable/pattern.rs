//! Converts `matches!(x, ..)` over literals, ranges and optionals.

use syn::{Expr, ExprMacro, Pat};

use super::operand::{is_constant, literal, named};
use super::{Reader, Variable, opaque};
use crate::model::{Operator, Portable};
use crate::source::Matches;

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
                Portable::not(Portable::of("IsSome", [subject.clone()]))
            }
            Pat::TupleStruct(some) if some.path.is_ident("Some") && some.elems.len() == 1 => {
                match some.elems.first()? {
                    Pat::Wild(_) | Pat::Rest(_) => Portable::of("IsSome", [subject.clone()]),
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
                        Portable::quantified("SomeAnd", subject.clone(), name, body)
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
}

/// `a | b` as a list if all cases are values, else as a disjunction.
fn either(cases: Vec<Portable>, subject: &Portable) -> Option<Portable> {
    let value = |case: &Portable| match case {
        Portable::Node(Operator::Compare("Equal"), sides) => sides.get(1).cloned(),
        _ => None,
    };
    let values: Option<Vec<Portable>> = cases.iter().map(value).collect();
    match values {
        Some(values) => {
            let parts = std::iter::once(subject.clone()).chain(values).collect();
            Some(Portable::Node(Operator::InList, parts))
        }
        None => cases
            .into_iter()
            .reduce(|left, right| Portable::of("Or", [left, right])),
    }
}
