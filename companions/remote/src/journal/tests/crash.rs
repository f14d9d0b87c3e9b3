//! Power failure between any two writes; any part of what was not synchronised may be on the disk.

use super::damage::{Mark, possible, sectors};
use super::medium::{Event, Medium};
use super::model::{LIMITS, Model, Step, found, is_durable, take};
use super::{key, open};

/// Calls that end in every way, and enough of them that some are forgotten.
pub(super) fn script() -> Vec<Step> {
    let mut steps = vec![Step::SetEpoch(0, 3)];
    for (number, length) in [(0, 10), (1, 200), (2, 90), (3, 250)] {
        let (task, key) = ((number % 2) as u8, key(number, 1));
        steps.push(Step::Accept(task, key, 0));
        steps.push(Step::Start(task, key));
        steps.push(Step::Finish(task, key, length));
        steps.push(Step::Acknowledge(task, key));
    }
    steps.push(Step::Accept(1, key(0, 2), 0));
    steps.push(Step::SetEpoch(2, 1));
    steps.push(Step::Acknowledge(1, key(0, 2)));
    steps.push(Step::Accept(2, key(1, 2), 1));
    steps.push(Step::Start(2, key(1, 2)));
    steps.push(Step::Accept(2, key(2, 2), 1));
    steps
}

/// Numbers that look random and are the same each time (Knuth, "The Art of Computer Programming", vol. 2, 3.3.4, line 26).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, end: usize) -> usize {
        let Self(state) = self;
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((*state >> 33) as usize) % end
    }
}

#[test]
fn any_part_of_what_was_not_synchronised() {
    let medium = Medium::default();
    let journal = open(&medium, LIMITS).unwrap();
    let mark = |is_durable, model: &Model| Mark {
        events: medium.lock().events.len(),
        is_durable,
        model: model.clone(),
    };
    let mut model = Model::default();
    let mut marks = vec![mark(true, &model)];
    for step in script() {
        assert_eq!(take(&journal, step).unwrap(), model.step(step), "{step:?}");
        marks.push(mark(is_durable(step, true), &model));
    }
    drop(journal);
    marks.push(mark(true, &model));

    let events = medium.lock().events.clone();
    let mut dice = Dice(1);
    let mut durable = Vec::new();
    let mut pending: Vec<&Event> = Vec::new();
    for (count, event) in events.iter().enumerate() {
        pending.push(event);
        let is_sync = *event == Event::Sync;
        // None, all, and two parts of it.
        for odds in [0, 4, 1, 3] {
            let mut bytes: Vec<u8> = durable.clone();
            for event in &pending {
                match event {
                    Event::Length(length) if odds > 0 => {
                        bytes.resize(usize::try_from(*length).unwrap(), 0);
                    }
                    Event::Write(offset, data) => {
                        sectors(&mut bytes, *offset, data, || {
                            is_sync || dice.below(4) < odds
                        });
                    }
                    _ => {}
                }
            }
            if is_sync && odds == 4 {
                durable.clone_from(&bytes);
                pending.clear();
            } else if is_sync {
                continue;
            }
            let told =
                found(&bytes).unwrap_or_else(|error| panic!("event {count}, odds {odds}: {error}"));
            let possible = possible(&marks, count + 1);
            assert!(
                possible.iter().any(|model| model.told() == told),
                "event {count} of {}, odds {odds}: {told:#?}\nis none of {possible:#?}",
                events.len(),
            );
        }
    }
}
