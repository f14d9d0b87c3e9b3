//! Corrupted bytes: no call that may have run runs again.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::index::Limits;
use super::super::{Admission, State, record};
use super::crash::Dice;
use super::damage::{Found, recovered};
use super::medium::Medium;
use super::{JournalError, hash, key, open, reply, task, wait};

const LIMITS: Limits = Limits {
    kept: 2,
    kept_bytes: 1 << 20,
    open: 100,
    open_bytes: 1 << 20,
    tasks: 10,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// Killed when it had begun call 6.
    Begun,
    /// Killed when call 5 had ended.
    Ended,
    /// The same, in good order.
    Closed,
}

/// What a process left: calls 0 to 3 are over, and of those 0 and 1 forgotten; 4 was begun, and 5 has ended.
fn left(end: End) -> (Vec<u8>, Range<u32>) {
    let medium = Medium::default();
    let journal = open(&medium, LIMITS).unwrap();
    let begin = |number| {
        wait(journal.accept(task(0), key(number, 1), hash(0))).unwrap();
        wait(journal.start(task(0), key(number, 1))).unwrap();
    };
    let finish = |number| {
        let reply = reply(key(number, 1), "done");
        wait(journal.finish(task(0), key(number, 1), reply)).unwrap();
    };
    for number in 0..4 {
        begin(number);
        finish(number);
        wait(journal.acknowledge(task(0), key(number, 1))).unwrap();
    }
    begin(4);
    begin(5);
    finish(5);
    match end {
        End::Begun => begin(6),
        End::Ended => {}
        End::Closed => drop(journal),
    }
    let bytes = medium.lock().bytes.clone();
    (bytes, 0..if end == End::Begun { 7 } else { 6 })
}

/// That nothing which may have run is run again.
fn holds(bytes: Vec<u8>, numbers: Range<u32>) -> Result<(), JournalError> {
    let journal = open(&Medium::holding(bytes), LIMITS)?;
    for number in numbers {
        let key = key(number, 1);
        match wait(journal.accept(task(0), key, hash(0)))? {
            Admission::Known(State::Finished(found)) => assert_eq!(*found, reply(key, "done")),
            Admission::Known(State::InDoubt) | Admission::TooOld => {}
            other => panic!("call {number} is {other:?}"),
        }
    }
    Ok(())
}

/// Whether the file is still taken.
fn try_flip(bytes: &[u8], at: usize, mask: u8, numbers: Range<u32>) -> bool {
    let mut flipped = bytes.to_vec();
    flipped[at] ^= mask;
    let held = catch_unwind(AssertUnwindSafe(|| holds(flipped, numbers)));
    let held = held.unwrap_or_else(|_| panic!("byte {at} with {mask:#x}"));
    match held {
        Ok(()) => true,
        Err(JournalError::Damaged { .. } | JournalError::NotAJournal { .. }) => false,
        Err(error) => panic!("byte {at} with {mask:#x}: {error}"),
    }
}

#[test]
fn no_changed_byte_makes_a_call_run_again() {
    for end in [End::Begun, End::Ended, End::Closed] {
        let (bytes, numbers) = left(end);
        assert_eq!(holds(bytes.clone(), numbers.clone()), Ok(()));
        let mut dice = Dice(7);
        let mut refused = 0;
        for _ in 0..600 {
            let at = dice.below(bytes.len());
            refused += usize::from(!try_flip(&bytes, at, 1 << dice.below(8), numbers.clone()));
        }
        // Where the file begins it says where everything else is.
        for at in 0..320 {
            refused += usize::from(!try_flip(&bytes, at, 1 << dice.below(8), numbers.clone()));
        }
        for bit in 0..8 {
            try_flip(&bytes, 9, 1 << bit, numbers.clone());
        }
        assert!(refused > 10, "{refused}");
    }
}

#[test]
#[ignore = "takes minutes; for those who change what is on disk"]
fn no_changed_byte_at_all() {
    for end in [End::Begun, End::Ended, End::Closed] {
        let (bytes, numbers) = left(end);
        let mut dice = Dice(11);
        let kept = (0..bytes.len())
            .filter(|at| try_flip(&bytes, *at, 1 << dice.below(8), numbers.clone()));
        println!(
            "{end:?}: {} of {} bytes do not matter",
            kept.count(),
            bytes.len()
        );
    }
}

#[test]
fn a_file_that_is_cut_off_or_goes_on_is_refused_or_right() {
    let (bytes, numbers) = left(End::Begun);
    let mut dice = Dice(3);
    for _ in 0..50 {
        let length = 1 + dice.below(bytes.len() * 2);
        let mut cut = bytes.clone();
        cut.resize(length, 0);
        let held = holds(cut, numbers.clone());
        assert!(
            matches!(
                held,
                Ok(()) | Err(JournalError::Damaged { .. } | JournalError::NotAJournal { .. })
            ),
            "{length}: {held:?}"
        );
    }
}

#[test]
fn whatever_was_written_is_refused_or_true_when_it_is_damaged() {
    let mut dice = Dice(5);
    let mut found: Vec<Found> = (0..400)
        .map(|_| {
            let bytes: Vec<u8> = (0..240).map(|_| dice.below(256).to_le_bytes()[0]).collect();
            recovered(&bytes)
        })
        .collect();
    found.sort_unstable();
    let refused = found.partition_point(|found| *found == Found::Refused);
    let held = found.iter().filter(|found| **found == Found::True);
    let held = held.count();
    assert!(refused > 40 && held > 100, "{refused}, {held}");
}

#[test]
fn a_record_that_is_changed_while_the_file_is_open_is_not_read() {
    let record = record::with_checksum("replies", b"key", b"body".to_vec());
    assert_eq!(
        record::verify("replies", b"key", &record),
        Some(b"body".as_slice())
    );
    assert_eq!(record::verify("replies", b"yek", &record), None);
    assert_eq!(record::verify("calls", b"key", &record), None);
    assert_eq!(record::verify("replies", b"key", &record[..3]), None);
    for bit in 0..record.len() * 8 {
        let mut record = record.clone();
        record[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(record::verify("replies", b"key", &record), None);
    }
}
