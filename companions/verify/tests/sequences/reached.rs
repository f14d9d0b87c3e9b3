//! Bodies that only calls in a certain order enter are entered, whatever the seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use contract_runtime::Builder;
use contract_runtime::prelude::*;
use contract_verify::{Report, Verifier};

/// Accounts that are there from the beginning, of which one is empty.
struct Bank(Mutex<BTreeMap<&'static str, i64>>);

#[tool]
impl Bank {
    /// Say how many cents are in an account.
    #[tool(read_only)]
    #[given(cents = self.0.lock().unwrap().get(account).copied(), else "there is no account {account}")]
    fn balance(&self, #[arg(example = "ada")] account: &str) -> i64 {
        cents
    }

    /// Move money from one account to another.
    #[tool(destructive)]
    #[pre(from != to && cents > 0)]
    #[given(mut accounts = self.0.lock().unwrap())]
    #[given(paying = accounts.get(from).copied(), else "there is no account {from}")]
    #[given(paid = accounts.get(to).copied(), else "there is no account {to}")]
    #[pre(cents <= paying, "there are only {paying} cents")]
    #[post(|left| *left == paying - cents)]
    fn transfer(
        &self,
        #[arg(example = "ada")] from: &str,
        #[arg(example = "ben")] to: &str,
        #[arg(example = 100)] cents: i64,
    ) -> i64 {
        for (account, cents) in [(from, paying - cents), (to, paid + cents)] {
            accounts
                .get_mut(account)
                .into_iter()
                .for_each(|held| *held = cents);
        }
        paying - cents
    }

    /// Close an empty account.
    #[tool(destructive)]
    #[pre(history().with("account", account).seen(Bank::balance), "read the balance first")]
    #[given(mut accounts = self.0.lock().unwrap())]
    #[given(balance = accounts.get(account).copied(), else "there is no account {account}")]
    #[pre(balance == 0, "there are still {balance} cents")]
    #[post(|()| !accounts.contains_key(account))]
    fn close(&self, #[arg(example = "cleo")] account: &str) {
        accounts.remove(account);
    }
}

fn three_accounts(builder: Builder) -> Builder {
    let accounts = [("ada", 500), ("ben", 120), ("cleo", 0)];
    builder.with(Bank(Mutex::new(accounts.into())))
}

/// Projects, each with its tasks.
#[derive(Default)]
struct Projects(Mutex<BTreeMap<String, BTreeSet<String>>>);

#[tool]
impl Projects {
    /// Begin a project.
    #[tool]
    #[pre(!name.is_empty() && name.len() <= 30)]
    #[pre(!self.0.lock().unwrap().contains_key(&name), "there is a project {name} already")]
    fn begin_project(&self, name: String) {
        self.0.lock().unwrap().insert(name, BTreeSet::new());
    }

    /// Add a task to a project.
    #[tool]
    #[pre(!task.is_empty() && task.len() <= 30)]
    #[given(mut projects = self.0.lock().unwrap())]
    #[given(tasks = projects.get_mut(project_name), else "there is no project {project_name}")]
    #[post(|count| *count == old(tasks.len()) + 1)]
    fn add_task(&self, project_name: &str, task: String) -> Result<usize, String> {
        if !tasks.insert(task) {
            return Err("there is such a task already".to_owned());
        }
        Ok(tasks.len())
    }

    /// Finish a task.
    #[tool]
    #[given(mut projects = self.0.lock().unwrap())]
    #[given(tasks = projects.get_mut(project_name), else "there is no project {project_name}")]
    #[pre(tasks.contains(task), "there is no task {task}")]
    #[post(|left| *left + 1 == old(tasks.len()))]
    fn finish_task(&self, project_name: &str, task: &str) -> usize {
        tasks.remove(task);
        tasks.len()
    }

    /// End a project whose last task was finished.
    #[tool(destructive)]
    #[pre(history().with("project_name", name).ok(Projects::finish_task), "finish a task of it first")]
    #[given(mut projects = self.0.lock().unwrap())]
    #[given(tasks = projects.get(name), else "there is no project {name}")]
    #[pre(tasks.is_empty(), "there are still tasks: {}", tasks.len())]
    #[post(|()| !projects.contains_key(name))]
    fn end_project(&self, name: &str) {
        projects.remove(name);
    }
}

fn no_projects(builder: Builder) -> Builder {
    builder.with(Projects::default())
}

fn tried(setup: fn(Builder) -> Builder, sequences: u32, seed: u64) -> Report {
    let registry = setup(Registry::builder()).build().unwrap();
    let verifier = Verifier::new(registry)
        .run_bodies(true)
        .setup(setup)
        .strict(true);
    verifier.cases(60).sequences(sequences).seed(seed).run()
}

/// How many of these seeds leave something unreached.
fn missed(setup: fn(Builder) -> Builder, sequences: u32, seeds: u64) -> usize {
    let is_reached = |report: &Report| {
        let mut tools = report.tools().iter();
        report.is_ok() && tools.all(|tool| tool.in_sequences > 0)
    };
    let reports = (0..seeds).map(|seed| tried(setup, sequences, seed));
    reports
        .filter(|report| !is_reached(report))
        .inspect(|report| println!("seed {}: {report}", report.seed()))
        .count()
}

#[test]
fn what_a_condition_wants_first_is_done_first() {
    assert_eq!(missed(three_accounts, 100, 30), 0);
}

#[test]
fn what_must_be_made_first_is_made_first() {
    assert_eq!(missed(no_projects, 100, 8), 0);
}

#[test]
fn as_long_as_something_is_not_reached_there_are_more_sequences() {
    assert_eq!(missed(three_accounts, 12, 12), 0);
    let report = tried(three_accounts, 1, 0);
    let (made, text) = (report.sequences(), report.to_string());
    assert!((2..=8).contains(&made), "{text}");
    let more = made - 1;
    let said =
        format!(", {made} sequences of calls, {more} of them for what the others had not reached)");
    assert!(text.contains(&said), "{text}");
    assert_eq!(tried(three_accounts, 100, 0).sequences(), 100);
}
