//! Finds preconditions that no arguments satisfy together, where all is known that a registry knows.
//!
//! A search in the manner of Davis, Logemann and Loveland (A Machine Program for Theorem-Proving, 1962) over the negation normal forms:
//! tests that must hold narrow the domains until nothing changes, and of each `||` every side is tried. What compares two numbers is
//! then a system of difference constraints, and a quantifier over a list asks for an item of its own.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::contract::condition::Condition;
use crate::contract::expression::{Comparison, Expression};
use crate::contract::findings::domain::{Aspect, Domain, Known, Range, Value};
use crate::contract::findings::judge::{Set, readable, reading};
use crate::contract::findings::narrow::{Reading, Side};
use crate::contract::type_kind::TypeKind;
use crate::schema::lower::normal::{Constant, Normal};

/// Tests for each question: some milliseconds.
const EFFORT: u32 = 100_000;

/// Bounds between parameters may narrow each other step by step without an end; the difference constraints decide these.
const ROUNDS: usize = 20;

/// What is known of the arguments of a tool.
#[derive(Clone, Debug)]
pub(super) struct Solver<'a> {
    known: &'a [Known<'a>],
    conditions: &'a [Condition],
    domains: Vec<Domain<'a>>,
}

impl<'a> Solver<'a> {
    pub(super) fn new(conditions: &'a [Condition], known: &'a [Known<'a>]) -> Self {
        Self {
            known,
            conditions,
            domains: Vec::new(),
        }
    }

    /// Adds a parameter.
    pub(super) fn typed(&mut self, name: &'a str, kind: TypeKind) {
        self.domains.push(Domain::of(name, kind));
    }

    fn domain(&mut self, name: &str) -> Option<&mut Domain<'a>> {
        self.domains.iter_mut().find(|one| one.name == name)
    }

    /// A parameter has a limited number of values, which its tests enumerate.
    pub(super) fn few(&mut self, name: &str, count: usize) {
        if let Some(domain) = self.domain(name) {
            domain.values = u64::MAX >> 64_usize.saturating_sub(count).min(63);
        }
    }

    /// Whether no arguments satisfy the conditions of `holding` and break those of `broken`. `false` proves nothing.
    pub(super) fn is_impossible(&self, holding: Set, broken: Set) -> bool {
        let mut clauses = Vec::new();
        for (index, condition) in self.conditions.iter().take(64).enumerate() {
            if let Some(expression) = reading(condition)
                && (holding | broken) & (1 << index) != 0
            {
                let holds = holding & (1 << index) != 0;
                clauses.extend(Normal::expecting(expression, holds).clauses());
            }
        }
        let search = Search {
            known: self.known,
            effort: Cell::new(EFFORT),
        };
        let state = State {
            domains: self.domains.clone(),
            ..State::default()
        };
        // The values of the parameters of one group leave those of another as they are.
        groups(clauses).into_iter().any(|clauses| {
            let goals = clauses.into_iter().map(Goal::Formula);
            !search.may_reach(&state, goals.map(|goal| (goal, Scope::new())).collect())
        })
    }

    /// The conditions that nothing satisfies.
    pub(super) fn contradiction(&self) -> Option<Set> {
        let all = readable(self.conditions, None);
        self.is_impossible(all, 0).then(|| self.least(all, 0))
    }

    /// Those of a set that alone are impossible beside the broken ones; the earlier ones are kept.
    pub(super) fn least(&self, set: Set, broken: Set) -> Set {
        (0..64).rev().fold(set, |set, index| {
            let without = set & !(1 << index);
            if without != set && self.is_impossible(without, broken) {
                without
            } else {
                set
            }
        })
    }

    /// Whether values of several parameters break a condition that others could keep.
    pub(super) fn is_broken_by(
        &self,
        index: usize,
        values: impl Iterator<Item = (&'a str, Value<'a>)>,
    ) -> bool {
        let mut given = self.clone();
        for (name, value) in values {
            if let Some(domain) = given.domain(name) {
                *domain = domain.given(value);
            }
        }
        given.is_impossible(1 << index, 0) && !self.is_impossible(1 << index, 0)
    }
}

/// The clauses by the parameters that they share, directly or through others.
fn groups(clauses: Vec<Normal>) -> Vec<Vec<Normal>> {
    let mut groups: Vec<(BTreeSet<&str>, Vec<Normal>)> = Vec::new();
    for clause in clauses {
        let mut names = clause.parameters();
        let mut together = vec![clause];
        groups.retain_mut(|(others, clauses)| {
            let is_apart = names.is_disjoint(others);
            if !is_apart {
                names.append(others);
                together.append(clauses);
            }
            is_apart
        });
        groups.push((names, together));
    }
    groups.into_iter().map(|(_, clauses)| clauses).collect()
}

/// What must hold.
#[derive(Clone)]
enum Goal {
    Formula(Normal),
    Test(Expression, bool),
}

