//! Any sequence of operations, beside a map and a list that do the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract_remote::protocol::TaskId;
use contract_remote::store::{Expect, Logged, Store, StoreLimits, Stored, Written};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const ENTRIES: u8 = 4;

pub(crate) fn limits(_: &str) -> StoreLimits {
    let mut limits = StoreLimits::default();
    limits.entries = ENTRIES.into();
    limits
}

#[derive(Clone, Debug)]
enum Step {
    Write(usize, String, Expect),
    Append(usize, u8, String),
    Tail(usize, u64, usize),
    List(usize),
    Remove(Vec<usize>),
    Forget,
}

const NAMES: [&str; 5] = ["a", "a.", "a.b", "ab", "B"];
const LOGS: [&str; 2] = ["a", "log"];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[0-9]{1,3}:[a-z]{0,3}"]
}

fn step() -> impl Strategy<Value = Step> {
    let expect = prop_oneof![
        Just(Expect::Any),
        Just(Expect::Absent),
        (0..4_u64).prop_map(Expect::Version)
    ];
    prop_oneof![
        6 => (0..NAMES.len(), text(), expect).prop_map(|(name, text, expect)| Step::Write(name, text, expect)),
        6 => (0..LOGS.len(), 0..12_u8, text()).prop_map(|(log, id, text)| Step::Append(log, id, text)),
        2 => (0..LOGS.len(), 0..9_u64, 0..9_usize).prop_map(|(log, after, most)| Step::Tail(log, after, most)),
        2 => (0..NAMES.len()).prop_map(Step::List),
        2 => proptest::collection::vec(0..NAMES.len(), 0..3).prop_map(Step::Remove),
        1 => Just(Step::Forget),
    ]
}

#[derive(Default)]
struct Model {
    values: BTreeMap<String, Stored>,
    logs: BTreeMap<&'static str, Vec<Logged>>,
}

impl Model {
    fn write(&mut self, name: &str, text: &str, expect: Expect) -> Written {
        let there = self.values.get(name).cloned();
        let version = there.as_ref().map_or(0, |there| there.version);
        let holds = match expect {
            Expect::Any => true,
            Expect::Absent => there.is_none(),
            Expect::Version(expected) => there.is_some() && expected == version,
        };
        if !holds {
            return Written::Conflict { current: there };
        }
        let version = version + 1;
        self.values
            .insert(name.to_owned(), Stored::new(version, text));
        Written::Done { version }
    }

    fn kept(&self, log: &str) -> (&[Logged], u64) {
        let all = self.logs.get(log).map_or(&[][..], Vec::as_slice);
        let cut = all.len().saturating_sub(ENTRIES.into());
        (&all[cut..], cut as u64)
    }

    fn append(&mut self, log: &'static str, id: &str, text: &str) -> u64 {
        if let Some(there) = self.kept(log).0.iter().find(|entry| entry.id == id) {
            return there.sequence;
        }
        let all = self.logs.entry(log).or_default();
        let sequence = all.len() as u64 + 1;
        all.push(Logged::new(sequence, id, text));
        sequence
    }
}

async fn play(store: &dyn Store, steps: &[Step]) -> Result<(), TestCaseError> {
    let task = TaskId::random();
    let mut model = Model::default();
    for step in steps {
        match step {
            Step::Write(name, text, expect) => {
                let name = NAMES[*name];
                let written = store.write(task, name, text, *expect).await.unwrap();
                prop_assert_eq!(written, model.write(name, text, *expect));
                let there = store.read(task, name).await.unwrap();
                prop_assert_eq!(there.as_ref(), model.values.get(name));
            }
            Step::Append(log, id, text) => {
                let (log, id) = (LOGS[*log], format!("id{id}"));
                let given = store.append(task, log, &id, text).await.unwrap();
                prop_assert_eq!(given, model.append(log, &id, text));
            }
            Step::Tail(log, after, most) => {
                let log = LOGS[*log];
                let tail = store.tail(task, log, *after, *most).await.unwrap();
                let (kept, cut) = model.kept(log);
                let rest = kept.iter().filter(|entry| entry.sequence > *after);
                let rest: Vec<Logged> = rest.take(*most).cloned().collect();
                prop_assert_eq!(tail.entries, rest);
                prop_assert_eq!(tail.cut, cut);
                prop_assert_eq!(tail.last, cut + kept.len() as u64);
            }
            Step::List(prefix) => {
                let prefix = NAMES[*prefix];
                let listed = store.list(task, prefix).await.unwrap();
                let all = model.values.clone().into_iter();
                let some: Vec<_> = all.filter(|(name, _)| name.starts_with(prefix)).collect();
                prop_assert_eq!(listed, some);
            }
            Step::Remove(names) => {
                let names: Vec<&str> = names.iter().map(|name| NAMES[*name]).collect();
                store.remove(task, &names).await.unwrap();
                model.values.retain(|name, _| !names.contains(&&**name));
                let listed = store.list(task, "").await.unwrap();
                prop_assert_eq!(listed, model.values.clone().into_iter().collect::<Vec<_>>());
            }
            Step::Forget => {
                store.forget(task).await.unwrap();
                model = Model::default();
            }
        }
    }
    store.forget(task).await.unwrap();
    Ok(())
}

pub(crate) async fn it_does_what_a_map_and_a_list_would(store: Arc<dyn Store>) {
    let runtime = tokio::runtime::Handle::current();
    let checked = tokio::task::spawn_blocking(move || {
        let config = Config {
            cases: 48,
            failure_persistence: None,
            ..Config::default()
        };
        let steps = proptest::collection::vec(step(), 1..40);
        TestRunner::new(config).run(&steps, |steps| runtime.block_on(play(&*store, &steps)))
    });
    checked.await.unwrap().unwrap();
}
