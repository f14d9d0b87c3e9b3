//! Finds preconditions that no arguments satisfy together, where all is known that a registry knows.

use std::collections::{BTreeMap, BTreeSet};

use super::domain::{Aspect, Domain, Known, Range, Value};
use super::evaluation::{Evaluation, Number, Scope};
use super::judge::{Contradiction, Set, domains, ends, reading};
use crate::contract::condition::Condition;
use crate::contract::expression::{Comparison, Expression};
use crate::contract::type_kind::TypeKind;

/// Comparisons for each question: some milliseconds.
const EFFORT: u32 = 100_000;

/// What is known of the arguments of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Solver<'a> {
    known: &'a [Known<'a>],
    conditions: &'a [Condition],
    domains: Vec<Domain<'a>>,
}

/// A part of a condition that must hold, or must not.
struct Demand {
    what: &'static Expression,
    holds: bool,
    names: Names,
}

impl Demand {
    fn new((what, holds): (&'static Expression, bool)) -> Self {
        let names = what.parameters();
        Self { what, holds, names }
    }
}

impl<'a> Solver<'a> {
    pub(crate) fn new(conditions: &'a [Condition], known: &'a [Known<'a>]) -> Self {
        Self {
            known,
            conditions,
            domains: Vec::new(),
        }
    }

    /// Adds a parameter.
    pub(crate) fn typed(&mut self, name: &'a str, kind: TypeKind, value: Value<'a>) {
        let all = domains(name, kind, value).into_iter();
        self.domains.extend(all.filter(|one| one.name == name));
    }

    /// A parameter has a limited number of values, which its tests enumerate.
    pub(crate) fn few(&mut self, name: &str, count: usize) {
        if let Some(domain) = self.domains.iter_mut().find(|one| one.name == name) {
            domain.values = u64::MAX >> 64_usize.saturating_sub(count).min(63);
        }
    }

    /// Whether no arguments satisfy the conditions of `holding` and break those of `broken`. `false` proves nothing.
    pub(crate) fn is_impossible(&self, holding: Set, broken: Set) -> bool {
        let mut demands = Vec::new();
        let mut evaluation = Evaluation::new(self.known, EFFORT);
        for (index, condition) in self.conditions.iter().take(64).enumerate() {
            if let Some(expression) = reading(condition)
                && (holding | broken) & (1 << index) != 0
            {
                let holds = holding & (1 << index) != 0;
                require(
                    &mut evaluation,
                    &self.domains,
                    (expression, holds),
                    &mut demands,
                );
            }
        }
        let demands: Vec<_> = demands.into_iter().map(Demand::new).collect();
        let conditions: Vec<_> = demands.iter().map(|one| one.what).collect();
        // What is known of one item of a list may be of the one that decides a quantifier, but not of those of several.
        let single = |(index, one): (usize, &Demand)| (quantifiers(one.what) == 1).then_some(index);
        let mut exact: Vec<_> = demands.iter().enumerate().map(single).collect();
        exact.sort_unstable();
        exact.dedup();
        exact.into_iter().any(|exact| {
            let search = Search {
                demands: &demands,
                conditions: &conditions,
                exact,
            };
            search.run(&mut evaluation, &self.domains).is_err()
        })
    }

    /// The conditions that nothing satisfies.
    pub(crate) fn contradiction(&self) -> Option<Contradiction> {
        let readable = self.conditions.iter().take(64).enumerate();
        let all = readable
            .filter(|(_, one)| reading(one).is_some())
            .fold(0, |set, (index, _)| set | 1 << index);
        if !self.is_impossible(all, 0) {
            return None;
        }
        let set = self.least(all, 0);
        Some(Contradiction {
            set,
            ends: self.ends(set),
        })
    }

    /// The ends of the type of the only parameter of the only condition, if it is only they that this contradicts.
    fn ends(&self, set: Set) -> Option<(i128, i128)> {
        let condition = self.conditions.get(set.trailing_zeros() as usize)?;
        let ([name], true) = (condition.parameters(), set.is_power_of_two()) else {
            return None;
        };
        let domain = self.domains.iter().find(|one| one.name == *name)?;
        ends(self.known, reading(condition)?, name, domain.kind)
    }

    /// Those of a set that alone are impossible beside the broken ones; the earlier ones are kept.
    pub(crate) fn least(&self, set: Set, broken: Set) -> Set {
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
    pub(crate) fn is_broken_by(
        &self,
        index: usize,
        values: impl Iterator<Item = (&'a str, Value<'a>)>,
    ) -> bool {
        let mut given = self.clone();
        for (name, value) in values {
            let of_name = self.domains.iter().find(|one| one.name == name);
            given.domains.retain(|one| one.name != name);
            if let Some(domain) = of_name {
                given.typed(name, domain.kind, value);
            }
        }
        given.is_impossible(1 << index, 0) && !self.is_impossible(1 << index, 0)
    }
}

/// The parameters that a refutation depends on.
type Names = BTreeSet<&'static str>;

/// A search for values that meet all demands, with one quantifier that is decided by one item.
struct Search<'s> {
    demands: &'s [Demand],
    conditions: &'s [&'static Expression],
    exact: Option<usize>,
}

impl Search<'_> {
    /// Fails where all values are refuted. A part of a domain that a refutation does not depend on need not be replaced by the
    /// other one (conflict-directed backjumping: Prosser, Hybrid Algorithms for the Constraint Satisfaction Problem, 1993).
    fn run<'a>(
        &self,
        evaluation: &mut Evaluation<'a>,
        domains: &[Domain<'a>],
    ) -> Result<(), Names> {
        let mut open = Vec::new();
        for (index, demand) in self.demands.iter().enumerate() {
            evaluation.exact = self.exact == Some(index);
            match evaluation.holds(demand.what, &Scope::of(domains)) {
                Some(holds) if holds != demand.holds => return Err(demand.names.clone()),
                Some(_) => {}
                None => open.push(&demand.names),
            }
        }
        if open.is_empty() || evaluation.effort == 0 {
            return Ok(());
        }
        // A demand on few parameters refutes most.
        open.sort_by_key(|names| names.len());
        let parts_of = |names: &&Names| {
            domains.iter().enumerate().find_map(|(index, domain)| {
                let name = *names.get(domain.name)?;
                Some((index, name, domain.split(evaluation, self.conditions)?))
            })
        };
        let parts = open.iter().find_map(parts_of);
        let Some((index, name, (first, rest))) = parts else {
            return ordered(evaluation, domains, self.demands);
        };
        let mut refuted = Names::from([name]);
        let mut domains = domains.to_vec();
        for part in [first, rest].into_iter().filter(|part| !part.is_empty()) {
            domains[index] = part;
            let Err(names) = self.run(evaluation, &domains) else {
                return Ok(());
            };
            if !names.contains(name) {
                return Err(names);
            }
            refuted.extend(names);
        }
        Err(refuted)
    }
}

