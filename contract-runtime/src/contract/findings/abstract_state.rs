//! Propagates conditions: what follows for each value if they hold.
//!
//! It is an abstract interpretation (Cousot and Cousot, Abstract Interpretation: A Unified Lattice Model, 1977): a value is
//! left out only where no arguments with it satisfy what was assumed, so an empty domain is a proof and everything else proves nothing.

use super::constants::{Known, Value};
use super::domain::Domain;
use super::range::{FINITE, Range};
use super::string_domain::same;
use crate::contract::expression::Expression;
use crate::contract::type_kind::TypeKind;

/// More values than this are not looked at.
const MOST: usize = 16;

/// How deep a type is looked into.
const DEPTH: usize = 3;

/// The compiler refuses a constant that takes it two million steps (lint `long_running_const_eval`); a comparison takes
/// some five hundred, and as many again when the order of the numbers is looked at.
const EFFORT: u32 = 1_000;

/// What is known of the arguments of one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AbstractState<'a> {
    /// The parameters, each followed by what is inside it under no name.
    names: [&'a str; MOST],
    pub(super) domains: [Domain<'a>; MOST],
    count: usize,
    known: &'a [Known<'a>],
    /// No arguments at all are left.
    pub(super) none: bool,
    /// How many comparisons may still be looked at.
    pub(super) effort: u32,
}

/// The variable of a closure, and those around it.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) name: &'s str,
    /// Its place among the domains, if it has one.
    pub(super) index: Option<usize>,
    pub(super) outer: Option<&'s Scope<'s>>,
}

pub(super) type Outer<'s> = Option<&'s Scope<'s>>;

