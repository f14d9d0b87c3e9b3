//! Conditions on the items of a list and on the value of an optional.

use super::abstract_state::{AbstractState, Outer, Scope};
use super::range::Range;
use crate::contract::expression::Expression;
use crate::contract::type_kind::TypeKind;

impl AbstractState<'_> {
    /// There is a value, or there is none.
    pub(super) const fn some(&mut self, of: &Expression, holds: bool, outer: Outer<'_>) {
        if let Some(index) = self.subject(of, outer)
            && matches!(self.domains[index].kind, TypeKind::Optional(_))
        {
            if holds {
                self.exists(index);
            } else {
                self.lacks(index);
            }
        }
    }

    pub(super) const fn exists(&mut self, index: usize) {
        let domain = &mut self.domains[index];
        match domain.kind {
            TypeKind::Optional(_) => domain.missing = false,
            TypeKind::List(_) => domain.length = domain.length.meet(Range::new(1, i128::MAX)),
            _ => {}
        }
        self.changed(index);
    }

    pub(super) const fn lacks(&mut self, index: usize) {
        let domain = &mut self.domains[index];
        match domain.kind {
            TypeKind::Optional(_) => domain.present = false,
            TypeKind::List(_) => domain.length = domain.length.meet(Range::only(0)),
            _ => {}
        }
        self.changed(index);
    }

    /// An item of which the body holds (or does not) exists.
    #[inline(never)]
    pub(super) const fn one_of(
        &mut self,
        of: &Expression,
        name: &str,
        body: &'static Expression,
        holds: bool,
        outer: Outer<'_>,
    ) {
        let Some(index) = self.container(of, outer) else {
            return;
        };
        let before = *self;
        self.exists(index);
        let inside = Scope {
            name,
            index: self.inside(index),
            outer,
        };
        self.assume(body, holds, Some(&inside));
        if matches!(self.domains[index].kind, TypeKind::List(_)) {
            // It was said of one item only.
            self.take_inside(index, &before);
        }
    }

    /// The body holds (or does not) of each item there is.
    #[inline(never)]
    pub(super) const fn each_of(
        &mut self,
        of: &Expression,
        name: &str,
        body: &'static Expression,
        holds: bool,
        outer: Outer<'_>,
    ) {
        let Some(index) = self.container(of, outer) else {
            return;
        };
        let mut world = *self;
        world.exists(index);
        let inside = Scope {
            name,
            index: world.inside(index),
            outer,
        };
        world.assume(body, holds, Some(&inside));
        self.effort = world.effort;
        if world.none {
            self.lacks(index);
        } else {
            self.take_inside(index, &world);
        }
    }

    const fn container(&self, of: &Expression, outer: Outer<'_>) -> Option<usize> {
        match self.subject(of, outer) {
            Some(index)
                if matches!(
                    self.domains[index].kind,
                    TypeKind::Optional(_) | TypeKind::List(_)
                ) =>
            {
                Some(index)
            }
            _ => None,
        }
    }

    const fn take_inside(&mut self, index: usize, from: &Self) {
        let mut index = index;
        while let Some(inside) = self.inside(index) {
            self.domains[inside] = from.domains[inside];
            index = inside;
        }
    }
}
