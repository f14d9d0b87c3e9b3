//! Many at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use contract_remote::protocol::TaskId;
use contract_remote::store::{Expect, Store, StoreLimits, Written};

type Any = Arc<dyn Store>;

pub(crate) fn limits(_: &str) -> StoreLimits {
    StoreLimits::default()
}

pub(crate) async fn of_a_hundred_first_writes_one_is_made(store: Any) {
    let task = TaskId::random();
    let writers: Vec<_> = (0..100)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let text = format!("{writer}");
                let written = store.write(task, "a", &text, Expect::Absent).await.unwrap();
                (text, written)
            })
        })
        .collect();
    let (mut winners, mut seen) = (Vec::new(), BTreeSet::new());
    for writer in writers {
        match writer.await.unwrap() {
            (text, Written::Done { version: 1 }) => winners.push(text),
            (
                _,
                Written::Conflict {
                    current: Some(there),
                },
            ) => {
                assert_eq!(there.version, 1);
                seen.insert(there.value);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(seen, winners.into_iter().collect());
}

pub(crate) async fn sixty_four_writers_lose_no_step(store: Any) {
    const STEPS: u64 = 5;
    let task = TaskId::random();
    let writers: Vec<_> = (0..64)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..STEPS {
                    let mut expect = Expect::Absent;
                    let mut sum = 0_u64;
                    loop {
                        let text = format!("{}", sum + 1);
                        match store.write(task, "sum", &text, expect).await.unwrap() {
                            Written::Done { .. } => break,
                            Written::Conflict { current: there } => {
                                let there = there.unwrap();
                                expect = Expect::Version(there.version);
                                sum = there.value.parse().unwrap();
                            }
                        }
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let there = store.read(task, "sum").await.unwrap().unwrap();
    assert_eq!(there.version, 64 * STEPS);
    assert_eq!(there.value, format!("{}", 64 * STEPS));
}

pub(crate) async fn sixty_four_writers_leave_no_gap_in_a_log(store: Any) {
    const EACH: usize = 10;
    let task = TaskId::random();
    let writers: Vec<_> = (0..64)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut given = Vec::new();
                for entry in 0..EACH {
                    let id = format!("{writer}.{entry}");
                    // Twice at once, as after an answer that was lost.
                    let (first, second) = tokio::join!(
                        store.append(task, "log", &id, &id),
                        store.append(task, "log", &id, &id)
                    );
                    let sequence = first.unwrap();
                    assert_eq!(sequence, second.unwrap());
                    given.push((sequence, id));
                }
                assert!(given.is_sorted(), "the order of one writer is kept");
                given
            })
        })
        .collect();
    let mut given = Vec::new();
    for writer in writers {
        given.extend(writer.await.unwrap());
    }
    given.sort_unstable();
    let tail = store.tail(task, "log", 0, usize::MAX).await.unwrap();
    let found: Vec<_> = tail
        .entries
        .into_iter()
        .map(|one| (one.sequence, one.id))
        .collect();
    assert_eq!(found, given);
    let sequences: Vec<u64> = found.iter().map(|(sequence, _)| *sequence).collect();
    assert_eq!(sequences, (1..=64 * EACH as u64).collect::<Vec<u64>>());
}
