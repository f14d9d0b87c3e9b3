//! The calls that tasks expect are accepted, and leave the expected database; replaying finds what the sample has in it.

use airline::recording::{Recording, read_tasks};
use airline::replay::replay;
use airline::report::{Effect, Ending, effect, ending};
use airline::{Airline, Edition, data, golden};

fn sample(file: &str) -> String {
    data::text(&data::sample().join(file)).unwrap()
}

fn open(edition: Edition) -> Airline {
    Airline::open(&data::read(&data::sample(), edition).unwrap(), edition).unwrap()
}

#[tokio::test]
async fn every_expected_call_of_the_sample_is_accepted() {
    let (edition, tasks) = read_tasks(&sample("tasks.json")).unwrap();
    assert_eq!((edition, tasks.len()), (Edition::Second, 5));
    let data = data::read(&data::sample(), edition).unwrap();
    for task in &tasks {
        let played = golden::play(&open(edition), &data, task).await.unwrap();
        assert!(
            played.refused.is_empty(),
            "task {}: {:?}",
            task.number,
            played.refused
        );
    }
}

/// The digest in the sample comes from Python, as the published ones do.
#[tokio::test]
async fn the_database_after_a_task_has_the_published_digest() {
    let (edition, tasks) = read_tasks(&sample("tau-bench.json")).unwrap();
    let data = data::read(&data::sample(), edition).unwrap();
    let played = golden::play(&open(edition), &data, &tasks[0])
        .await
        .unwrap();
    assert_eq!(played.database_right, Some(true));

    let mut shorter = tasks[0].clone();
    shorter.expected.pop();
    let played = golden::play(&open(edition), &data, &shorter).await.unwrap();
    assert_eq!(played.database_right, Some(false));
}

#[test]
fn recordings_of_both_suites_are_judged() {
    let judged = |file: &str| -> Vec<(Ending, Effect)> {
        let Recording {
            edition,
            conversations,
        } = Recording::read(&sample(file)).unwrap();
        let airline = open(edition);
        let judge = |conversation| {
            let replayed = replay(&airline, conversation).unwrap();
            assert_eq!(replayed.differences, 0);
            (ending(conversation, &replayed), effect(&replayed))
        };
        conversations.iter().map(judge).collect()
    };
    assert_eq!(
        judged("tau-bench.json"),
        [
            (Ending::Solved, Effect::Untouched),
            (Ending::WroteWrong, Effect::Stopped)
        ]
    );
    assert_eq!(
        judged("tau2-bench.json"),
        [
            (Ending::Solved, Effect::Untouched),
            (Ending::WroteWrong, Effect::Stopped),
            (Ending::FellShort, Effect::Asked),
        ]
    );
}
