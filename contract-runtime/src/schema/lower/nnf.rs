//! The published form of a predicate, in negation normal form.

use crate::contract::expression::{Comparison, Expression};

/// A predicate without negation.
#[derive(Clone, Debug)]
pub(super) enum Normal {
    /// Split at `&&`.
    And(Vec<Self>),
    Or(Vec<Self>),
    /// Of the items of a list, or of the value of an optional.
    Each {
        /// All of them, or one at least.
        every: bool,
        of: &'static Expression,
        variable: &'static str,
        body: Box<Self>,
    },
    /// A test without parts, and what it must answer.
    Leaf {
        test: &'static Expression,
        expected: bool,
    },
}

/// What a predicate speaks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    Parameter(&'static str),
    Variable(&'static str),
}

impl Normal {
    pub(super) fn of(expression: &'static Expression) -> Self {
        Self::expecting(expression, true)
    }

    fn expecting(expression: &'static Expression, expected: bool) -> Self {
        let each = |every: bool, of, variable, body| Self::Each {
            every: every == expected,
            of,
            variable,
            body: Box::new(Self::expecting(body, expected)),
        };
        match expression {
            Expression::Not(of) => Self::expecting(of, !expected),
            Expression::And(left, right) => Self::joined(left, right, expected, expected),
            Expression::Or(left, right) => Self::joined(left, right, !expected, expected),
            Expression::All(of, variable, body) | Expression::NoneOr(of, variable, body) => {
                each(true, of, variable, body)
            }
            Expression::Any(of, variable, body) | Expression::SomeAnd(of, variable, body) => {
                each(false, of, variable, body)
            }
            Expression::Compare(
                comparison @ (Comparison::Equal | Comparison::NotEqual),
                of,
                Expression::Bool(value),
            )
            | Expression::Compare(
                comparison @ (Comparison::Equal | Comparison::NotEqual),
                Expression::Bool(value),
                of,
            ) => {
                let same = *value == (*comparison == Comparison::Equal);
                Self::expecting(of, same == expected)
            }
            test => Self::Leaf { test, expected },
        }
    }

    fn joined(
        left: &'static Expression,
        right: &'static Expression,
        all: bool,
        expected: bool,
    ) -> Self {
        let mut parts = Vec::new();
        for side in [left, right] {
            match (Self::expecting(side, expected), all) {
                (Self::And(inner), true) | (Self::Or(inner), false) => parts.extend(inner),
                (other, _) => parts.push(other),
            }
        }
        if all {
            Self::And(parts)
        } else {
            Self::Or(parts)
        }
    }

    /// Its clauses: what must all hold.
    pub(super) fn clauses(self) -> Vec<Self> {
        match self {
            Self::And(parts) => parts,
            other => vec![other],
        }
    }

    /// Everything it speaks about that it does not bind itself.
    pub(super) fn roots(&self) -> Vec<Root> {
        let mut found = Vec::new();
        self.find(&mut Vec::new(), &mut found);
        found
    }

    fn find(&self, bound: &mut Vec<&'static str>, found: &mut Vec<Root>) {
        match self {
            Self::And(parts) | Self::Or(parts) => {
                for part in parts {
                    part.find(bound, found);
                }
            }
            Self::Each {
                of, variable, body, ..
            } => {
                find(of, bound, found);
                bound.push(variable);
                body.find(bound, found);
                bound.pop();
            }
            Self::Leaf { test, .. } => find(test, bound, found),
        }
    }
}

fn find(expression: &'static Expression, bound: &mut Vec<&'static str>, found: &mut Vec<Root>) {
    let root = match expression {
        Expression::Parameter(name)
        | Expression::Native {
            parameter: name, ..
        } => Root::Parameter(name),
        Expression::Variable(name) if !bound.contains(name) => Root::Variable(name),
        Expression::All(of, variable, body)
        | Expression::Any(of, variable, body)
        | Expression::SomeAnd(of, variable, body)
        | Expression::NoneOr(of, variable, body) => {
            find(of, bound, found);
            bound.push(variable);
            find(body, bound, found);
            bound.pop();
            return;
        }
        other => {
            for part in other.parts() {
                find(part, bound, found);
            }
            return;
        }
    };
    if !found.contains(&root) {
        found.push(root);
    }
}
