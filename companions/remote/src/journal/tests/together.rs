//! Concurrent calls share one disk synchronisation.

use std::sync::Arc;

use super::super::index::Limits;
use super::super::{Admission, State};
use super::medium::{Event, Medium};
use super::{Journal, hash, key, open, reply, task};

fn syncs(medium: &Medium) -> usize {
    let inner = medium.lock();
    inner
        .events
        .iter()
        .filter(|event| **event == Event::Sync)
        .count()
}

/// How often the disk is synchronised for `many` calls that come while it is busy.
async fn step<F>(medium: &Medium, many: u32, make: impl Fn(u32) -> F) -> usize
where
    F: Future<Output = ()> + Send + 'static,
{
    let before = syncs(medium);
    medium.pause(true);
    let calls: Vec<_> = (0..many).map(|number| tokio::spawn(make(number))).collect();
    // All of them have asked when this one, which comes last, has its turn again.
    tokio::spawn(tokio::task::yield_now()).await.unwrap();
    medium.pause(false);
    for call in calls {
        call.await.unwrap();
    }
    syncs(medium) - before
}

#[tokio::test]
async fn calls_at_the_same_time_share_the_disk() {
    let medium = Medium::default();
    let journal = open(&medium, Limits::default()).unwrap();
    let accepted = step(&medium, 64, |number| {
        let journal = journal.clone();
        async move {
            let admission = journal.accept(task(0), key(number, 1), hash(0)).await;
            assert_eq!(admission, Ok(Admission::New));
        }
    });
    // The first may have gone alone, and the rest together; a file that grows is synchronised as well.
    let few = 1..8;
    let accepted = accepted.await;
    assert!(few.contains(&accepted), "{accepted}");
    let started = step(&medium, 64, |number| {
        let journal = journal.clone();
        async move { journal.start(task(0), key(number, 1)).await.unwrap() }
    });
    let started = started.await;
    assert!(few.contains(&started), "{started}");
    let finished = step(&medium, 64, |number| {
        let (journal, key) = (journal.clone(), key(number, 1));
        async move { journal.finish(task(0), key, reply(key, "")).await.unwrap() }
    });
    let finished = finished.await;
    assert!(few.contains(&finished), "{finished}");
    let acknowledged = step(&medium, 64, |number| {
        let journal = journal.clone();
        async move { journal.acknowledge(task(0), key(number, 1)).await.unwrap() }
    });
    assert_eq!(acknowledged.await, 0);
    drop(journal);
    let journal = open(&medium, Limits::default()).unwrap();
    assert_eq!(
        journal.unacknowledged(task(0)).await,
        Ok(Vec::new()),
        "they are on disk when it is closed"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_starts_a_call() {
    let journal = Journal::in_memory();
    for number in 0..20 {
        let key = key(number, 1);
        let admissions = (0..8).map(|_| {
            let journal = journal.clone();
            tokio::spawn(async move {
                let admission = journal.accept(task(0), key, hash(0)).await.unwrap();
                let start = journal.start(task(0), key).await;
                (admission, start.is_ok())
            })
        });
        let (mut new, mut started) = (0, 0);
        for admission in admissions.collect::<Vec<_>>() {
            let (admission, start) = admission.await.unwrap();
            match admission {
                Admission::New => new += 1,
                Admission::Known(State::Accepted | State::Started) => {}
                other => panic!("{other:?}"),
            }
            started += usize::from(start);
        }
        assert_eq!((new, started), (1, 1));
    }
}

#[tokio::test]
async fn who_gives_up_leaves_no_damage() {
    let medium = Medium::default();
    let journal = Arc::new(open(&medium, Limits::default()).unwrap());
    medium.pause(true);
    let asks: Vec<_> = (0..3)
        .map(|number| {
            let journal = journal.clone();
            tokio::spawn(async move { journal.accept(task(0), key(number, 1), hash(0)).await })
        })
        .collect();
    tokio::spawn(tokio::task::yield_now()).await.unwrap();
    for ask in &asks {
        ask.abort();
    }
    medium.pause(false);
    let again = journal.accept(task(0), key(0, 1), hash(0)).await;
    assert_eq!(
        again,
        Ok(Admission::Known(State::Accepted)),
        "the step was taken"
    );
}

/// Who is told an epoch goes on from it, and so it is on disk by then.
#[tokio::test]
async fn an_epoch_is_told_when_it_is_on_disk() {
    let medium = Medium::default();
    let journal = open(&medium, Limits::default()).unwrap();
    let set = |epoch| {
        let journal = journal.clone();
        tokio::spawn(async move { journal.set_epoch(task(0), epoch).await })
    };
    set(1).await.unwrap().unwrap();
    let before = medium.lock().events.len();
    set(2).await.unwrap().unwrap();
    // The disk takes one more like this one.
    let events = medium.lock().events.len() - before;
    medium.pause(true);
    medium.lock().good_for = Some(events);
    let third = set(3);
    tokio::spawn(tokio::task::yield_now()).await.unwrap();
    // Long enough for the third to go alone; if it does not, all of them are written, and nothing is shown.
    std::thread::sleep(std::time::Duration::from_millis(50));
    let fourth = set(4);
    let told = tokio::spawn({
        let journal = journal.clone();
        async move { journal.epoch(task(0)).await }
    });
    tokio::spawn(tokio::task::yield_now()).await.unwrap();
    medium.pause(false);
    assert_eq!(third.await.unwrap(), Ok(()));
    let fourth = fourth.await.unwrap();
    let told = told.await.unwrap();
    assert!(fourth.is_ok() || told.is_err(), "{fourth:?}, {told:?}");
}