/// The variables of the closures around a goal, and the index of the domain of each.
type Scope = Vec<(&'static str, usize)>;

type Goals = Vec<(Goal, Scope)>;

#[derive(Clone, Default)]
struct State<'a> {
    domains: Vec<Domain<'a>>,
    /// Tests without parts, and what they must answer.
    tests: Vec<(Expression, bool, Scope)>,
    /// Of each of these, the goals of one alternative must hold.
    choices: Vec<Vec<Goals>>,
    quantifiers: Vec<Quantifier>,
}

/// What must hold of every item of a list, or of one.
#[derive(Clone)]
struct Quantifier {
    every: bool,
    list: usize,
    variable: &'static str,
    body: Normal,
    scope: Scope,
}

struct Search<'s, 'a> {
    known: &'s [Known<'a>],
    effort: Cell<u32>,
}

impl<'a> Search<'_, 'a> {
    fn reading<'r>(&'r self, scope: &'r Scope) -> Reading<'r, 'a> {
        Reading {
            known: self.known,
            variables: scope,
        }
    }

    /// Whether some values may meet the goals as well. `true` proves nothing.
    fn may_reach(&self, state: &State<'a>, goals: Goals) -> bool {
        let mut state = state.clone();
        self.require(&mut state, goals);
        self.is_possible(state)
    }

    fn require(&self, state: &mut State<'a>, mut goals: Goals) {
        while let Some((goal, scope)) = goals.pop() {
            let here = |goal| (goal, scope.clone());
            match goal {
                Goal::Formula(Normal::And(parts)) => {
                    goals.extend(parts.into_iter().map(|part| here(Goal::Formula(part))));
                }
                Goal::Formula(Normal::Or(parts)) => {
                    let parts = parts
                        .into_iter()
                        .map(|part| vec![here(Goal::Formula(part))]);
                    state.choices.push(parts.collect());
                }
                Goal::Formula(Normal::Leaf { test, expected }) => {
                    goals.push((Goal::Test(*test, expected), scope));
                }
                Goal::Formula(Normal::Each {
                    every,
                    of,
                    variable,
                    body,
                }) => {
                    let reading = self.reading(&scope);
                    let Some(list) = reading.find(&state.domains, of) else {
                        continue;
                    };
                    let domain = &mut state.domains[list];
                    if domain.is_optional && matches!(of, Expression::Parameter(_)) {
                        let mut inside = scope.clone();
                        inside.push((variable, list));
                        let is_some = |expected| here(Goal::Test(Expression::IsSome(of), expected));
                        let some = vec![is_some(true), (Goal::Formula(*body), inside)];
                        if every {
                            state.choices.push(vec![vec![is_some(false)], some]);
                        } else {
                            goals.extend(some);
                        }
                    } else if matches!(domain.kind, TypeKind::List(_)) {
                        if !every {
                            let filled = Range::new(1, i128::MAX);
                            *domain = domain.narrowed(Aspect::Length, filled);
                        }
                        state.quantifiers.push(Quantifier {
                            every,
                            list,
                            variable,
                            body: *body,
                            scope,
                        });
                    }
                }
                Goal::Test(Expression::Among(of, list), expected) => {
                    let equal = |item| Expression::Compare(Comparison::Equal, of, item);
                    let items = list
                        .iter()
                        .map(|item| here(Goal::Test(equal(item), expected)));
                    if expected {
                        state.choices.push(items.map(|item| vec![item]).collect());
                    } else {
                        goals.extend(items);
                    }
                }
                Goal::Test(test @ Expression::Compare(comparison, left, right), expected) => {
                    let reading = self.reading(&scope);
                    let equal = (comparison == Comparison::Equal) == expected;
                    if Constant::compared(comparison, left, right) == Some(!expected) {
                        state.choices.push(Vec::new());
                    } else if reading.sides(&state.domains, left, right).is_none()
                        && matches!(comparison, Comparison::Equal | Comparison::NotEqual)
                    {
                        // Two truth values, as far as anything is known of them.
                        let both = [true, false].map(|holds| {
                            let sides = [(left, holds), (right, holds == equal)];
                            let sides = sides.map(|(side, holds)| Normal::expecting(side, holds));
                            sides.map(|side| here(Goal::Formula(side))).to_vec()
                        });
                        state.choices.push(both.to_vec());
                    } else {
                        state.tests.push((test, expected, scope));
                    }
                }
                Goal::Test(test, expected) => state.tests.push((test, expected, scope)),
            }
        }
    }

    fn is_possible(&self, mut state: State<'a>) -> bool {
        if !self.settle(&mut state) {
            return false;
        }
        if self.effort.get() == 0 {
            return true;
        }
        let choices = state.choices.iter().enumerate();
        if let Some((index, _)) = choices.min_by_key(|(_, choice)| choice.len()) {
            let choice = state.choices.swap_remove(index);
            let mut choice = choice.into_iter();
            return choice.any(|goals| self.may_reach(&state, goals));
        }
        if let Some(index) = self.open(&state)
            && let (Expression::Compare(_, left, right), _, scope) = state.tests.swap_remove(index)
        {
            return [Comparison::Less, Comparison::More]
                .into_iter()
                .any(|order| {
                    let test = Goal::Test(Expression::Compare(order, left, right), true);
                    self.may_reach(&state, vec![(test, scope.clone())])
                });
        }
        self.is_ordered(&state) && self.has_items(&state)
    }

    /// Narrows the domains by all tests, until nothing changes. Returns `false` if no value is left.
    fn settle(&self, state: &mut State<'a>) -> bool {
        for _ in 0..ROUNDS {
            let before = state.domains.clone();
            for (test, expected, scope) in &state.tests {
                self.effort.set(self.effort.get().saturating_sub(1));
                let reading = self.reading(scope);
                if !reading.narrow(&mut state.domains, test, *expected) {
                    return false;
                }
            }
            let mut both = state.domains.iter().zip(&before);
            if both.all(|(one, other)| one.equals(other)) {
                break;
            }
        }
        !state.domains.iter().any(Domain::is_empty)
    }

    /// The numbers that a test compares, and how they must compare; NaN is not among them.
    fn numbers(
        &self,
        state: &State<'a>,
        (test, expected, scope): &(Expression, bool, Scope),
    ) -> Option<(Side<'a>, Comparison, Side<'a>)> {
        let Expression::Compare(comparison, left, right) = test else {
            return None;
        };
        let (left, right) = self.reading(scope).sides(&state.domains, left, right)?;
        let is_text = matches!(left.kind, TypeKind::Text | TypeKind::Character);
        let is_plain = !left.nan && !right.nan && left.by == 0 && right.by == 0;
        (is_plain && !is_text).then(|| (left, comparison.expecting(*expected), right))
    }

    /// A test of inequality between numbers that could be equal, and of which either could be the lesser one.
    fn open(&self, state: &State<'a>) -> Option<usize> {
        state.tests.iter().position(|test| {
            let Some((left, Comparison::NotEqual, right)) = self.numbers(state, test) else {
                return false;
            };
            let [less, more] = [Comparison::Less, Comparison::More]
                .map(|order| !left.range.compared(order, right.range).is_empty());
            let has_two = left.place.is_some() && right.place.is_some();
            has_two || (less && more)
        })
    }

    /// Whether numbers of the domains stand in the order that the tests require.
    fn is_ordered(&self, state: &State<'a>) -> bool {
        let mut bounds = Vec::new();
        for test in &state.tests {
            let Some((left, comparison, right)) = self.numbers(state, test) else {
                continue;
            };
            let (one @ Some(_), other @ Some(_)) = (left.place, right.place) else {
                continue;
            };
            bounds.extend([left, right].into_iter().flat_map(ends_of));
            match comparison {
                Comparison::Less => bounds.push((one, other, -1)),
                Comparison::AtMost => bounds.push((one, other, 0)),
                Comparison::More => bounds.push((other, one, -1)),
                Comparison::AtLeast => bounds.push((other, one, 0)),
                Comparison::Equal => bounds.extend([(one, other, 0), (other, one, 0)]),
                Comparison::NotEqual => {}
            }
        }
        has_solution(&bounds)
    }

    /// Whether the quantifiers over lists have items: each that asks for one, and each list that is not empty.
    fn has_items(&self, state: &State<'a>) -> bool {
        state.quantifiers.iter().all(|one| {
            let list = &state.domains[one.list];
            let (TypeKind::List(kind), false) = (
                list.kind,
                one.every && (list.ranges[1].low < 1 || list.none),
            ) else {
                return true;
            };
            let mut next = state.clone();
            let item = next.domains.len();
            next.domains.push(Domain::of("", *kind));
            let all = std::mem::take(&mut next.quantifiers).into_iter();
            let on_every = all.filter(|other| other.every && other.list == one.list);
            let goals = on_every.chain([one.clone()]).map(|quantifier| {
                let mut scope = quantifier.scope;
                scope.push((quantifier.variable, item));
                (Goal::Formula(quantifier.body), scope)
            });
            self.may_reach(&next, goals.collect())
        })
    }
}

/// Where a number stands; `None` is zero.
type Place = Option<(usize, Aspect)>;

/// The first is at most the second and this number.
type Bound = (Place, Place, i128);

/// The ends of a range; the largest `i128` stands for all that are larger.
fn ends_of(side: Side<'_>) -> impl Iterator<Item = Bound> {
    let Range { low, high } = side.range;
    let most = (high != i128::MAX).then_some((side.place, None, high));
    let least = low.checked_neg().map(|low| (None, side.place, low));
    most.into_iter().chain(least)
}

/// Whether numbers have all these bounds: a system of difference constraints has no solution where shortest paths never come to an
/// end (Bellman and Ford; Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, section 24.4).
fn has_solution(bounds: &[Bound]) -> bool {
    let mut lengths: BTreeMap<Place, i128> = BTreeMap::new();
    for _ in 0..=bounds.len() {
        let mut is_stable = true;
        for (one, other, most) in bounds {
            let through = lengths.get(other).unwrap_or(&0).saturating_add(*most);
            let length = lengths.entry(*one).or_default();
            if through < *length {
                *length = through;
                is_stable = false;
            }
        }
        if is_stable {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
