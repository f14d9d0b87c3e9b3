//! Compares the analysis with an enumeration of values: nothing satisfies what it calls impossible.

mod examples;
mod generate;
mod reference;

use proptest::prelude::*;

use super::abstract_state::AbstractState;
use super::apart::are_met;
use super::judge::{self, impossible};
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::expression::Expression;

fn condition(expression: &'static Expression) -> Condition {
    let text = Box::leak(format!("{expression:?}").into_boxed_str());
    Condition::new(ConditionKind::Pre, text, None, None, &[], (1, 1)).reading(expression)
}

fn facts() -> AbstractState<'static> {
    let mut facts = AbstractState::new(&[]);
    for (name, kind) in reference::PARAMETERS {
        facts.typed(name, kind);
    }
    facts
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
        let list: Vec<Condition> = conditions.iter().map(|one| condition(one)).collect();
        let all = (1 << list.len()) - 1;
        prop_assert!(!are_met(&facts(), &list) || !impossible(facts(), &list, all, 0), "{conditions:#?}");
        let last = 1 << (list.len() - 1);
        let (holding, breaking) = if broken { (all & !last, last) } else { (all, 0) };
        if impossible(facts(), &list, holding, breaking) {
            let (before, end) = conditions.split_at(conditions.len() - 1);
            let found = if broken { satisfied(before, end) } else { satisfied(&conditions, &[]) };
            prop_assert!(!found, "{conditions:#?}");
        }
    }

    /// Of one integer and constants alone the core misses nothing.
    #[test]
    fn of_bounds_on_one_integer_every_contradiction_is_found(
        conditions in prop::collection::vec(generate::bounds(), 1..5),
    ) {
        let list: Vec<Condition> = conditions.iter().map(|one| condition(one)).collect();
        let all = (1 << list.len()) - 1;
        prop_assert!(!are_met(&facts(), &list) || satisfied(&conditions, &[]), "{conditions:#?}");
        prop_assert_eq!(
            impossible(facts(), &list, all, 0),
            !satisfied(&conditions, &[]),
            "{:#?}", conditions
        );
    }
}