impl<'a> AbstractState<'a> {
    /// Of no parameters yet; `known` are the values of constants that the expressions name.
    pub(crate) const fn new(known: &'a [Known<'a>]) -> Self {
        Self {
            names: [""; MOST],
            domains: [Domain::of(TypeKind::Opaque); MOST],
            count: 0,
            known,
            none: false,
            effort: EFFORT,
        }
    }

    /// With one more parameter, of which at least its type is known.
    pub(crate) const fn typed(&mut self, name: &'a str, kind: TypeKind) {
        if matches!(kind, TypeKind::Opaque) {
            self.add(name, kind);
            return;
        }
        let (mut name, mut kind, mut depth) = (name, kind, 0);
        loop {
            self.add(name, kind);
            match kind {
                TypeKind::Optional(inner) | TypeKind::List(inner) if depth < DEPTH => kind = *inner,
                _ => return,
            }
            name = "";
            depth += 1;
        }
    }

    const fn add(&mut self, name: &'a str, kind: TypeKind) {
        if self.count < MOST {
            self.names[self.count] = name;
            self.domains[self.count] = Domain::of(kind);
            self.count += 1;
        }
    }

    /// A parameter has a limited number of values, which its tests enumerate.
    pub(crate) fn few(&mut self, name: &str, count: u32) {
        if let Some(index) = self.find(name) {
            let all = u64::MAX.checked_shr(64_u32.saturating_sub(count));
            self.domains[index].values = all.unwrap_or(0);
        }
    }

    /// As if integers had no ends.
    pub(super) const fn without_ends(mut self) -> Self {
        let mut index = 0;
        while index < self.count {
            if matches!(self.domains[index].kind, TypeKind::Integer { .. }) {
                let endless = TypeKind::Integer {
                    low: i128::MIN,
                    high: i128::MAX,
                };
                self.domains[index] = Domain::of(endless);
            }
            index += 1;
        }
        self
    }

    pub(super) const fn same(&self, other: &Self) -> bool {
        let mut index = 0;
        while index < self.count {
            if !self.domains[index].same(&other.domains[index]) {
                return false;
            }
            index += 1;
        }
        self.none == other.none
    }

    /// Where the parameter of this name stands.
    pub(super) const fn find(&self, name: &str) -> Option<usize> {
        let mut index = 0;
        while index < self.count {
            if same(self.names[index], name) {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// What stands inside an optional or a list.
    pub(super) const fn inside(&self, index: usize) -> Option<usize> {
        if index + 1 < self.count && self.names[index + 1].is_empty() {
            Some(index + 1)
        } else {
            None
        }
    }

    /// The domain of a parameter or a variable.
    pub(super) const fn subject(&self, of: &Expression, outer: Outer<'_>) -> Option<usize> {
        match of {
            Expression::Parameter(name) => self.find(name),
            Expression::Variable(name) => {
                let mut outer = outer;
                while let Some(scope) = outer {
                    if same(scope.name, name) {
                        return scope.index;
                    }
                    outer = scope.outer;
                }
                None
            }
            _ => None,
        }
    }

    /// The value of a constant or of a call, if it has been asked.
    pub(super) const fn known(&self, text: &str) -> Value<'a> {
        let mut rest = self.known;
        while let Some((one, others)) = rest.split_first() {
            if same(one.text, text) {
                return one.value;
            }
            rest = others;
        }
        Value::Unknown
    }

    /// Takes from the effort that is left for one comparison with something so long; nothing more is concluded without.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a text in an attribute is shorter"
    )]
    pub(super) const fn is_out_of_budget(&mut self, length: usize) -> bool {
        let cost = 1 + length as u32 / 16;
        match self.effort.checked_sub(cost) {
            Some(left) => {
                self.effort = left;
                false
            }
            None => true,
        }
    }

    /// Notes that a domain has changed.
    pub(super) const fn changed(&mut self, index: usize) {
        if self.domains[index].is_empty() {
            self.none = true;
        }
    }

    /// Takes a condition to hold, or not to.
    pub(super) const fn assume(
        &mut self,
        what: &'static Expression,
        holds: bool,
        outer: Outer<'_>,
    ) {
        if self.none {
            return;
        }
        match what {
            Expression::Bool(value) => self.decided(*value == holds),
            Expression::Not(of) => self.assume(of, !holds, outer),
            Expression::And(left, right) if holds => self.both(left, right, holds, outer),
            Expression::Or(left, right) if !holds => self.both(left, right, holds, outer),
            Expression::And(..) | Expression::Or(..) => self.either(what, holds, outer),
            Expression::Compare(comparison, left, right) => {
                self.compare(*comparison, left, right, holds, outer);
            }
            Expression::Among(of, list) => self.among(of, list, holds, outer),
            Expression::Parameter(_) | Expression::Variable(_) => self.flag(what, holds, outer),
            Expression::IsSome(of) => self.some(of, holds, outer),
            Expression::SomeAnd(of, name, body) | Expression::Any(of, name, body) => {
                if holds {
                    self.one_of(of, name, body, true, outer);
                } else {
                    self.each_of(of, name, body, false, outer);
                }
            }
            Expression::NoneOr(of, name, body) | Expression::All(of, name, body) => {
                if holds {
                    self.each_of(of, name, body, true, outer);
                } else {
                    self.one_of(of, name, body, false, outer);
                }
            }
            Expression::StartsWith(of, part) => self.affixed(of, part, Some(true), holds, outer),
            Expression::EndsWith(of, part) => self.affixed(of, part, Some(false), holds, outer),
            Expression::Contains(of, part) => self.affixed(of, part, None, holds, outer),
            Expression::IsFinite(of) => self.finite(of, holds, outer),
            Expression::Native {
                text, parameter, ..
            } => self.native(text, parameter, holds),
            Expression::Named { text, .. } => {
                if let Value::Bool(value) = self.known(text) {
                    self.decided(value == holds);
                }
            }
            _ => {}
        }
    }

    pub(super) const fn decided(&mut self, holds: bool) {
        if !holds {
            self.none = true;
        }
    }

    const fn both(
        &mut self,
        left: &'static Expression,
        right: &'static Expression,
        holds: bool,
        outer: Outer<'_>,
    ) {
        self.assume(left, holds, outer);
        self.assume(right, holds, outer);
    }

    /// The branches are taken along the left side, where a chain of operators grows, and copies stand in this frame alone.
    #[inline(never)]
    const fn either(&mut self, what: &'static Expression, holds: bool, outer: Outer<'_>) {
        let before = *self;
        let mut rest = what;
        self.none = true;
        loop {
            let (others, last) = match (rest, holds) {
                (Expression::Or(others, last), true) | (Expression::And(others, last), false) => {
                    (Some(*others), *last)
                }
                (last, _) => (None, last),
            };
            let mut branch = before;
            branch.effort = self.effort;
            branch.assume(last, holds, outer);
            self.join(&branch);
            self.effort = branch.effort;
            match others {
                Some(others) => rest = others,
                None => return,
            }
        }
    }

    /// With what is left in another world, which differs in one domain only.
    pub(super) const fn join_one(&mut self, index: usize, other: &Self) {
        if other.none {
            return;
        }
        if self.none {
            self.none = false;
            self.domains[index] = other.domains[index];
        } else {
            self.domains[index].join(&other.domains[index]);
        }
    }

    const fn join(&mut self, other: &Self) {
        if other.none {
            return;
        }
        if self.none {
            *self = *other;
            return;
        }
        let mut index = 0;
        while index < self.count {
            self.domains[index].join(&other.domains[index]);
            index += 1;
        }
    }

    const fn flag(&mut self, of: &Expression, holds: bool, outer: Outer<'_>) {
        if let Some(index) = self.subject(of, outer)
            && matches!(self.domains[index].kind, TypeKind::Bool)
        {
            let value = &mut self.domains[index].value;
            *value = value.meet(Range::only(holds as i128));
            self.changed(index);
        }
    }

    const fn finite(&mut self, of: &Expression, holds: bool, outer: Outer<'_>) {
        let Some(index) = self.subject(of, outer) else {
            return;
        };
        let domain = &mut self.domains[index];
        if !matches!(domain.kind, TypeKind::Float { .. }) {
            return;
        }
        if holds {
            domain.nan = false;
            domain.value = domain.value.meet(FINITE);
        } else if FINITE.holds(domain.value) {
            domain.value = Range::new(1, 0);
        }
        self.changed(index);
    }

    const fn native(&mut self, text: &str, parameter: &str, holds: bool) {
        if let Value::Values { holding, failing } = self.known(text)
            && let Some(index) = self.find(parameter)
        {
            // One of which the test says nothing stays.
            self.domains[index].values &= !(if holds { failing } else { holding });
            self.changed(index);
        }
    }

    const fn affixed(
        &mut self,
        of: &'static Expression,
        part: &'static Expression,
        at_start: Option<bool>,
        holds: bool,
        outer: Outer<'_>,
    ) {
        let Some(index) = self.subject(of, outer) else {
            return;
        };
        let text = self.text(part);
        if let Some(text) = text
            && self.is_out_of_budget(text.len())
        {
            return;
        }
        match (self.domains[index].kind, text, at_start) {
            (TypeKind::Text, Some(part), Some(at_start)) => {
                self.domains[index].affix(part, at_start, holds);
            }
            (TypeKind::Text, Some(part), None) => self.domains[index].containing(part, holds),
            (TypeKind::List(_), _, None) if holds => self.exists(index),
            _ => return,
        }
        self.changed(index);
    }
}
