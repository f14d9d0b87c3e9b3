//! Each safeguard trips when it should, and not before.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use contract_runtime::ToolCall;
use proptest::prelude::*;
use tokio::time::{Instant, sleep};

use super::{Safeguards, Tripped, Watchdog};

const MINUTE: Duration = Duration::from_secs(60);

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall::new("1", name, arguments)
}

/// Makes these calls, and says at which the run ended, from 1, and how.
fn ended_at(watch: &Watchdog, calls: &[(&str, &str)]) -> Option<(usize, Tripped)> {
    let at = calls
        .iter()
        .position(|(name, arguments)| watch.before_call(&call(name, arguments)).is_err())?;
    Some((at + 1, watch.tripped_by()?))
}

fn equal(tool: &str, times: u64) -> Tripped {
    Tripped::EqualCalls {
        tool: tool.to_owned(),
        times,
    }
}

fn cycle(tools: &[&str], times: u64) -> Tripped {
    Tripped::Cycle {
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        times,
    }
}

#[tokio::test]
async fn the_fourth_equal_call_is_refused_and_so_is_everything_after_it() {
    let watch = Watchdog::new(Safeguards::default());
    let written = [
        r#"{"a":1,"b":[2]}"#,
        r#"{"b":[2],"a":1}"#,
        " { \"a\" : 1,\n\"b\": [2] } ",
        r#"{"a":1,"b":[2]}"#,
    ];
    let calls = written.map(|arguments| ("read", arguments));
    assert_eq!(ended_at(&watch, &calls), Some((4, equal("read", 4))));
    let refused = watch.before_call(&call("write", "{}"));
    assert!(refused.is_err_and(|why| why.starts_with("`read` was called 4 times with")));
}

