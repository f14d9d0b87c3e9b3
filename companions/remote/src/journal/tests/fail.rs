//! Failing writes.

use super::crash::script;
use super::damage::{Mark, possible};
use super::medium::{Event, Medium, apply};
use super::model::{LIMITS, Model, found, is_durable, take};
use super::{Admission, JournalError, State, hash, key, open, reply, task, wait};

/// Writes until the disk fails after so many events; whether it did.
fn fails_after(good_for: usize) -> bool {
    let medium = Medium::default();
    medium.lock().good_for = Some(good_for);
    let mut model = Model::default();
    let mut marks = vec![Mark {
        events: 0,
        is_durable: true,
        model: model.clone(),
    }];
    let mut failed = false;
    match open(&medium, LIMITS) {
        Err(JournalError::Stopped { .. } | JournalError::Open { .. }) => failed = true,
        Err(error) => panic!("{error}"),
        Ok(journal) => {
            for step in script() {
                let may = model.step(step);
                match take(&journal, step) {
                    Ok(taken) => assert!(!failed && taken == may, "{step:?} after {good_for}"),
                    Err(JournalError::Stopped { reason, .. }) => {
                        assert!(
                            reason.contains("full") || reason.contains("space"),
                            "{reason}"
                        );
                        failed = true;
                    }
                    Err(error) => panic!("{error}"),
                }
                marks.push(Mark {
                    events: if failed { usize::MAX } else { 0 },
                    is_durable: is_durable(step, may),
                    model: model.clone(),
                });
            }
            if failed {
                // It is not asked again what may be otherwise on the disk.
                let asked = wait(journal.unacknowledged(task(0)));
                assert!(
                    matches!(asked, Err(JournalError::Stopped { .. })),
                    "{asked:?}"
                );
                let asked = wait(journal.epoch(task(0)));
                assert!(
                    matches!(asked, Err(JournalError::Stopped { .. })),
                    "{asked:?}"
                );
                let asked = wait(journal.accept(task(0), key(9, 9), hash(0)));
                assert!(
                    matches!(asked, Err(JournalError::Stopped { .. })),
                    "{asked:?}"
                );
            }
        }
    }
    let inner = medium.lock();
    let last = inner.events.iter().rposition(|event| *event == Event::Sync);
    let mut synced = Vec::new();
    for event in &inner.events[..last.map_or(0, |last| last + 1)] {
        apply(&mut synced, event);
    }
    let possible = possible(&marks, 0);
    if failed {
        for bytes in [&inner.bytes, &synced] {
            let told = found(bytes).unwrap_or_else(|error| panic!("after {good_for}: {error}"));
            assert!(
                possible.iter().any(|model| model.told() == told),
                "after {good_for}: {told:#?}\nis none of {possible:#?}",
            );
        }
    }
    failed
}

#[test]
fn a_failed_write_is_told_and_ends_the_journal() {
    let mut good_for = 0;
    while fails_after(good_for) {
        good_for += 1;
    }
    assert!(good_for > 100, "{good_for}");
}

#[test]
fn its_file_can_be_opened_again() {
    let medium = Medium::default();
    let journal = open(&medium, LIMITS).unwrap();
    assert!(wait(journal.accept(task(0), key(0, 1), hash(0))).is_ok());
    medium.lock().good_for = Some(0);
    assert!(wait(journal.start(task(0), key(0, 1))).is_err());
    medium.lock().good_for = None;
    assert!(
        wait(journal.start(task(0), key(0, 1))).is_err(),
        "nobody knows whether it is on disk"
    );

    let again = open(&medium, LIMITS).unwrap();
    assert_eq!(again.id(), journal.id());
    assert!(wait(again.unacknowledged(task(0))).is_ok());
}

#[test]
fn it_is_opened_again_where_it_is_and_knows_what_was_written() {
    let medium = Medium::default();
    let journal = open(&medium, LIMITS).unwrap();
    let (begun, next) = (key(0, 1), key(0, 2));
    assert!(wait(journal.accept(task(0), begun, hash(0))).is_ok());
    assert!(wait(journal.start(task(0), begun)).is_ok());
    assert_eq!(journal.reopen(), Ok(()), "there is nothing to do");

    medium.lock().good_for = Some(0);
    assert!(wait(journal.accept(task(0), next, hash(0))).is_err());
    let again = journal.reopen();
    assert!(
        matches!(
            again,
            Err(JournalError::Open { .. } | JournalError::Stopped { .. })
        ),
        "{again:?}"
    );
    let asked = wait(journal.epoch(task(0)));
    assert!(
        matches!(&asked, Err(JournalError::Stopped { reason, .. })
        if reason.contains("full") || reason.contains("space")),
        "{asked:?}"
    );

    medium.lock().good_for = None;
    assert_eq!(journal.reopen(), Ok(()));
    let found = wait(journal.accept(task(0), begun, hash(0)));
    assert_eq!(found, Ok(Admission::Known(State::InDoubt)));
    // The process that begins a call knows how it ends.
    assert!(wait(journal.finish(task(0), begun, reply(begun, "done"))).is_ok());
    let found = wait(journal.accept(task(0), begun, hash(0)));
    assert!(
        matches!(found, Ok(Admission::Known(State::Finished(_)))),
        "{found:?}"
    );
    assert_eq!(
        wait(journal.accept(task(0), next, hash(0))),
        Ok(Admission::New)
    );
}