/// Adds what must hold if a condition does (or must not, if it does not).
fn require(
    evaluation: &mut Evaluation<'_>,
    domains: &[Domain<'_>],
    (what, holds): (&'static Expression, bool),
    demands: &mut Vec<(&'static Expression, bool)>,
) {
    let (left, right) = match (what, holds) {
        (Expression::Not(of), _) => {
            return require(evaluation, domains, (of, !holds), demands);
        }
        (Expression::And(left, right), true) | (Expression::Or(left, right), false) => {
            (Some(left), Some(right))
        }
        (Expression::And(left, right), false) | (Expression::Or(left, right), true) => {
            let scope = Scope::of(domains);
            // If the one side does not decide it, the other one must.
            match (
                evaluation.holds(left, &scope),
                evaluation.holds(right, &scope),
            ) {
                (Some(left), _) if left != holds => (None, Some(right)),
                (_, Some(right)) if right != holds => (Some(left), None),
                _ => return demands.push((what, holds)),
            }
        }
        _ => return demands.push((what, holds)),
    };
    for side in left.into_iter().chain(right) {
        require(evaluation, domains, (side, holds), demands);
    }
}

/// Fails where no numbers of these domains stand in the order that the demands require.
fn ordered(
    evaluation: &mut Evaluation<'_>,
    domains: &[Domain<'_>],
    demands: &[Demand],
) -> Result<(), Names> {
    let (mut bounds, mut apart) = (Vec::new(), Vec::new());
    let mut names = Names::new();
    for demand in demands {
        let mut required = Vec::new();
        let whole = (demand.what, demand.holds);
        require(evaluation, domains, whole, &mut required);
        for (what, holds) in required {
            let Expression::Compare(comparison, left, right) = what else {
                continue;
            };
            let numbers = evaluation.numbers(left, right, &Scope::of(domains));
            let Some((left, right)) = numbers.filter(|(one, other)| !one.nan && !other.nan) else {
                continue;
            };
            let (Some(one), Some(other)) = (left.place, right.place) else {
                continue;
            };
            names.extend(&demand.names);
            bounds.extend([left, right].into_iter().flat_map(ends_of));
            let (one, other) = (Some(one), Some(other));
            match comparison.expecting(holds) {
                Comparison::Less => bounds.push((one, other, -1)),
                Comparison::AtMost => bounds.push((one, other, 0)),
                Comparison::More => bounds.push((other, one, -1)),
                Comparison::AtLeast => bounds.push((other, one, 0)),
                Comparison::Equal => bounds.extend([(one, other, 0), (other, one, 0)]),
                Comparison::NotEqual => apart.push((one, other)),
            }
        }
    }
    // Each of them doubles the work.
    apart.truncate(6);
    if has_solution(&mut bounds, &apart) {
        Ok(())
    } else {
        Err(names)
    }
}

/// Where a number stands; `None` is zero.
type Place = Option<(usize, Aspect)>;

/// The first is at most the second and this number.
type Bound = (Place, Place, i128);

/// The ends of a range; the largest `i128` stands for all that are larger.
fn ends_of(number: Number) -> impl Iterator<Item = Bound> {
    let Range { low, high } = number.range;
    let most = (high != i128::MAX).then_some((number.place, None, high));
    let least = low.checked_neg().map(|low| (None, number.place, low));
    most.into_iter().chain(least)
}

/// Whether numbers have all these bounds, and differ: a system of difference constraints has no solution where shortest paths
/// never come to an end (Bellman and Ford; Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, section 24.4).
fn has_solution(bounds: &mut Vec<Bound>, apart: &[(Place, Place)]) -> bool {
    if let Some((&(one, other), rest)) = apart.split_first() {
        return [(one, other), (other, one)]
            .into_iter()
            .any(|(less, more)| {
                bounds.push((less, more, -1));
                let has_solution = has_solution(bounds, rest);
                bounds.pop();
                has_solution
            });
    }
    let mut lengths: BTreeMap<Place, i128> = BTreeMap::new();
    for _ in 0..=bounds.len() {
        let mut is_stable = true;
        for (one, other, most) in &*bounds {
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

/// How many quantifiers there are that may be over a list.
fn quantifiers(of: &'static Expression) -> usize {
    let is_one = |part: &&&Expression| matches!(part, Expression::All(..) | Expression::Any(..));
    of.all().iter().filter(is_one).count()
}
