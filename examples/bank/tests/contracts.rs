//! The contracts prove themselves: no call, and no sequence of calls, breaks a promise; one that a mistake lets through is found.

use std::sync::Mutex;

use bank::Bank;
use contract_runtime::Builder;
use contract_runtime::prelude::*;
use contract_verify::Verifier;
use serde_json::json;

#[test]
fn no_sequence_of_calls_breaks_a_promise() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::builder().with(Bank::in_memory()?).build()?;
    let report = Verifier::new(registry).strict(true).run();
    assert!(report.is_ok(), "{report}");
    assert!(
        report.tools().iter().all(|tool| tool.in_sequences > 0),
        "{report}"
    );
    Ok(())
}

/// A till that pays out what an account holds, and forgets to take it from the account.
#[derive(Default)]
struct Till(Mutex<Money>);

#[derive(Default)]
struct Money {
    account: i64,
    paid_in: i64,
    paid_out: i64,
}

fn money_is_kept(money: &Money) -> bool {
    money.account >= 0 && money.paid_out <= money.paid_in
}

#[tool]
impl Till {
    /// Pay money in, and say how much the account holds.
    #[tool]
    #[pre(cents > 0 && cents <= 10_000)]
    #[post(|held| *held >= cents)]
    fn pay_in(&self, cents: i64) -> i64 {
        let mut money = self.0.lock().unwrap();
        money.account += cents;
        money.paid_in += cents;
        money.account
    }

    /// Pay money out, and say how much is left.
    #[tool(destructive)]
    #[given(mut money = self.0.lock().unwrap())]
    #[pre(cents > 0 && cents <= money.account, "there are only {} cents", money.account)]
    #[post(|_| money_is_kept(&money), "more was paid out than was paid in")]
    fn pay_out(&self, cents: i64) -> i64 {
        money.paid_out += cents;
        money.account - cents
    }
}

fn empty(builder: Builder) -> Builder {
    builder.with(Till::default())
}

#[test]
fn a_mistake_that_takes_three_calls_is_found() -> Result<(), BuildError> {
    for seed in 0..5 {
        let registry = empty(Registry::builder()).build()?;
        let verifier = Verifier::new(registry).run_bodies(true).setup(empty);
        let report = verifier.seed(seed).run();
        let problems: Vec<_> = report.problems().collect();
        let [problem] = problems.as_slice() else {
            panic!("{report}");
        };
        let calls = problem
            .calls
            .iter()
            .map(|call| (call.tool.as_str(), call.arguments.clone()));
        let one = json!({"cents": 1});
        let expected = [
            ("pay_in", one.clone()),
            ("pay_out", one.clone()),
            ("pay_out", one),
        ];
        assert_eq!(calls.collect::<Vec<_>>(), expected, "{report}");
    }
    Ok(())
}
