//! Compares the analysis with an enumeration of values: nothing satisfies what it calls impossible.

mod examples;
mod generate;
mod reference;

use proptest::prelude::*;

use super::Solver;
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::expression::Expression;
use crate::contract::findings::judge::judge;

fn condition(expression: &'static Expression) -> Condition {
    let text = Box::leak(format!("{expression:?}").into_boxed_str());
    let names = reference::PARAMETERS.map(|(name, _)| name).into_iter();
    let names = names.filter(|name| text.contains(&format!("Parameter({name:?})")));
    let names = Vec::leak(names.collect());
    Condition::new(ConditionKind::Pre, text, None, None, names, (1, 1)).reading(expression)
}

fn conditions(list: &[&'static Expression]) -> &'static [Condition] {
    Vec::leak(list.iter().map(|one| condition(one)).collect())
}

fn solver(conditions: &[Condition]) -> Solver<'_> {
    let mut solver = Solver::new(conditions, &[]);
    for (name, kind) in reference::PARAMETERS {
        solver.typed(name, kind);
    }
    solver
}

/// What the compiler finds.
fn judged(list: &[&'static Expression]) -> Option<u64> {
    let found = judge(conditions(list), &reference::PARAMETERS).found();
    Some(found).filter(|found| *found != 0)
}

/// Whether some sample satisfies the ones and breaks the others.
fn satisfied(holding: &[&'static Expression], broken: &[&'static Expression]) -> bool {
    reference::samples(holding.iter().chain(broken).copied()).any(|arguments| {
        holding
            .iter()
            .all(|one| reference::holds(one, &arguments) == Some(true))
            && broken
                .iter()
                .all(|one| reference::holds(one, &arguments) == Some(false))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, max_local_rejects: 1_000_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_called_impossible_nothing_satisfies(
        conditions in prop::collection::vec(generate::conditions(), 1..4)
            .prop_filter("few combinations", |conditions| reference::size(conditions) <= 4_000),
        broken in any::<bool>(),
    ) {
        let list = self::conditions(&conditions);
        let all = (1 << list.len()) - 1;
        let last = 1 << (list.len() - 1);
        let (holding, breaking) = if broken { (all & !last, last) } else { (all, 0) };
        if solver(list).is_impossible(holding, breaking) {
            let (before, end) = conditions.split_at(conditions.len() - 1);
            let found = if broken { satisfied(before, end) } else { satisfied(&conditions, &[]) };
            prop_assert!(!found, "{conditions:#?}");
        }
    }

    /// Of one integer and constants alone nothing is missed, by the compiler neither.
    #[test]
    fn of_bounds_on_one_integer_every_contradiction_is_found(
        conditions in prop::collection::vec(generate::bounds(), 1..5),
    ) {
        let list = self::conditions(&conditions);
        let is_met = satisfied(&conditions, &[]);
        prop_assert_eq!(solver(list).contradiction().is_none(), is_met, "{:#?}", conditions);
        prop_assert_eq!(judged(&conditions).is_none(), is_met, "{:#?}", conditions);
    }

    /// What the compiler finds a registry finds as well.
    #[test]
    fn what_the_compiler_finds_is_a_contradiction(
        conditions in prop::collection::vec(generate::conditions(), 1..4),
    ) {
        if let Some(found) = judged(&conditions) {
            prop_assert!(solver(self::conditions(&conditions)).is_impossible(found, 0), "{conditions:#?}");
        }
    }
}
