//! Random sequences of steps and crashes, compared with a plain model.

use proptest::prelude::*;

use super::medium::{Event, Medium, apply};
use super::model::{ATTEMPTS, CALLS, LIMITS, Model, Step, TASKS, agrees, found, is_durable, take};
use super::{key, open};

#[derive(Clone, Copy, Debug)]
enum Act {
    Step(Step),
    /// The process ends in good order.
    Close,
    /// Power goes, and with it all that was not synchronised.
    Crash,
}

fn acts() -> impl Strategy<Value = Act> {
    let place = (0..TASKS, (0..CALLS, 1..=ATTEMPTS))
        .prop_map(|(task, (number, attempt))| (task, key(number, attempt)));
    prop_oneof![
        6 => (place.clone(), 0..2_u8).prop_map(|((task, key), hash)| Act::Step(Step::Accept(task, key, hash))),
        5 => place.clone().prop_map(|(task, key)| Act::Step(Step::Start(task, key))),
        5 => (place.clone(), 0..300_u16).prop_map(|((task, key), length)| Act::Step(Step::Finish(task, key, length))),
        5 => place.prop_map(|(task, key)| Act::Step(Step::Acknowledge(task, key))),
        1 => (0..TASKS, 1..9_u64).prop_map(|(task, epoch)| Act::Step(Step::SetEpoch(task, epoch))),
        1 => Just(Act::Close),
        1 => Just(Act::Crash),
    ]
}

/// What is on a disk that lost everything after its last synchronisation.
fn synced(medium: &Medium) -> Vec<u8> {
    let inner = medium.lock();
    let last = inner.events.iter().rposition(|event| *event == Event::Sync);
    let mut bytes = Vec::new();
    for event in &inner.events[..last.map_or(0, |last| last + 1)] {
        apply(&mut bytes, event);
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn says_what_a_plain_model_says(acts in prop::collection::vec(acts(), 1..60)) {
        let mut medium = Medium::default();
        let mut journal = open(&medium, LIMITS).unwrap();
        // What may be on disk: the last of these is what is true now.
        let mut models = vec![Model::default()];
        for act in acts {
            let mut model = models.last().unwrap().clone();
            match act {
                Act::Step(step) => {
                    let may = model.step(step);
                    prop_assert_eq!(take(&journal, step).unwrap(), may, "{:?}", step);
                    if is_durable(step, may) {
                        models.clear();
                    }
                    models.push(model);
                }
                Act::Close => {
                    drop(journal);
                    model = model.orphan();
                    prop_assert_eq!(found(&medium.lock().bytes.clone()).unwrap(), model.told());
                    journal = open(&medium, LIMITS).unwrap();
                    models = vec![model];
                }
                Act::Crash => {
                    let bytes = synced(&medium);
                    drop(journal);
                    let left = found(&bytes).unwrap();
                    let matching = models.into_iter().map(Model::orphan).rfind(|model| model.told() == left);
                    prop_assert!(matching.is_some(), "{:#?}", left);
                    models = matching.into_iter().collect();
                    medium = Medium::default();
                    medium.lock().events = vec![Event::Length(bytes.len() as u64), Event::Write(0, bytes.clone()), Event::Sync];
                    medium.lock().bytes = bytes;
                    journal = open(&medium, LIMITS).unwrap();
                }
            }
            agrees(&journal, models.last().unwrap()).unwrap();
        }
    }
}
