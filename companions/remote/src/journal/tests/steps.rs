//! The steps of a call, and when entries are forgotten.

use serde_json::json;

use super::super::index::Limits;
use super::super::{Admission, State, UnacknowledgedCall};
use super::medium::Medium;
use super::{ArgumentsHash, Journal, JournalError, hash, key, open, reply, task, wait};

fn accept(journal: &Journal, number: u32) -> Admission {
    wait(journal.accept(task(0), key(number, 1), hash(0))).unwrap()
}

fn run(journal: &Journal, number: u32, text: &str) {
    let key = key(number, 1);
    assert_eq!(accept(journal, number), Admission::New);
    wait(journal.start(task(0), key)).unwrap();
    wait(journal.finish(task(0), key, reply(key, text))).unwrap();
}

fn finished(number: u32, text: &str) -> State {
    State::Finished(Box::new(reply(key(number, 1), text)))
}

#[test]
fn a_call_is_new_once() {
    let journal = Journal::in_memory();
    let key = key(1, 1);
    assert_eq!(accept(&journal, 1), Admission::New);
    assert_eq!(accept(&journal, 1), Admission::Known(State::Accepted));
    wait(journal.start(task(0), key)).unwrap();
    assert_eq!(accept(&journal, 1), Admission::Known(State::Started));
    wait(journal.finish(task(0), key, reply(key, "first"))).unwrap();
    wait(journal.finish(task(0), key, reply(key, "second"))).unwrap();
    assert_eq!(accept(&journal, 1), Admission::Known(finished(1, "first")));

    let other = ArgumentsHash::of("put", &json!({"number": 1}));
    assert_eq!(
        wait(journal.accept(task(0), key, other)),
        Ok(Admission::Different)
    );
    assert_eq!(
        wait(journal.accept(task(1), key, other)),
        Ok(Admission::New),
        "another task"
    );
    let again = super::key(1, 2);
    assert_eq!(
        wait(journal.accept(task(0), again, other)),
        Ok(Admission::New),
        "another attempt"
    );

    wait(journal.acknowledge(task(0), key)).unwrap();
    assert_eq!(accept(&journal, 1), Admission::Known(finished(1, "first")));
    let kept = UnacknowledgedCall {
        key: again,
        state: State::Accepted,
    };
    assert_eq!(wait(journal.unacknowledged(task(0))), Ok(vec![kept]));
}

#[test]
fn steps_come_in_their_order() {
    let journal = Journal::in_memory();
    let key = key(1, 1);
    let told = |done: Result<(), JournalError>| done.unwrap_err().to_string();
    let call = "call 00000000-0000-0000-0000-000000000001#1";
    assert_eq!(
        told(wait(journal.start(task(0), key))),
        format!("{call} cannot be started: it is not known")
    );
    let early = wait(journal.finish(task(0), key, reply(key, "")));
    assert_eq!(
        told(early),
        format!("{call} cannot be finished: it is not known")
    );
    assert_eq!(
        wait(journal.acknowledge(task(0), key)),
        Ok(()),
        "an acknowledgement may come twice"
    );

    accept(&journal, 1);
    wait(journal.start(task(0), key)).unwrap();
    assert_eq!(
        told(wait(journal.start(task(0), key))),
        format!("{call} cannot be started: it is started")
    );
    let early = wait(journal.acknowledge(task(0), key));
    assert_eq!(
        told(early),
        format!("{call} cannot be acknowledged: it is started")
    );
    wait(journal.finish(task(0), key, reply(key, ""))).unwrap();
    assert_eq!(
        told(wait(journal.start(task(0), key))),
        format!("{call} cannot be started: it is finished")
    );
}

#[test]
fn what_was_begun_before_is_in_doubt_for_good() {
    let medium = Medium::default();
    let journal = open(&medium, Limits::default()).unwrap();
    accept(&journal, 1);
    accept(&journal, 2);
    wait(journal.start(task(0), key(2, 1))).unwrap();
    run(&journal, 3, "done");
    drop(journal);
    for _ in 0..2 {
        let journal = open(&medium, Limits::default()).unwrap();
        let states = [State::Accepted, State::InDoubt, finished(3, "done")];
        let kept = (1..).zip(states).map(|(number, state)| UnacknowledgedCall {
            key: key(number, 1),
            state,
        });
        assert_eq!(wait(journal.unacknowledged(task(0))), Ok(kept.collect()));
        assert!(
            wait(journal.start(task(0), key(1, 1))).is_err(),
            "accept it first"
        );
        assert!(wait(journal.start(task(0), key(2, 1))).is_err());
        assert_eq!(accept(&journal, 1), Admission::New);
        assert_eq!(accept(&journal, 1), Admission::Known(State::Accepted));
        assert_eq!(accept(&journal, 2), Admission::Known(State::InDoubt));
    }
    let journal = open(&medium, Limits::default()).unwrap();
    wait(journal.acknowledge(task(0), key(2, 1))).unwrap();
    assert_eq!(accept(&journal, 2), Admission::Known(State::InDoubt));
}

