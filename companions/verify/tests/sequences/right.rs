//! Tools with a state, or over a history, with nothing wrong.

use std::collections::BTreeMap;
use std::sync::Mutex;

use contract_runtime::Builder;
use contract_runtime::prelude::*;
use contract_verify::Verifier;

use super::report;

#[derive(Default)]
struct Accounts(Mutex<BTreeMap<String, i64>>);

impl Accounts {
    fn total(&self) -> i64 {
        self.0.lock().unwrap().values().sum()
    }
}

#[tool]
impl Accounts {
    /// Open an account.
    #[tool]
    #[pre(!owner.is_empty() && owner.len() <= 8)]
    #[post(|()| self.0.lock().unwrap().contains_key(&owner))]
    fn open(&self, owner: String) {
        self.0.lock().unwrap().entry(owner).or_default();
    }

    /// Pay money in, and say how much there is.
    #[tool]
    #[pre(cents > 0 && cents <= 1_000)]
    #[post(|held| *held >= cents)]
    #[post(|_| self.total() == old(self.total()) + cents)]
    fn pay_in(&self, owner: &str, cents: i64) -> Result<i64, String> {
        let mut accounts = self.0.lock().unwrap();
        let held = accounts.get_mut(owner).ok_or("there is no such account")?;
        *held += cents;
        Ok(*held)
    }

    /// Pay money out, twice at most.
    #[tool(destructive)]
    #[given(mut accounts = self.0.lock().unwrap())]
    #[given(held = accounts.get(owner).copied(), else "there is no account {owner}")]
    #[pre(cents > 0 && cents <= held, "there are only {held} cents")]
    #[pre(history().count(Accounts::pay_out) < 2, "twice a run")]
    #[post(|left| *left >= 0 && *left == held - cents)]
    fn pay_out(&self, #[arg(example = "ada")] owner: &str, #[arg(example = 20)] cents: i64) -> i64 {
        accounts.insert(owner.to_owned(), held - cents);
        held - cents
    }

    /// Forget an account whose money was counted.
    #[tool(destructive, alone, idempotent)]
    #[pre(history().with("owner", owner).seen(Accounts::held), "count it first")]
    #[post(|()| !self.0.lock().unwrap().contains_key(owner))]
    fn forget(&self, owner: &str) {
        self.0.lock().unwrap().remove(owner);
    }

    /// Say how much there is.
    #[tool(read_only)]
    #[post(|held| held.is_none_or(|held| held >= 0))]
    fn held(&self, owner: &str) -> Option<i64> {
        self.0.lock().unwrap().get(owner).copied()
    }
}

/// Say hello, once.
#[tool]
#[pre(history().count(greet) < 1, "once is enough")]
fn greet(name: &str) -> String {
    format!("hello {name}")
}

/// Pay for much, which a person approves.
#[tool(confirm = "Pay {cents}?")]
#[pre(cents > 0)]
#[pre(cents <= 100, "that is much", ask = "Pay as much as {cents}?")]
#[post(|paid| *paid == cents)]
fn pay(cents: u16, #[context] paid: &Mutex<Vec<u16>>) -> u16 {
    paid.lock().unwrap().push(cents);
    cents
}

fn fresh(builder: Builder) -> Builder {
    let one = Accounts(Mutex::new(BTreeMap::from([("ada".to_owned(), 500)])));
    builder.with(one).context(Mutex::new(Vec::<u16>::new()))
}

/// `VERIFY_SEEDS` is their number; the nightly campaign tries 200.
#[test]
fn nothing_is_found_with_any_seed() {
    let seeds = std::env::var("VERIFY_SEEDS").map_or(40, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        let builder = Registry::builder().tool(greet).tool(pay);
        let registry = fresh(builder).build().unwrap();
        let verifier = Verifier::new(registry).run_bodies(true).setup(fresh);
        let report = verifier.cases(4).sequences(40).seed(seed).run();
        assert!(report.is_ok(), "seed {seed}: {report}");
        assert!(report.sequences() >= 40, "{report}");
    }
}

#[test]
fn sequences_decide_what_single_calls_cannot() {
    for seed in 0..3 {
        let report = report(Registry::builder().tool(greet).tool(pay), fresh, seed);
        assert_eq!(report.skipped(), [], "seed {seed}: {report}");
        let said = report.to_string();
        assert!(
            said.ends_with("sequences of calls); left out: nothing"),
            "{said}"
        );
    }
}

#[test]
fn tools_that_change_nothing_need_no_sequences() {
    let registry = Registry::builder()
        .with(Accounts::default())
        .build()
        .unwrap();
    let report = Verifier::new(registry).tool("held").run();
    assert!(report.is_ok(), "{report}");
    assert_eq!(report.sequences(), 0);
}
