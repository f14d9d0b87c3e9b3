//! Orderings between two parameters, and cycles among them.

use super::abstract_state::AbstractState;
use super::compare::{Quantity, Relation};
use super::domain::Aspect;
use crate::contract::expression::{Comparison, Expression};

/// More relations than this are not looked at.
const MOST: usize = 24;

/// Which numbers are at most which others.
pub(super) struct Order {
    edges: [Edge; MOST],
    count: usize,
}

#[derive(Clone, Copy)]
struct Edge {
    low: u64,
    high: u64,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    AtMost,
    Less,
    /// They differ, in whichever direction.
    Apart,
}

impl Order {
    pub(super) const fn new() -> Self {
        Self {
            edges: [Edge {
                low: 0,
                high: 0,
                kind: Kind::AtMost,
            }; MOST],
            count: 0,
        }
    }

    /// Adds what must hold of all arguments.
    pub(super) const fn add(&mut self, facts: &AbstractState<'_>, what: &Expression, holds: bool) {
        match what {
            Expression::Not(of) => self.add(facts, of, !holds),
            Expression::And(left, right) if holds => {
                self.add(facts, left, holds);
                self.add(facts, right, holds);
            }
            Expression::Or(left, right) if !holds => {
                self.add(facts, left, holds);
                self.add(facts, right, holds);
            }
            Expression::Compare(comparison, left, right) => {
                if let Some(relation) = facts.relation(*comparison, left, right, holds, None) {
                    self.relate(&relation);
                }
            }
            _ => {}
        }
    }

    const fn relate(&mut self, relation: &Relation) {
        let Relation { left, right, .. } = relation;
        let (Some(one), Some(other)) = (left.place, right.place) else {
            return;
        };
        if !relation.ordered && (left.nan || right.nan) {
            return;
        }
        let (one, other) = (bit(one), bit(other));
        match relation.comparison {
            Comparison::Equal => {
                self.edge(one, other, Kind::AtMost);
                self.edge(other, one, Kind::AtMost);
            }
            Comparison::NotEqual => self.edge(one, other, Kind::Apart),
            Comparison::Less => self.edge(one, other, Kind::Less),
            Comparison::AtMost => self.edge(one, other, Kind::AtMost),
            Comparison::More => self.edge(other, one, Kind::Less),
            Comparison::AtLeast => self.edge(other, one, Kind::AtMost),
        }
    }

    const fn edge(&mut self, low: u64, high: u64, kind: Kind) {
        if self.count < MOST {
            self.edges[self.count] = Edge { low, high, kind };
            self.count += 1;
        }
    }

    /// Whether no numbers are in this order.
    pub(super) const fn is_impossible(&self) -> bool {
        let mut at = 0;
        while at < self.count {
            let Edge { low, high, kind } = self.edges[at];
            let impossible = match kind {
                Kind::AtMost => false,
                Kind::Less => self.leads(high, low),
                Kind::Apart => self.leads(low, high) && self.leads(high, low),
            };
            if impossible {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Whether the one is at most the other, over any number of steps.
    const fn leads(&self, from: u64, to: u64) -> bool {
        let mut reached = from;
        loop {
            let before = reached;
            let mut at = 0;
            while at < self.count {
                let Edge { low, high, kind } = self.edges[at];
                if reached & low != 0 && !matches!(kind, Kind::Apart) {
                    reached |= high;
                }
                at += 1;
            }
            if reached & to != 0 {
                return true;
            }
            if reached == before {
                return false;
            }
        }
    }
}

/// A place as one bit; there are at most 16 domains.
const fn bit(place: Quantity) -> u64 {
    let aspect = match place.aspect {
        Aspect::Value => 0,
        Aspect::Length => 1,
        Aspect::Characters => 2,
    };
    1 << (place.index * 3 + aspect)
}