#[tokio::test]
async fn equal_calls_count_anywhere_when_asked_for() {
    let (a, b) = (("read", r#"{"a":1}"#), ("write", "{}"));
    let calls = [a, a, b, a, b, a];
    let watch = Watchdog::new(Safeguards::default());
    assert_eq!(ended_at(&watch, &calls), None);
    let watch = Watchdog::new(Safeguards::default().anywhere());
    assert_eq!(ended_at(&watch, &calls[..5]), None);
    watch.record_answer("1", "read", "a new answer");
    assert_eq!(ended_at(&watch, &calls[5..]), Some((1, equal("read", 4))));
    let watch = Watchdog::new(Safeguards::default().anywhere().equal_calls(2));
    assert_eq!(ended_at(&watch, &[a, b, a]), Some((3, equal("read", 2))));
}

#[tokio::test]
async fn what_is_not_the_same_begins_anew() {
    let watch = Watchdog::new(Safeguards::default());
    let (a, b) = (("read", r#"{"a":1}"#), ("read", r#"{"a":2}"#));
    let other = ("write", r#"{"a":1}"#);
    assert_eq!(
        ended_at(&watch, &[a, a, a, b, a, a, a, other, a, a, a]),
        None
    );
    assert_eq!(ended_at(&watch, &[a]), Some((1, equal("read", 4))));
}

#[tokio::test]
async fn cycles_of_two_and_three_are_found_and_longer_ones_when_asked_for() {
    let names = ["a", "b", "c", "d"].map(|name| (name, "{}"));
    for length in 2..=4 {
        let calls = names[..length].repeat(6);
        let watch = Watchdog::new(Safeguards::default().steps(None));
        let tools: Vec<_> = names[..length].iter().map(|(name, _)| *name).collect();
        let found = (length < 4).then(|| (length * 4, cycle(&tools, 4)));
        assert_eq!(ended_at(&watch, &calls), found);
        let watch = Watchdog::new(Safeguards::default().cycle_length(4));
        assert_eq!(
            ended_at(&watch, &calls),
            Some((length * 4, cycle(&tools, 4)))
        );
        let watch = Watchdog::new(Safeguards::default().cycle_length(1));
        assert_eq!(ended_at(&watch, &calls), None);
    }
}

#[tokio::test]
async fn a_call_that_gives_something_new_is_no_repetition() {
    let watch = Watchdog::new(Safeguards::default());
    for answer in ["waiting", "1 %", "2 %", "3 %", "4 %", "5 %"] {
        assert_eq!(watch.before_call(&call("state", "{}")), Ok(()));
        watch.record_answer("1", "state", answer);
    }
    // The last answer stands for the first of four.
    for again in 1..=3 {
        let asked = watch.before_call(&call("state", "{}"));
        assert_eq!(asked.is_ok(), again < 3, "{again}");
        watch.record_answer("1", "state", "5 %");
    }
}

#[tokio::test]
async fn an_answer_of_another_call_changes_nothing() {
    let watch = Watchdog::new(Safeguards::default());
    for (at, answer) in ["a", "b", "c", "d"].iter().enumerate() {
        assert_eq!(watch.before_call(&call("state", "{}")).is_ok(), at < 3);
        watch.record_answer("2", "state", answer);
        watch.record_answer("1", "other", answer);
    }
}

#[tokio::test]
async fn the_step_after_the_last_is_refused_also_when_none_ran() {
    let watch = Watchdog::new(Safeguards::default());
    for step in 1..=101 {
        let answer = watch.before_call(&call("none", &step.to_string()));
        assert_eq!(answer.is_ok(), step <= 100, "{step}");
    }
    assert_eq!(watch.tripped_by(), Some(Tripped::Steps { most: 100 }));
}

#[tokio::test(start_paused = true)]
async fn silence_ends_a_run_and_any_message_puts_it_off() {
    let watch = Arc::new(Watchdog::new(Safeguards::default()));
    let begun = Instant::now();
    let (told, called) = (Arc::clone(&watch), Arc::clone(&watch));
    let run = async move {
        sleep(15 * MINUTE).await;
        told.record_activity();
        sleep(15 * MINUTE).await;
        called.before_call(&call("read", "{}")).unwrap_or_default();
        pending::<()>().await;
    };
    let ended = watch.guard(run).await;
    let after = 20 * MINUTE;
    assert_eq!(ended, Err(Tripped::Silence { after }));
    let took = begun.elapsed();
    assert!(took >= 50 * MINUTE && took < 51 * MINUTE, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn the_whole_run_has_a_budget_however_much_is_said() {
    let watch = Watchdog::new(Safeguards::default());
    let begun = Instant::now();
    let ended = watch
        .guard(async {
            loop {
                sleep(MINUTE).await;
                watch.record_activity();
            }
        })
        .await;
    let after = 120 * MINUTE;
    assert_eq!(ended, Err::<(), _>(Tripped::Total { after }));
    assert!(begun.elapsed() < after + 2 * MINUTE);
    // Also where nobody waits: a call is refused when the time is over.
    let watch = Watchdog::new(Safeguards::default());
    sleep(after).await;
    assert!(watch.before_call(&call("read", "{}")).is_err());
}

#[tokio::test]
async fn a_run_that_was_refused_a_call_has_not_ended_well() {
    let watch = Watchdog::new(Safeguards::default());
    let run = async {
        for _ in 0..9 {
            watch.before_call(&call("read", "{}")).unwrap_or_default();
        }
        "an answer nevertheless"
    };
    assert_eq!(watch.guard(run).await, Err(equal("read", 4)));
}

#[tokio::test]
async fn a_new_run_begins_with_everything() {
    let watch = Watchdog::new(Safeguards::default().steps(2));
    for _ in 0..3 {
        let run = async {
            let made = ["1", "2"].map(|of| watch.before_call(&call("read", of)));
            // A guard inside belongs to the same run.
            let inside = watch.guard(async {}).await;
            (made, inside, watch.before_call(&call("read", "3")).is_ok())
        };
        let ended = watch.guard(run).await;
        assert_eq!(ended, Err(Tripped::Steps { most: 2 }));
    }
    assert_eq!(watch.guard(async { 7 }).await, Ok(7));
}

#[tokio::test(start_paused = true)]
async fn nothing_trips_when_all_are_off() {
    let watch = Watchdog::new(Safeguards::off());
    for _ in 0..1_000 {
        assert_eq!(watch.before_call(&call("read", "{}")), Ok(()));
    }
    let run = sleep(Duration::from_secs(1 << 30));
    assert_eq!(watch.guard(run).await, Ok(()));
    assert_eq!(watch.call_deadline(), None);
    let endless = Safeguards::default().total(Duration::MAX).silence(None);
    assert_eq!(Watchdog::new(endless).guard(async { 1 }).await, Ok(1));
}

#[tokio::test]
async fn what_tripped_can_be_sent_and_says_what_to_do() -> Result<(), serde_json::Error> {
    let after = Duration::from_secs(90);
    let all = [
        equal("read", 4),
        cycle(&["a", "b"], 4),
        Tripped::Steps { most: 100 },
        Tripped::Silence { after },
        Tripped::Total { after: 60 * MINUTE },
    ];
    for tripped in all {
        let text = serde_json::to_string(&tripped)?;
        assert_eq!(serde_json::from_str::<Tripped>(&text)?, tripped);
        let said = tripped.to_string();
        assert!(said.contains("begin"), "{said}");
    }
    let silence = serde_json::to_value(Tripped::Silence { after })?;
    assert_eq!(
        silence,
        serde_json::json!({"safeguard": "silence", "after_ms": 90_000})
    );
    Ok(())
}

/// What the rule says, read off the whole history.
fn expected(history: &[u8], rounds: usize, longest: usize) -> Option<usize> {
    (1..=history.len()).find(|&end| {
        (1..=longest).any(|period| {
            let length = period * rounds;
            length <= end && {
                let tail = &history[end - length..end];
                tail.chunks(period).all(|round| round == &tail[..period])
            }
        })
    })
}

proptest! {
    #[test]
    fn a_pattern_is_found_at_its_last_call_and_never_before(
        history in prop::collection::vec(0_u8..3, 0..60),
        rounds in 2_u32..5,
        longest in 1_u32..5,
    ) {
        let safeguards = Safeguards::default().equal_calls(rounds).cycle_length(longest).steps(None);
        let watch = Watchdog::new(safeguards);
        let found = history
            .iter()
            .position(|of| watch.before_call(&call("read", &of.to_string())).is_err());
        let expected = expected(&history, rounds as usize, longest as usize);
        prop_assert_eq!(found.map(|at| at + 1), expected);
    }
}