#[test]
fn what_was_forgotten_is_not_run_again() {
    let medium = Medium::default();
    let limits = Limits {
        kept: 2,
        ..Limits::default()
    };
    let journal = open(&medium, limits).unwrap();
    run(&journal, 9, "kept until it is acknowledged");
    for number in [5, 3, 4, 6] {
        run(&journal, number, "");
        wait(journal.acknowledge(task(0), key(number, 1))).unwrap();
    }
    drop(journal);
    let journal = open(&medium, limits).unwrap();
    for number in [1, 3, 5] {
        assert_eq!(accept(&journal, number), Admission::TooOld, "{number}");
        let key = key(number, 1);
        assert_eq!(
            wait(journal.finish(task(0), key, reply(key, "late"))),
            Ok(())
        );
    }
    assert_eq!(accept(&journal, 4), Admission::Known(finished(4, "")));
    assert_eq!(accept(&journal, 6), Admission::Known(finished(6, "")));
    assert_eq!(accept(&journal, 7), Admission::New);
    assert_eq!(
        accept(&journal, 9),
        Admission::Known(finished(9, "kept until it is acknowledged"))
    );
    let other = wait(journal.accept(task(1), key(1, 1), hash(0)));
    assert_eq!(
        other,
        Ok(Admission::New),
        "another task has a watermark of its own"
    );
}

#[test]
fn long_results_are_forgotten_sooner() {
    let limits = Limits {
        kept_bytes: 10_000,
        ..Limits::default()
    };
    let journal = open(&Medium::default(), limits).unwrap();
    for number in 0..5 {
        run(&journal, number, &"x".repeat(4000));
        wait(journal.acknowledge(task(0), key(number, 1))).unwrap();
    }
    assert_eq!(accept(&journal, 2), Admission::TooOld);
    assert!(matches!(
        accept(&journal, 3),
        Admission::Known(State::Finished(_))
    ));
}

#[test]
fn a_backend_that_acknowledges_nothing_is_stopped() {
    for limits in [
        Limits {
            open: 3,
            ..Limits::default()
        },
        Limits {
            open_bytes: 2000,
            ..Limits::default()
        },
    ] {
        let medium = Medium::default();
        let journal = open(&medium, limits).unwrap();
        for number in 0..3 {
            run(&journal, number, &"x".repeat(700));
        }
        let full = |journal: &Journal| wait(journal.accept(task(1), key(3, 1), hash(0)));
        assert!(matches!(
            full(&journal),
            Err(JournalError::Full {
                calls: 3,
                bytes: 2000..,
                ..
            })
        ));
        assert!(matches!(
            accept(&journal, 1),
            Admission::Known(State::Finished(_))
        ));
        drop(journal);
        let journal = open(&medium, limits).unwrap();
        assert!(
            matches!(full(&journal), Err(JournalError::Full { .. })),
            "after a restart as well"
        );
        wait(journal.acknowledge(task(0), key(0, 1))).unwrap();
        assert_eq!(full(&journal), Ok(Admission::New));
    }
}

#[test]
fn many_tasks_share_a_watermark() {
    let limits = Limits {
        kept: 0,
        tasks: 2,
        ..Limits::default()
    };
    let journal = open(&Medium::default(), limits).unwrap();
    for number in 1..=4 {
        let (task, key) = (task(number), key(u32::from(number) * 10, 1));
        assert_eq!(wait(journal.accept(task, key, hash(0))), Ok(Admission::New));
        wait(journal.finish(task, key, reply(key, ""))).unwrap();
        wait(journal.acknowledge(task, key)).unwrap();
    }
    let say = |number, low| wait(journal.accept(task(number), key(low, 1), hash(0))).unwrap();
    assert_eq!(
        say(1, 10),
        Admission::TooOld,
        "its own watermark is gone, and it is below that of all"
    );
    assert_eq!(say(2, 20), Admission::TooOld);
    assert_eq!(
        say(9, 20),
        Admission::TooOld,
        "nobody knows any more that it never was"
    );
    assert_eq!(say(9, 21), Admission::New);
    assert_eq!(say(3, 30), Admission::TooOld);
    assert_eq!(say(3, 31), Admission::New);
    wait(journal.set_epoch(task(1), 2)).unwrap();
    assert_eq!(
        say(1, 11),
        Admission::TooOld,
        "a task that comes back begins with the watermark of all"
    );
}

#[test]
fn an_epoch_that_was_said_is_on_the_disk() {
    let medium = Medium::default();
    let journal = open(&medium, Limits::default()).unwrap();
    wait(journal.set_epoch(task(0), 3)).unwrap();
    let left = medium.lock().bytes.clone();
    let killed = open(&Medium::holding(left), Limits::default()).unwrap();
    assert_eq!(wait(killed.epoch(task(0))), Ok(3));
}
